//! Cursor.
//!
//! Beside the event before every call it has events of their own for commands,
//! MCP tools and files that are read; each is judged as the call that it is.

use portcullis_model::input::Input;
use serde_json::{Value, json};

use super::answer::{HookAnswer, presentable};
use super::dialect::{self, Call, Dialect, Names, SHORT};
use super::error::HookInputError;
use super::event::{HookEvent, Moment};
use super::fields::{Fields, is_absolute, unwrapped};
use super::objection::{self, Objection};

/// It has an `ask`, and does not obey it before every call.
pub(super) static DIALECT: Dialect = Dialect {
    name: "cursor",
    waits: SHORT,
    events: &[
        ("sessionStart", Moment::SessionStart),
        ("beforeSubmitPrompt", Moment::PromptSubmit),
        ("preToolUse", Moment::PreToolUse),
        (SHELL, Moment::PreToolUse),
        (MCP, Moment::PreToolUse),
        (READ, Moment::PreToolUse),
        (TAB_READ, Moment::PreToolUse),
        ("postToolUse", Moment::PostToolUse),
        ("postToolUseFailure", Moment::PostToolUseFailure),
        (SHELL_DONE, Moment::PostToolUse),
        (MCP_DONE, Moment::PostToolUse),
        (EDITED, Moment::PostToolUse),
        ("subagentStop", Moment::SubagentStop),
        ("stop", Moment::Stop),
        ("preCompact", Moment::PreCompact),
        ("sessionEnd", Moment::SessionEnd),
    ],
    names: Names {
        session: "conversation_id",
        output: &["tool_output", "output", "result_json", "error_message", "edits"],
        ..Dialect::CLAUDE.names
    },
    cut_short: |fields| fields.peek("status").is_some_and(|status| status != "completed"),
    again: |fields| fields.get("loop_count").and_then(Value::as_u64).map(|count| count > 0),
    cwd,
    call,
    pass,
    block,
    objects,
    failure: block,
    ..Dialect::CLAUDE
};

const SHELL: &str = "beforeShellExecution";
const SHELL_DONE: &str = "afterShellExecution";
const MCP: &str = "beforeMCPExecution";
const MCP_DONE: &str = "afterMCPExecution";
const READ: &str = "beforeReadFile";
const TAB_READ: &str = "beforeTabFileRead";
const EDITED: &str = "afterFileEdit";

/// The field `cwd` is often there and empty. The workspace comes before what the
/// call says: the model writes that, and the project's guards are found by this.
/// Where the call itself runs is in its arguments all the same.
fn cwd(names: &Names, fields: &Fields) -> Result<String, HookInputError> {
    if fields.peek(names.cwd).is_some_and(|cwd| !cwd.is_empty()) {
        return fields.directory(names.cwd);
    }
    let workspace = fields.first_directory("workspace_roots");
    let own = ["tool_input.cwd", "tool_input.working_directory"]
        .into_iter()
        .find_map(|path| fields.peek(path).filter(|cwd| is_absolute(cwd)));
    workspace.or_else(|error| own.map(str::to_owned).ok_or(error))
}

fn call(names: &Names, fields: &mut Fields, event: &str) -> Result<Call, HookInputError> {
    let (tool, input) = match event {
        SHELL | SHELL_DONE => ("Shell".to_owned(), json!({"command": fields.text("command")?})),
        READ | TAB_READ => ("Read".to_owned(), json!({"file_path": fields.text("file_path")?})),
        EDITED => ("Write".to_owned(), json!({"file_path": fields.text("file_path")?})),
        MCP | MCP_DONE => (mcp_tool(names, fields)?, unwrapped(fields.take(names.input)?)),
        _ => return dialect::call(names, fields),
    };
    let input = Input::from_value(input).map_err(HookInputError::Arguments)?;
    Ok(Call { id: fields.optional_text(names.id)?, tool, input })
}

/// The tool's name, with its server where a version tells it.
fn mcp_tool(names: &Names, fields: &Fields) -> Result<String, HookInputError> {
    let tool = fields.text(names.tool)?;
    let tool = tool.strip_prefix("MCP:").unwrap_or(&tool);
    Ok(match fields.peek("mcp_server_name") {
        Some(server) if !server.is_empty() => format!("mcp:{server}/{tool}"),
        Some(_) | None => format!("MCP:{tool}"),
    })
}

