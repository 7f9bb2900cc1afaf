//! The moments in an agent's life that Portcullis tells apart.

use portcullis_model::call::ToolCall;

use crate::hook::Event;

/// What is about to happen, or has happened.
#[derive(Debug, Clone)]
pub enum HookEvent {
    /// A session begins, or goes on after a pause.
    SessionStart,
    /// The user has sent a prompt.
    PromptSubmit {
        /// The prompt's text.
        prompt: String,
    },
    /// A call that has not run yet: the one event that is judged.
    PreToolUse(Box<ToolCall>),
    /// A call that has run.
    PostToolUse {
        /// The call.
        call: Box<ToolCall>,
        /// True when the agent says that it failed.
        failed: bool,
        /// What came of it, or how it failed; empty where the agent does not say.
        output: String,
    },
    /// A sub-agent has finished.
    SubagentStop(Ending),
    /// The agent has finished its answer to a prompt.
    Stop(Ending),
    /// The agent is about to shorten what it remembers.
    PreCompact,
    /// A session is over.
    SessionEnd,
    /// Anything else, by the agent's own name for it.
    Other(String),
}

/// The end of an answer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    /// The last words, where the agent tells them.
    pub words: Option<String>,
    /// Whether the agent has gone on once already because a hook objected, where it
    /// tells that.
    pub again: Option<bool>,
}

/// What an agent's name for an event means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Moment {
    SessionStart,
    PromptSubmit,
    PreToolUse,
    PostToolUse,
    /// As `PostToolUse`, told by the event itself to have failed.
    PostToolUseFailure,
    SubagentStop,
    Stop,
    PreCompact,
    SessionEnd,
}

impl Moment {
    /// The event of ours.
    pub(super) const fn event(self) -> Event {
        match self {
            Self::SessionStart => Event::SessionStart,
            Self::PromptSubmit => Event::PromptSubmit,
            Self::PreToolUse => Event::PreToolUse,
            Self::PostToolUse | Self::PostToolUseFailure => Event::PostToolUse,
            Self::SubagentStop => Event::SubagentStop,
            Self::Stop => Event::Stop,
            Self::PreCompact => Event::PreCompact,
            Self::SessionEnd => Event::SessionEnd,
        }
    }
}

/// An agent's names for events, each with what it means.
pub(super) type Events = &'static [(&'static str, Moment)];

/// The names that Claude Code introduced and that others took over.
pub(super) const CLAUDE: Events = &[
    ("SessionStart", Moment::SessionStart),
    ("UserPromptSubmit", Moment::PromptSubmit),
    ("PreToolUse", Moment::PreToolUse),
    ("PostToolUse", Moment::PostToolUse),
    ("PostToolUseFailure", Moment::PostToolUseFailure),
    ("SubagentStop", Moment::SubagentStop),
    ("Stop", Moment::Stop),
    ("PreCompact", Moment::PreCompact),
    ("SessionEnd", Moment::SessionEnd),
];
