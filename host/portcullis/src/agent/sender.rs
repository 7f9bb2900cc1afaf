//! Whose payload is this?
//!
//! The agent is named on the command line, never guessed. This only contradicts:
//! a hook that was installed for one agent and is run by another would answer in
//! a dialect that the other one takes for "go on".

use super::Agent;
use super::dialect::Dialect;
use super::error::HookInputError;
use super::fields::Fields;
use super::windsurf;

/// Refuses a payload that has the marks of an agent other than `agent`.
pub(super) fn check(agent: Agent, dialect: &Dialect, fields: &Fields) -> Result<(), HookInputError> {
    match sender(fields) {
        Some(sender) if sender != dialect.name => {
            return Err(HookInputError::OtherAgent { expected: agent, sender });
        }
        Some(_) | None => {}
    }
    for event in EVENT_FIELDS.iter().filter_map(|field| fields.peek(field)) {
        if dialect.moment(event).is_some() || !means_before_tool(event) {
            continue;
        }
        if event == "PreToolUse" {
            return Err(HookInputError::OtherAgent { expected: agent, sender: Agent::Claude.as_str() });
        }
        return Err(HookInputError::UnknownPreToolEvent { agent, event: event.chars().take(64).collect() });
    }
    Ok(())
}

/// Where agents put the name of an event.
const EVENT_FIELDS: [&str; 5] =
    ["hook_event_name", "hookEventName", "event", "hookName", "agent_action_name"];

/// The agent whose marks the payload has. Marks are fields that no other agent
/// was seen to send; a payload without any is anybody's.
fn sender(fields: &Fields) -> Option<&'static str> {
    let all = |names: &[&str]| names.iter().all(|name| fields.has(name));
    let event = fields.peek("hook_event_name").unwrap_or_default();
    let marks = [
        (all(&["agent_action_name"]), "windsurf"),
        (all(&["clineVersion"]) || all(&["hookName"]), "cline"),
        (all(&["conversationId"]), "antigravity"),
        (all(&["toolName"]) || all(&["sessionId"]), "copilot"),
        (all(&["cursor_version"]) || all(&["conversation_id", "hook_event_name"]), "cursor"),
        (all(&["event", "input", "output"]), "opencode"),
        (all(&["event", "directory", "payload"]), "amp"),
        (all(&["event", "working_dir"]), "goose"),
        (all(&["event", "session_id", "cwd"]), "crush"),
        (super::gemini::OWN_EVENTS.contains(&event), "gemini"),
        (fields.peek("tool_name") == Some("Execute"), "droid"),
        (all(&["turn_id", "model"]) && !all(&["prompt_id"]), "codex"),
        (all(&["prompt_id"]) && !all(&["turn_id"]), "claude"),
    ];
    marks.into_iter().find_map(|(marked, name)| marked.then_some(name))
}

/// Is this any agent's name for the moment before a call, however it is spelled?
///
/// Taken for an event of no interest, it would let every call through.
fn means_before_tool(event: &str) -> bool {
    // Windsurf and Cursor have an event for each kind of call, and may get more.
    let more = |rest: &str| rest.starts_with(|first: char| first.is_ascii_uppercase());
    if event != windsurf::PROMPT
        && (event.starts_with("pre_") || event.strip_prefix("before").is_some_and(more))
    {
        return true;
    }
    let word: String =
        event.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    matches!(
        word.as_str(),
        "pretooluse"
            | "pretool"
            | "pretoolcall"
            | "beforetool"
            | "beforetooluse"
            | "beforetoolcall"
            | "toolcall"
            | "toolexecutebefore"
            | "beforeshellexecution"
            | "beforemcpexecution"
            | "beforereadfile"
            | "beforetabfileread"
            | "preruncommand"
            | "prewritecode"
            | "prereadcode"
            | "premcptooluse"
    )
}

#[cfg(test)]
mod tests {
    use super::super::{Agent, HookInputError};

