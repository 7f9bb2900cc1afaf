//! Recursive or forced deletes.

use portcullis_sdk::{Command, Word};

use crate::category::Category;
use crate::options::Options;
use crate::program;

pub(crate) fn check(command: &Command) -> Option<Category> {
    match program::name(command)?.as_str() {
        "rm" | "grm" => rm(command),
        "find" | "gfind" => command.literals().any(|word| word == "-delete").then_some(Category::Rm),
        _ => None,
    }
}

fn rm(command: &Command) -> Option<Category> {
    let options = Options::of(command.args(), "", &[]);
    let wiped = options.has_short('r') || options.has_short('R') || options.has_long("recursive", 1);
    if wiped || options.has_short('f') || options.has_long("force", 1) {
        return Some(Category::Rm);
    }
    let before_operands = command.args().iter().take_while(|word| word.literal() != Some("--"));
    before_operands.filter_map(computed).any(may_be_an_option).then_some(Category::Suspect)
}

fn computed(word: &Word) -> Option<&str> {
    match word {
        Word::Computed(source) => Some(source),
        Word::Literal(_) => None,
    }
}

/// `-$F`, or what another command prints. A plain `$FILE` is left alone: it is
/// how scripts delete their own files.
fn may_be_an_option(source: &str) -> bool {
    source.starts_with('-') || source.starts_with("$(") || source.starts_with('`')
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Word;
    use portcullis_sdk::testing::command;

    use super::check;
    use crate::category::Category;

    #[test]
    fn a_forced_or_recursive_delete_is_refused() {
        for text in [
            "rm -rf build",
            "rm -f a",
            "rm -fr b",
            "rm -r -f c",
            "rm -R c",
            "rm src -rf",
            "rm -vfr x",
            "rm --recursive --force src",
            "rm --force --recursive -- src",
            "rm --rec src",
            "rm --no-preserve-root -rf /",
            "/bin/rm -rf x",
            "RM -rf x",
            "find . -name *.o -delete",
        ] {
            assert_eq!(check(&command(text)), Some(Category::Rm), "{text}");
        }
    }

    #[test]
    fn a_plain_delete_passes() {
        for text in [
            "rm build/one-file.js",
            "rm reports-rf/summary.txt",
            "rm -v a.txt b.txt",
            "rm -i a",
            "rm -- -rf",
            "rm --one-file-system a",
            "rmdir empty",
            "rm",
            "find . -name *-delete* -ls",
            "git rm old.txt",
            "cp -rf a b",
        ] {
            assert_eq!(check(&command(text)), None, "{text}");
        }
    }

    #[test]
    fn an_option_that_another_command_prints_is_suspect() {
        let of = |source: &str, end: bool| {
            let mut command = command(if end { "rm -- x" } else { "rm x" });
            command.words.push(Word::Computed(source.to_owned()));
            check(&command)
        };
        for source in ["$(echo -rf)", "`echo -rf`", "-$F"] {
            assert_eq!(of(source, false), Some(Category::Suspect), "{source}");
            assert_eq!(of(source, true), None, "{source}");
        }
        for source in ["$FILE", "\"$TMP\"", "\"$(mktemp)\"", "*.tmp"] {
            assert_eq!(of(source, false), None, "{source}");
        }
    }
}
