//! `OpenAI` Codex: Claude Code's payload, a stricter reader of answers.
//!
//! It drops an answer that it does not understand whole, and then runs the call:
//! so a block is the one form that needs no JSON, with a reason that is never
//! empty. It cannot be made to ask.

use super::answer::HookAnswer;
use super::dialect::Dialect;
use super::event::Moment;
use super::objection::{self, Objection};

pub(super) static DIALECT: Dialect = Dialect { name: "codex", objects, ..Dialect::CLAUDE };

/// A decision about a result would take the result's place; words behind it do not.
fn objects(moment: Moment, event: &str, reason: &str) -> Objection {
    match moment {
        Moment::PromptSubmit | Moment::SubagentStop | Moment::Stop => objection::decision(reason),
        Moment::PostToolUse => Objection::Counts(HookAnswer::json(&objection::context(event, reason))),
        Moment::SessionStart => objection::message(reason),
        Moment::PostToolUseFailure | Moment::PreCompact | Moment::SessionEnd | Moment::PreToolUse => {
            objection::aside(HookAnswer::silent(), reason)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Agent, HookEvent};

    #[test]
    fn a_patch_arrives_under_its_own_name_and_untouched() {
        let payload = r#"{"session_id":"s","turn_id":"t","model":"m","transcript_path":null,"cwd":"/w","hook_event_name":"PreToolUse","tool_name":"apply_patch","tool_input":{"command":"*** Begin Patch\n*** End Patch"},"tool_use_id":"c"}"#;
        let HookEvent::PreToolUse(call) = Agent::Codex.read(payload.as_bytes()).unwrap().event else {
            panic!()
        };
        assert_eq!(call.tool, "apply_patch");
        assert_eq!(call.input.text(), r#"{"command":"*** Begin Patch\n*** End Patch"}"#);
    }

    #[test]
    fn a_block_always_has_a_reason_on_standard_error_and_nothing_else() {
        for reason in ["no", "", "\u{1b}"] {
            let answer = Agent::Codex.failure(reason);
            assert_eq!((answer.stdout.as_str(), answer.exit_code), ("", 2));
            assert!(!answer.stderr.trim().is_empty());
        }
    }
}
