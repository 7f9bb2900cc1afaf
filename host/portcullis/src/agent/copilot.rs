//! GitHub Copilot: the CLI, the cloud agent and, because it reads the same files,
//! VS Code.
//!
//! An event that is registered as `preToolUse` comes in camel case and without
//! its name; one that is registered as `PreToolUse` comes in Claude Code's form,
//! with Claude Code's names for the tools.

use portcullis_model::input::Input;
use serde_json::{Value, json};

use super::answer::{HookAnswer, presentable};
use super::dialect::{Call, Dialect, Names, SHORT};
use super::error::HookInputError;
use super::event::Moment;
use super::fields::{Fields, is_windows, unwrapped};
use super::objection::{self, Objection};

pub(super) static CAMEL: Dialect = Dialect {
    name: "copilot",
    waits: SHORT,
    events: &[
        ("sessionStart", Moment::SessionStart),
        ("userPromptSubmitted", Moment::PromptSubmit),
        ("preToolUse", Moment::PreToolUse),
        ("postToolUse", Moment::PostToolUse),
        ("postToolUseFailure", Moment::PostToolUseFailure),
        ("subagentStop", Moment::SubagentStop),
        ("agentStop", Moment::Stop),
        ("preCompact", Moment::PreCompact),
        ("sessionEnd", Moment::SessionEnd),
    ],
    names: Names {
        event: "hook_event_name",
        session: "sessionId",
        cwd: "cwd",
        id: "toolCallId",
        tool: "toolName",
        input: "toolArgs",
        prompt: "prompt",
        output: &["toolResult.textResultForLlm", "toolResult", "error"],
        ..Dialect::CLAUDE.names
    },
    event: |_, fields| event(fields).map(str::to_owned),
    call: |names, fields, _| call(names, fields),
    failed: |fields| fields.peek("toolResult.resultType").is_some_and(|kind| kind != "success"),
    block,
    objects: camel,
    failure: refuse,
    ask: Some(ask),
    ..Dialect::CLAUDE
};

static PASCAL: Dialect = Dialect {
    name: "copilot",
    waits: SHORT,
    call: |names, fields, _| call(names, fields),
    block: refuse,
    objects: pascal,
    failure: refuse,
    ..Dialect::CLAUDE
};

/// What VS Code sent when its hooks were new.
static MIXED: Dialect = Dialect {
    name: "copilot",
    waits: SHORT,
    names: Names { event: "hookEventName", session: "sessionId", ..Dialect::CLAUDE.names },
    call: |names, fields, _| call(names, fields),
    block: refuse,
    objects: pascal,
    failure: refuse,
    ..Dialect::CLAUDE
};

/// The form that the payload has.
pub(super) fn form(fields: &Fields) -> &'static Dialect {
    if fields.has("hookEventName") {
        &MIXED
    } else if fields.has("hook_event_name") && !fields.has("sessionId") {
        &PASCAL
    } else {
        &CAMEL
    }
}

/// The event that has these fields. What could be a call is one, unless it is
/// said what came of it.
fn event(fields: &Fields) -> Result<&str, HookInputError> {
    if ["toolName", "toolArgs", "toolInput"].iter().any(|name| fields.has(name)) {
        return Ok(match (fields.has("toolResult"), fields.has("error")) {
            (false, false) => "preToolUse",
            (_, true) => "postToolUseFailure",
            (true, false) => "postToolUse",
        });
    }
    if let Some(name) = fields.peek("hook_event_name") {
        return Ok(name);
    }
    [
        ("transformedPrompt", "userPromptTransformed"),
        ("prompt", "userPromptSubmitted"),
        ("errorContext", "errorOccurred"),
        ("agentName", if fields.has("stopReason") { "subagentStop" } else { "subagentStart" }),
        ("stopReason", "agentStop"),
        ("trigger", "preCompact"),
        ("reason", "sessionEnd"),
        ("source", "sessionStart"),
    ]
    .into_iter()
    .find_map(|(field, event)| fields.has(field).then_some(event))
    .ok_or_else(|| HookInputError::Missing { field: "toolName".into() })
}

