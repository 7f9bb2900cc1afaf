//! Recursive or forced deletes.

use portcullis_sdk::{Command, Word};

use crate::category::Category;
use crate::computed;
use crate::options::Options;

pub(crate) fn rm(command: &Command) -> Option<Category> {
    let options = Options::of(command.args(), "", &[]);
    let wiped = options.has_short('r') || options.has_short('R') || options.has_long("recursive", 1);
    if wiped || options.has_short('f') || options.has_long("force", 1) {
        return Some(Category::Rm);
    }
    let before_operands = command.args().iter().take_while(|word| word.literal() != Some("--"));
    before_operands
        .filter_map(|word| match word {
            Word::Computed(source) => Some(source),
            Word::Literal(_) => None,
        })
        .any(|source| computed::is_option_like(source) || computed::is_printed(source))
        .then_some(Category::Suspect)
}

pub(crate) fn find(command: &Command) -> Option<Category> {
    command.literals().any(|word| word == "-delete").then_some(Category::Rm)
}

/// `--delete` and its variants; a copy to another machine counts as well.
pub(crate) fn rsync(command: &Command) -> Option<Category> {
    let options = Options::of(command.args(), "efMT@B", &[]);
    let deletes = command.literals().take_while(|word| *word != "--").any(|word| {
        let name = word.strip_prefix("--").and_then(|long| long.split('=').next());
        matches!(
            name,
            Some(
                "del"
                    | "delete"
                    | "delete-before"
                    | "delete-during"
                    | "delete-delay"
                    | "delete-after"
                    | "delete-excluded"
                    | "delete-missing-args"
                    | "remove-source-files"
            )
        )
    });
    let dry = options.has_short('n') || options.has_long("dry-run", 2);
    (deletes && !dry).then_some(Category::Rsync)
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Word;
    use portcullis_sdk::testing::command;

    use super::{find, rm, rsync};
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
            "rm -Recurse -Force x",
        ] {
            assert_eq!(rm(&command(text)), Some(Category::Rm), "{text}");
        }
        assert_eq!(find(&command("find . -name *.o -delete")), Some(Category::Rm));
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
            "rm",
        ] {
            assert_eq!(rm(&command(text)), None, "{text}");
        }
        assert_eq!(find(&command("find . -name *-delete* -ls")), None);
    }

    #[test]
    fn an_option_that_only_the_shell_can_compute_is_suspect() {
        let of = |source: &str, end: bool| {
            let mut command = command(if end { "rm -- x" } else { "rm x" });
            command.words.push(Word::Computed(source.to_owned()));
            rm(&command)
        };
        for source in ["$(decode x)", "`cat flags`", "-$F", "$FLAGS"] {
            assert_eq!(of(source, false), Some(Category::Suspect), "{source}");
            assert_eq!(of(source, true), None, "{source}");
        }
        assert_eq!(of("${F:--rf}", false), Some(Category::Rm));
        for source in ["$FILE", "\"$TMP\"", "\"$(mktemp)\"", "*.tmp", "$(git ls-files -d)"] {
            assert_eq!(of(source, false), None, "{source}");
        }
    }

    #[test]
    fn a_copy_that_deletes_is_refused_unless_it_is_a_dry_run() {
        for text in ["rsync -a --delete a/ b/", "rsync -av --delete-after a/ host:b/", "rsync --del a b"] {
            assert_eq!(rsync(&command(text)), Some(Category::Rsync), "{text}");
        }
        for text in [
            "rsync -a a/ b/",
            "rsync -an --delete a/ b/",
            "rsync --dry-run --delete a b",
            "rsync -- --delete b",
        ] {
            assert_eq!(rsync(&command(text)), None, "{text}");
        }
    }
}
