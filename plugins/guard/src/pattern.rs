//! Patterns of the operator: a program, and words that it is not to be given.

use portcullis_sdk::{Command, Error, Word};
use serde::Deserialize;

use crate::glob;

/// `{ program = "kubectl", arguments = ["delete", "*"] }`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Pattern {
    /// A glob for the program's name without its directory.
    program: String,
    /// Globs for words that follow in this order; others may stand between them.
    #[serde(default)]
    arguments: Vec<String>,
    #[serde(default = "default_reason")]
    reason: String,
    #[serde(default = "default_code")]
    code: String,
}

fn default_reason() -> String {
    "the operator does not want it".to_owned()
}

fn default_code() -> String {
    "pattern".to_owned()
}

impl Pattern {
    /// # Errors
    ///
    /// When it could never say what it is meant to.
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.program.is_empty() || self.program.contains('/') {
            return Err(Error::new(format!(
                "the settings are wrong: `program` of a pattern is a name without a directory, and not `{}`",
                self.program
            )));
        }
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        if self.code.is_empty() || !self.code.bytes().all(plain) {
            return Err(Error::new(format!(
                "the settings are wrong: `code` of a pattern is one word such as `no-delete`, and not `{}`",
                self.code
            )));
        }
        Ok(())
    }

    /// `name` is the program's, in lower case.
    pub(crate) fn matches(&self, name: &str, command: &Command) -> bool {
        if !glob::matches(&self.program, name) {
            return false;
        }
        let mut words = command.args().iter();
        self.arguments.iter().all(|wanted| {
            words.any(|word| match word {
                Word::Literal(text) => glob::matches(wanted, text),
                Word::Computed(_) => wanted == "*",
            })
        })
    }

    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    pub(crate) fn reason(&self) -> &str {
        &self.reason
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::testing::command;

    use super::Pattern;

    fn pattern(program: &str, arguments: &[&str]) -> Pattern {
        Pattern {
            program: program.to_owned(),
            arguments: arguments.iter().map(|&word| word.to_owned()).collect(),
            reason: String::new(),
            code: "pattern".to_owned(),
        }
    }

    #[test]
    fn words_follow_in_order_with_others_between() {
        let delete = pattern("kubectl", &["delete", "*"]);
        for text in ["kubectl delete pod x", "kubectl -n prod delete --now pod", "kubectl delete x"] {
            assert!(delete.matches("kubectl", &command(text)), "{text}");
        }
        for text in ["kubectl get pods", "kubectl delete", "kubectl x delete-all"] {
            assert!(!delete.matches("kubectl", &command(text)), "{text}");
        }
        assert!(!delete.matches("helm", &command("helm delete x")));
    }

    #[test]
    fn a_pattern_that_could_never_match_is_an_error() {
        assert!(pattern("", &[]).check().is_err() && pattern("/bin/rm", &[]).check().is_err());
        let odd = Pattern { code: "No delete".to_owned(), ..pattern("rm", &[]) };
        assert!(odd.check().is_err() && pattern("terraform*", &[]).check().is_ok());
    }
}
