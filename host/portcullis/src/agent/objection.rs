//! How a hook's no is said at an event that is not before a call.

use serde_json::{Value, json};

use super::answer::{HookAnswer, presentable};
use super::event::Moment;

/// A hook's no, as an agent takes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Objection {
    /// The agent does as it should: it withholds the prompt, goes on, shows the reason
    /// with the result, or leaves its memory as it is.
    Counts(HookAnswer),
    /// The agent cannot be made to. At most somebody reads it.
    Told(HookAnswer),
}

/// Says it; `event` is the agent's own name for the moment.
pub(super) type Says = fn(Moment, &str, &str) -> Objection;

/// `{"decision":"block"}` with the reason, as Claude Code introduced it.
pub(super) fn decision(reason: &str) -> Objection {
    Objection::Counts(HookAnswer::json(&json!({"decision": "block", "reason": presentable(reason)})))
}

/// Words for the model, which stand behind what it reads anyway.
pub(super) fn context(event: &str, reason: &str) -> Value {
    json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": presentable(reason)}})
}

/// Words for the user alone.
pub(super) fn message(reason: &str) -> Objection {
    Objection::Told(HookAnswer::json(&json!({"systemMessage": presentable(reason)})))
}

/// Words for the user and for the model, which keep nothing from going on.
pub(super) fn message_and_context(event: &str, reason: &str) -> Objection {
    let mut said = context(event, reason);
    if let Some(said) = said.as_object_mut() {
        said.insert("systemMessage".to_owned(), presentable(reason).into());
    }
    Objection::Told(HookAnswer::json(&said))
}

/// Standard error, beside whatever passes. Most agents write it to a log.
pub(super) fn aside(pass: HookAnswer, reason: &str) -> Objection {
    Objection::Told(HookAnswer { stderr: format!("{}\n", presentable(reason)), ..pass })
}

/// No event but the one before a call can be blocked.
pub(super) fn nothing_counts(_: Moment, _: &str, reason: &str) -> Objection {
    aside(HookAnswer::silent(), reason)
}
