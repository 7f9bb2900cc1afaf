//! A call that an agent could send, and whether an answer would stop it: for
//! trying out an installed hook.

use serde_json::{Value, json};

use super::{Agent, HookAnswer};

impl Agent {
    /// What this agent sends before it runs `command` in its shell.
    #[must_use]
    pub fn canary(self, command: &str, cwd: &str) -> String {
        let id = "portcullis-canary";
        let like_claude = |event: &str, tool: &str| {
            json!({
                "session_id": id, "cwd": cwd, "hook_event_name": event,
                "tool_name": tool, "tool_input": { "command": command },
            })
        };
        let payload = match self {
            Self::Claude => like_claude("PreToolUse", "Bash"),
            Self::Codex => json!({
                "session_id": id, "turn_id": id, "cwd": cwd, "model": id, "hook_event_name": "PreToolUse",
                "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": id,
            }),
            Self::Gemini => like_claude("BeforeTool", "run_shell_command"),
            Self::Copilot => json!({
                "sessionId": id, "cwd": cwd, "toolName": "bash", "toolArgs": { "command": command },
            }),
            Self::Cursor => json!({
                "conversation_id": id, "cursor_version": id, "hook_event_name": "preToolUse",
                "tool_name": "Shell", "tool_input": { "command": command }, "cwd": "", "workspace_roots": [cwd],
            }),
            Self::OpenCode => json!({
                "event": "tool.execute.before", "directory": cwd,
                "input": { "tool": "bash", "sessionID": id, "callID": id },
                "output": { "args": { "command": command } },
            }),
            Self::Goose => json!({
                "event": "PreToolUse", "session_id": id, "working_dir": cwd, "tool_call_id": id,
                "tool_name": "developer__shell", "tool_input": { "command": command },
            }),
            Self::Crush => json!({
                "event": "PreToolUse", "session_id": id, "cwd": cwd,
                "tool_name": "bash", "tool_input": { "command": command },
            }),
            Self::Cline => json!({
                "clineVersion": id, "hookName": "PreToolUse", "taskId": id, "workspaceRoots": [cwd],
                "preToolUse": { "toolName": "execute_command", "parameters": { "command": command } },
            }),
            Self::Windsurf => json!({
                "agent_action_name": "pre_run_command", "trajectory_id": id, "execution_id": id,
                "tool_info": { "command_line": command, "cwd": cwd },
            }),
            Self::Droid => like_claude("PreToolUse", "Execute"),
            Self::Kiro => like_claude("PreToolUse", "execute_bash"),
            Self::Antigravity => json!({
                "conversationId": id, "workspacePaths": [cwd], "stepIdx": 0,
                "toolCall": { "name": "run_command", "args": { "CommandLine": command, "Cwd": cwd } },
            }),
            Self::Amp => json!({
                "event": "tool.call", "directory": cwd, "thread": id,
                "payload": { "toolUseID": id, "tool": "shell_command", "input": { "command": command } },
            }),
        };
        payload.to_string()
    }

    /// Whether this agent would keep the call from running after this answer. What
    /// it cannot read is no block: that is how most agents take it.
    #[must_use]
    pub fn is_stopped_by(self, answer: &HookAnswer) -> bool {
        let said = serde_json::from_str::<Value>(answer.stdout.trim()).ok();
        let says = |key: &str, value: Value| said.as_ref().is_some_and(|said| said.get(key) == Some(&value));
        let done = answer.exit_code == 0;
        let by_code = answer.exit_code == 2 && !answer.stderr.trim().is_empty();
        match self {
            Self::Claude
            | Self::Codex
            | Self::Goose
            | Self::Crush
            | Self::Windsurf
            | Self::Droid
            | Self::Kiro => by_code,
            Self::Gemini => by_code || (done && says("decision", "deny".into())),
            Self::Copilot => !done || says("permissionDecision", "deny".into()),
            Self::Cursor => by_code || (done && says("permission", "deny".into())),
            Self::Cline => says("cancel", true.into()),
            Self::Antigravity => done && says("decision", "deny".into()),
            Self::OpenCode | Self::Amp => !done || !says("block", false.into()),
        }
    }

    /// Whether this agent would run the call after this answer, as far as it goes by
    /// the hook.
    #[must_use]
    pub fn goes_on_after(self, answer: &HookAnswer) -> bool {
        let request = self.read(self.canary("true", "/").as_bytes());
        request.is_ok_and(|request| request.no_objection() == *answer)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Agent, HookEvent};

    #[test]
    fn every_agent_reads_its_own_canary_and_is_stopped_by_its_own_block() {
        for agent in Agent::ALL {
            let request = agent.read(agent.canary("rm -rf x", "/w").as_bytes()).unwrap();
            let (block, pass) = (agent.failure("no"), request.no_objection());
            let HookEvent::PreToolUse(call) = request.event else { panic!("{agent}") };
            assert_eq!(crate::tool::resolve(&call).unwrap().tool, "bash", "{agent}");
            assert!(agent.is_stopped_by(&block) && !agent.goes_on_after(&block), "{agent}");
            assert!(agent.goes_on_after(&pass) && !agent.is_stopped_by(&pass), "{agent}");
        }
    }
}
