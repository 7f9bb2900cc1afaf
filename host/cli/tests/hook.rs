//! `portcullis hook`: whatever happens, an answer in the agent's dialect.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use portcullis_tests::plugin::Plugin;
use serde_json::Value;

use crate::support::agent::{agents, answer_to_a_call, passes, refuses, wire};
use crate::support::{BINARY, Seen, User, fixture, fixtures};

/// The agents whose payloads have been captured.
const CAPTURED: [&str; 4] = ["claude", "codex", "gemini", "opencode"];

fn hook(user: &User, agent: &str, payload: impl AsRef<[u8]>) -> Seen {
    user.run(&["hook", "--agent", agent], payload)
}

fn first_call(agent: &str) -> String {
    match agent {
        "gemini" => fixture("gemini/pre-run-shell-command.json"),
        "codex" | "claude" | "opencode" => fixture(&format!("{agent}/pre-bash.json")),
        _ => wire(agent, "deny"),
    }
}

fn ordinary(agent: &str) -> String {
    match agent {
        "codex" => first_call(agent).replace("git clean -fdx", "npm test"),
        "claude" | "gemini" | "opencode" => first_call(agent).replace("rm -rf build", "npm test"),
        _ => wire(agent, "allow"),
    }
}

#[test]
fn claude_is_answered_in_its_dialect() {
    seen!(hook(&User::new(), "claude", first_call("claude")), @r#"
    exit 2
    err: Blocked by the guard plugin: refusing "rm -rf build" (recursive or forced delete). Ask the user to run it themselves if it is really needed.
    "#);
    seen!(hook(&User::new(), "claude", ordinary("claude")), @r#"
    exit 0
    "#);
}

#[test]
fn codex_is_answered_in_its_dialect() {
    seen!(hook(&User::new(), "codex", first_call("codex")), @r#"
    exit 2
    err: Blocked by the guard plugin: refusing "git clean -fdx" (deletes untracked files). Ask the user to run it themselves if it is really needed.
    "#);
    seen!(hook(&User::new(), "codex", ordinary("codex")), @r#"
    exit 0
    "#);
}

#[test]
fn gemini_is_answered_in_its_dialect() {
    seen!(hook(&User::new(), "gemini", first_call("gemini")), @r#"
    exit 0
    out: {"decision":"deny","reason":"Blocked by the guard plugin: refusing \"rm -rf build\" (recursive or forced delete). Ask the user to run it themselves if it is really needed."}
    "#);
    seen!(hook(&User::new(), "gemini", ordinary("gemini")), @r#"
    exit 0
    "#);
}

#[test]
fn opencode_is_answered_in_its_dialect() {
    seen!(hook(&User::new(), "opencode", first_call("opencode")), @r#"
    exit 0
    out: {"block":true,"reason":"Blocked by the guard plugin: refusing \"rm -rf build\" (recursive or forced delete). Ask the user to run it themselves if it is really needed."}
    "#);
    seen!(hook(&User::new(), "opencode", ordinary("opencode")), @r#"
    exit 0
    out: {"block":false}
    "#);
}

#[test]
fn every_payload_of_a_real_agent_is_answered() {
    let user = User::new();
    for agent in CAPTURED {
        let mut payloads = 0;
        for entry in std::fs::read_dir(fixtures().join(agent)).unwrap() {
            let path = entry.unwrap().path();
            let seen = hook(&user, agent, std::fs::read(&path).unwrap());
            let refused = refuses(agent, &seen);
            assert!(refused || passes(agent, &seen), "{}: {seen}", path.display());
            // Only what has not run yet can be refused, and only those are commands that the guard refuses.
            let name = path.file_stem().unwrap().to_str().unwrap();
            assert!(!refused || name.starts_with("pre-"), "{}: {seen}", path.display());
            payloads += 1;
        }
        assert!(payloads > 5, "{agent}");
    }
}

#[test]
fn an_agents_own_tool_of_a_name_that_a_plugin_has_takes_what_it_takes() {
    let user = User::new();
    for (tool, input) in [("current_time", r#"{"zone":"UTC"}"#), ("find_tools", r#"{"words":["a"]}"#)] {
        let payload = format!(
            r#"{{"session_id":"s1","transcript_path":"/t","cwd":"/home/dev/app","hook_event_name":"PreToolUse","tool_name":"{tool}","tool_input":{input}}}"#
        );
        let seen = hook(&user, "claude", &payload);
        assert!(passes("claude", &seen), "{tool}: {seen}");
        // A plugin approves its own tools, and this one is the agent's.
        let asked = user.run(&["hook", "--agent", "claude", "--mode", "ask"], payload);
        assert_eq!(passes("claude", &asked), tool == "find_tools", "{tool}: {asked}");
    }
}

#[test]
fn a_sub_agents_calls_are_judged_like_its_parents() {
    let user = User::new();
    let payload = fixture("claude/pre-bash-subagent.json");
    let command = serde_json::from_str::<Value>(&payload).unwrap()["tool_input"]["command"].clone();
    let payload = payload.replace(command.as_str().unwrap(), "rm -rf build");
    assert!(refuses("claude", &hook(&user, "claude", payload)));
}

#[test]
fn the_end_of_a_turn_rings_the_bell_that_is_on_and_changes_nothing() {
    let user = User::new();
    for (agent, event) in [("claude", "stop"), ("codex", "stop"), ("gemini", "after-agent")] {
        let payload = fixture(&format!("{agent}/{event}.json"));
        assert!(passes(agent, &hook(&user, agent, &payload)));
        user.config("[plugins]\nenabled = [\"guard\", \"bell\"]");
        let seen = hook(&user, agent, &payload);
        assert_eq!(
            (seen.code, seen.stdout.as_str(), seen.stderr.as_str()),
            (Some(0), "", "\u{7}"),
            "{agent}"
        );
        user.config("");
    }
}

#[test]
fn what_is_no_payload_is_refused_in_every_dialect() {
    let user = User::new();
    for agent in agents() {
        let whole = ordinary(agent);
        let cut = &whole[..whole.len() - 20];
        let twice = format!("{whole}{whole}");
        let deep = "[".repeat(200_000);
        let long = " ".repeat((16 << 20) + 1);
        let payloads: [&[u8]; 12] = [
            b"",
            b"\n",
            b"garbage",
            b"null",
            b"[]",
            b"{}",
            b"\xff\xfe{\0}\0",
            b"\0",
            cut.as_bytes(),
            twice.as_bytes(),
            deep.as_bytes(),
            long.as_bytes(),
        ];
        for (at, payload) in payloads.into_iter().enumerate() {
            let seen = hook(&user, agent, payload);
            assert!(refuses(agent, &seen), "{agent}, payload {at}: {seen}");
        }
        assert!(passes(agent, &hook(&user, agent, &whole)), "{agent}");
    }
}

#[test]
fn the_payload_of_another_agent_is_refused() {
    let user = User::new();
    for agent in agents() {
        for other in agents().filter(|other| *other != agent) {
            // Kiro's payload has no marks, and so it is anybody's who names the event so.
            if other == "kiro" && ["claude", "codex", "copilot", "droid"].contains(&agent) {
                continue;
            }
            let seen = hook(&user, agent, ordinary(other));
            assert!(refuses(agent, &seen), "{agent} was sent what {other} sends: {seen}");
        }
    }
}

#[test]
fn an_agent_that_nobody_knows_is_refused_by_the_exit_code() {
    seen!(hook(&User::new(), "cluade", ordinary("claude")), @r#"
    exit 2
    err: error: no such agent (known: claude, codex, gemini, copilot, cursor, opencode, goose, crush, cline, windsurf, droid, kiro, antigravity, amp): `cluade`; hint: `--agent claude`
    "#);
}

#[test]
fn a_command_line_that_is_misspelt_is_a_refusal_and_no_error() {
    let user = User::new();
    for agent in agents() {
        for line in [
            &["hook", "--agent", agent, "--time", "5"][..],
            &["hook", "--agent", agent, "--timeout", "0"],
            &["hook", "--agent", agent, "now"],
            &["--isolate", "hook", "--agent", agent],
        ] {
            let seen = user.run(line, ordinary(agent));
            assert!(refuses(agent, &seen), "{line:?}: {seen}");
            assert!(seen.stderr.contains("error: "), "the person is told why: {seen}");
        }
        let joined = format!("--agent={agent}");
        assert!(refuses(agent, &user.run(&["hook", &joined, "--bogus"], ordinary(agent))));
    }
    for line in [&["hook"][..], &["hook", "--agent"], &["hook", "--agent", "emacs", "--bogus"]] {
        let seen = user.run(line, "");
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(2), ""), "{line:?}: {seen}");
    }
}

#[test]
fn plugins_and_configurations_that_cannot_be_used_refuse() {
    for agent in agents() {
        let user = User::new();
        assert!(passes(agent, &hook(&user, agent, ordinary(agent))));
        user.plugin("bad.wasm", b"random bytes");
        let seen = hook(&user, agent, ordinary(agent));
        assert!(refuses(agent, &seen), "{agent}: {seen}");
        assert!(format!("{}{}", seen.stdout, seen.stderr).contains("bad.wasm"), "{seen}");

        let user = User::new();
        user.write("data/portcullis/plugins", "no directory");
        assert!(refuses(agent, &hook(&user, agent, ordinary(agent))), "{agent}: a directory that is none");

        let user = User::new();
        user.config("[plugins]\nenabled = 7");
        let seen = hook(&user, agent, ordinary(agent));
        assert!(refuses(agent, &seen), "{agent}: {seen}");
        assert!(!seen.stdout.contains("[user]"), "a host path reached the model: {seen}");
    }
}

#[test]
fn standard_input_that_is_never_closed_is_a_refusal() {
    let user = User::new();
    let started: Vec<_> = agents()
        .map(|agent| {
            let mut command = user.command(BINARY);
            command.args(["hook", "--agent", agent, "--timeout", "1"]);
            let mut child = command.spawn().unwrap();
            (agent, child.stdin.take(), child)
        })
        .collect();
    for (agent, open, child) in started {
        let seen = user.seen(&child.wait_with_output().unwrap());
        drop(open);
        assert!(refuses(agent, &seen), "{agent}: {seen}");
        assert!(format!("{}{}", seen.stdout, seen.stderr).contains("it took too long"), "{seen}");
    }
}

#[test]
fn a_guard_that_never_answers_is_a_refusal() {
    let user = User::new();
    user.plugin("loop.wasm", &Plugin::new("loop").allows("(loop $again (br $again))").build().unwrap());
    user.config("[plugin.loop.limits]\nguard_ms = 200");
    for agent in agents() {
        let seen = hook(&user, agent, ordinary(agent));
        assert!(refuses(agent, &seen), "{agent}: {seen}");
        assert!(format!("{}{}", seen.stdout, seen.stderr).contains("not a decision"), "{seen}");
    }
}

#[test]
fn nothing_but_the_answer_is_ever_on_standard_output() {
    let print = r#"
      (import "wasi:cli/stdout@0.2.0" "get-stdout" (func $stdout (result i32)))
      (import "wasi:io/streams@0.2.0" "[method]output-stream.blocking-write-and-flush"
        (func $print (param i32 i32 i32 i32)))
      (import "wasi:io/streams@0.2.0" "[resource-drop]output-stream" (func $close (param i32)))"#;
    // The texts of a guest begin at 1024, and its name is the first of them.
    let body = "(local.set $stream (call $stdout))
      (call $print (local.get $stream) (i32.const 1024) (i32.const 12) (i32.const 512))
      (call $close (local.get $stream))";
    let guard = Plugin::new("chatterer-99")
        .allows(body)
        .fields(print)
        .world("import wasi:cli/stdout@0.2.0;\n  import wasi:io/streams@0.2.0;");
    let user = User::new();
    user.plugin("chatter.wasm", &guard.build().unwrap());
    for agent in agents() {
        let seen = user.run(&["-vv", "hook", "--agent", agent], ordinary(agent));
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(0), answer_to_a_call(agent)), "{seen}");
        // What it printed is told to the person who asks, under its name.
        assert!(seen.stderr.contains("chatterer-99"), "{seen}");
        let seen = user.run(&["-vv", "hook", "--agent", agent], first_call(agent));
        assert!(refuses(agent, &seen), "{seen}");
    }
}

#[test]
fn a_guard_that_never_ends_is_stopped_at_its_own_deadline() {
    let judged = |body: &str, payload: String| {
        let user = User::new();
        user.plugin("probe.wasm", &Plugin::new("probe").allows(body).build().unwrap());
        user.config("[plugin.probe.limits]\nguard_ms = 200\n");
        hook(&user, "claude", payload)
    };
    let endless = "(loop $again (br $again))";
    assert_eq!(judged("", ordinary("claude")).code, Some(0));
    assert_eq!(judged("", first_call("claude")).code, Some(2));
    let seen = judged(endless, ordinary("claude"));
    assert_eq!(seen.code, Some(2));
    // The hook's own deadline, which is far, would have other words.
    assert!(seen.stderr.contains("probe") && !seen.stderr.contains("took too long"), "{}", seen.stderr);
}