    fn refused(agent: Agent, payload: &str) -> String {
        agent.read(payload.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn a_payload_of_another_agent_is_refused_and_both_are_named() {
        for (sender, payload) in [
            (
                "claude",
                r#"{"session_id":"s","prompt_id":"p","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash"}"#,
            ),
            (
                "codex",
                r#"{"session_id":"s","turn_id":"t","model":"m","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash"}"#,
            ),
            (
                "gemini",
                r#"{"session_id":"s","cwd":"/w","hook_event_name":"BeforeTool","tool_name":"run_shell_command"}"#,
            ),
            ("opencode", r#"{"event":"tool.execute.before","directory":"/w","input":{},"output":{}}"#),
            ("windsurf", r#"{"agent_action_name":"pre_run_command","tool_info":{}}"#),
            ("antigravity", r#"{"toolCall":{},"conversationId":"c"}"#),
            ("amp", r#"{"event":"tool.call","directory":"/w","thread":"T","payload":{}}"#),
            (
                "droid",
                r#"{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Execute"}"#,
            ),
            ("cline", r#"{"clineVersion":"3","hookName":"PreToolUse"}"#),
            ("copilot", r#"{"sessionId":"s","cwd":"/w","toolName":"bash","toolArgs":{}}"#),
            ("cursor", r#"{"conversation_id":"c","hook_event_name":"preToolUse","cwd":""}"#),
            ("goose", r#"{"event":"PreToolUse","working_dir":"/w","tool_name":"developer__shell"}"#),
            ("crush", r#"{"event":"PreToolUse","session_id":"s","cwd":"/w","tool_name":"bash"}"#),
        ] {
            for agent in Agent::ALL.into_iter().filter(|agent| agent.as_str() != sender) {
                let text = refused(agent, payload);
                assert!(text.contains(agent.as_str()) && text.contains(sender), "{agent} {sender}: {text}");
            }
        }
    }

    #[test]
    fn an_event_before_a_call_is_never_taken_for_one_of_no_interest() {
        for agent in Agent::ALL {
            for event in ["preToolUse", "pre_tool_use", "PRETOOLUSE", "beforeTool", "tool_call"] {
                if agent.dialect().moment(event).is_some() {
                    continue;
                }
                for field in super::EVENT_FIELDS {
                    let payload =
                        format!(r#"{{"session_id":"s","cwd":"/w","{field}":"{event}","tool_name":"Bash"}}"#);
                    let error = agent.read(payload.as_bytes()).unwrap_err();
                    let named = matches!(error, HookInputError::UnknownPreToolEvent { .. });
                    let other = matches!(error, HookInputError::OtherAgent { .. });
                    assert!(named || other && field != "hook_event_name", "{agent} {event}: {error}");
                }
            }
        }
    }

    #[test]
    fn a_bare_pre_tool_use_is_not_for_an_agent_that_calls_it_otherwise() {
        let payload = r#"{"session_id":"s","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash"}"#;
        for agent in Agent::ALL {
            // Some have an event of this name, and it is in another field.
            let expected = match agent.as_str() {
                "claude" | "codex" | "copilot" | "droid" | "kiro" => {
                    assert!(agent.read(payload.as_bytes()).is_ok(), "{agent}");
                    continue;
                }
                "goose" | "crush" => "`event`",
                "cline" => "`hookName`",
                _ => "claude",
            };
            assert!(refused(agent, payload).contains(expected), "{agent}");
        }
    }

    #[test]
    fn a_field_that_an_agent_adds_later_is_no_contradiction() {
        let payload = r#"{"session_id":"s","turn_id":"t","prompt_id":"p","model":"m","cwd":"/w","hook_event_name":"PreToolUse","tool_name":"Bash"}"#;
        assert!(Agent::Claude.read(payload.as_bytes()).is_ok());
        assert!(Agent::Codex.read(payload.as_bytes()).is_ok());
    }
}
