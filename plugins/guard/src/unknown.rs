//! A program whose name only the shell can compute.

use portcullis_sdk::{Command, Word};

use crate::category::Category;
use crate::{computed, device, git, program, sql, table};

/// A program that only the shell can compute. Alone it is everyday work, as
/// `$CC -c x.c` is; what counts is whether its arguments are those of a command
/// that is refused.
pub(crate) fn check(command: &Command) -> Option<Category> {
    let source = command.words.first()?.text();
    if computed::downloads(source) {
        return Some(Category::PipeToShell);
    }
    if computed::decodes(source) {
        return Some(Category::Decoded);
    }
    // `rm${IFS}-rf${IFS}x` is a command in one word, and a disguise.
    let disguised = source.contains("$IFS") || source.contains("${IFS");
    wrapped(command).or_else(|| (disguised || looks_destructive(command.args())).then_some(Category::Suspect))
}

/// `$SUDO rm -rf x`: the words behind an unknown one are a command of their own.
fn wrapped(command: &Command) -> Option<Category> {
    let at =
        command.words.iter().skip(1).take(3).position(|word| {
            word.literal().is_some_and(|text| !text.starts_with('-') && !text.contains('='))
        })?;
    let words = command.words.get(at + 1..).unwrap_or_default();
    let path = words.first()?.literal()?;
    let name = program::bare(path.rsplit('/').next().unwrap_or(path));
    if !table::knows(&name) {
        return None;
    }
    let mut inner = Command::default();
    inner.words = words.to_vec();
    table::by_name(&name, &inner)
}

/// Whether these arguments would make one program or other destructive.
fn looks_destructive(args: &[Word]) -> bool {
    let bundles = |word: &str| {
        let letters = word.strip_prefix('-').filter(|letters| letters.len() <= 4)?;
        (letters.contains(['r', 'R']) && letters.contains('f')).then_some(())
    };
    let literals = || args.iter().filter_map(Word::literal);
    literals().any(|word| bundles(word).is_some() || matches!(word, "-delete" | "--no-preserve-root"))
        || (literals().any(|word| matches!(word, "-r" | "-R" | "--recursive"))
            && literals().any(|word| matches!(word, "-f" | "--force")))
        || (args.first().is_some_and(|word| word.literal().is_some())
            && git::check(args).is_some_and(|category| category != Category::ForceWithLease))
        || literals().filter_map(|word| word.strip_prefix("of=")).any(device::is_device)
        || literals().filter(|word| word.contains(' ')).any(sql::destroys)
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::{Command, Word, testing};

    use super::check as unknown;
    use crate::category::Category;

    fn computed(source: &str, rest: &str) -> Command {
        let mut command = testing::command(&format!("x {rest}"));
        command.words[0] = Word::Computed(source.to_owned());
        command
    }

    #[test]
    fn an_unknown_program_with_destructive_arguments_is_suspect() {
        for rest in [
            "-rf src",
            "-r -f src",
            "reset --hard",
            "push --force",
            "clean -fdx",
            "branch -D x",
            "if=a of=/dev/sda",
            ". -delete",
        ] {
            assert_eq!(unknown(&computed("$X", rest)), Some(Category::Suspect), "{rest}");
        }
    }

    #[test]
    fn an_unknown_program_with_ordinary_arguments_passes() {
        for rest in
            ["-c x.c -o x", "setup.py build", "-r pattern src", "-f Makefile", "push origin x", "", "--force"]
        {
            assert_eq!(unknown(&computed("$X", rest)), None, "{rest}");
        }
    }

    #[test]
    fn a_command_behind_an_unknown_word_is_judged() {
        assert_eq!(unknown(&computed("$SUDO", "rm -rf x")), Some(Category::Rm));
        assert_eq!(unknown(&computed("${SUDO}", "-E reboot")), Some(Category::Power));
        assert_eq!(unknown(&computed("$SUDO", "apt-get install x")), None);
    }

    #[test]
    fn a_program_that_is_downloaded_or_decoded_is_refused() {
        assert_eq!(unknown(&computed("$(curl -s u)", "")), Some(Category::PipeToShell));
        assert_eq!(unknown(&computed("$(base64 -d f)", "")), Some(Category::Decoded));
        assert_eq!(unknown(&computed("$(ssh-agent -s)", "")), None);
        assert_eq!(unknown(&computed("rm${IFS}-rf${IFS}x", "")), Some(Category::Suspect));
    }
}