/// The arguments are an object, or the JSON of one in a text. A patch can come as
/// a bare text, and under the name `Edit`.
fn call(names: &Names, fields: &mut Fields) -> Result<Call, HookInputError> {
    let mut tool = fields.text(names.tool)?;
    let input = if fields.has(names.input) { names.input } else { "toolInput" };
    let mut input = unwrapped(fields.take(input)?);
    let changes = tool.eq_ignore_ascii_case("edit") || tool.eq_ignore_ascii_case("apply_patch");
    if changes && let Some(patch) = patch(&input) {
        tool = "apply_patch".into();
        input = json!({"input": patch});
    }
    // In this form both of its shells are `Bash`, and on Windows it only has the other one.
    if tool == "Bash" && fields.peek(names.cwd).is_some_and(is_windows) {
        tool = "powershell".into();
    }
    let input = Input::from_value(input).map_err(HookInputError::Arguments)?;
    Ok(Call { id: fields.optional_text(names.id)?, tool, input })
}

/// The patch that is all there is in these arguments.
fn patch(input: &Value) -> Option<&str> {
    let only = match input.as_object() {
        Some(object) => object.values().next().filter(|_| object.len() == 1)?,
        None => input,
    };
    only.as_str().filter(|text| text.trim_start().starts_with("*** Begin Patch"))
}

/// What it does about prompts and results is for its SDK alone, or newer than what we
/// know; words behind a result do no harm where they are not read.
fn camel(moment: Moment, _: &str, reason: &str) -> Objection {
    match moment {
        Moment::SubagentStop | Moment::Stop => objection::decision(reason),
        Moment::SessionStart | Moment::PostToolUse => {
            Objection::Told(HookAnswer::json(&json!({"additionalContext": presentable(reason)})))
        }
        Moment::PromptSubmit
        | Moment::PreToolUse
        | Moment::PostToolUseFailure
        | Moment::PreCompact
        | Moment::SessionEnd => objection::aside(HookAnswer::silent(), reason),
    }
}

/// VS Code reads the decision of an answer's end within the nested object, and stops at
/// a prompt when it is told not to go on.
fn pascal(moment: Moment, event: &str, reason: &str) -> Objection {
    let reason = presentable(reason);
    let mut said = json!({"decision": "block", "reason": reason});
    let more = match moment {
        Moment::PromptSubmit => json!({"continue": false, "stopReason": reason}),
        Moment::PostToolUse => objection::context(event, &reason),
        Moment::SubagentStop | Moment::Stop => json!({
            "hookSpecificOutput": {"hookEventName": event, "decision": "block", "reason": reason},
        }),
        Moment::SessionStart => return objection::message_and_context(event, &reason),
        Moment::PreToolUse | Moment::PostToolUseFailure | Moment::PreCompact | Moment::SessionEnd => {
            return objection::aside(HookAnswer::silent(), &reason);
        }
    };
    if let (Some(said), Value::Object(more)) = (said.as_object_mut(), more) {
        said.extend(more);
    }
    Objection::Counts(HookAnswer::json(&said))
}

fn deny(reason: &str) -> Value {
    json!({"permissionDecision": "deny", "permissionDecisionReason": presentable(reason)})
}

fn block(reason: &str) -> HookAnswer {
    HookAnswer::json(&deny(reason))
}

/// Exit code 2 as well: VS Code does not read the flat decision, and nobody knows
/// who reads the answer to a payload that cannot be read.
fn refuse(reason: &str) -> HookAnswer {
    HookAnswer { stdout: format!("{}\n", deny(reason)), ..HookAnswer::exit_2(reason) }
}

/// The cloud agent has nobody to ask, and takes this for a refusal.
fn ask(reason: &str) -> HookAnswer {
    HookAnswer::json(&json!({"permissionDecision": "ask", "permissionDecisionReason": presentable(reason)}))
}

#[cfg(test)]
mod tests {
    use super::super::{Agent, HookEvent};
    use portcullis_model::call::ToolCall;
    use serde_json::{Value, json};

    fn read(payload: &Value) -> HookEvent {
        Agent::Copilot.read(payload.to_string().as_bytes()).unwrap().event
    }

    fn call(payload: &Value) -> ToolCall {
        let HookEvent::PreToolUse(call) = read(payload) else { panic!("{payload}") };
        *call
    }

    fn camel(fields: &Value) -> Value {
        let mut payload = json!({"sessionId": "s", "timestamp": 1_790_000_000_000_u64, "cwd": "/w"});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        payload
    }

