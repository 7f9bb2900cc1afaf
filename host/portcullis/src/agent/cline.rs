//! Cline: the extension, whose events hold what they are about in a field of the
//! event's name, and the command line, whose calls are in `tool_call` and whose events
//! have names of their own.

use serde_json::json;

use super::answer::{HookAnswer, presentable};
use super::dialect::{self, Call, Dialect, Names, SHORT};
use super::error::HookInputError;
use super::event::Moment;
use super::fields::Fields;
use super::objection::{self, Objection};

/// It cannot be made to ask.
pub(super) static DIALECT: Dialect = Dialect {
    name: "cline",
    waits: SHORT,
    events: &[
        ("TaskStart", Moment::SessionStart),
        ("TaskResume", Moment::SessionStart),
        ("agent_start", Moment::SessionStart),
        ("UserPromptSubmit", Moment::PromptSubmit),
        ("PreToolUse", Moment::PreToolUse),
        ("tool_call", Moment::PreToolUse),
        ("PostToolUse", Moment::PostToolUse),
        ("tool_result", Moment::PostToolUse),
        ("PreCompact", Moment::PreCompact),
        ("TaskComplete", Moment::Stop),
        ("agent_end", Moment::Stop),
    ],
    names: Names {
        event: "hookName",
        session: "taskId",
        cwd: "workspaceRoots",
        id: "",
        tool: "",
        input: "",
        prompt: "userPromptSubmit.prompt",
        output: &["postToolUse.result", "tool_result.output", "postToolUse.error"],
        words: "taskComplete.result",
    },
    cwd: |names, fields| fields.first_directory(names.cwd),
    call,
    failed: |fields| fields.get("postToolUse.success").is_some_and(|told| *told == false || *told == "false"),
    pass: |_| HookAnswer::json(&json!({"cancel": false})),
    block,
    objects,
    failure: block,
    ..Dialect::CLAUDE
};

fn call(_: &Names, fields: &mut Fields, event: &str) -> Result<Call, HookInputError> {
    let either = |tool: &'static str, or: &'static str| if fields.has(or) { or } else { tool };
    let (id, tool, input) = match event {
        "PostToolUse" => ("", either("postToolUse.toolName", "postToolUse.tool"), "postToolUse.parameters"),
        "PreToolUse" if !fields.has("tool_call") => {
            ("", either("preToolUse.toolName", "preToolUse.tool"), "preToolUse.parameters")
        }
        "tool_result" => ("tool_result.id", "tool_result.name", "tool_result.input"),
        _ => ("tool_call.id", "tool_call.name", "tool_call.input"),
    };
    dialect::call(&Names { id, tool, input, ..Dialect::CLAUDE.names }, fields)
}

/// A task that is cancelled when it begins does not begin, and neither does a prompt.
fn objects(moment: Moment, _: &str, reason: &str) -> Objection {
    match moment {
        Moment::SessionStart | Moment::PromptSubmit => Objection::Counts(block(reason)),
        Moment::PostToolUse => Objection::Counts(HookAnswer::json(&json!({
            "cancel": false, "contextModification": presentable(reason),
        }))),
        Moment::PreToolUse
        | Moment::PostToolUseFailure
        | Moment::SubagentStop
        | Moment::Stop
        | Moment::PreCompact
        | Moment::SessionEnd => objection::aside(HookAnswer::silent(), reason),
    }
}

fn block(reason: &str) -> HookAnswer {
    HookAnswer::json(&json!({"cancel": true, "errorMessage": presentable(reason)}))
}

#[cfg(test)]
mod tests {
    use super::super::{Agent, HookEvent, HookInputError, HookRequest};
    use serde_json::{Value, json};

    fn request(fields: &Value) -> Result<HookRequest, HookInputError> {
        let mut payload = json!({"clineVersion": "3.40.0", "timestamp": "1", "taskId": "t", "workspaceRoots": ["/w"], "userId": "u"});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        Agent::Cline.read(payload.to_string().as_bytes())
    }

    #[test]
    fn a_call_is_read_in_every_form() {
        let input = json!({"command": "ls", "requires_approval": "false"});
        for fields in [
            json!({"hookName": "PreToolUse", "preToolUse": {"toolName": "execute_command", "parameters": input}}),
            json!({"hookName": "PreToolUse", "preToolUse": {"tool": "execute_command", "parameters": input}}),
            json!({"hookName": "PreToolUse", "tool_call": {"name": "execute_command", "input": input}}),
            json!({"hookName": "tool_call", "tool_call": {"id": "c", "name": "execute_command", "input": input}}),
        ] {
            let request = request(&fields).unwrap();
            let HookEvent::PreToolUse(call) = &request.event else { panic!("{fields}") };
            assert_eq!((call.tool.as_str(), call.cwd.as_str()), ("execute_command", "/w"));
            assert_eq!(call.input.value(), &input);
            assert_eq!(request.no_objection().stdout, "{\"cancel\":false}\n");
        }
    }

    #[test]
    fn a_field_that_is_missing_is_named() {
        for (fields, field) in [
            (json!({"hookName": "PreToolUse"}), "preToolUse"),
            (json!({"hookName": "PreToolUse", "preToolUse": {"parameters": {}}}), "preToolUse.toolName"),
            (json!({"hookName": "tool_call", "tool_call": {}}), "tool_call.name"),
            (json!({"hookName": "TaskStart", "workspaceRoots": []}), "workspaceRoots"),
            (json!({"hookName": "TaskStart", "taskId": null}), "taskId"),
            (json!({"preToolUse": {"toolName": "x"}}), "hookName"),
        ] {
            let error = request(&fields).unwrap_err().to_string();
            assert!(error.contains(&format!("`{field}`")), "{fields}: {error}");
        }
    }

    #[test]
    fn what_a_call_came_to_is_told() {
        for (success, fails) in [(json!(true), false), (json!(false), true), (json!("false"), true)] {
            let done = json!({"toolName": "read_file", "parameters": {}, "success": success});
            let event = request(&json!({"hookName": "PostToolUse", "postToolUse": done})).unwrap().event;
            assert!(matches!(event, HookEvent::PostToolUse { failed, .. } if failed == fails));
        }
    }

    #[test]
    fn a_block_is_a_cancel_with_a_message() {
        let answer = Agent::Cline.failure("no rm");
        assert_eq!(answer.stdout, "{\"cancel\":true,\"errorMessage\":\"no rm\"}\n");
        assert_eq!((answer.stderr.as_str(), answer.exit_code), ("", 0));
    }
}
