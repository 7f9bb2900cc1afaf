//! Windsurf. Its events say what kind of call they are about, so that no call
//! names its tool. It reads exit codes only, and cannot be made to ask.

use portcullis_model::input::Input;

use super::answer::HookAnswer;
use super::dialect::{Call, Dialect, Names, SHORT};
use super::error::HookInputError;
use super::event::Moment;
use super::fields::Fields;
use super::objection::{self, Objection};

/// A file's path is absolute. A command's directory is in the payload; the hook
/// itself is started in the workspace.
pub(super) static DIALECT: Dialect = Dialect {
    name: "windsurf",
    waits: SHORT,
    events: &[
        (PROMPT, Moment::PromptSubmit),
        ("pre_run_command", Moment::PreToolUse),
        ("pre_write_code", Moment::PreToolUse),
        ("pre_read_code", Moment::PreToolUse),
        ("pre_mcp_tool_use", Moment::PreToolUse),
        ("post_run_command", Moment::PostToolUse),
        ("post_write_code", Moment::PostToolUse),
        ("post_read_code", Moment::PostToolUse),
        ("post_mcp_tool_use", Moment::PostToolUse),
        ("post_cascade_response", Moment::Stop),
    ],
    names: Names {
        event: "agent_action_name",
        session: "trajectory_id",
        cwd: "tool_info.cwd",
        id: "execution_id",
        tool: "tool_info.mcp_tool_name",
        input: "tool_info",
        prompt: "tool_info.user_prompt",
        output: &["tool_info.output", "tool_info.mcp_result", "tool_info.edits"],
        words: "tool_info.response",
    },
    cwd: |names, fields| fields.directory_or_here(names.cwd),
    call,
    objects,
    ..Dialect::CLAUDE
};

/// Only what is before something can be blocked.
fn objects(moment: Moment, _: &str, reason: &str) -> Objection {
    match moment {
        Moment::PromptSubmit => Objection::Counts(HookAnswer::exit_2(reason)),
        Moment::SessionStart
        | Moment::PreToolUse
        | Moment::PostToolUse
        | Moment::PostToolUseFailure
        | Moment::SubagentStop
        | Moment::Stop
        | Moment::PreCompact
        | Moment::SessionEnd => objection::aside(HookAnswer::silent(), reason),
    }
}

/// The one event that is before something and before no call.
pub(super) const PROMPT: &str = "pre_user_prompt";

fn call(names: &Names, fields: &mut Fields, event: &str) -> Result<Call, HookInputError> {
    let (tool, input) = match event {
        "pre_run_command" => {
            // What a relative path means depends on it.
            fields.directory(names.cwd)?;
            ("run_command".to_owned(), names.input)
        }
        "post_run_command" => ("run_command".to_owned(), names.input),
        "pre_read_code" | "post_read_code" => (file("read", fields)?, names.input),
        "pre_write_code" | "post_write_code" => (file("edit", fields)?, names.input),
        _ => (mcp_tool(names, fields)?, "tool_info.mcp_tool_arguments"),
    };
    let input: Input = fields.arguments(input)?;
    Ok(Call { id: fields.optional_text(names.id)?, tool, input })
}

fn file(tool: &str, fields: &Fields) -> Result<String, HookInputError> {
    fields.directory("tool_info.file_path")?;
    Ok(tool.to_owned())
}

fn mcp_tool(names: &Names, fields: &Fields) -> Result<String, HookInputError> {
    Ok(format!("mcp:{}/{}", fields.text("tool_info.mcp_server_name")?, fields.text(names.tool)?))
}

#[cfg(test)]
mod tests {
    use super::super::{Agent, HookEvent, HookInputError, HookRequest};
    use serde_json::{Value, json};

    fn request(event: &str, info: &Value) -> Result<HookRequest, HookInputError> {
        let payload = json!({"agent_action_name": event, "trajectory_id": "t", "execution_id": "e", "timestamp": "2026-11-30T02:00:00Z", "tool_info": info});
        Agent::Windsurf.read_in(payload.to_string().as_bytes(), Some("/here"))
    }

    #[test]
    fn every_kind_of_call_has_its_tool() {
        for (event, info, tool, cwd) in [
            ("pre_run_command", json!({"command_line": "ls", "cwd": "/w"}), "run_command", "/w"),
            ("pre_write_code", json!({"file_path": "/w/a", "edits": []}), "edit", "/here"),
            ("pre_read_code", json!({"file_path": "/w/a"}), "read", "/here"),
            (
                "pre_mcp_tool_use",
                json!({"mcp_server_name": "deploy", "mcp_tool_name": "release", "mcp_tool_arguments": {}}),
                "mcp:deploy/release",
                "/here",
            ),
        ] {
            let HookEvent::PreToolUse(call) = request(event, &info).unwrap().event else { panic!("{event}") };
            assert_eq!((call.tool.as_str(), call.cwd.as_str(), call.id.as_str()), (tool, cwd, "e"));
            assert!(call.input.value().is_object(), "{event}");
        }
    }

    #[test]
    fn a_field_that_is_missing_or_mistyped_is_named() {
        for (event, info, field) in [
            ("pre_run_command", json!({"command_line": "ls"}), "tool_info.cwd"),
            ("pre_run_command", json!({"command_line": "ls", "cwd": "w"}), "tool_info.cwd"),
            ("pre_write_code", json!({"edits": []}), "tool_info.file_path"),
            ("pre_write_code", json!({"file_path": "a"}), "tool_info.file_path"),
            ("pre_mcp_tool_use", json!({"mcp_tool_name": "x"}), "tool_info.mcp_server_name"),
            ("pre_user_prompt", json!({}), "tool_info.user_prompt"),
        ] {
            let error = request(event, &info).unwrap_err().to_string();
            assert!(error.contains(&format!("`{field}`")), "{event} {info}: {error}");
        }
    }

    #[test]
    fn an_event_before_anything_that_is_not_known_is_refused() {
        for event in ["pre_delete_code", "pre_run_commands", "preRunCommand"] {
            let error = request(event, &json!({})).unwrap_err();
            assert!(matches!(error, HookInputError::UnknownPreToolEvent { .. }), "{event}: {error}");
        }
        let event = request("post_setup_worktree", &json!({})).unwrap().event;
        assert!(matches!(event, HookEvent::Other(_)));
    }
}
