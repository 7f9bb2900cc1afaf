//! A template and what somebody typed become the text that a model is asked.

use super::dialect::Dialect;
use super::shell;
use super::template::{Piece, Slot, Template};
use crate::typed::words;

/// The most bytes of what a command comes to.
pub const EXPANSION_MAX: usize = 1 << 20;

/// Why a command comes to nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExpandError {
    /// It would be too long.
    #[error("it would come to more than {EXPANSION_MAX} bytes")]
    TooLong,
    /// An argument stands in a line for a shell and cannot be written there.
    #[error(
        "`{written}` stands in a line that is meant for a shell, where what was typed cannot be one \
         word; type it without backticks, braces and line breaks"
    )]
    Shell {
        /// The placeholder.
        written: String,
    },
}

/// Puts the arguments in. `typed` is the command as somebody types it, without them.
pub(super) fn expand(
    template: &Template,
    dialect: Dialect,
    names: usize,
    typed: &str,
    arguments: &str,
) -> Result<String, ExpandError> {
    let words = words(arguments);
    let (mut text, mut used) = (String::new(), false);
    for piece in &template.pieces {
        let (slot, written, at) = match piece {
            Piece::Text(own) => {
                text.push_str(own);
                continue;
            }
            Piece::Slot { slot, written, shell } => (*slot, written, shell),
        };
        match value(slot, dialect, names, &words, arguments) {
            None => text.push_str(written),
            Some(value) => {
                used = true;
                match at {
                    None => text.push_str(&value),
                    Some((region, quote)) => {
                        let word = shell::word(&value, *quote, *region);
                        text.push_str(&word.ok_or_else(|| ExpandError::Shell { written: written.clone() })?);
                    }
                }
            }
        }
        if text.len() > EXPANSION_MAX {
            return Err(ExpandError::TooLong);
        }
    }
    if !used && !arguments.trim().is_empty() {
        text.push_str("\n\n");
        text.push_str(dialect.introduction());
        if dialect == Dialect::Gemini {
            text.push('/');
            text.push_str(typed);
            text.push(' ');
        }
        text.push_str(arguments);
    }
    if text.len() > EXPANSION_MAX { Err(ExpandError::TooLong) } else { Ok(text) }
}

