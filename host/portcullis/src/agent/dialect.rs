//! What makes one agent's hook differ from another's: data, and the few
//! functions that no table can hold.

use std::time::Duration;

use portcullis_model::input::Input;
use serde_json::Value;

use super::answer::HookAnswer;
use super::error::HookInputError;
use super::event::{self, Events, HookEvent, Moment};
use super::fields::Fields;
use super::objection::{self, Says};

/// How one agent speaks to its hook, and is spoken to.
#[derive(Debug)]
pub(super) struct Dialect {
    /// The name that `--agent` takes.
    pub(super) name: &'static str,
    /// How long it waits for its hook when its configuration does not say.
    pub(super) waits: Duration,
    pub(super) events: Events,
    pub(super) names: Names,
    /// The event's name, in this agent's words.
    pub(super) event: fn(&Names, &Fields) -> Result<String, HookInputError>,
    /// The directory that the agent, or the call, runs in.
    pub(super) cwd: fn(&Names, &Fields) -> Result<String, HookInputError>,
    /// The call that the event is about.
    pub(super) call: fn(&Names, &mut Fields, &str) -> Result<Call, HookInputError>,
    /// Whether a call that has run is said to have failed.
    pub(super) failed: fn(&Fields) -> bool,
    /// Whether the agent says that it has gone on already because a hook objected.
    pub(super) again: fn(&Fields) -> Option<bool>,
    /// Whether the user or an error brought about the end of an answer. Nobody is sent
    /// on then.
    pub(super) cut_short: fn(&Fields) -> bool,
    /// Nothing to say against an event.
    pub(super) pass: fn(&HookEvent) -> HookAnswer,
    /// A refusal.
    pub(super) block: fn(&str) -> HookAnswer,
    /// A hook's no at any other event.
    pub(super) objects: Says,
    /// A refusal because no judgement could be had. It may have to be
    /// understood by a reader whose form of the payload nobody knows.
    pub(super) failure: fn(&str) -> HookAnswer,
    /// A question to the user; none where the agent cannot be made to ask.
    pub(super) ask: Option<fn(&str) -> HookAnswer>,
}

/// Where a payload holds what. A dot leads into an object.
#[derive(Debug, Clone, Copy)]
pub(super) struct Names {
    pub(super) event: &'static str,
    pub(super) session: &'static str,
    pub(super) cwd: &'static str,
    pub(super) id: &'static str,
    pub(super) tool: &'static str,
    pub(super) input: &'static str,
    pub(super) prompt: &'static str,
    /// What came of a call: the first of these that is there.
    pub(super) output: &'static [&'static str],
    /// The last words of an answer.
    pub(super) words: &'static str,
}

/// A call, before it is known where it runs.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) input: Input,
}

/// The shortest time that any of them waits, and what is assumed of those that
/// do not say.
pub(super) const SHORT: Duration = Duration::from_secs(30);

impl Dialect {
    /// The payload that Claude Code introduced, and the answer that most agents
    /// understand: exit code 2 with the reason on standard error.
    pub(super) const CLAUDE: Self = Self {
        name: "claude",
        waits: Duration::from_secs(600),
        events: event::CLAUDE,
        names: Names {
            event: "hook_event_name",
            session: "session_id",
            cwd: "cwd",
            id: "tool_use_id",
            tool: "tool_name",
            input: "tool_input",
            prompt: "prompt",
            output: &["tool_response", "tool_output", "error"],
            words: "last_assistant_message",
        },
        event: |names, fields| fields.text(names.event),
        cwd: |names, fields| fields.directory(names.cwd),
        call: |names, fields, _| call(names, fields),
        failed: |_| false,
        again: |fields| fields.get("stop_hook_active").and_then(Value::as_bool),
        cut_short: |_| false,
        pass: |_| HookAnswer::silent(),
        block: HookAnswer::exit_2,
        objects: objection::nothing_counts,
        failure: HookAnswer::exit_2,
        ask: None,
    };

    /// What this agent means by an event's name.
    pub(super) fn moment(&self, event: &str) -> Option<Moment> {
        self.events.iter().find(|(name, _)| *name == event).map(|(_, moment)| *moment)
    }
}

/// The call, from the fields that the names say.
pub(super) fn call(names: &Names, fields: &mut Fields) -> Result<Call, HookInputError> {
    Ok(Call {
        id: fields.optional_text(names.id)?,
        tool: fields.text(names.tool)?,
        input: fields.arguments(names.input)?,
    })
}
