//! Unified diffs, as `diff -u` and `git diff` write them.
//!
//! The counts in `@@ -l,n +l,n @@` say which lines are content, and models get
//! them wrong. So three lines that cannot be content are a header wherever they
//! stand: `--- x`, `+++ y`, `@@ -…`.

use portcullis_model::call::EffectKind;

/// One file that a patch changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// `Write` or `Delete`.
    pub(crate) kind: EffectKind,
    /// The path as the patch has it.
    pub(crate) path: String,
}

impl Change {
    pub(super) fn new(kind: EffectKind, path: impl Into<String>) -> Self {
        Self { kind, path: path.into() }
    }
}

/// Every file that `text` changes. A `strict` reading takes only headers that
/// cannot be anything else.
pub(super) fn changes(text: &str, strict: bool) -> Vec<Change> {
    let lines: Vec<&str> = text.lines().collect();
    let mut out = Vec::new();
    let mut section = Section::default();
    let mut hunk = Hunk::default();
    for (at, line) in lines.iter().copied().enumerate() {
        let next = |n: usize| lines.get(at.saturating_add(n)).copied().unwrap_or_default();
        let certain = line.starts_with("--- ") && next(1).starts_with("+++ ") && next(2).starts_with("@@ -");
        let follows = line.starts_with("+++ ") && section.expects_plus;
        section.expects_plus = false;
        if !certain && !follows && hunk.takes(line) {
            continue;
        }
        if certain || follows {
            hunk = Hunk::default();
        }
        if let Some(paths) = line.strip_prefix("diff --git ") {
            section.finish(&mut out);
            section.git = Some(git_paths(paths));
        } else if let Some(path) = line.strip_prefix("--- ")
            && (certain || !strict)
        {
            if section.minus.is_some() || section.plus.is_some() {
                section.finish(&mut out);
            }
            section.minus = Some(path_of(path));
            section.expects_plus = certain;
        } else if let Some(path) = line.strip_prefix("+++ ")
            && (follows || !strict)
        {
            if section.plus.is_some() {
                section.finish(&mut out);
            }
            section.plus = Some(path_of(path));
        } else if let Some(counts) = line.strip_prefix("@@ -") {
            hunk = Hunk::new(counts);
        } else if section.git.is_some() || !strict {
            section.attribute(line);
        }
    }
    section.finish(&mut out);
    out
}

/// How many lines of the current hunk are still to come.
#[derive(Default)]
struct Hunk {
    old: usize,
    new: usize,
}

impl Hunk {
    /// Reads `l,n +l,n @@`.
    fn new(counts: &str) -> Self {
        let mut parts = counts.split_ascii_whitespace().map(|part| {
            let count = part.trim_start_matches('+').split_once(',').map_or("1", |(_, count)| count);
            count.parse().unwrap_or(0)
        });
        Self { old: parts.next().unwrap_or(0), new: parts.next().unwrap_or(0) }
    }

    /// Is `line` content? Counts it if so.
    fn takes(&mut self, line: &str) -> bool {
        if self.old == 0 && self.new == 0 {
            return false;
        }
        let (old, new) = match line.as_bytes().first() {
            Some(b'-') => (1, 0),
            Some(b'+') => (0, 1),
            Some(b'\\') => (0, 0),
            Some(b' ') | None => (1, 1),
            Some(_) => {
                *self = Self::default();
                return false;
            }
        };
        self.old = self.old.saturating_sub(old);
        self.new = self.new.saturating_sub(new);
        true
    }
}

/// What the headers of one file say.
#[derive(Default)]
struct Section {
    git: Option<(String, String)>,
    minus: Option<String>,
    plus: Option<String>,
    rename_from: Option<String>,
    others: Vec<String>,
    deleted: bool,
    expects_plus: bool,
}

