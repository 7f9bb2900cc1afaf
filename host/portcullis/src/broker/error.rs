//! Why a server gave nothing, for those who call it.

use std::time::Duration;

use portcullis_mcp::client::{ClientError, Failure, VariableError};
use portcullis_model::extension::ExtensionError;

/// Why a server gave nothing. It is kept, so that whoever asks again too soon hears the
/// same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ServerError {
    /// A stable word, such as `server/ended`.
    pub(super) code: String,
    pub(super) reason: String,
    pub(super) remedy: String,
    /// The server may have done what it was asked all the same.
    pub(super) may_have_run: bool,
    /// Nothing can come of the connection any more.
    pub(super) is_end: bool,
}

impl ServerError {
    pub(super) fn new(code: &str, reason: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self {
            code: code.to_owned(),
            reason: reason.into(),
            remedy: remedy.into(),
            may_have_run: false,
            is_end: false,
        }
    }

    /// A tool that no list of the server's names.
    pub(super) fn no_such_tool(tool: &str, near: &[String]) -> Self {
        let remedy = if near.is_empty() {
            "the `mcp` tool lists what there is".to_owned()
        } else {
            format!("did you mean `{}`?", near.join("`, `"))
        };
        Self::new("server/no-such-tool", format!("it has no tool `{tool}`"), remedy)
    }

    pub(super) fn late(method: &str, time: Duration) -> Self {
        Failure::Late { method: method.to_owned(), time }.into()
    }

    pub(super) fn of(self, server: &str) -> ExtensionError {
        ExtensionError::Failed {
            extension: server.to_owned(),
            code: self.code,
            reason: self.reason,
            remedy: self.remedy,
        }
    }

    /// Reason and remedy in one, for people.
    pub(super) fn told(&self) -> String {
        format!("{}; {}", self.reason, self.remedy)
    }
}

impl From<Failure> for ServerError {
    fn from(failure: Failure) -> Self {
        ClientError::from(failure).into()
    }
}

impl From<ClientError> for ServerError {
    fn from(error: ClientError) -> Self {
        let failure = &error.failure;
        Self {
            code: failure.code().to_owned(),
            remedy: failure.remedy().to_owned(),
            may_have_run: error.may_have_run,
            is_end: failure.is_end(),
            reason: error.to_string(),
        }
    }
}

impl From<VariableError> for ServerError {
    fn from(error: VariableError) -> Self {
        Self::new("server/environment", error.to_string(), "correct `env` in the server's table")
    }
}