    #[test]
    fn a_call_is_read_in_every_form() {
        let input = r#"{"command":"ls"}"#;
        for payload in [
            camel(&json!({"toolName": "bash", "toolArgs": {"command": "ls"}})),
            camel(&json!({"toolName": "bash", "toolArgs": input})),
            camel(&json!({"toolName": "bash", "toolInput": {"command": "ls"}})),
            json!({"hook_event_name": "PreToolUse", "session_id": "s", "timestamp": "2026-11-30T02:00:00Z", "cwd": "/w", "tool_name": "Bash", "tool_input": {"command": "ls"}}),
            json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w", "tool_name": "Bash", "tool_input": input}),
            json!({"hookEventName": "PreToolUse", "sessionId": "s", "cwd": "/w", "tool_name": "run_in_terminal", "tool_input": {"command": "ls"}}),
        ] {
            let call = call(&payload);
            assert_eq!((call.input.text(), call.session_id.as_str()), (input, "s"), "{payload}");
        }
    }

    #[test]
    fn arguments_that_are_no_object_are_left_to_the_gate() {
        for (arguments, text) in [(json!("ls"), "\"ls\""), (json!(null), "null"), (json!([1]), "[1]")] {
            let payload = camel(&json!({"toolName": "bash", "toolArgs": arguments}));
            assert_eq!(call(&payload).input.text(), text);
        }
    }

    #[test]
    fn a_patch_is_one_whatever_its_tool_is_called() {
        let patch = "*** Begin Patch\n*** Delete File: a\n*** End Patch";
        for (tool, input) in
            [("apply_patch", json!(patch)), ("Edit", json!(patch)), ("edit", json!({"input": patch}))]
        {
            let call = call(&camel(&json!({"toolName": tool, "toolArgs": input})));
            assert_eq!((call.tool.as_str(), &call.input.value()["input"]), ("apply_patch", &json!(patch)));
        }
        let edit = json!({"file_path": "a", "new_string": patch});
        let call = call(&camel(&json!({"toolName": "Edit", "toolArgs": edit})));
        assert_eq!((call.tool.as_str(), &call.input.value()["file_path"]), ("Edit", &json!("a")));
    }

    #[test]
    fn the_shell_of_windows_is_powershell() {
        let mut payload = json!({"hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/w", "tool_name": "Bash", "tool_input": {"command": "ls"}});
        assert_eq!(call(&payload).tool, "Bash");
        payload["cwd"] = json!("C:\\app");
        assert_eq!(call(&payload).tool, "powershell");
    }

    #[test]
    fn an_event_without_a_name_is_known_by_its_fields() {
        for (fields, expected) in [
            (json!({"source": "startup"}), "SessionStart"),
            (json!({"prompt": "go"}), "PromptSubmit"),
            (json!({"agentName": "explore", "stopReason": "end_turn"}), "SubagentStop"),
            (json!({"stopReason": "end_turn", "stop_hook_active": false}), "Stop"),
            (json!({"trigger": "auto"}), "PreCompact"),
            (json!({"reason": "complete"}), "SessionEnd"),
            (json!({"prompt": "go", "transformedPrompt": "x"}), "Other"),
            (json!({"agentName": "explore"}), "Other"),
            (json!({"hook_event_name": "Notification", "message": "x"}), "Other"),
            (json!({"errorContext": "system", "error": {}}), "Other"),
        ] {
            let event = format!("{:?}", read(&camel(&fields)));
            assert!(event.starts_with(expected), "{fields}: {event}");
        }
        let error = Agent::Copilot.read(camel(&json!({})).to_string().as_bytes()).unwrap_err();
        assert!(error.to_string().contains("`toolName`"), "{error}");
    }

    #[test]
    fn a_call_that_has_run_is_told_with_what_came_of_it() {
        for (fields, fails) in [
            (json!({"toolResult": {"resultType": "success"}}), false),
            (json!({"toolResult": {"resultType": "failure"}}), true),
            (json!({"error": "no such file"}), true),
        ] {
            let mut payload = camel(&json!({"toolName": "bash", "toolArgs": {"command": "ls"}}));
            payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            assert!(matches!(read(&payload), HookEvent::PostToolUse { failed, .. } if failed == fails));
        }
    }

    #[test]
    fn a_failure_is_understood_in_every_form() {
        let answer = Agent::Copilot.failure("no rm");
        let decision = "{\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"no rm\"}\n";
        assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), (decision, "no rm\n"));
        assert_eq!(answer.exit_code, 2);
    }
}
