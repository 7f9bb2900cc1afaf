//! Files that a text points at with `@`.

use std::path::{Component, Path};

use serde::Serialize;

/// The most files that one text points at.
pub const MENTIONS_MAX: usize = 100;

/// A file that a text points at. Nothing here reads it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mention {
    /// As it is written, without the `@`.
    pub path: String,
    /// It stays within the directory that it is read from, as far as the path itself tells.
    pub is_inside: bool,
}

/// The files that `text` points at, each once, in their order: `@path`, where no word
/// stands before the `@`, outside of code. Default limit: [`MENTIONS_MAX`].
#[must_use]
pub fn mentions(text: &str) -> Vec<Mention> {
    let mut all: Vec<Mention> = Vec::new();
    let mut fenced = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
            continue;
        }
        if fenced {
            continue;
        }
        // Between two backticks is code; behind a single one is not.
        let parts: Vec<&str> = line.split('`').collect();
        let closed = parts.len() - usize::from(parts.len().is_multiple_of(2));
        let outside = parts.iter().enumerate().filter(|(nth, _)| nth % 2 == 0 || *nth >= closed);
        for path in outside.flat_map(|(_, part)| in_plain_text(part)) {
            if all.len() < MENTIONS_MAX && !all.iter().any(|own| own.path == path) {
                all.push(Mention { is_inside: is_inside(&path), path });
            }
        }
    }
    all
}

fn in_plain_text(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in text.match_indices('@') {
        let before = text.get(..at).and_then(|text| text.chars().next_back());
        if before.is_some_and(|c| c.is_alphanumeric() || matches!(c, '_' | '@' | '.' | '-')) {
            continue;
        }
        let rest = text.get(at + 1..).unwrap_or_default();
        let braced = rest.strip_prefix('{').and_then(|rest| rest.split_once('}')).map(|(path, _)| path);
        let is_path = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '~' | '+');
        let end = rest.find(|c| !is_path(c)).unwrap_or(rest.len());
        let path = braced.unwrap_or_else(|| rest.get(..end).unwrap_or_default().trim_end_matches('.'));
        if !path.trim().is_empty() {
            found.push(path.trim().to_owned());
        }
    }
    found
}

fn is_inside(path: &str) -> bool {
    let mut depth = 0_usize;
    for part in Path::new(path).components() {
        match part {
            Component::Normal(part)
                if depth == 0 && part.to_str().is_some_and(|part| part.starts_with('~')) =>
            {
                return false;
            }
            Component::Normal(_) => depth += 1,
            Component::CurDir => {}
            Component::ParentDir => match depth.checked_sub(1) {
                Some(less) => depth = less,
                None => return false,
            },
            Component::RootDir | Component::Prefix(_) => return false,
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::{MENTIONS_MAX, mentions};

    fn said(text: &str) -> Vec<(String, bool)> {
        mentions(text).into_iter().map(|own| (own.path, own.is_inside)).collect()
    }

    #[test]
    fn a_mention_is_a_path_outside_of_code_that_no_word_runs_into() {
        let text = "Read @docs/guide.md, mail a@b.example, not `@code`, nor @../../secret.txt";
        let expected = [("docs/guide.md".to_owned(), true), ("../../secret.txt".to_owned(), false)];
        assert_eq!(said(text), expected);
        assert_eq!(said("```\n@x\n```\n(@y.) @y `a"), [("y".to_owned(), true)]);
        assert_eq!(said("@{docs/a b.md} and @ and @@"), [("docs/a b.md".to_owned(), true)]);
    }

    #[test]
    fn whoever_leaves_the_directory_is_told_apart() {
        for (path, inside) in
            [("a/../b", true), ("a/../../b", false), ("/etc/x", false), ("~/x", false), ("./x", true)]
        {
            assert_eq!(said(&format!("see @{path}")), [(path.to_owned(), inside)]);
        }
    }

    #[test]
    fn there_are_so_many_and_no_more() {
        let text: String = (0..MENTIONS_MAX + 5).map(|nth| format!("@f{nth} ")).collect();
        assert_eq!(mentions(&text).len(), MENTIONS_MAX);
    }
}
