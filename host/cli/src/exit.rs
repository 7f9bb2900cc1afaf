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

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::No => 1,
            Exit::Refused => 2,
            Exit::Internal => 3,
            Exit::Agent(code) => code,
        })
    }
}
