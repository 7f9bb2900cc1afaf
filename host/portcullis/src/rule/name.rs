//! Names in which wildcards may stand.

use globset::{GlobBuilder, GlobMatcher};

/// A name in which `*` stands for any characters and `?` for one. ASCII case does not
/// count.
#[derive(Debug, Clone)]
pub(crate) struct Name {
    text: String,
    glob: GlobMatcher,
}

impl Name {
    /// # Errors
    /// When `text` is empty, or no pattern.
    pub(crate) fn new(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            return Err("the name is empty, which would mean nothing".to_owned());
        }
        let glob =
            GlobBuilder::new(&literal_brackets(text)).case_insensitive(true).backslash_escape(true).build();
        let glob = glob.map_err(|error| format!("the name is no pattern ({})", error.kind()))?;
        Ok(Self { text: text.to_owned(), glob: glob.compile_matcher() })
    }

    /// As it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn is_match(&self, name: &str) -> bool {
        self.glob.is_match(name)
    }
}

/// Brackets and braces are common in commands and in names, and mean themselves there.
pub(super) fn literal_brackets(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '[' | ']' | '{' | '}' | '\\') {
            escaped.push('\\');
        }
        escaped.push(c);
    }
    escaped
}
