//! A call that an agent could send, and whether an answer would stop it: for
//! trying out an installed hook.

use serde_json::{Value, json};

use super::{Agent, HookAnswer, claude, gemini, opencode};

impl Agent {
    /// What this agent sends before it runs `command` in its shell.
    #[must_use]
    pub fn canary(self, command: &str, cwd: &str) -> String {
        let session = "portcullis-canary";
        let payload = match self {
            Self::Claude => json!({
                "session_id": session, "cwd": cwd, "hook_event_name": claude::BEFORE_TOOL,
                "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": session,
            }),
            Self::Codex => json!({
                "session_id": session, "turn_id": session, "cwd": cwd, "model": session,
                "hook_event_name": claude::BEFORE_TOOL,
                "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": session,
            }),
            Self::Gemini => json!({
                "session_id": session, "cwd": cwd, "hook_event_name": gemini::BEFORE_TOOL,
                "tool_name": "run_shell_command", "tool_input": { "command": command },
            }),
            Self::OpenCode => json!({
                "event": opencode::BEFORE_TOOL, "directory": cwd,
                "input": { "tool": "bash", "sessionID": session, "callID": session },
                "output": { "args": { "command": command } },
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
        let by_code = answer.exit_code == 2 && !answer.stderr.trim().is_empty();
        match self {
            Self::Claude | Self::Codex => by_code,
            Self::Gemini => by_code || (answer.exit_code == 0 && says("decision", "deny".into())),
            Self::OpenCode => answer.exit_code != 0 || !says("block", false.into()),
        }
    }

    /// Whether this agent would run the call after this answer, as far as it goes by
    /// the hook.
    #[must_use]
    pub fn goes_on_after(self, answer: &HookAnswer) -> bool {
        *answer == self.no_objection()
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Agent, HookEvent};

    #[test]
    fn every_agent_reads_its_own_canary_and_is_stopped_by_its_own_block() {
        for agent in Agent::ALL {
            let request = agent.read(agent.canary("rm -rf x", "/w").as_bytes()).unwrap();
            let HookEvent::PreToolUse(call) = request.event else { panic!("{agent}") };
            assert_eq!(crate::tool::resolve(&call).unwrap().tool, "bash", "{agent}");
            assert!(agent.is_stopped_by(&agent.failure("no")) && !agent.goes_on_after(&agent.failure("no")));
            assert!(
                agent.goes_on_after(&agent.no_objection()) && !agent.is_stopped_by(&agent.no_objection())
            );
        }
    }
}