impl Section {
    fn attribute(&mut self, line: &str) {
        if let Some(path) = line.strip_prefix("rename from ") {
            self.rename_from = Some(unquoted(path));
        } else if let Some(path) =
            ["rename to ", "copy to ", "Index: "].iter().find_map(|p| line.strip_prefix(p))
        {
            self.others.push(unquoted(path));
        } else if line.starts_with("deleted file mode") {
            self.deleted = true;
        }
    }

    /// Writes down what the section changes, and starts the next one.
    fn finish(&mut self, out: &mut Vec<Change>) {
        let Self { git, minus, plus, rename_from, others, deleted, .. } = std::mem::take(self);
        let mut push = |kind, path: String| out.push(Change::new(kind, path));
        let renamed = rename_from.is_some() || !others.is_empty();
        let named = minus.is_some() || plus.is_some();
        let gone = plus.as_deref() == Some(NOWHERE);
        for path in minus.iter().filter(|path| *path != NOWHERE).flat_map(|path| stripped(path, "a/")) {
            // The name that a rename leaves is a deletion, below.
            if rename_from.as_ref() != Some(&path) {
                push(if gone { EffectKind::Delete } else { EffectKind::Write }, path);
            }
        }
        for path in plus.iter().filter(|path| *path != NOWHERE).flat_map(|path| stripped(path, "b/")) {
            push(EffectKind::Write, path);
        }
        if let Some(path) = rename_from {
            push(EffectKind::Delete, path);
        }
        for path in others {
            push(EffectKind::Write, path);
        }
        if let (Some((old, new)), false, false) = (git, named, renamed) {
            let kind = if deleted { EffectKind::Delete } else { EffectKind::Write };
            for path in stripped(&old, "a/").into_iter().chain(stripped(&new, "b/")) {
                push(kind, path);
            }
        }
    }
}

const NOWHERE: &str = "/dev/null";

/// The path behind `--- ` or `+++ `: a tab ends it, and quotes are taken off.
fn path_of(text: &str) -> String {
    if text.starts_with('"') {
        return unquoted(text);
    }
    text.split('\t').next().unwrap_or_default().trim_end().to_owned()
}

/// `path` without the prefix that appliers strip. Without the usual prefix it is
/// unknown whether they strip one, and both readings count.
fn stripped(path: &str, prefix: &str) -> Vec<String> {
    if path.is_empty() {
        return Vec::new();
    }
    if let Some(rest) = path.strip_prefix(prefix) {
        return vec![rest.to_owned()];
    }
    let mut readings = vec![path.to_owned()];
    if let Some((_, rest)) = path.split_once('/') {
        let rest = rest.trim_start_matches('/');
        readings.extend((!rest.is_empty()).then(|| rest.to_owned()));
    }
    readings
}

/// The two paths behind `diff --git `. Names may hold spaces: when both halves
/// are the same name, that is the split. Otherwise other lines name the files.
fn git_paths(text: &str) -> (String, String) {
    let text = text.trim_end();
    if text.starts_with('"') {
        let (old, rest) = quoted_prefix(text);
        return (old, unquoted(rest.trim_start()));
    }
    let name = |path: &str| path.split_once('/').map_or_else(|| path.to_owned(), |(_, name)| name.to_owned());
    let middle =
        text.split_at_checked(text.len() / 2).and_then(|(old, new)| Some((old, new.strip_prefix(' ')?)));
    let split = |separator: &str| {
        text.find(separator).and_then(|at| Some((text.get(..at)?, text.get(at..)?.get(1..)?)))
    };
    let (old, new) = middle
        .filter(|(old, new)| name(old) == name(new))
        .or_else(|| split(" b/"))
        .or_else(|| split(" \""))
        .or_else(|| split(" "))
        .unwrap_or((text, text));
    (old.to_owned(), unquoted(new))
}

/// `text` with git's quotes taken off, if it has any.
fn unquoted(text: &str) -> String {
    if text.starts_with('"') { quoted_prefix(text).0 } else { text.trim_end().to_owned() }
}

