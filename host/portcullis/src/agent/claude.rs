//! Claude Code, and agents that copy its hooks.

use serde_json::json;

use super::answer::{HookAnswer, presentable};
use super::dialect::Dialect;
use super::event::Moment;
use super::objection::{self, Objection};

pub(super) static DIALECT: Dialect = Dialect { ask: Some(ask), objects, ..Dialect::CLAUDE };

fn objects(moment: Moment, event: &str, reason: &str) -> Objection {
    match moment {
        Moment::PreCompact => objection::decision(reason),
        Moment::SessionStart
        | Moment::PromptSubmit
        | Moment::PreToolUse
        | Moment::PostToolUse
        | Moment::PostToolUseFailure
        | Moment::SubagentStop
        | Moment::Stop
        | Moment::SessionEnd => follower(moment, event, reason),
    }
}

/// As the agents do that copied its hooks before a memory could be kept as it is.
pub(super) fn follower(moment: Moment, event: &str, reason: &str) -> Objection {
    match moment {
        Moment::PromptSubmit | Moment::PostToolUse | Moment::SubagentStop | Moment::Stop => {
            objection::decision(reason)
        }
        Moment::PostToolUseFailure => Objection::Counts(HookAnswer::json(&objection::context(event, reason))),
        Moment::SessionStart => objection::message_and_context(event, reason),
        Moment::PreCompact | Moment::SessionEnd | Moment::PreToolUse => {
            objection::aside(HookAnswer::silent(), reason)
        }
    }
}

/// Claude Code asks its user in every permission mode, and refuses the call when
/// there is no user to ask.
fn ask(reason: &str) -> HookAnswer {
    HookAnswer::json(&json!({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "ask",
            "permissionDecisionReason": presentable(reason),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::super::{Agent, HookEvent, HookInputError};

    const CALL: &str = r#"{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"ls"},"tool_use_id":"t"}"#;

    #[test]
    fn a_call_is_read_whole() {
        let request = Agent::Claude.read(CALL.as_bytes()).unwrap();
        let HookEvent::PreToolUse(call) = request.event else { panic!() };
        assert_eq!((call.id.as_str(), call.tool.as_str(), call.cwd.as_str()), ("t", "Bash", "/w"));
        assert_eq!((call.session_id.as_str(), call.input.text()), ("s", r#"{"command":"ls"}"#));
    }

    #[test]
    fn a_field_that_is_missing_or_mistyped_is_named() {
        for (from, to, field) in [
            (r#""session_id":"s","#, "", "session_id"),
            (r#""cwd":"/w","#, "", "cwd"),
            (r#""cwd":"/w""#, r#""cwd":"w""#, "cwd"),
            (r#""hook_event_name":"PreToolUse","#, "", "hook_event_name"),
            (r#""tool_name":"Bash","#, "", "tool_name"),
            (r#""tool_name":"Bash""#, r#""tool_name":7"#, "tool_name"),
            (r#""tool_use_id":"t""#, r#""tool_use_id":7"#, "tool_use_id"),
        ] {
            let payload = CALL.replace(from, to);
            assert_ne!(payload, CALL);
            let error = Agent::Claude.read(payload.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(&format!("`{field}`")), "{error}");
        }
    }

    #[test]
    fn arguments_that_are_absent_or_no_object_are_left_to_the_gate() {
        for (to, text) in [(r#""x":1"#, "null"), (r#""tool_input":"ls""#, r#""ls""#)] {
            let payload = CALL.replace(r#""tool_input":{"command":"ls"}"#, to);
            let HookEvent::PreToolUse(call) = Agent::Claude.read(payload.as_bytes()).unwrap().event else {
                panic!()
            };
            assert_eq!(call.input.text(), text);
        }
    }

    #[test]
    fn an_event_after_a_call_has_the_call_and_is_not_judged() {
        for (name, fails) in [("PostToolUse", false), ("PostToolUseFailure", true)] {
            let payload = CALL.replace("PreToolUse", name);
            let request = Agent::Claude.read(payload.as_bytes()).unwrap();
            let HookEvent::PostToolUse { call, failed, .. } = &request.event else { panic!("{name}") };
            assert_eq!((call.input.text(), *failed), (r#"{"command":"ls"}"#, fails));
            assert_eq!(request.no_objection().exit_code, 0);
        }
    }

    #[test]
    fn an_event_of_no_interest_is_told_by_its_name() {
        for event in ["PermissionRequest", "SubagentStart", "PostToolBatch", "PostCompact", "Notification"] {
            let payload = CALL.replace("PreToolUse", event);
            let request = Agent::Claude.read(payload.as_bytes()).unwrap();
            assert!(matches!(request.event, HookEvent::Other(name) if name == event));
        }
    }

    #[test]
    fn the_same_key_twice_is_refused_at_any_depth() {
        let payload = CALL.replace(r#"{"command":"ls"}"#, r#"{"command":"ls","command":"rm -rf /"}"#);
        assert!(matches!(Agent::Claude.read(payload.as_bytes()), Err(HookInputError::NotJson(_))));
    }

    #[test]
    fn a_block_is_exit_code_2_with_the_reason_on_standard_error() {
        let answer = Agent::Claude.failure("no rm");
        assert_eq!((answer.stdout.as_str(), answer.stderr.as_str(), answer.exit_code), ("", "no rm\n", 2));
    }

    #[test]
    fn ask_is_the_nested_decision() {
        let answer = super::ask("it \"pushes\"");
        assert_eq!(
            answer.stdout,
            "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"ask\",\"permissionDecisionReason\":\"it \\\"pushes\\\"\"}}\n"
        );
        assert_eq!((answer.stderr.as_str(), answer.exit_code), ("", 0));
    }
}
