//! Why a server gave no result.

use std::fmt;
use std::time::Duration;

/// What went wrong.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// Nothing of that name can be started.
    #[error("there is no program `{0}`")]
    NoProgram(String),
    /// It is there, and does not start.
    #[error("`{program}` cannot be started: {why}")]
    Start {
        /// The program.
        program: String,
        /// What the system says.
        why: String,
    },
    /// The process is gone.
    #[error("its process has ended: {0}")]
    Ended(String),
    /// It says nothing.
    #[error("it did not answer `{method}` within {time:?}")]
    Late {
        /// What it was asked.
        method: String,
        /// How long it had.
        time: Duration,
    },
    /// It says too much.
    #[error("its answer is longer than {0} bytes")]
    TooLong(usize),
    /// It says something that is no answer.
    #[error("its answer cannot be used: {0}")]
    Answer(String),
    /// Nobody here speaks its version of the protocol.
    #[error("it speaks no version of MCP that is known here: {0}")]
    Version(String),
    /// It answered with an error of its own.
    #[error("it answered with error {code}: {message}")]
    Error {
        /// The JSON-RPC code.
        code: i64,
        /// Its words.
        message: String,
    },
    /// There is too much to send.
    #[error("the request is longer than {0} bytes")]
    Request(usize),
    /// It does not take what is sent to it.
    #[error("it does not read what is sent to it")]
    Stuck,
    /// Somebody here closed the connection.
    #[error("the connection was closed")]
    Closed,
}

impl Failure {
    /// A stable word.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NoProgram(_) => "server/no-program",
            Self::Start { .. } => "server/start",
            Self::Ended(_) => "server/ended",
            Self::Late { .. } => "server/late",
            Self::TooLong(_) => "server/too-long",
            Self::Answer(_) => "server/answer",
            Self::Version(_) => "server/version",
            Self::Error { .. } => "server/error",
            Self::Request(_) => "server/request",
            Self::Stuck => "server/stuck",
            Self::Closed => "server/closed",
        }
    }

    /// What can be done about it.
    #[must_use]
    pub const fn remedy(&self) -> &'static str {
        match self {
            Self::NoProgram(_) => "install it, or correct `command` in the server's table",
            Self::Start { .. } => "correct `command`, or the rights of the file",
            Self::Ended(_) => "look at what it says, and at `args` and `env` in its table",
            Self::Late { .. } => "give it more time in its table, or look at why it hangs",
            Self::TooLong(_) => "ask it for less at once",
            Self::Answer(_) | Self::Error { .. } => "tell its makers, or use another version of it",
            Self::Version(_) => "use a version of it that speaks 2025-11-25 or 2026-07-28",
            Self::Request(_) => "send less at once",
            Self::Stuck | Self::Closed => "try again",
        }
    }

    /// The connection cannot be used any more.
    #[must_use]
    pub const fn is_end(&self) -> bool {
        matches!(self, Self::NoProgram(_) | Self::Start { .. } | Self::Ended(_) | Self::Stuck | Self::Closed)
    }
}

/// Why a request has no result, and what is known besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientError {
    /// What went wrong.
    pub failure: Failure,
    /// The server may have done what it was asked all the same.
    pub may_have_run: bool,
    /// The end of what it says on its standard error, without secrets; empty when it says
    /// nothing.
    pub said: String,
}

impl ClientError {
    /// One of a request that never reached the server.
    #[must_use]
    pub const fn unsent(failure: Failure) -> Self {
        Self { failure, may_have_run: false, said: String::new() }
    }
}

impl From<Failure> for ClientError {
    fn from(failure: Failure) -> Self {
        Self::unsent(failure)
    }
}

impl std::error::Error for ClientError {}

impl fmt::Display for ClientError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.failure.fmt(f)?;
        if !self.said.is_empty() {
            write!(f, "; it says: {}", self.said)?;
        }
        Ok(())
    }
}
