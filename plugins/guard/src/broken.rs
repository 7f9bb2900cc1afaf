//! Scripts that the host could not take apart in full.

use portcullis_sdk::{Command, Script, Word};

use crate::category::Category;
use crate::finding::Finding;
use crate::{program, table, unknown};

/// Of a command whose end nobody knows.
const WORDS: usize = 8;

/// What is harmless as far as it goes passes: a shell will not run it either. It
/// is refused when nothing of it could be read, and when its text holds a command
/// that would be refused. What is past the host's limits never comes here.
pub(crate) fn check(script: &Script) -> Option<Finding<'_>> {
    let source = script.source();
    if script.is_complete() || source.trim().is_empty() {
        return None;
    }
    let unread = script.pipelines().is_empty();
    (unread || bombs(source) || holds_danger(source)).then(|| Finding::new(Category::Suspect, source))
}

/// A fork bomb that lost its spaces is no shell script any more, and is meant as
/// one all the same: `:(){:|:&};:`.
fn bombs(source: &str) -> bool {
    if !source.contains('|') {
        return false;
    }
    let text: String = source.chars().filter(|c| !c.is_whitespace()).collect();
    text.match_indices("(){").any(|(at, opening)| {
        let (before, rest) = text.split_at_checked(at).unwrap_or_default();
        let name = before.rsplit([';', '&', '|', '(', ')', '{', '}']).next().unwrap_or_default();
        let body = rest.strip_prefix(opening).and_then(|body| body.strip_prefix(name));
        !name.is_empty()
            && body.and_then(|body| body.strip_prefix('|')).is_some_and(|body| body.starts_with(name))
    })
}

/// Reads the text as bare words, quotes taken off, and judges what follows the
/// name of any program that the guard knows.
fn holds_danger(source: &str) -> bool {
    let plain: String = source.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect();
    plain.split(['\n', ';', '|', '&', '(', ')', '`', '{', '}']).any(|segment| {
        let mut rest = segment.trim_start();
        while !rest.is_empty() {
            let end = rest.find(char::is_whitespace).unwrap_or(rest.len());
            let (word, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
            if is_dangerous(word, rest) {
                return true;
            }
            rest = behind.trim_start();
        }
        false
    })
}

fn is_dangerous(word: &str, rest: &str) -> bool {
    let name = program::bare(word.rsplit('/').next().unwrap_or_default());
    let unknown = word.starts_with('$');
    if !unknown && !table::knows(&name) {
        return false;
    }
    let mut command = Command::default();
    command.words = rest.split_whitespace().take(WORDS).map(|word| Word::Literal(word.to_owned())).collect();
    if unknown {
        if let Some(first) = command.words.first_mut() {
            *first = Word::Computed(word.to_owned());
        }
        return unknown::check(&command).is_some();
    }
    table::by_name(&name, &command).is_some()
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Script;
    use portcullis_sdk::testing::script;

    use super::check;

    fn refused(source: &str, read: &str) -> bool {
        check(&Script::new(source, false, script(read).pipelines().to_vec())).is_some()
    }

    #[test]
    fn a_text_of_which_nothing_was_read_is_suspect() {
        assert!(refused("odd (", ""));
        assert!(!refused("  ", ""));
    }

    #[test]
    fn a_broken_text_that_holds_something_dangerous_is_suspect() {
        for source in [
            "cat <<EOF\nrm -rf src",
            "echo \"a; rm -rf src",
            "bash -c \"git reset --hard",
            "r''m -rf 'src",
            "$X -rf 'src",
            "if true; then mkfs.ext4 /dev/sda",
            ":(){:|:&};:",
        ] {
            assert!(refused(source, "echo a"), "{source}");
        }
    }

    #[test]
    fn a_broken_text_that_is_harmless_passes() {
        for source in [
            "echo \"a",
            "for i in 1 2; do echo $i",
            "cat <<EOF\nhello",
            "git status '",
            "rm \"a",
            "$CC -c \"x",
        ] {
            assert!(!refused(source, "echo a"), "{source}");
        }
    }
}
