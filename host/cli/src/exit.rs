//! Exit codes.

use std::process::ExitCode;

/// How a run of the command line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done, or allowed.
    Done,
    /// The answer is no, or the input is wrong.
    No,
    /// Something was refused.
    Refused,
    /// The host itself failed.
    Internal,
    /// The code that an agent's hook contract asks for.
    Agent(u8),
}

impl Exit {
    /// The code that the system is given.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::No => 1,
            Self::Refused => 2,
            Self::Internal => 3,
            Self::Agent(code) => code,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}
