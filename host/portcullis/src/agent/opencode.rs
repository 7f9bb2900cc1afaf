//! opencode, which has plugins and no hook processes. Ours is
//! `opencode_plugin.js`: it passes on what it is given, and throws unless the
//! answer is `{"block":false}`.

use portcullis_model::call::ToolCall;
use serde_json::{Value, json};

use super::answer::{HookAnswer, presentable};
use super::fields::Fields;
use super::{HookEvent, HookInputError, HookRequest};

pub(super) const BEFORE_TOOL: &str = "tool.execute.before";

const PLUGIN: &str = include_str!("opencode_plugin.js");
const BINARY: &str = "\"@PORTCULLIS@\"";

pub(super) fn read(fields: &mut Fields) -> Result<HookRequest, HookInputError> {
    let name = fields.text("event")?;
    let cwd = fields.directory("directory")?;
    let input = fields.object("input")?;
    let session_id = input.text("sessionID")?;
    if name != BEFORE_TOOL {
        return Ok(HookRequest { event: HookEvent::Other(name), session_id, cwd });
    }
    let call = ToolCall {
        id: input.optional_text("callID")?,
        tool: input.text("tool")?,
        input: fields.object("output")?.arguments("args")?,
        cwd: cwd.clone(),
        session_id: session_id.clone(),
    };
    Ok(HookRequest { event: HookEvent::PreToolUse(Box::new(call)), session_id, cwd })
}

pub(super) fn pass() -> HookAnswer {
    HookAnswer::json(&json!({"block": false}))
}

pub(super) fn block(reason: &str) -> HookAnswer {
    HookAnswer::json(&json!({"block": true, "reason": presentable(reason)}))
}

/// A JSON text is a JavaScript text too.
pub(super) fn plugin(binary: &str) -> String {
    PLUGIN.replace(BINARY, &Value::from(binary).to_string())
}

#[cfg(test)]
mod tests {
    use super::super::{Agent, HookEvent, opencode_plugin};
    use super::{BINARY, PLUGIN};

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
        let (pass, block) = (Agent::OpenCode.no_objection(), Agent::OpenCode.failure("no"));
        assert_eq!(pass.stdout, "{\"block\":false}\n");
        assert_eq!(block.stdout, "{\"block\":true,\"reason\":\"no\"}\n");
        assert_eq!((pass.exit_code, block.exit_code), (0, 0));
    }

    #[test]
    fn the_plugin_names_the_binary_once_and_quoted() {
        assert_eq!(PLUGIN.matches(BINARY).count(), 1);
        let source = opencode_plugin("C:\\Program Files\\\"portcullis\".exe");
        assert!(source.contains(r#"const PORTCULLIS = "C:\\Program Files\\\"portcullis\".exe";"#));
        assert!(!source.contains("@PORTCULLIS@"));
    }
}
