//! Row L06: a process that is killed while it writes leaves the old or the new, and no
//! mixture, at whatever system call that happens.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test ends when anything is wrong"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::support::{BINARY, Seen, User};

/// Every call that changes something on the disk, or its name.
const CALLS: &[&str] = &[
    "write",
    "fsync",
    "rename",
    "renameat",
    "renameat2",
    "chmod",
    "fchmod",
    "mkdir",
    "flock",
    "unlink",
    "ftruncate",
    "linkat",
];
const CONFIG: &str =
    "[[hooks]]\nevent = \"pre-tool-use\"\ncommand = \"tools/hook\"\nfailure_mode = \"closed\"\n";

fn user() -> User {
    let user = User::new();
    user.write("work/.portcullis/config.toml", CONFIG);
    hook(&user, "old");
    user
}

fn hook(user: &User, word: &str) {
    let program = user.write("work/tools/hook", format!("#!/bin/sh\necho {word} >&2\nexit 2\n"));
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

fn run(user: &User, arguments: &[&str], stdin: &str) -> Seen {
    let mut command = user.command(BINARY);
    command.env("XDG_STATE_HOME", user.path("state")).args(arguments);
    user.finish(&mut command, stdin.as_bytes())
}

/// What the hook of the project says now: its word, or nothing.
fn word(user: &User) -> String {
    let seen = run(user, &["check"], r#"{"tool":"Bash","input":{"command":"npm test"}}"#);
    let said: Value = serde_json::from_str(&seen.stdout).unwrap_or_else(|_| panic!("{seen}"));
    match said["code"].as_str() {
        None => String::new(),
        Some("hook/block") => said["reason"].as_str().unwrap().trim().rsplit(' ').next().unwrap().to_owned(),
        Some(_) => panic!("{seen}"),
    }
}

fn has_strace() -> bool {
    let there = Command::new("strace").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
    there.is_ok_and(|status| status.success())
}

/// Runs the binary and kills it at the `at`th of its calls of `call`. True when it was
/// not reached, so the run is whole.
fn killed_at(user: &User, arguments: &[&str], call: &str, at: usize) -> bool {
    let mut command = user.command("strace");
    command
        .env("PATH", "/usr/bin:/bin")
        .env("XDG_STATE_HOME", user.path("state"))
        .args(["-f", "-qq", "-o", "/dev/null", "-e", &format!("trace={call}")])
        .args(["-e", &format!("inject={call}:signal=KILL:when={at}"), BINARY])
        .args(arguments);
    user.finish(&mut command, b"").code.is_some()
}

/// Kills the binary as soon as `when` holds, or after so many looks. True when it ended by
/// itself.
fn killed_when(user: &User, arguments: &[&str], mut when: impl FnMut() -> bool) -> bool {
    let mut command = user.command(BINARY);
    command.env("XDG_STATE_HOME", user.path("state")).args(arguments);
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status.success();
        }
        if when() {
            child.kill().unwrap();
            child.wait().unwrap();
            return false;
        }
    }
}

/// The store holds what it held, or all of what it was to hold.
fn is_old_or_new(user: &User, old: &str, new: &str, at: &str) {
    let word = word(user);
    assert!(word == old || word == new, "{at}: {word}");
    let status = run(user, &["trust", "status", "--json"], "");
    let said: Value = serde_json::from_str(&status.stdout).unwrap_or_else(|_| panic!("{at}: {status}"));
    let hook = said["files"].as_array().unwrap().iter().find(|file| file["path"] == "tools/hook").unwrap();
    let expected = if word == new {
        "trusted"
    } else if old.is_empty() {
        "waits"
    } else {
        "kept"
    };
    assert_eq!(hook["stands"], expected, "{at}");
}

#[test]
fn trust_that_is_killed_at_any_call_is_the_old_or_the_new() {
    let user = user();
    if has_strace() {
        for call in CALLS {
            for at in 1.. {
                let whole = killed_at(&user, &["trust", "add", "--yes"], call, at);
                is_old_or_new(&user, "", "old", &format!("{call} {at}"));
                run(&user, &["trust", "remove"], "");
                if whole {
                    break;
                }
            }
        }
    }
    // Without it, wherever it happens to be.
    assert_eq!(run(&user, &["trust", "add", "--yes"], "").code, Some(0));
    hook(&user, "new");
    for looks in [0, 20, 60, 100, 200, 400, 800] {
        let mut seen = 0;
        killed_when(&user, &["trust", "add", "--yes"], || {
            seen += 1;
            seen > looks
        });
        is_old_or_new(&user, "old", "new", &format!("after {looks} looks"));
    }
    assert_eq!(run(&user, &["trust", "add", "--yes"], "").code, Some(0));
    assert_eq!(word(&user), "new");
    let verified = run(&user, &["ledger", "verify"], "");
    assert_eq!(verified.code, Some(0), "what was half-written is told of: {verified}");
}

#[test]
fn an_install_that_is_killed_at_any_call_leaves_the_old_or_the_new_file() {
    let user = User::new();
    let file = user.path("home/.claude/settings.json");
    let old = "{ \"model\": \"x\" }\n";
    let put = || {
        user.write("home/.claude/settings.json", old);
    };
    put();
    assert_eq!(run(&user, &["install", "claude"], "").code, Some(0));
    let new = fs::read_to_string(&file).unwrap();
    assert!(new.contains("PreToolUse") && new != old);
    let check = |at: &str| {
        let now = fs::read_to_string(&file).unwrap();
        assert!(now == old || now == new, "{at}: {now}");
    };
    // What is written is written by then; the canary behind it changes nothing.
    let is_new = |path: &Path| fs::read_to_string(path).is_ok_and(|now| now == new);
    if has_strace() {
        for call in CALLS {
            for at in 1.. {
                put();
                let whole = killed_at(&user, &["install", "claude"], call, at);
                check(&format!("{call} {at}"));
                if whole || is_new(&file) {
                    break;
                }
            }
        }
    }
    for looks in [0, 20, 60, 100, 200, 400] {
        put();
        let mut seen = 0;
        killed_when(&user, &["install", "claude"], || {
            seen += 1;
            seen > looks || is_new(&file)
        });
        check(&format!("after {looks} looks"));
    }
}
