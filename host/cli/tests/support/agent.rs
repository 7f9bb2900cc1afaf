//! What an agent would do with an answer of its hook, by what its makers say that
//! it reads.

use std::fs;
use std::path::{Path, PathBuf};

use portcullis::agent::Agent;
use serde_json::Value;

use super::Seen;

/// The name of every agent.
pub(crate) fn agents() -> impl Iterator<Item = &'static str> {
    Agent::ALL.into_iter().map(Agent::as_str)
}

/// True when the agent would not run the call.
pub(crate) fn refuses(agent: &str, seen: &Seen) -> bool {
    let json: Value = serde_json::from_str(&seen.stdout).unwrap_or_default();
    let says = |field: &str, value: Value, reason: &str| {
        let reason = json.get(reason).and_then(Value::as_str).unwrap_or_default();
        json.get(field) == Some(&value) && !reason.trim().is_empty()
    };
    let told = !seen.stderr.trim().is_empty();
    match (agent, seen.code) {
        // Any other code is an error of the hook's, and the call runs.
        ("claude" | "codex" | "goose" | "crush" | "windsurf" | "droid" | "kiro", Some(2)) => {
            told && seen.stdout.is_empty()
        }
        ("copilot", Some(0)) => says("permissionDecision", "deny".into(), "permissionDecisionReason"),
        ("copilot", Some(2)) => told,
        ("gemini" | "antigravity", Some(0)) => says("decision", "deny".into(), "reason"),
        ("cursor", Some(0)) => says("permission", "deny".into(), "user_message"),
        ("cline", Some(0)) => says("cancel", true.into(), "errorMessage"),
        ("opencode" | "amp", Some(0)) => says("block", true.into(), "reason"),
        _ => false,
    }
}

/// What a call is answered that nobody objects to.
pub(crate) fn answer_to_a_call(agent: &str) -> &'static str {
    match agent {
        "cursor" => "{\"permission\":\"allow\"}\n",
        "goose" => "{\"decision\":\"allow\"}\n",
        "antigravity" => "{\"decision\":\"ask\"}\n",
        "cline" => "{\"cancel\":false}\n",
        "opencode" | "amp" => "{\"block\":false}\n",
        _ => "",
    }
}

/// True when the agent goes on as if there were no hook.
pub(crate) fn passes(agent: &str, seen: &Seen) -> bool {
    let other = match agent {
        "cursor" => &["{}\n", "{\"continue\":true}\n"][..],
        "antigravity" => &["{}\n"],
        _ => &[],
    };
    let out = seen.stdout.as_str();
    let known = out == answer_to_a_call(agent) || other.contains(&out);
    seen.code == Some(0) && known && seen.stderr.is_empty()
}

/// The payloads that are written down with their answers.
pub(crate) fn wires() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/wire")
}

/// The folders in `folder`, in order.
pub(crate) fn folders(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.retain(|path| path.is_dir());
    all.sort();
    all
}

/// The payload of the agent's first event that has a case of this name.
pub(crate) fn wire(agent: &str, case: &str) -> String {
    let events = folders(&wires().join(agent));
    let file = events.iter().map(|event| event.join(case).join("stdin.json")).find(|file| file.exists());
    fs::read_to_string(file.unwrap()).unwrap()
}
