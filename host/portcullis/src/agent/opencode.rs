//! opencode, which has plugins and no hook processes. Ours passes on what
//! opencode gives it, and throws unless the answer is `{"block":false}`.

use super::dialect::{Dialect, Names};
use super::event::Moment;
use super::shim;

pub(super) static DIALECT: Dialect = Dialect {
    name: "opencode",
    waits: shim::WAITS,
    events: &[("tool.execute.before", Moment::PreToolUse)],
    names: Names {
        event: "event",
        session: "input.sessionID",
        cwd: "directory",
        id: "input.callID",
        tool: "input.tool",
        input: "output.args",
        ..Dialect::CLAUDE.names
    },
    pass: |_| shim::pass(),
    block: shim::block,
    failure: shim::block,
    ..Dialect::CLAUDE
};

#[cfg(test)]
mod tests {
    use super::super::{Agent, HookEvent};

    const CALL: &str = r#"{"event":"tool.execute.before","directory":"/w","input":{"tool":"bash","sessionID":"s","callID":"c"},"output":{"args":{"command":"ls"}}}"#;

    #[test]
    fn a_call_is_read_whole() {
        let request = Agent::OpenCode.read(CALL.as_bytes()).unwrap();
        let HookEvent::PreToolUse(call) = request.event else { panic!() };
        assert_eq!((call.id.as_str(), call.tool.as_str(), call.cwd.as_str()), ("c", "bash", "/w"));
        assert_eq!((call.session_id.as_str(), call.input.text()), ("s", r#"{"command":"ls"}"#));
    }

    #[test]
    fn a_field_that_is_missing_is_named_with_its_path() {
        for (from, to, field) in [
            (r#""tool":"bash","#, "", "input.tool"),
            (r#""sessionID":"s","#, "", "input.sessionID"),
            (r#""directory":"/w","#, "", "directory"),
            (r#""event":"tool.execute.before","#, "", "event"),
            (r#","output":{"args":{"command":"ls"}}"#, "", "output"),
        ] {
            let payload = CALL.replace(from, to);
            assert_ne!(payload, CALL);
            let error = Agent::OpenCode.read(payload.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(&format!("`{field}`")), "{error}");
        }
    }

    #[test]
    fn arguments_that_are_absent_are_left_to_the_gate() {
        let payload = CALL.replace(r#"{"args":{"command":"ls"}}"#, "{}");
        let HookEvent::PreToolUse(call) = Agent::OpenCode.read(payload.as_bytes()).unwrap().event else {
            panic!()
        };
        assert_eq!(call.input.text(), "null");
    }

    #[test]
    fn both_answers_are_json_at_exit_code_0() {
        let pass = Agent::OpenCode.read(CALL.as_bytes()).unwrap().no_objection();
        let block = Agent::OpenCode.failure("no");
        assert_eq!(pass.stdout, "{\"block\":false}\n");
        assert_eq!(block.stdout, "{\"block\":true,\"reason\":\"no\"}\n");
        assert_eq!((pass.exit_code, block.exit_code), (0, 0));
    }
}
