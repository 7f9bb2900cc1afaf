//! Gemini CLI.

use std::time::Duration;

use serde_json::json;

use super::answer::{HookAnswer, presentable};
use super::dialect::{Dialect, Names};
use super::event::Moment;
use super::objection::{self, Objection};

/// A call of this agent has no id.
pub(super) static DIALECT: Dialect = Dialect {
    name: "gemini",
    waits: Duration::from_secs(60),
    events: &[
        ("SessionStart", Moment::SessionStart),
        ("BeforeAgent", Moment::PromptSubmit),
        ("BeforeTool", Moment::PreToolUse),
        ("AfterTool", Moment::PostToolUse),
        ("AfterAgent", Moment::Stop),
        ("PreCompress", Moment::PreCompact),
        ("SessionEnd", Moment::SessionEnd),
    ],
    failed: |fields| fields.has("tool_response.error"),
    names: Names {
        output: &["tool_response.llmContent", "tool_response"],
        words: "prompt_response",
        ..Dialect::CLAUDE.names
    },
    block,
    objects,
    failure: block,
    ..Dialect::CLAUDE
};

/// A deny after a call would take the result's place; words behind it do not. Its first
/// and its last event, and the one before a memory is shortened, are only told.
fn objects(moment: Moment, event: &str, reason: &str) -> Objection {
    match moment {
        Moment::PromptSubmit | Moment::Stop => Objection::Counts(block(reason)),
        Moment::PostToolUse => Objection::Counts(HookAnswer::json(&objection::context(event, reason))),
        Moment::SessionStart => objection::message_and_context(event, reason),
        Moment::PreCompact | Moment::SessionEnd => objection::message(reason),
        Moment::PostToolUseFailure | Moment::SubagentStop | Moment::PreToolUse => {
            objection::aside(HookAnswer::silent(), reason)
        }
    }
}

/// The events that only this agent has.
pub(super) const OWN_EVENTS: [&str; 8] = [
    "BeforeTool",
    "AfterTool",
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "PreCompress",
];

/// JSON and exit code 0: an exit code alone is ignored when nothing was written.
fn block(reason: &str) -> HookAnswer {
    HookAnswer::json(&json!({"decision": "deny", "reason": presentable(reason)}))
}

#[cfg(test)]
mod tests {
    use super::super::{Agent, HookEvent};

    #[test]
    fn a_call_is_read_although_it_has_no_id() {
        let payload = r#"{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","tool_name":"run_shell_command","tool_input":{"command":"ls"}}"#;
        let HookEvent::PreToolUse(call) = Agent::Gemini.read(payload.as_bytes()).unwrap().event else {
            panic!()
        };
        assert_eq!((call.id.as_str(), call.tool.as_str()), ("", "run_shell_command"));
    }

    #[test]
    fn the_end_of_a_turn_is_known_and_other_events_are_not_judged() {
        let payload = r#"{"session_id":"s","cwd":"/w","hook_event_name":"AfterAgent"}"#;
        assert!(matches!(Agent::Gemini.read(payload.as_bytes()).unwrap().event, HookEvent::Stop(_)));
        for event in ["BeforeToolSelection", "BeforeModel", "Notification"] {
            let payload = payload.replace("AfterAgent", event);
            assert!(
                matches!(Agent::Gemini.read(payload.as_bytes()).unwrap().event, HookEvent::Other(_)),
                "{event}"
            );
        }
    }

    #[test]
    fn a_call_has_failed_when_its_response_holds_an_error() {
        for (response, fails) in [("{}", false), (r#"{"error":null}"#, false), (r#"{"error":{"x":1}}"#, true)]
        {
            let payload = format!(
                r#"{{"session_id":"s","cwd":"/w","hook_event_name":"AfterTool","tool_name":"glob","tool_response":{response}}}"#
            );
            let event = Agent::Gemini.read(payload.as_bytes()).unwrap().event;
            assert!(matches!(event, HookEvent::PostToolUse { failed, .. } if failed == fails), "{response}");
        }
    }

    #[test]
    fn a_block_is_a_deny_in_json() {
        let answer = Agent::Gemini.failure("no rm");
        assert_eq!(answer.stdout, "{\"decision\":\"deny\",\"reason\":\"no rm\"}\n");
        assert_eq!((answer.stderr.as_str(), answer.exit_code), ("", 0));
    }
}
