//! A server that is short of memory: calls are refused before anything else gives way, and
//! where the process ends, its client has no answer, which is a refusal.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]
#![cfg(target_os = "linux")]

mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use support::{BINARY, User};

/// What became of a dangerous call and of a harmless one, again and again; none when the
/// server had gone.
fn verdicts(user: &User, limit: &str) -> Vec<Option<(String, String)>> {
    let mut command = user.command("/bin/sh");
    command.args(["-c", &format!("ulimit {limit} || exit 99; exec \"$0\" serve"), BINARY]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut output = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut ask = |method: &str, params: Value| -> Option<Value> {
        writeln!(output, "{}", json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))
            .ok()?;
        let answer: Value = serde_json::from_str(&lines.next()?.ok()?).ok()?;
        Some(answer["result"].clone())
    };
    ask("initialize", json!({"protocol": "1.0", "client": {"name": "test", "version": "1"}}));
    ask("session/open", json!({"session_id": "s1", "cwd": "/home/dev/app"}));
    ask("turn/begin", json!({"session_id": "s1", "turn_id": "t1"}));
    let padding = " ".repeat(512 << 10);
    let mut seen = Vec::new();
    for _ in 0..2 {
        let mut judge = |command: String| {
            let call = json!({"turn_id": "t1", "tool": "Bash", "input": {"command": command}});
            Some(ask("beforeToolCall", call)?["verdict"].to_string())
        };
        let both = judge(format!("rm -rf build{padding}")).zip(judge(format!("ls{padding}")));
        seen.push(both);
    }
    drop(output);
    // It may have ended by itself.
    let _ = child.wait();
    seen
}

#[test]
fn a_server_without_memory_allows_nothing_that_it_would_refuse() {
    let user = User::new();
    let healthy = Some(("\"block\"".to_owned(), "\"allow\"".to_owned()));
    assert_eq!(verdicts(&user, "-v unlimited"), [healthy.clone(), healthy]);
    let mut failed = 0;
    for mib in (8..=136).step_by(16) {
        for both in verdicts(&user, &format!("-v {}", mib << 10)) {
            failed += usize::from(both.as_ref().is_none_or(|(_, harmless)| harmless != "\"allow\""));
            assert!(both.is_none_or(|(dangerous, _)| dangerous != "\"allow\""), "{mib} MiB");
        }
    }
    assert!(failed > 0, "no limit was low enough to matter");
}