/// What stands for a placeholder; none when it stays as it is.
fn value(slot: Slot, dialect: Dialect, names: usize, words: &[String], line: &str) -> Option<String> {
    let missing = || (dialect == Dialect::OpenCode).then(String::new);
    match slot {
        Slot::All => Some(line.to_owned()),
        Slot::Nth(nth) => words.get(nth).cloned().or_else(missing),
        Slot::From(nth) => {
            words.get(nth..).filter(|rest| !rest.is_empty()).map(|rest| rest.join(" ")).or_else(missing)
        }
        // The last name takes what is left, as in a shell's `read`.
        Slot::Named(nth) if nth + 1 == names => Some(words.get(nth..).unwrap_or_default().join(" ")),
        Slot::Named(nth) => Some(words.get(nth).cloned().unwrap_or_default()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{EXPANSION_MAX, ExpandError, expand};
    use crate::command::dialect::Dialect;
    use crate::command::template::parse;

    fn own(dialect: Dialect, text: &str, arguments: &str) -> Result<String, ExpandError> {
        expand(&parse(text, dialect, &[]), dialect, 0, "x", arguments)
    }

    #[test]
    fn the_whole_line_is_put_in_as_it_was_typed_wherever_it_is_asked_for() {
        let two = |arguments: &str| own(Dialect::Own, "A $ARGUMENTS, B $ARGUMENTS.", arguments).unwrap();
        assert_eq!(two("it's \"odd\"\n $x"), "A it's \"odd\"\n $x, B it's \"odd\"\n $x.");
        assert_eq!(two(""), "A , B .");
        assert_eq!(two("$ARGUMENTS $1"), "A $ARGUMENTS $1, B $ARGUMENTS $1.", "never read again");
        assert_eq!(
            own(Dialect::Own, "$ARGUMENTSX $ARGUMENTS_ x$ARGUMENTS", "a").unwrap(),
            "$ARGUMENTSX $ARGUMENTS_ xa"
        );
    }

    #[test]
    fn arguments_that_nothing_asks_for_stand_at_the_end() {
        for (dialect, expected) in [
            (Dialect::Own, "Go.\n\nArguments: only the tests"),
            (Dialect::Claude, "Go.\n\nARGUMENTS: only the tests"),
            (Dialect::OpenCode, "Go.\n\nonly the tests"),
            (Dialect::Gemini, "Go.\n\n/x only the tests"),
        ] {
            assert_eq!(own(dialect, "Go.", "only the tests").unwrap(), expected);
            assert_eq!(own(dialect, "Go.", " ").unwrap(), "Go.");
        }
    }

    #[test]
    fn numbers_count_as_the_dialect_counts() {
        let text = "A=$0 B=$1 C=$2 D=$10";
        let line = "one \"two words\" three four";
        assert_eq!(own(Dialect::Own, text, line).unwrap(), "A=$0 B=one C=two words D=$10");
        assert_eq!(own(Dialect::Claude, text, line).unwrap(), "A=one B=two words C=three D=$10");
        assert_eq!(own(Dialect::OpenCode, text, line).unwrap(), "A=$0 B=one C=two words D=");
        assert_eq!(own(Dialect::OpenCode, "$1 | $2", "a b c").unwrap(), "a | b c");
        assert_eq!(own(Dialect::Claude, "$ARGUMENTS[1] $ARGUMENTS[7]", "a b").unwrap(), "b $ARGUMENTS[7]");
    }

    #[test]
    fn prices_and_escapes_are_text() {
        let text = "$5,000 and $1.50 and \\$1 and \\\\$1 and \\$ and $1x";
        for dialect in [Dialect::Own, Dialect::OpenCode] {
            assert_eq!(own(dialect, text, "a").unwrap(), "$5,000 and $1.50 and $1 and \\a and \\$ and $1x");
        }
        let nothing = "a $ b $x $$ $1";
        assert_eq!(own(Dialect::Own, nothing, "").unwrap(), nothing);
        assert_eq!(own(Dialect::Gemini, "$1 $ARGUMENTS \\{{args}}", "a").unwrap(), "$1 $ARGUMENTS \\a");
    }

    #[test]
    fn names_are_the_longest_that_fit_and_the_last_one_takes_the_rest() {
        let names = ["issue".to_owned(), "issue-two".to_owned(), "a.b".to_owned()];
        let fill = |text: &str, line: &str| {
            expand(&parse(text, Dialect::Claude, &names), Dialect::Claude, 3, "x", line).unwrap()
        };
        assert_eq!(fill("$issue $issues $issue-two|$a.b", "1 2 3 4"), "1 $issues 2|3 4");
        assert_eq!(fill("$issue|$issue-two|$a.b", "1"), "1||");
    }

    #[test]
    fn in_a_line_for_a_shell_an_argument_is_one_word_or_nothing_comes_of_it() {
        let inline = "Log: !`git log --grep $ARGUMENTS` and $ARGUMENTS";
        assert_eq!(
            own(Dialect::Claude, inline, "$(id)").unwrap(),
            "Log: !`git log --grep '$(id)'` and $(id)"
        );
        assert!(matches!(own(Dialect::Own, inline, "a`id`b"), Err(ExpandError::Shell { .. })));
        let block = "```!\ngit log \"$1\"\n```\n$1";
        assert_eq!(own(Dialect::Own, block, "'$x y'").unwrap(), "```!\ngit log \"\\$x y\"\n```\n$x y");
        assert_eq!(own(Dialect::Own, "word!`$1`", "a;b").unwrap(), "word!`a;b`", "no line for a shell");
        let braces = "!{rg {{args}} .} {{args}}";
        assert_eq!(own(Dialect::Gemini, braces, "it's").unwrap(), "!{rg 'it'\\''s' .} it's");
        assert!(matches!(own(Dialect::Gemini, braces, "}; id"), Err(ExpandError::Shell { .. })));
        assert_eq!(own(Dialect::Gemini, "!{a {b} {{args}}} {{args}}", "; x").unwrap(), "!{a {b} '; x'} ; x");
    }

    #[test]
    fn an_expansion_has_a_limit() {
        let text = "$ARGUMENTS".repeat(100);
        let long = "a".repeat(EXPANSION_MAX / 100);
        assert!(own(Dialect::Own, &text, &long).is_ok());
        assert_eq!(own(Dialect::Own, &text, &format!("{long}aaaa")), Err(ExpandError::TooLong));
    }

    proptest! {
        #[test]
        fn a_text_without_placeholders_stays(text in "[a-z{}`!\n ]{0,40}") {
            for dialect in [Dialect::Own, Dialect::Claude, Dialect::OpenCode, Dialect::Gemini] {
                prop_assert_eq!(own(dialect, &text, "").unwrap(), text.clone());
            }
        }

        #[test]
        fn whatever_is_typed_is_put_in_once(line in "[$A-Z0-9{}'\" ]{0,24}") {
            prop_assert_eq!(own(Dialect::Own, "<$ARGUMENTS>", &line).unwrap(), format!("<{line}>"));
        }
    }
}
