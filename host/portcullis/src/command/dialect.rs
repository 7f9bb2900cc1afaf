//! How the placeholders of a command are written, which depends on whose file it is.

use std::fmt;

use serde::Serialize;

/// Whose rules a file follows. In each of them an argument is put in once and never
/// looked at again, a price such as `$5,000` is text, and `\$1` stands for `$1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// Our own: `$ARGUMENTS`, `$1` and up, and the names of `arguments`. A number without
    /// an argument stays as it is.
    Own,
    /// Claude Code's, and that of skills: as our own, but numbers count from 0, and
    /// `$ARGUMENTS[0]` is `$0`.
    Claude,
    /// opencode's: numbers count from 1, the highest one takes all that is left, and one
    /// without an argument is empty.
    OpenCode,
    /// Gemini CLI's: `{{args}}`.
    Gemini,
}

impl Dialect {
    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Claude => "claude",
            Self::OpenCode => "opencode",
            Self::Gemini => "gemini",
        }
    }

    /// What stands before arguments that no placeholder takes.
    pub(super) const fn introduction(self) -> &'static str {
        match self {
            Self::Own => "Arguments: ",
            Self::Claude => "ARGUMENTS: ",
            Self::OpenCode | Self::Gemini => "",
        }
    }

    /// The number of the first argument.
    pub(super) const fn first(self) -> usize {
        match self {
            Self::Claude => 0,
            Self::Own | Self::OpenCode | Self::Gemini => 1,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
