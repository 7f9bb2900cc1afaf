//! Gemini CLI.

use serde_json::json;

use super::answer::{HookAnswer, presentable};
use super::fields::Fields;
use super::{HookInputError, HookRequest};

pub(super) const BEFORE_TOOL: &str = "BeforeTool";
const TURN_END: &str = "AfterAgent";

/// The events that only this agent has.
pub(super) const EVENTS: [&str; 8] = [
    BEFORE_TOOL,
    "AfterTool",
    "BeforeAgent",
    TURN_END,
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "PreCompress",
];

/// A call of this agent has no id.
pub(super) fn read(fields: &mut Fields) -> Result<HookRequest, HookInputError> {
    fields.request(BEFORE_TOOL, TURN_END)
}

/// JSON and exit code 0: an exit code alone is ignored when nothing was written.
pub(super) fn block(reason: &str) -> HookAnswer {
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
        assert!(matches!(Agent::Gemini.read(payload.as_bytes()).unwrap().event, HookEvent::TurnEnd));
        for event in ["AfterTool", "BeforeToolSelection", "SessionStart"] {
            let payload = payload.replace("AfterAgent", event);
            assert!(
                matches!(Agent::Gemini.read(payload.as_bytes()).unwrap().event, HookEvent::Other(_)),
                "{event}"
            );
        }
    }

    #[test]
    fn a_block_is_a_deny_in_json() {
        let answer = Agent::Gemini.failure("no rm");
        assert_eq!(answer.stdout, "{\"decision\":\"deny\",\"reason\":\"no rm\"}\n");
        assert_eq!((answer.stderr.as_str(), answer.exit_code), ("", 0));
    }
}
