//! goose.

use serde_json::json;

use super::answer::HookAnswer;
use super::dialect::{Dialect, Names, SHORT};
use super::error::HookInputError;
use super::event::Moment;
use super::fields::Fields;
use super::objection::{self, Objection};

pub(super) static DIALECT: Dialect = Dialect {
    name: "goose",
    waits: SHORT,
    events: &[
        ("SessionStart", Moment::SessionStart),
        ("UserPromptSubmit", Moment::PromptSubmit),
        ("PreToolUse", Moment::PreToolUse),
        ("PostToolUse", Moment::PostToolUse),
        ("PostToolUseFailure", Moment::PostToolUseFailure),
        ("Stop", Moment::Stop),
        ("SessionEnd", Moment::SessionEnd),
    ],
    names: Names {
        event: "event",
        cwd: "working_dir",
        id: "tool_call_id",
        prompt: "message",
        ..Dialect::CLAUDE.names
    },
    cwd,
    pass: |_| pass(),
    objects,
    ..Dialect::CLAUDE
};

/// Apart from a call only the end of an answer can be blocked; the rest is told.
fn objects(moment: Moment, _: &str, reason: &str) -> Objection {
    match moment {
        Moment::Stop => Objection::Counts(HookAnswer::exit_2(reason)),
        Moment::SessionStart
        | Moment::PromptSubmit
        | Moment::PreToolUse
        | Moment::PostToolUse
        | Moment::PostToolUseFailure
        | Moment::SubagentStop
        | Moment::PreCompact
        | Moment::SessionEnd => objection::aside(HookAnswer::silent(), reason),
    }
}

/// Only events about a call say where it runs. A `Stop` that could not be read would
/// be refused, which keeps the turn from ending.
fn cwd(names: &Names, fields: &Fields) -> Result<String, HookInputError> {
    if fields.has(names.tool) { fields.directory(names.cwd) } else { fields.directory_or_here(names.cwd) }
}

/// In so many words, because goose tells a decision from none: what it does
/// without one is up to `on_failure`.
fn pass() -> HookAnswer {
    HookAnswer::json(&json!({"decision": "allow"}))
}

#[cfg(test)]
mod tests {
    use super::super::{Agent, HookEvent};

    const CALL: &str = r#"{"event":"PreToolUse","session_id":"s","matcher_context":"developer__shell","tool_name":"developer__shell","tool_input":{"command":"ls"},"working_dir":"/w","tool_call_id":"c"}"#;

    #[test]
    fn a_call_is_read_whole() {
        let request = Agent::Goose.read(CALL.as_bytes()).unwrap();
        let HookEvent::PreToolUse(call) = &request.event else { panic!() };
        assert_eq!(
            (call.id.as_str(), call.tool.as_str(), call.cwd.as_str()),
            ("c", "developer__shell", "/w")
        );
        assert_eq!(request.no_objection().stdout, "{\"decision\":\"allow\"}\n");
    }

    #[test]
    fn the_end_of_a_turn_does_not_say_where_it_is_and_a_call_does() {
        let read = |payload: &str| Agent::Goose.read_in(payload.as_bytes(), Some("/here"));
        let stop = read(r#"{"event":"Stop","session_id":"s","last_assistant_message":"Done."}"#).unwrap();
        assert!(matches!(stop.event, HookEvent::Stop(_)) && stop.cwd == "/here");
        assert!(read(&CALL.replace(r#","working_dir":"/w""#, "")).is_err());
    }

    #[test]
    fn an_event_that_cannot_block_is_not_taken_for_a_call() {
        let payload = CALL.replace("PreToolUse", "BeforeShellExecution");
        assert!(Agent::Goose.read(payload.as_bytes()).is_err());
        let payload = r#"{"event":"UserPromptSubmit","session_id":"s","message":"go"}"#;
        let event = Agent::Goose.read_in(payload.as_bytes(), Some("/here")).unwrap().event;
        assert!(matches!(event, HookEvent::PromptSubmit { prompt } if prompt == "go"));
    }
}
