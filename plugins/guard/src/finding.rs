//! A command that the guard objects to, and how it says so.

use portcullis_sdk::Refusal;

use crate::category::Category;

/// How much of a command is quoted.
const QUOTED: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    category: Category,
    command: String,
}

impl Finding {
    /// An objection to `command`, as it was written.
    pub(crate) fn new(category: Category, command: &str) -> Self {
        Self { category, command: shorten(command) }
    }

    pub(crate) fn category(&self) -> Category {
        self.category
    }

    /// Quotes `script` where the command's own text is not known.
    pub(crate) fn or_quote(mut self, script: &str) -> Self {
        if self.command.is_empty() {
            self.command = shorten(script);
        }
        self
    }

    pub(crate) fn refusal(self) -> Refusal {
        let suspect = self.category == Category::Suspect;
        let plainer = if suspect { "Write it more plainly, or ask" } else { "Ask" };
        let why = self.category.why();
        Refusal::new(format!(
            "refusing \"{}\" ({why}). {plainer} the user to run it themselves if it is really needed.",
            self.command
        ))
        .code(self.category.code())
    }
}

/// One line, and not too long a one.
fn shorten(text: &str) -> String {
    let mut line: String = text.trim().chars().take(QUOTED + 1).collect();
    if line.chars().count() > QUOTED {
        line.pop();
        line.push('…');
    }
    line.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::{Finding, QUOTED};
    use crate::category::Category;

    #[test]
    fn a_long_command_is_quoted_shortened_and_on_one_line() {
        let finding = Finding::new(Category::Rm, &format!("rm -rf a\nb{}", "ü".repeat(1000)));
        assert_eq!(finding.command.chars().count(), QUOTED + 1);
        assert!(finding.command.starts_with("rm -rf a bü") && finding.command.ends_with('…'));
    }

    #[test]
    fn a_command_without_a_text_is_quoted_by_its_script() {
        let finding = Finding::new(Category::Rm, "").or_quote("rm -rf x");
        assert!(finding.refusal().reason().starts_with("refusing \"rm -rf x\" ("));
    }
}