/// A hook with `failClosed` has to say so when it has nothing against a call.
fn pass(event: &HookEvent) -> HookAnswer {
    HookAnswer::json(&match event {
        HookEvent::PreToolUse(_) | HookEvent::Other(_) => json!({"permission": "allow"}),
        HookEvent::PromptSubmit { .. } => json!({"continue": true}),
        HookEvent::SessionStart
        | HookEvent::PostToolUse { .. }
        | HookEvent::SubagentStop(_)
        | HookEvent::Stop(_)
        | HookEvent::PreCompact
        | HookEvent::SessionEnd => Value::Object(serde_json::Map::new()),
    })
}

/// Of the events behind a call only the general one takes words for the model.
fn objects(moment: Moment, event: &str, reason: &str) -> Objection {
    let reason = presentable(reason);
    let says = |key: &str| HookAnswer::json(&json!({ key: reason }));
    match moment {
        Moment::PromptSubmit => {
            Objection::Counts(HookAnswer::json(&json!({"continue": false, "user_message": reason})))
        }
        Moment::PostToolUse if event == "postToolUse" => Objection::Counts(says("additional_context")),
        Moment::SubagentStop | Moment::Stop => Objection::Counts(says("followup_message")),
        Moment::SessionStart => Objection::Told(says("additional_context")),
        Moment::PreCompact => Objection::Told(says("user_message")),
        Moment::PostToolUse | Moment::PostToolUseFailure | Moment::SessionEnd | Moment::PreToolUse => {
            objection::aside(HookAnswer::silent(), &reason)
        }
    }
}

/// Its model was seen to read the message for the user, and not the one for the
/// agent. With JSON, exit code 2 would show the JSON as the reason.
fn block(reason: &str) -> HookAnswer {
    let reason = presentable(reason);
    HookAnswer::json(&json!({"permission": "deny", "user_message": reason, "agent_message": reason}))
}

#[cfg(test)]
mod tests {
    use super::super::{Agent, HookEvent, HookInputError, HookRequest};
    use serde_json::{Value, json};

    fn request(fields: &Value) -> Result<HookRequest, HookInputError> {
        let mut payload = json!({"conversation_id": "c", "generation_id": "g", "model": "m", "cursor_version": "3.9.16", "workspace_roots": ["/w"], "user_email": null});
        payload.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        Agent::Cursor.read(payload.to_string().as_bytes())
    }

    fn called(fields: &Value) -> (String, String, String) {
        let HookEvent::PreToolUse(call) = request(fields).unwrap().event else { panic!("{fields}") };
        (call.tool, call.input.text().to_owned(), call.cwd)
    }

    #[test]
    fn every_event_before_a_call_is_a_call() {
        for (fields, tool, input) in [
            (
                json!({"hook_event_name": "preToolUse", "tool_name": "Shell", "tool_input": {"command": "ls"}, "tool_use_id": "t", "cwd": ""}),
                "Shell",
                r#"{"command":"ls"}"#,
            ),
            (
                json!({"hook_event_name": "beforeShellExecution", "command": "ls", "cwd": "/w", "sandbox": false}),
                "Shell",
                r#"{"command":"ls"}"#,
            ),
            (
                json!({"hook_event_name": "beforeMCPExecution", "tool_name": "release", "tool_input": "{\"version\":\"1\"}", "command": "deployer"}),
                "MCP:release",
                r#"{"version":"1"}"#,
            ),
            (
                json!({"hook_event_name": "beforeMCPExecution", "tool_name": "release", "mcp_server_name": "deploy", "tool_input": "{}"}),
                "mcp:deploy/release",
                "{}",
            ),
            (
                json!({"hook_event_name": "beforeMCPExecution", "tool_name": "release", "tool_input": "not json"}),
                "MCP:release",
                r#""not json""#,
            ),
            (
                json!({"hook_event_name": "beforeReadFile", "file_path": "/w/.env", "content": "x", "attachments": []}),
                "Read",
                r#"{"file_path":"/w/.env"}"#,
            ),
            (
                json!({"hook_event_name": "beforeTabFileRead", "file_path": "/w/.env", "content": "x"}),
                "Read",
                r#"{"file_path":"/w/.env"}"#,
            ),
        ] {
            assert_eq!(called(&fields), (tool.to_owned(), input.to_owned(), "/w".to_owned()), "{fields}");
        }
    }

