//! What a word of a script may name.

use std::collections::BTreeMap;

use portcullis_model::script::Word;

/// How deep defaults may stand in defaults: `${A:-${B:-x}}`.
const DEPTH_MAX: usize = 4;

/// A path that a word names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Named {
    pub(super) text: String,
    /// The text stands below a directory that only the shell knows.
    pub(super) somewhere: bool,
}

/// The path of `word`, as far as it can be known. `None` when no whole name of it
/// is known.
pub(super) fn path(word: &Word, variables: &BTreeMap<String, String>, cwd: &str) -> Option<Named> {
    let text = match word {
        Word::Literal(text) => return Some(Named { text: tilde(text, variables), somewhere: false }),
        Word::Computed(text) => text,
    };
    let mut reader = Reader { variables, cwd, out: String::new(), somewhere: false };
    reader.read(text, 0);
    let Reader { out, somewhere, .. } = reader;
    if !somewhere {
        return Some(Named { text: tilde(&out, variables), somewhere });
    }
    // The first name may be the end of a longer one.
    let known = out.get(out.find('/')?..)?;
    (known.len() > 1).then(|| Named { text: known.to_owned(), somewhere })
}

fn tilde(text: &str, variables: &BTreeMap<String, String>) -> String {
    let rest = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'));
    match (rest, variables.get("HOME")) {
        (Some(rest), Some(home)) => format!("{home}{rest}"),
        _ => text.to_owned(),
    }
}

struct Reader<'a> {
    variables: &'a BTreeMap<String, String>,
    cwd: &'a str,
    out: String,
    somewhere: bool,
}

impl Reader<'_> {
    fn read(&mut self, text: &str, depth: usize) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            rest = rest.get(c.len_utf8()..).unwrap_or_default();
            match c {
                '"' | '\'' | '\\' => {}
                '$' => rest = self.expansion(rest, depth),
                '`' => {
                    self.unknown();
                    rest = rest.split_once('`').map_or("", |(_, rest)| rest);
                }
                c => self.out.push(c),
            }
        }
    }

    /// Reads what stands behind a `$`, and returns what is left.
    fn expansion<'t>(&mut self, text: &'t str, depth: usize) -> &'t str {
        if text.starts_with('(') {
            let (inner, rest) = enclosed(text, '(', ')');
            if inner.trim() == "pwd" {
                self.out.push_str(self.cwd);
            } else {
                self.unknown();
            }
            return rest;
        }
        if text.starts_with('{') {
            let (inner, rest) = enclosed(text, '{', '}');
            let length = identifier(inner);
            let (name, operation) = inner.split_at_checked(length).unwrap_or((inner, ""));
            let default = [":-", ":=", "-", "="].iter().find_map(|operator| operation.strip_prefix(operator));
            match (self.value(name), default) {
                (Some(value), Some(_)) => self.out.push_str(&value),
                (Some(value), None) if operation.is_empty() => self.out.push_str(&value),
                (None, Some(default)) if depth < DEPTH_MAX => self.read(default, depth.saturating_add(1)),
                _ => self.unknown(),
            }
            return rest;
        }
        let length = identifier(text);
        let (name, rest) = text.split_at_checked(length).unwrap_or((text, ""));
        match self.value(name) {
            Some(value) => self.out.push_str(&value),
            None => self.unknown(),
        }
        // `$1`, `$@` and their like have one character.
        if length > 0 {
            rest
        } else {
            rest.get(rest.chars().next().map_or(0, char::len_utf8)..).unwrap_or_default()
        }
    }

    fn value(&self, name: &str) -> Option<String> {
        if name == "PWD" {
            return Some(self.cwd.to_owned());
        }
        self.variables.get(name).cloned()
    }

    /// All that came before is below a place that is not known.
    fn unknown(&mut self) {
        self.out.clear();
        self.somewhere = true;
    }
}

/// The length of the variable's name that `text` begins with.
fn identifier(text: &str) -> usize {
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    text.bytes().take_while(|byte| byte.is_ascii_alphanumeric() || *byte == b'_').count()
}

/// What stands between a bracket at the start of `text` and its counterpart, and
/// what follows.
fn enclosed(text: &str, open: char, close: char) -> (&str, &str) {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        if c == open {
            depth = depth.saturating_add(1);
        } else if c == close {
            depth = depth.saturating_sub(1);
            if depth == 0 {
                let inner = text.get(1..at).unwrap_or_default();
                return (inner, text.get(at.saturating_add(1)..).unwrap_or_default());
            }
        }
    }
    (text.get(1..).unwrap_or_default(), "")
}

#[cfg(test)]
mod tests {
    use super::path;
    use portcullis_model::script::Word;

    fn of(word: &str) -> Option<(String, bool)> {
        let variables = [("HOME".to_owned(), "/home/dev".to_owned())].into();
        let named = path(&Word::Computed(word.to_owned()), &variables, "/w")?;
        Some((named.text, named.somewhere))
    }

    #[test]
    fn the_home_the_directory_and_defaults_are_known() {
        for (word, text) in [
            ("\"$HOME/.claude/settings.json\"", "/home/dev/.claude/settings.json"),
            ("${HOME}/.codex", "/home/dev/.codex"),
            ("\"${XDG_CONFIG_HOME:-$HOME/.config}\"/portcullis", "/home/dev/.config/portcullis"),
            ("${XDG_CONFIG_HOME:-~/.config}/x", "/home/dev/.config/x"),
            ("$(pwd)/.claude/settings.json", "/w/.claude/settings.json"),
            ("$PWD/a", "/w/a"),
        ] {
            assert_eq!(of(word), Some((text.to_owned(), false)), "{word}");
        }
    }

    #[test]
    fn behind_an_unknown_part_whole_names_count() {
        assert_eq!(of("$(git rev-parse --show-toplevel)/.claude/x"), Some(("/.claude/x".to_owned(), true)));
        assert_eq!(of("a/$1/b/$2.claude/c"), Some(("/c".to_owned(), true)));
        assert_eq!(of("`pwd`/x"), Some(("/x".to_owned(), true)));
        for word in ["$X", "\"$DIR\"settings.json", "$X/", "${X}", "$"] {
            assert_eq!(of(word), None, "{word}");
        }
    }
}
