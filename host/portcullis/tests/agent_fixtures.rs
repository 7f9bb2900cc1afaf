//! The payloads that were captured from the real agents, read in each dialect.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::{Path, PathBuf};

use portcullis::agent::{Agent, HookEvent, HookInputError};
use portcullis_model::call::ToolCall;

/// The agents whose payloads have been captured.
const CAPTURED: [Agent; 5] = [Agent::Claude, Agent::Codex, Agent::Gemini, Agent::OpenCode, Agent::Cline];

fn folder(agent: Agent) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/agents").join(agent.as_str())
}

/// Every payload of `agent` by its file's name.
fn payloads(agent: Agent) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<_> = fs::read_dir(folder(agent))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap()))
        .collect();
    all.sort();
    assert!(all.len() > 3, "{agent}");
    all
}

fn call(agent: Agent, name: &str) -> ToolCall {
    let payload = fs::read(folder(agent).join(format!("{name}.json"))).unwrap();
    let HookEvent::PreToolUse(call) = agent.read(&payload).unwrap().event else {
        panic!("{agent} {name} is no call")
    };
    *call
}

#[test]
fn every_payload_is_read_and_only_calls_that_have_not_run_are_judged() {
    for agent in CAPTURED {
        for (name, payload) in payloads(agent) {
            let request = agent.read(&payload).unwrap_or_else(|e| panic!("{agent} {name}: {e}"));
            assert!(!request.session_id.is_empty());
            assert!(request.cwd.starts_with("/home/dev/app"), "{name}: {}", request.cwd);
            let judged = matches!(request.event, HookEvent::PreToolUse(_));
            assert_eq!(judged, name.starts_with("pre-"), "{agent} {name}");
            let end = matches!(request.event, HookEvent::Stop(_));
            assert_eq!(end, matches!(name.as_str(), "stop" | "after-agent" | "agent-end"), "{agent} {name}");
        }
    }
}

#[test]
fn every_event_is_told_apart() {
    for (agent, name, expected) in [
        (Agent::Claude, "session-start", "SessionStart"),
        (Agent::Claude, "user-prompt-submit", "PromptSubmit { prompt: \"go\" }"),
        (Agent::Claude, "post-bash", "PostToolUse"),
        (Agent::Claude, "stop", "Stop"),
        (Agent::Claude, "session-end", "SessionEnd"),
        (Agent::Codex, "session-start", "SessionStart"),
        (Agent::Codex, "user-prompt-submit", "PromptSubmit { prompt: "),
        (Agent::Codex, "post-bash", "PostToolUse"),
        (Agent::Gemini, "session-start", "SessionStart"),
        (Agent::Gemini, "before-agent", "PromptSubmit { prompt: \"go\" }"),
        (Agent::Gemini, "post-run-shell-command", "PostToolUse"),
        (Agent::Gemini, "after-agent", "Stop"),
        (Agent::Gemini, "session-end", "SessionEnd"),
        (Agent::Cline, "agent-start", "SessionStart"),
        (Agent::Cline, "post-run-commands", "PostToolUse"),
        (Agent::Cline, "agent-end", "Stop"),
    ] {
        let payload = fs::read(folder(agent).join(format!("{name}.json"))).unwrap();
        let event = format!("{:?}", agent.read(&payload).unwrap().event);
        assert!(event.starts_with(expected), "{agent} {name}: {event}");
        assert!(!event.contains("failed: true"), "{agent} {name}: {event}");
    }
}

#[test]
fn every_call_names_its_tool_its_id_and_an_object_of_arguments() {
    for agent in CAPTURED {
        for (name, _) in payloads(agent).iter().filter(|(name, _)| name.starts_with("pre-")) {
            let call = call(agent, name);
            assert!(!call.tool.is_empty() && call.input.value().is_object(), "{agent} {name}");
            assert_eq!(call.id.is_empty(), agent == Agent::Gemini, "{agent} {name}");
        }
    }
}

#[test]
fn no_payload_before_a_call_is_accepted_for_another_agent() {
    for sender in CAPTURED {
        for agent in Agent::ALL.into_iter().filter(|agent| *agent != sender) {
            for (name, payload) in payloads(sender).iter().filter(|(name, _)| name.starts_with("pre-")) {
                let error = agent.read(payload).unwrap_err();
                let both = HookInputError::OtherAgent { expected: agent, sender: sender.as_str() };
                assert_eq!(error, both, "{name}");
            }
        }
    }
}

#[test]
fn tools_keep_the_names_and_arguments_that_their_agents_give_them() {
    for (agent, name, tool, argument, value) in [
        (Agent::Claude, "pre-bash", "Bash", "command", "rm -rf build"),
        (Agent::Claude, "pre-bash-subagent", "Bash", "command", "rm -rf build"),
        (Agent::Claude, "pre-write", "Write", "file_path", "/home/dev/app/made.txt"),
        (Agent::Claude, "pre-edit", "Edit", "new_string", "three"),
        (Agent::Claude, "pre-mcp", "mcp__deploy__release", "version", "1.2.0"),
        (Agent::Codex, "pre-bash", "Bash", "command", "git clean -fdx"),
        (Agent::Codex, "pre-bash-code-mode", "Bash", "command", "git clean -fdx"),
        (Agent::Codex, "pre-mcp", "mcp__deploy__release", "version", "1.2.0"),
        (Agent::Gemini, "pre-run-shell-command", "run_shell_command", "command", "rm -rf build"),
        (Agent::Gemini, "pre-run-shell-command-dir-path", "run_shell_command", "dir_path", "sub"),
        (Agent::Gemini, "pre-write-file", "write_file", "file_path", "/home/dev/app/made.txt"),
        (Agent::Gemini, "pre-replace", "replace", "old_string", "two"),
        (Agent::Gemini, "pre-mcp", "mcp_deploy_release", "version", "1.2.0"),
        (Agent::OpenCode, "pre-bash", "bash", "command", "rm -rf build"),
        (Agent::OpenCode, "pre-bash-workdir", "bash", "workdir", "/home/dev/app/sub"),
        (Agent::OpenCode, "pre-write", "write", "filePath", "/home/dev/app/made.txt"),
        (Agent::OpenCode, "pre-edit", "edit", "oldString", "two"),
        (Agent::OpenCode, "pre-mcp", "deploy_release", "version", "1.2.0"),
    ] {
        let call = call(agent, name);
        assert_eq!(call.tool, tool, "{agent} {name}");
        assert_eq!(call.input.value()[argument], value, "{agent} {name}");
    }
}

#[test]
fn a_patch_of_codex_arrives_as_the_command_of_apply_patch() {
    for name in ["pre-apply-patch", "pre-apply-patch-code-mode"] {
        let call = call(Agent::Codex, name);
        assert_eq!(call.tool, "apply_patch");
        assert!(call.input.value()["command"].as_str().unwrap().starts_with("*** Begin Patch\n"));
    }
}

#[test]
fn codex_gives_the_directory_of_the_call_itself() {
    assert_eq!(call(Agent::Codex, "pre-bash-workdir").cwd, "/home/dev/app/sub");
}
