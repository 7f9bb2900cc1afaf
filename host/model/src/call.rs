//! One tool call, and what it does.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::input::Input;

/// What an agent is about to do, in the agent's own words.
#[derive(Debug, Clone)]
pub struct ToolCall {
    /// The agent's id for this call.
    pub id: String,
    /// The tool's name as the agent spells it.
    pub tool: String,
    /// The arguments.
    pub input: Input,
    /// Absolute path of the directory that the call runs in.
    pub cwd: String,
    /// The agent's session.
    pub session_id: String,
}

/// What a call of a tool needs for itself while it runs, in the words of whoever brings the
/// tool. Says that it writes, and not where: it is as if it were exclusive.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Claims {
    /// Conflicts with every other claimed writer.
    pub exclusive: bool,
    /// Writes nothing.
    pub read_only: bool,
    /// Patterns of the paths that it writes, such as `src/**`; of those that it reads, when
    /// it writes nothing.
    pub paths: Vec<String>,
}

/// One thing that a call does.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Effect {
    /// What sort of thing.
    pub kind: EffectKind,
    /// Script text, absolute path, URL, `SERVER/TOOL`, or the tool's name.
    pub target: String,
}

impl Effect {
    /// An effect of `kind` on `target`.
    #[must_use]
    pub fn new(kind: EffectKind, target: impl Into<String>) -> Self {
        Self { kind, target: target.into() }
    }
}

/// The vocabulary of effects. Open towards plugins: they see the word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EffectKind {
    /// Runs a script.
    Run,
    /// Reads a file or a directory.
    Read,
    /// Creates or changes a file.
    Write,
    /// Removes a file.
    Delete,
    /// Fetches a URL.
    Fetch,
    /// Calls a tool of an MCP server.
    Mcp,
    /// A tool that the host knows nothing of.
    Opaque,
}

impl EffectKind {
    /// Every kind, for rules and tests.
    pub const ALL: [Self; 7] =
        [Self::Run, Self::Read, Self::Write, Self::Delete, Self::Fetch, Self::Mcp, Self::Opaque];

    /// The word that plugins and programs see.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Fetch => "fetch",
            Self::Mcp => "mcp",
            Self::Opaque => "opaque",
        }
    }
}

impl fmt::Display for EffectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