/// Reads a quoted name such as `"a/\303\244"`, and returns what follows it.
fn quoted_prefix(text: &str) -> (String, &str) {
    let mut bytes = Vec::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => {
                let rest = text.get(at.saturating_add(1)..).unwrap_or_default();
                return (String::from_utf8_lossy(&bytes).into_owned(), rest);
            }
            '\\' => match chars.next() {
                Some((_, digit @ '0'..='7')) => {
                    let mut code = digit.to_digit(8).unwrap_or(0);
                    for _ in 0..2 {
                        let digit = chars.clone().next().and_then(|(_, c)| c.to_digit(8));
                        let Some(digit) = digit else { break };
                        code = code.wrapping_mul(8).wrapping_add(digit);
                        chars.next();
                    }
                    bytes.push(u8::try_from(code & 0xff).unwrap_or_default());
                }
                Some((_, 'n')) => bytes.push(b'\n'),
                Some((_, 't')) => bytes.push(b'\t'),
                Some((_, 'r')) => bytes.push(b'\r'),
                Some((_, 'a')) => bytes.push(7),
                Some((_, 'b')) => bytes.push(8),
                Some((_, 'v')) => bytes.push(11),
                Some((_, 'f')) => bytes.push(12),
                Some((_, other)) => bytes.extend(other.to_string().bytes()),
                None => {}
            },
            other => bytes.extend(other.to_string().bytes()),
        }
    }
    (String::from_utf8_lossy(&bytes).into_owned(), "")
}

#[cfg(test)]
mod tests {
    use super::changes;

    fn of(text: &str) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for change in changes(text, false) {
            let change = format!("{} {}", change.kind, change.path);
            if !out.contains(&change) {
                out.push(change);
            }
        }
        out
    }

    #[test]
    fn headers_of_a_unified_diff_are_seen() {
        assert_eq!(of("--- a/x.rs\n+++ b/x.rs\n@@ -1 +1 @@\n-a\n+b\n"), ["write x.rs"]);
        assert_eq!(of("--- /dev/null\n+++ b/new\n@@ -0,0 +1 @@\n+b\n"), ["write new"]);
        assert_eq!(of("--- a/old\t2026-01-01\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n"), ["delete old"]);
        assert_eq!(
            of("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n"),
            ["write x", "write y"]
        );
        assert_eq!(of("--- src/x\n+++ src/x\n@@ -1 +1 @@\n-a\n+b\n"), ["write src/x", "write x"]);
        assert_eq!(of("Index: x\n=====\n--- x\t(rev)\n+++ x\t(copy)\n"), ["write x"]);
    }

    #[test]
    fn headers_of_git_are_seen() {
        assert_eq!(
            of("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n"),
            ["delete x", "write y"]
        );
        assert_eq!(of("diff --git a/x b/y\ncopy from x\ncopy to y\n"), ["write y"]);
        assert_eq!(
            of("diff --git a/a b b/a b\nnew file mode 100644\nindex 0..1\nGIT binary patch\n"),
            ["write a b"]
        );
        assert_eq!(of("diff --git a/x b/x\ndeleted file mode 100644\n"), ["delete x"]);
        assert_eq!(of("diff --git \"a/\\303\\244\" \"b/\\303\\244\"\nold mode 1\nnew mode 2\n"), ["write ä"]);
        assert_eq!(
            of("diff --git a/x b/y\nrename from x\nrename to y\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n"),
            ["write y", "delete x"]
        );
    }

    #[test]
    fn content_that_looks_like_a_header_is_content() {
        let text = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/y\n+++ b/y\n same\n";
        assert_eq!(of(text), ["write x"]);
    }

    #[test]
    fn a_wrong_count_hides_no_header() {
        let text =
            "--- a/x\n+++ b/x\n@@ -1,900 +1,900 @@\n-a\n+b\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(of(text), ["write x", "write .env"]);
        let text =
            "--- a/x\n+++ b/x\n@@ -1,900 +1,900 @@\n-a\ndiff --git a/.env b/.env\ndeleted file mode 100644\n";
        assert_eq!(of(text), ["write x", "delete .env"]);
    }
}
