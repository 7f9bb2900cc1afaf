//! The moments at which hooks are asked, and what they hear.

use std::fmt;
use std::str::FromStr;

use serde_json::{Value, json};

use crate::rule::Subject;

/// A moment of an agent's life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

/// One event, as it happens.
#[derive(Debug, Clone, Copy)]
pub struct Occasion<'a> {
    /// Which.
    pub event: Event,
    /// The agent's session.
    pub session_id: &'a str,
    /// The directory that the agent works in.
    pub cwd: &'a str,
    /// The call, for the events that are about one.
    pub call: Option<Subject<'a>>,
    /// The user's words, the tool's result, or the agent's last words.
    pub text: Option<&'a str>,
}

impl Occasion<'_> {
    /// What a hook hears.
    pub(super) fn payload(&self) -> Value {
        let mut payload = json!({
            "event": self.event.as_str(), "session_id": self.session_id, "cwd": self.cwd,
        });
        if let Some(object) = payload.as_object_mut() {
            if let Some(call) = &self.call {
                object.insert("tool".to_owned(), json!({ "name": call.tool, "input": call.input }));
            }
            if let Some(text) = self.text {
                object.insert("text".to_owned(), text.into());
            }
        }
        payload
    }
}
