//! A machine that is short of descriptors or of memory: a refusal or an error,
//! never an allow without a verdict.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]
#![cfg(target_os = "linux")]

mod support;

use crate::support::{BINARY, Seen, User, fixture};

/// Runs the binary with a limit of `ulimit`'s.
fn limited(user: &User, limit: &str, arguments: &[&str], stdin: &str) -> Seen {
    let mut command = user.command("/bin/sh");
    command.args(["-c", &format!("ulimit {limit} || exit 99; exec \"$0\" \"$@\""), BINARY]).args(arguments);
    let seen = user.finish(&mut command, stdin.as_bytes());
    assert_ne!(seen.code, Some(99), "the limit could not be set: {seen}");
    seen
}

const LINES: &str = concat!(
    r#"{"id":"ls","tool":"Bash","input":{"command":"ls"}}"#,
    "\n",
    r#"{"id":"rm","tool":"Bash","input":{"command":"rm -rf build"}}"#,
    "\n"
);

/// From nothing to enough, so that every step on the way fails once.
fn limits() -> impl Iterator<Item = String> {
    let descriptors = (3..=16).map(|n| format!("-n {n}"));
    let memory = (0..24).map(|n| format!("-v {}", 8_000 + n * 4_000));
    descriptors.chain(memory).chain(["-v 200000".to_owned(), "-v 400000".to_owned()])
}

#[test]
fn check_never_allows_without_a_verdict() {
    let user = User::new();
    let healthy = user.run(&["check"], LINES);
    assert_eq!((healthy.code, healthy.stdout.matches("\"allow\"").count()), (Some(2), 1), "{healthy}");
    let mut refused = 0;
    for limit in limits() {
        // With a cache and without one.
        for state in ["shared", "own"] {
            let mut seen = limited(&user, &limit, &["check"], LINES);
            if state == "own" {
                let fresh = User::new();
                let mut command = fresh.command("/bin/sh");
                command
                    .env("XDG_CACHE_HOME", fresh.path("cache"))
                    .env("XDG_STATE_HOME", fresh.path("state"))
                    .args(["-c", &format!("ulimit {limit}; exec \"$0\" check"), BINARY]);
                seen = fresh.finish(&mut command, LINES.as_bytes());
            }
            assert_ne!(seen.code, Some(0), "{limit} ({state}): {seen}");
            let rm = seen.stdout.lines().filter(|line| line.contains("\"id\":\"rm\""));
            assert!(rm.clone().all(|line| line.contains("\"block\"")), "{limit} ({state}): {seen}");
            refused += usize::from(seen.stdout.contains("\"fault\":\""));
        }
    }
    assert!(refused > 0, "no limit was low enough to matter");
}

#[test]
fn hook_never_lets_a_call_through_that_would_be_refused() {
    let user = User::new();
    let payload = fixture("claude/pre-bash.json");
    assert_eq!(user.run(&["hook", "--agent", "claude"], &payload).code, Some(2));
    for limit in limits() {
        let seen = limited(&user, &limit, &["hook", "--agent", "claude"], &payload);
        // No code but 2 refuses. One that the system could not even load is not ours to answer for: it is
        // ended by a signal, or by the loader, before its first line.
        let loaded = seen.code.is_some() && !seen.stderr.contains("error while loading shared libraries");
        assert!(!loaded || seen.code == Some(2) && !seen.stderr.trim().is_empty(), "{limit}: {seen}");
    }
}

#[test]
fn a_stack_that_overflows_refuses() {
    let user = User::new();
    let payload = fixture("claude/pre-bash.json");
    let allowed = payload.replace("rm -rf build", "ls");
    assert_ne!(payload, allowed);
    let hook = ["hook", "--agent", "claude"];
    assert_eq!(user.run(&hook, &payload).code, Some(2));
    assert_eq!(user.run(&hook, &allowed).code, Some(0));
    let mut crashed = 0;
    for kib in (16..512).step_by(16) {
        // With a stack that is large enough for nothing the system does not start it at all.
        let seen = limited(&user, &format!("-s {kib}"), &hook, &payload);
        assert!(seen.code.is_none_or(|code| code == 2), "{kib}: {seen}");
        let seen = limited(&user, &format!("-s {kib}"), &hook, &allowed);
        if seen.stderr.contains("it crashed. This is a fault and not a decision.") {
            assert_eq!(seen.code, Some(2), "{kib}: {seen}");
            assert!(seen.stderr.contains("`portcullis plugin list`"), "{kib}: {seen}");
            crashed += 1;
        }
    }
    assert!(crashed > 0, "no stack was small enough to matter");
}
