//! `[permissions]` and `--mode` through the binary: what `check`, `hook` and `why` say,
//! and what a project may add.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use serde_json::{Value, json};

use crate::support::{Seen, User};

fn check(user: &User, more: &[&str], command: &str) -> (Seen, Value) {
    let session = user.path("").display().to_string();
    let call = json!({ "tool": "Bash", "input": { "command": command }, "session_id": session });
    let seen = user.run(&[&["check"], more].concat(), call.to_string());
    let said = serde_json::from_str(&seen.stdout).unwrap_or_default();
    (seen, said)
}

/// Three arms: a call that is allowed, one that is denied, and the fault: a
/// configuration that holds no rules refuses both.
#[test]
fn rules_allow_and_deny_and_what_is_no_rule_refuses_everything() {
    let user = User::new();
    user.config("[permissions]\ndeny = [\"Bash(git push *)\"]\n");
    let (seen, said) = check(&user, &[], "npm test");
    assert!(seen.code == Some(0) && said["verdict"] == "allow", "{seen}");
    let (seen, said) = check(&user, &[], "npm test && git push");
    assert_eq!((seen.code, &said["code"]), (Some(2), &"policy/deny".into()), "{seen}");
    assert!(said["reason"].as_str().unwrap().contains("`Bash(git push *)`"), "{seen}");
    user.config("[permissions]\ndeny = [\"Bsh(git push *)\"]\n");
    for _ in 0..2 {
        for command in ["npm test", "git push"] {
            let (seen, said) = check(&user, &[], command);
            assert_eq!((seen.code, &said["fault"]), (Some(2), &"load".into()), "{seen}");
        }
    }
}

#[test]
fn consent_that_nobody_can_give_is_no_permission_and_the_agent_is_told_to_ask() {
    let user = User::new();
    let (seen, said) = check(&user, &["--mode", "ask"], "npm test");
    assert_eq!((seen.code, &said["verdict"], &said["code"]), (Some(2), &"ask".into(), &"policy/ask".into()));
    let (seen, _) = check(&user, &["--mode", "yolo"], "npm test");
    assert_eq!(seen.code, Some(0), "{seen}");
    let (seen, said) = check(&user, &["--mode", "yolo"], "rm -rf x");
    assert_eq!((seen.code, &said["code"]), (Some(2), &"guard/rm".into()), "{seen}");
    user.config("[permissions]\nask = [\"Bash(npm *)\"]\n");
    let payload = json!({
        "session_id": "s", "cwd": user.path(""), "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_use_id": "t", "tool_input": { "command": "npm test" },
    });
    let seen = user.run(&["hook", "--agent", "claude"], payload.to_string());
    let said: Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!((seen.code, &said["hookSpecificOutput"]["permissionDecision"]), (Some(0), &"ask".into()));
    let seen = user.run(&["hook", "--agent", "codex"], payload.to_string());
    assert_eq!(seen.code, Some(2), "{seen}");
    assert!(seen.stderr.contains("the user's consent"), "{seen}");
}

#[test]
fn a_mode_that_is_none_is_told() {
    let (seen, _) = check(&User::new(), &["--mode", "yollo"], "npm test");
    assert_eq!(seen.code, Some(1), "{seen}");
    assert!(seen.stderr.contains("accept-edits"), "{seen}");
}

#[test]
fn a_project_adds_what_is_refused_and_its_words_are_not_repeated() {
    let user = User::new();
    user.config("[permissions]\nmode = \"accept-edits\"\nallow = [\"Bash\"]\n");
    user.write(
        ".portcullis/config.toml",
        "[permissions]\nmode = \"yolo\"\nallow = [\"*\"]\ndeny = [\"Bash(words of mine *)\"]\n",
    );
    let (seen, said) = check(&user, &[], "words of mine x");
    assert_eq!(
        (seen.code, &said["code"], &said["by"]["name"]),
        (Some(2), &"policy/deny".into(), &"project".into())
    );
    assert!(!said["reason"].as_str().unwrap().contains("words"), "{seen}");
    let fetch = json!({ "tool": "WebFetch", "input": { "url": "https://example.com", "prompt": "p" } });
    let seen = user.run(&["check"], fetch.to_string());
    assert!(seen.stdout.contains("policy/ask"), "neither its mode nor its `allow` counts: {seen}");
    let seen = user.run(&["config", "show"], "");
    assert!(seen.stderr.contains("a project permits nothing"), "{seen}");
    assert!(seen.stderr.contains("a project chooses nothing that permits more"), "{seen}");
}

#[test]
fn what_was_asked_and_what_was_denied_are_in_the_ledger() {
    let user = User::new();
    user.config("[permissions]\nask = [\"Bash(npm *)\"]\ndeny = [\"Bash(git push *)\"]\n");
    check(&user, &[], "npm test");
    check(&user, &[], "git push");
    // The ledger is that of all tests, and the session this one's alone.
    let session = user.path("").display().to_string();
    let seen = user.run(&["ledger", "show", "--json", "--session", &session], "");
    let codes: Vec<String> = seen
        .stdout
        .lines()
        .filter_map(|line| serde_json::from_str::<Value>(line).ok()?["code"].as_str().map(str::to_owned))
        .collect();
    assert_eq!(codes, ["policy/ask", "policy/deny"], "{seen}");
}

#[test]
fn why_tells_what_the_permissions_said_and_what_would_change_it() {
    let user = User::new();
    user.config("[channels.tools]\ndeny = [\"webfetch\"]\n");
    let seen = user.run(&["why", "--mode", "read-only", "npm test"], "");
    assert_eq!(seen.code, Some(2), "{seen}");
    assert!(seen.stdout.contains("permissions: refuses, policy/read-only"), "{seen}");
    assert!(seen.stdout.contains("[permissions]"), "{seen}");
    let fetch = json!({ "tool": "WebFetch", "input": { "url": "https://example.com", "prompt": "p" } });
    let seen = user.run(&["why"], fetch.to_string());
    assert!(seen.stdout.contains("policy/channel") && seen.stdout.contains("[channels]"), "{seen}");
}
