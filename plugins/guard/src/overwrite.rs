//! A file that loses its content without being deleted.

use portcullis_sdk::{Command, Word};

use crate::category::Category;
use crate::options::Options;
use crate::secret;

/// A redirection that leaves nothing behind: `> production.key`.
pub(crate) fn redirection(name: Option<&str>, command: &Command) -> Option<Category> {
    let empty = match name {
        None => command.words.is_empty() && command.assignments.is_empty(),
        Some(":" | "true") => true,
        Some("cat") => !command.args().is_empty() && command.literals().all(|file| file == "/dev/null"),
        Some("echo" | "printf") => {
            command.literals().all(|text| matches!(text, "" | "-n")) && all_known(command)
        }
        Some(_) => false,
    };
    // The host does not tell `>` from `>>`, which leaves a file as it is.
    let appends = command.source.contains(">>");
    (empty && !appends && command.writes.iter().filter_map(Word::literal).any(secret::holds))
        .then_some(Category::Overwrite)
}

fn all_known(command: &Command) -> bool {
    command.args().iter().all(|word| word.literal().is_some())
}

pub(crate) fn check(name: &str, command: &Command) -> Option<Category> {
    let found = match name {
        "truncate" => command.literals().any(secret::holds),
        "shred" | "srm" => {
            let options = Options::of(command.args(), "ns", &["iterations", "size", "random-source"]);
            !options.operands.is_empty() || !options.computed.is_empty()
        }
        // `cp /dev/null FILE` empties it, and `mv FILE /dev/null` loses it.
        "cp" | "install" => {
            command.literals().any(|file| file == "/dev/null") && command.literals().any(secret::holds)
        }
        "mv" => command.literals().last() == Some("/dev/null"),
        "crontab" => command.has_flag('r', "remove") && !command.has_flag('i', "interactive"),
        _ => false,
    };
    found.then_some(Category::Overwrite)
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Word;
    use portcullis_sdk::testing::command;

    use super::{check, redirection};

    fn redirects(text: &str, file: &str) -> bool {
        let mut command = command(text);
        command.writes.push(Word::Literal(file.to_owned()));
        let name = command.program().map(str::to_owned);
        redirection(name.as_deref(), &command).is_some()
    }

    #[test]
    fn an_emptied_secret_is_refused() {
        for text in ["", ":", "true", "cat /dev/null", "echo -n", "printf"] {
            assert!(redirects(text, "production.key"), "{text}");
            assert!(!redirects(text, "debug.log"), "{text}");
        }
    }

    #[test]
    fn a_secret_that_gets_a_content_is_left_to_others() {
        for text in ["echo KEY=1", "cat template", "openssl genrsa"] {
            assert!(!redirects(text, ".env"), "{text}");
        }
        assert!(!redirects(":", ".env.example"));
    }

    #[test]
    fn a_file_that_is_destroyed_is_refused() {
        for text in [
            "truncate -s 0 .env",
            "shred -u notes.txt",
            "cp /dev/null server.pem",
            "mv data.db /dev/null",
            "crontab -r",
        ] {
            let command = command(text);
            assert!(check(command.program().unwrap(), &command).is_some(), "{text}");
        }
        for text in ["truncate -s 0 debug.log", "shred --help", "cp a.pem b.pem", "mv a b", "crontab -l"] {
            let command = command(text);
            assert!(check(command.program().unwrap(), &command).is_none(), "{text}");
        }
    }
}
