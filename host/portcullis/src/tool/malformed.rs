//! Calls that cannot be understood.

use super::path::PathError;
use super::text::shown;

/// Why a call cannot be understood. Such a call must not run.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Malformed {
    /// A stable word, one of [`CODES`].
    pub code: &'static str,
    /// For the model: which tool, which field, and what is expected.
    pub reason: String,
}

impl Malformed {
    pub(super) fn new(code: &'static str, reason: impl Into<String>) -> Self {
        Self { code, reason: reason.into() }
    }
}

/// Every code of [`Malformed`], with what it means.
pub const CODES: [(&str, &str); 10] = [
    (
        "input/tool-name",
        "The tool's name is empty, longer than 256 bytes, holds invisible characters, or only looks like a known one.",
    ),
    ("input/not-an-object", "The arguments are not a JSON object."),
    ("input/no-command", "A tool that runs a command got none that is text."),
    ("input/no-path", "A tool that changes files got no path, or one that is not text."),
    ("input/no-url", "A tool that fetches got no URL."),
    ("input/no-mcp-tool", "A call to an MCP server does not name exactly one server and one tool."),
    ("input/path", "A path holds a NUL character, or has more than 8192 bytes."),
    ("input/cwd", "The directory of the call is not absolute, or the call names more than one."),
    ("input/too-many", "The call has more than 10,000 effects."),
    ("input/batch", "A batch holds no calls, more than 1000, or batches nested more than 4 deep."),
];

pub(super) fn no_command(name: &str) -> Malformed {
    let reason = format!("the tool `{name}` needs a command, as text, in the field `command`");
    Malformed::new("input/no-command", reason)
}

pub(super) fn no_url(name: &str) -> Malformed {
    Malformed::new("input/no-url", format!("the tool `{name}` needs a URL, as text, in the field `url`"))
}

pub(super) fn no_path(name: &str) -> Malformed {
    let reason = format!("the tool `{name}` names no file that it would touch: give its path as text");
    Malformed::new("input/no-path", reason)
}

pub(super) fn bad_path(name: &str, path: &str, error: PathError) -> Malformed {
    match error {
        PathError::Nul => {
            let reason =
                format!("the tool `{name}` was given a path with a NUL character: `{}`", shown(path));
            Malformed::new("input/path", reason)
        }
        PathError::Long => {
            let reason =
                format!("the tool `{name}` was given a path of more than 8192 bytes: `{}`", shown(path));
            Malformed::new("input/path", reason)
        }
        PathError::Relative => Malformed::new(
            "input/cwd",
            format!("the tool `{name}` was given a directory that is not absolute"),
        ),
    }
}
