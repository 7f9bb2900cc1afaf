//! A command that the guard objects to, and how it says so.

use std::borrow::Cow;

use portcullis_sdk::{Pipeline, Refusal};

use crate::category::Category;
use crate::pattern::Pattern;

/// How much of a command is quoted.
const QUOTED: usize = 200;

/// Who objects.
#[derive(Debug, Clone, Copy)]
enum Objection<'a> {
    Category(Category),
    Pattern(&'a Pattern),
}

#[derive(Debug, Clone)]
pub(crate) struct Finding<'a> {
    objection: Objection<'a>,
    command: Cow<'a, str>,
}

impl<'a> Finding<'a> {
    /// An objection to `command`, as it was written.
    pub(crate) fn new(category: Category, command: &'a str) -> Self {
        Self { objection: Objection::Category(category), command: Cow::Borrowed(command) }
    }

    /// The operator's own objection.
    pub(crate) fn by_pattern(pattern: &'a Pattern, command: &'a str) -> Self {
        Self { objection: Objection::Pattern(pattern), command: Cow::Borrowed(command) }
    }

    /// An objection to what the commands of a pipeline do together.
    pub(crate) fn of_pipeline(category: Category, pipeline: &Pipeline) -> Self {
        let sources: Vec<_> = pipeline.commands.iter().map(|command| command.source.as_str()).collect();
        Self { objection: Objection::Category(category), command: Cow::Owned(sources.join(" | ")) }
    }

    /// Quotes `script` where the command's own text is not known.
    pub(crate) fn or_quote(mut self, script: &'a str) -> Self {
        if self.command.is_empty() {
            self.command = Cow::Borrowed(script);
        }
        self
    }

    pub(crate) fn refusal(self) -> Refusal {
        let (code, why, step) = match self.objection {
            Objection::Category(category) => (category.code(), category.why(), category.safe_step()),
            Objection::Pattern(pattern) => (pattern.code(), pattern.reason(), None),
        };
        let command = quotable(&self.command);
        let (step, space) = step.map_or(("", ""), |step| (step, " "));
        Refusal::new(format!(
            "refusing \"{command}\" ({why}). {step}{space}\
             Ask the user to run it themselves if it is really needed."
        ))
        .code(code)
    }
}

/// One line, not too long a one, and none that shows otherwise than it is.
fn quotable(text: &str) -> String {
    let mut letters = text.trim().chars();
    let mut line: String = letters.by_ref().take(QUOTED).map(|c| if misleads(c) { ' ' } else { c }).collect();
    if letters.next().is_some() {
        line.push('…');
    }
    line
}

/// Control characters, and those that hide or reorder the text around them.
fn misleads(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::{Finding, QUOTED, quotable};
    use crate::category::Category;

    #[test]
    fn a_long_command_is_quoted_shortened_and_on_one_line() {
        let quoted = quotable(&format!("rm -rf a\nb{}", "ü".repeat(1000)));
        assert_eq!(quoted.chars().count(), QUOTED + 1);
        assert!(quoted.starts_with("rm -rf a bü") && quoted.ends_with('…'));
    }

    #[test]
    fn what_would_hide_or_reorder_text_is_not_quoted() {
        assert_eq!(quotable("rm -rf \u{202e}a\u{200b}b\u{1b}[2K"), "rm -rf  a b [2K");
    }

    #[test]
    fn a_command_without_a_text_is_quoted_by_its_script() {
        let finding = Finding::new(Category::Rm, "").or_quote("rm -rf x");
        assert!(finding.refusal().reason().starts_with("refusing \"rm -rf x\" ("));
    }

    #[test]
    fn a_safe_step_stands_before_the_hand_over() {
        let refusal = Finding::new(Category::GitPush, "git push -f").refusal();
        assert_eq!(
            refusal.reason(),
            "refusing \"git push -f\" (rewrites remote history). `git push --force-with-lease` loses nobody's \
             commits. Ask the user to run it themselves if it is really needed."
        );
    }
}
