//! Which files a patch changes.
//!
//! Two forms are read: the envelope of Codex and opencode (`*** Update File: x`)
//! and unified diffs (`diff.rs`). A text is searched for both, because the tool
//! that gets it decides which of them it obeys.

use portcullis_model::call::EffectKind;

use super::diff::{self, Change};

/// Every file that `text` changes, in source order.
pub(crate) fn changes(text: &str) -> Vec<Change> {
    let mut changes = envelope(text);
    let strict = !changes.is_empty();
    changes.extend(diff::changes(text, strict));
    changes
}

/// What the lines behind a header are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    /// Nothing that an applier keeps: a header may be indented here.
    Outside,
    /// Right behind `*** Update File:`.
    Updated,
    /// In its hunks: ` `, `+` and `-` begin lines of content.
    Hunks,
}

fn envelope(text: &str) -> Vec<Change> {
    let mut changes: Vec<Change> = Vec::new();
    let mut section = Section::Outside;
    for line in text.lines() {
        let line = if section == Section::Hunks { line } else { line.trim_start() };
        let header = header(line);
        section = match (section, &header) {
            (_, Some((Verb::Update, _))) => Section::Updated,
            (_, Some((Verb::Add | Verb::Delete, _))) => Section::Outside,
            (Section::Updated | Section::Hunks, _) if !ends_envelope(line) => Section::Hunks,
            _ => Section::Outside,
        };
        match header {
            Some((Verb::Add | Verb::Update, path)) => changes.push(Change::new(EffectKind::Write, path)),
            Some((Verb::Delete, path)) => changes.push(Change::new(EffectKind::Delete, path)),
            Some((Verb::Move, path)) => {
                // The file leaves its old place.
                if let Some(last) = changes.last_mut() {
                    last.kind = EffectKind::Delete;
                }
                changes.push(Change::new(EffectKind::Write, path));
            }
            None => {}
        }
    }
    changes
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verb {
    Add,
    Update,
    Delete,
    Move,
}

/// Reads `*** VERB: path`. Appliers differ in how lenient they are about case
/// and spaces; the most lenient reading is the one to judge by.
fn header(line: &str) -> Option<(Verb, &str)> {
    let rest = line.strip_prefix("***")?.trim_start();
    let (verb, path) = rest.split_once(':')?;
    let verb = match verb.trim_end().to_ascii_lowercase().as_str() {
        "add file" => Verb::Add,
        "update file" => Verb::Update,
        "delete file" => Verb::Delete,
        "move to" => Verb::Move,
        _ => return None,
    };
    let path = path.trim();
    (!path.is_empty()).then_some((verb, path))
}

fn ends_envelope(line: &str) -> bool {
    line.starts_with("*** End Patch")
}

#[cfg(test)]
mod tests {
    use super::changes;

    fn of(text: &str) -> Vec<String> {
        let mut out: Vec<String> =
            changes(text).into_iter().map(|c| format!("{} {}", c.kind, c.path)).collect();
        out.dedup();
        out
    }

    #[test]
    fn every_file_of_an_envelope_is_seen() {
        let text = "*** Begin Patch\n*** Add File: a.txt\n+hello\n*** Update File: src/b.rs\n@@ fn x\n-old\n+new\n\
                    *** Delete File: c.txt\n*** Update File: d\n*** Move to: e\n@@\n x\n*** End of File\n*** End Patch";
        assert_eq!(of(text), ["write a.txt", "write src/b.rs", "delete c.txt", "delete d", "write e"]);
    }

    #[test]
    fn content_that_looks_like_a_header_is_content() {
        let text = "*** Begin Patch\n*** Update File: doc.md\n@@\n+*** Delete File: x\n-*** Add File: y\n *** Delete File: z\n\
                    --- a/old\n+++ b/new\n*** End Patch\n";
        assert_eq!(of(text), ["write doc.md"]);
        assert_eq!(
            of("*** Begin Patch\n*** Add File: doc.md\n+*** Delete File: x\n*** End Patch"),
            ["write doc.md"]
        );
    }

    #[test]
    fn lenient_spellings_are_headers() {
        assert_eq!(of("***  update file:x\n@@\n+a\r\n*** Delete File: y\r\n"), ["write x", "delete y"]);
        assert_eq!(of("  *** Add File: x\n+a\n  *** Delete File: y"), ["write x", "delete y"]);
    }

    #[test]
    fn a_diff_inside_an_envelope_counts_when_it_cannot_be_content() {
        let text = "*** Add File: x\n--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-a\n+b\n";
        assert_eq!(of(text), ["write x", "write .env"]);
    }

    #[test]
    fn a_text_without_files_changes_nothing() {
        for text in ["", "*** Begin Patch\n*** End Patch", "*** Add File:", "rm -rf x", "***"] {
            assert!(of(text).is_empty(), "{text}");
        }
    }
}
