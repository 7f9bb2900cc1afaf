//! The moments at which hooks are asked, and what they hear.

use std::fmt;
use std::str::FromStr;

/// A moment of an agent's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Event {
    /// A session begins.
    SessionStart,
    /// The user has said something.
    PromptSubmit,
    /// A tool is about to run.
    PreToolUse,
    /// A tool has run, or has failed.
    PostToolUse,
    /// A worker of the agent has finished.
    SubagentStop,
    /// The agent has finished its answer.
    Stop,
    /// The agent is about to shorten its memory.
    PreCompact,
    /// A session ends.
    SessionEnd,
}

impl Event {
    /// Every event, in the order of a session.
    pub const ALL: [Self; 8] = [
        Self::SessionStart,
        Self::PromptSubmit,
        Self::PreToolUse,
        Self::PostToolUse,
        Self::SubagentStop,
        Self::Stop,
        Self::PreCompact,
        Self::SessionEnd,
    ];

    /// Whether it is about a tool call.
    #[must_use]
    pub const fn is_about_a_call(self) -> bool {
        matches!(self, Self::PreToolUse | Self::PostToolUse)
    }

    /// The word in configuration files and for hooks.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "session-start",
            Self::PromptSubmit => "prompt-submit",
            Self::PreToolUse => "pre-tool-use",
            Self::PostToolUse => "post-tool-use",
            Self::SubagentStop => "subagent-stop",
            Self::Stop => "stop",
            Self::PreCompact => "pre-compact",
            Self::SessionEnd => "session-end",
        }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Event {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL.into_iter().find(|event| event.as_str() == text).ok_or_else(|| {
            format!("no such event (known: {}): `{text}`", Self::ALL.map(Self::as_str).join(", "))
        })
    }
}
