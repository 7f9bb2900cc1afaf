//! Amp, which has plugins and no hook processes. Ours passes on the event that
//! Amp gives it as `payload`, and rejects the call unless the answer is
//! `{"block":false}`.

use super::dialect::{Dialect, Names};
use super::event::Moment;
use super::shim;

pub(super) static DIALECT: Dialect = Dialect {
    name: "amp",
    waits: shim::WAITS,
    events: &[
        ("session.start", Moment::SessionStart),
        ("agent.start", Moment::PromptSubmit),
        ("tool.call", Moment::PreToolUse),
        ("tool.result", Moment::PostToolUse),
        ("agent.end", Moment::Stop),
    ],
    names: Names {
        event: "event",
        session: "thread",
        cwd: "directory",
        id: "payload.toolUseID",
        tool: "payload.tool",
        input: "payload.input",
        prompt: "payload.message",
        output: &["payload.output", "payload.error"],
        ..Dialect::CLAUDE.names
    },
    failed: |fields| fields.peek("payload.status") == Some("error"),
    pass: |_| shim::pass(),
    block: shim::block,
    failure: shim::block,
    ..Dialect::CLAUDE
};

#[cfg(test)]
mod tests {
    use super::super::{Agent, HookEvent};

    const CALL: &str = r#"{"event":"tool.call","directory":"/w","thread":"T-1","payload":{"toolUseID":"t","tool":"shell_command","input":{"command":"ls","workdir":"sub"}}}"#;

    #[test]
    fn a_call_is_read_whole() {
        let request = Agent::Amp.read(CALL.as_bytes()).unwrap();
        let HookEvent::PreToolUse(call) = &request.event else { panic!() };
        assert_eq!((call.id.as_str(), call.tool.as_str(), call.cwd.as_str()), ("t", "shell_command", "/w"));
        assert_eq!(call.input.text(), r#"{"command":"ls","workdir":"sub"}"#);
        assert_eq!(request.no_objection().stdout, "{\"block\":false}\n");
    }

    #[test]
    fn what_a_call_came_to_is_told() {
        for (status, fails) in [("done", false), ("error", true)] {
            let payload = CALL
                .replace("tool.call", "tool.result")
                .replace(r#""toolUseID""#, &format!(r#""status":"{status}","toolUseID""#));
            let event = Agent::Amp.read(payload.as_bytes()).unwrap().event;
            assert!(matches!(event, HookEvent::PostToolUse { failed, .. } if failed == fails), "{status}");
        }
    }

    #[test]
    fn a_field_that_is_missing_is_named_with_its_path() {
        for (from, field) in [
            (r#""tool":"shell_command","#, "payload.tool"),
            (r#""thread":"T-1","#, "thread"),
            (r#""directory":"/w","#, "directory"),
        ] {
            let error = Agent::Amp.read(CALL.replace(from, "").as_bytes()).unwrap_err();
            assert!(error.to_string().contains(&format!("`{field}`")), "{error}");
        }
    }
}