    #[test]
    fn the_directory_is_the_payloads_or_the_first_workspace_or_the_calls_own() {
        let roots = json!(["/w", "/x"]);
        for (cwd, own, roots, expected) in [
            ("/a", json!({"cwd": "/b"}), &roots, "/a"),
            ("", json!({"cwd": "/b"}), &roots, "/w"),
            ("", json!({"cwd": "sub"}), &roots, "/w"),
            ("", json!({"cwd": "/b"}), &json!([]), "/b"),
            ("", json!({"cwd": "", "working_directory": "/c"}), &json!([]), "/c"),
        ] {
            let mut call = json!({"hook_event_name": "preToolUse", "tool_name": "Shell", "tool_input": own});
            call["cwd"] = json!(cwd);
            call["workspace_roots"] = roots.clone();
            assert_eq!(called(&call).2, expected, "{call}");
        }
        for (cwd, field) in [("", "workspace_roots"), ("relative", "cwd")] {
            let call = json!({"hook_event_name": "preToolUse", "tool_name": "Shell", "tool_input": {"cwd": "sub"}, "cwd": cwd, "workspace_roots": []});
            assert!(request(&call).unwrap_err().to_string().contains(&format!("`{field}`")), "{call}");
        }
    }

    #[test]
    fn a_command_runs_where_its_arguments_say() {
        let call = json!({"hook_event_name": "preToolUse", "tool_name": "Shell", "tool_input": {"command": "ls", "cwd": "/b"}, "cwd": ""});
        let HookEvent::PreToolUse(call) = request(&call).unwrap().event else { panic!() };
        assert_eq!(crate::tool::resolve(&call).unwrap().cwd.as_deref(), Some("/b"));
    }

    #[test]
    fn a_field_that_a_call_needs_is_named() {
        for (fields, field) in [
            (json!({"hook_event_name": "beforeShellExecution"}), "command"),
            (json!({"hook_event_name": "beforeShellExecution", "command": 7}), "command"),
            (json!({"hook_event_name": "beforeReadFile"}), "file_path"),
            (json!({"hook_event_name": "beforeMCPExecution", "tool_input": "{}"}), "tool_name"),
            (json!({"hook_event_name": "beforeSubmitPrompt"}), "prompt"),
        ] {
            let error = request(&fields).unwrap_err().to_string();
            assert!(error.contains(&format!("`{field}`")), "{fields}: {error}");
        }
    }

    #[test]
    fn an_event_before_anything_that_is_not_known_is_refused() {
        for event in ["beforeFileEdit", "beforeShellCommand", "PreToolUse"] {
            assert!(request(&json!({"hook_event_name": event, "file_path": "/w/a"})).is_err(), "{event}");
        }
        let event = request(&json!({"hook_event_name": "workspaceOpen"})).unwrap().event;
        assert!(matches!(event, HookEvent::Other(_)));
    }

    #[test]
    fn every_event_is_answered_in_words_that_it_understands() {
        for (fields, answer) in [
            (
                json!({"hook_event_name": "preToolUse", "tool_name": "Shell", "tool_input": {}}),
                r#"{"permission":"allow"}"#,
            ),
            (json!({"hook_event_name": "subagentStart"}), r#"{"permission":"allow"}"#),
            (json!({"hook_event_name": "beforeSubmitPrompt", "prompt": "go"}), r#"{"continue":true}"#),
            (json!({"hook_event_name": "stop", "status": "completed", "loop_count": 0}), "{}"),
            (json!({"hook_event_name": "afterFileEdit", "file_path": "/w/a", "edits": []}), "{}"),
            (json!({"hook_event_name": "afterShellExecution", "command": "ls", "output": ""}), "{}"),
        ] {
            assert_eq!(request(&fields).unwrap().no_objection().stdout, format!("{answer}\n"), "{fields}");
        }
        let block = Agent::Cursor.failure("no");
        assert_eq!(
            block.stdout,
            "{\"permission\":\"deny\",\"user_message\":\"no\",\"agent_message\":\"no\"}\n"
        );
        assert_eq!((block.stderr.as_str(), block.exit_code), ("", 0));
    }
}
