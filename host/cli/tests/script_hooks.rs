//! `[[hooks]]` through the binary, at every event, and what each end means. Rows H-01 to
//! H-32, CF-30, and fault H09.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::Value;

use crate::support::{BINARY, Seen, User};

/// A user with one hook: its script, and the rest of its table.
fn user(script: &str, rest: &str) -> User {
    let user = User::new();
    let program = user.write("hook.sh", format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    user.config(&format!(
        "[[hooks]]\nevent = \"pre-tool-use\"\ncommand = \"{}\"\n{rest}\n",
        program.display()
    ));
    user
}

fn check(user: &User, command: &str) -> (Seen, Value) {
    let call = serde_json::json!({ "tool": "Bash", "input": { "command": command } });
    let seen = user.run(&["check"], call.to_string());
    let said = serde_json::from_str(&seen.stdout).unwrap_or_default();
    (seen, said)
}

/// Three arms: a healthy allow, a healthy deny, and the fault in both modes.
#[test]
fn a_hook_allows_denies_and_fails_open_or_closed() {
    let (seen, said) = check(&user("exit 0", ""), "npm test");
    assert!(seen.code == Some(0) && said["verdict"] == "allow", "{seen}");
    let (seen, said) = check(&user("echo 'not on Fridays' >&2; exit 2", ""), "npm test");
    assert_eq!(seen.code, Some(2), "{seen}");
    assert_eq!(
        (&said["by"]["kind"], &said["code"], &said["fault"]),
        (&"hook".into(), &"hook/block".into(), &Value::Null)
    );
    assert!(said["reason"].as_str().unwrap().contains("not on Fridays"), "{seen}");
    let (seen, _) = check(&user("exit 7", ""), "npm test");
    assert_eq!(seen.code, Some(0), "{seen}");
    for (script, fault) in [("exit 7", "trap"), ("echo hello", "bad-verdict"), ("exec sleep 600", "timeout")]
    {
        let user = user(script, "failure_mode = \"closed\"\ntimeout_ms = 500");
        // Not even on the second call.
        for _ in 0..2 {
            let (seen, said) = check(&user, "npm test");
            assert_eq!((seen.code, &said["fault"]), (Some(2), &fault.into()), "{script}: {seen}");
            assert!(said["reason"].as_str().unwrap().contains("failure_mode"), "{seen}");
        }
    }
}

/// H-32 and P-20: what a guard refuses no hook is asked about.
#[test]
fn hooks_are_asked_behind_the_guards() {
    let user = user("touch asked; exit 0", "");
    let (seen, said) = check(&user, "rm -rf build");
    assert!(seen.code == Some(2) && said["by"]["kind"] == "guard", "{seen}");
    assert!(!user.path("work/asked").exists());
    check(&user, "npm test");
    assert!(user.path("work/asked").exists());
}

/// H-01, H-03, H-04 and H-06: the keys of a hook mean what they say.
#[test]
fn only_calls_that_are_meant_reach_a_hook_that_is_on() {
    for (rest, command, asked) in [
        ("match = \"Bash(git push *)\"", "git push origin x", true),
        ("match = \"Bash(git push *)\"", "git pull", false),
        ("match = \"write(**)\"", "git push", false),
        ("enabled = false", "git push", false),
        ("enabled = true", "git push", true),
    ] {
        let user = user("touch asked; exit 0", rest);
        check(&user, command);
        assert_eq!(user.path("work/asked").exists(), asked, "{rest}: {command}");
    }
    let user = User::new();
    user.config(
        "[[hooks]]\nevent = \"pre-tool-use\"\ncommand = \"grep -q \\\"$1\\\" && exit 2; exit 0\"\nargs = [\"secret\"]\nshell = true\n",
    );
    assert_eq!(check(&user, "echo secret").0.code, Some(2));
    assert_eq!(check(&user, "echo public").0.code, Some(0));
}

/// H-02, H-08 and H-26: what is wrong with a definition is told with its place, and every
/// call is refused until it is mended.
#[test]
fn a_definition_that_is_wrong_is_told_and_refuses_every_call() {
    let good = "[[hooks]]\nevent = \"pre-tool-use\"\ncommand = \"/bin/true\"\n";
    for (from, to, said) in [
        ("pre-tool-use", "pre-tool", "unknown value"),
        ("event = \"pre-tool-use\"\n", "", "`event` is missing"),
        ("/bin/true", "scripts/guard.sh", "not an absolute path"),
        ("command", "comand", "did you mean `command`?"),
        ("[[hooks]]", "[hooks]", "list of tables"),
        ("/bin/true\"\n", "/bin/true\"\nfailure_mode = \"clsoed\"\n", "did you mean `closed`?"),
        ("/bin/true\"\n", "/bin/true\"\ntimeout_ms = 0\n", "out of range"),
        ("/bin/true\"\n", "/bin/true\"\nmatch = \"Bsh(x)\"\n", "did you mean `bash`?"),
        ("/bin/true\"\n", "/bin/true\"\nmatch = \"Bash(x\"\n", "does not end with its bracket"),
    ] {
        let user = User::new();
        user.config(good);
        assert_eq!(user.run(&["config", "validate"], "").code, Some(0));
        user.config(&good.replacen(from, to, 1));
        let seen = user.run(&["config", "validate"], "");
        let all = format!("{}{}", seen.stdout, seen.stderr);
        assert!(seen.code == Some(1) && all.to_lowercase().contains(&said.to_lowercase()), "{to}: {seen}");
        assert_eq!(check(&user, "npm test").0.code, Some(2), "{to}");
    }
}

/// A project's hooks are its own programs, and are not started.
#[test]
fn a_hook_of_a_project_is_not_asked() {
    let user = User::new();
    user.write(
        "work/.portcullis/config.toml",
        "[[hooks]]\nevent = \"pre-tool-use\"\ncommand = \"touch asked\"\nshell = true\n",
    );
    assert_eq!(check(&user, "npm test").0.code, Some(0));
    assert!(!user.path("work/asked").exists());
    let doctor = user.run(&["doctor"], "");
    assert!(doctor.stdout.contains("wait for trust"), "{doctor}");
}

#[test]
fn doctor_names_a_hook_that_fails_open_and_why_names_the_hook_that_refused() {
    let user = user("echo no >&2; exit 2", "");
    let doctor = user.run(&["doctor"], "");
    assert!(doctor.code == Some(0) && doctor.stdout.contains("calls go on when it fails"), "{doctor}");
    let why = user.run(&["why", "npm test"], "");
    assert!(why.code == Some(2) && why.stdout.contains("hook/block"), "{why}");
}

/// A hook at `event`: a line of shell.
fn line(event: &str, line: &str, rest: &str) -> String {
    format!("[[hooks]]\nevent = \"{event}\"\nshell = true\ncommand = '''{line}'''\n{rest}\n")
}

/// A session that no other test has: all of them have one state directory.
fn session(user: &User) -> String {
    user.path("").file_name().unwrap().to_string_lossy().into_owned()
}

/// What Claude Code is told of an event in the user's workspace.
fn told(user: &User, event: &str, more: &Value) -> Seen {
    let mut payload = serde_json::json!({
        "session_id": session(user), "prompt_id": "p1", "cwd": user.path("work"), "hook_event_name": event,
    });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    user.run(&["hook", "--agent", "claude"], payload.to_string())
}

/// H-01, H-05 and H-06: what holds for each hook, in their order.
#[test]
fn hooks_are_listed_in_the_order_in_which_they_are_asked() {
    let user = User::new();
    user.config(&format!(
        "[hook_defaults]\nfailure_mode = \"closed\"\n[channels.hooks]\ndeny = [\"stop *\"]\n{}{}{}",
        line("pre-tool-use", "true", "match = \"Bash(git push *)\""),
        line("session-start", "true", "enabled = false\nfailure_mode = \"open\"\ntimeout_ms = 500"),
        line("stop", "true", ""),
    ));
    let seen = user.run(&["hooks", "list", "--json"], "");
    let said: Value = serde_json::from_str(&seen.stdout).unwrap();
    let rows: Vec<_> = said["hooks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|hook| {
            serde_json::json!([
                hook["event"],
                hook["match"],
                hook["timeout_ms"],
                hook["failure_mode"],
                hook["enabled"],
                hook["denied"],
            ])
        })
        .collect();
    assert_eq!(
        rows,
        [
            serde_json::json!(["pre-tool-use", "Bash(git push *)", 10_000, "closed", true, false]),
            serde_json::json!(["session-start", null, 500, "open", false, false]),
            serde_json::json!(["stop", null, 10_000, "closed", true, true]),
        ]
    );
}

/// H-09: one object for each event, with the call where there is one and the text where
/// there is one.
#[test]
fn a_hook_hears_at_each_event_what_the_event_has() {
    let call =
        serde_json::json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "t1" });
    let with = |mut more: Value| {
        more.as_object_mut().unwrap().extend(call.as_object().unwrap().clone());
        more
    };
    let tool = serde_json::json!({ "name": "bash", "input": { "command": "ls" } });
    for (theirs, more, event, has_tool, text) in [
        ("SessionStart", serde_json::json!({ "source": "startup" }), "session-start", false, None),
        ("UserPromptSubmit", serde_json::json!({ "prompt": "go" }), "prompt-submit", false, Some("go")),
        ("PreToolUse", with(serde_json::json!({})), "pre-tool-use", true, None),
        (
            "PostToolUse",
            with(serde_json::json!({ "tool_response": "a b" })),
            "post-tool-use",
            true,
            Some("a b"),
        ),
        (
            "PostToolUseFailure",
            with(serde_json::json!({ "error": "bad" })),
            "post-tool-use",
            true,
            Some("bad"),
        ),
        (
            "SubagentStop",
            serde_json::json!({ "last_assistant_message": "done" }),
            "subagent-stop",
            false,
            Some("done"),
        ),
        ("Stop", serde_json::json!({ "last_assistant_message": "done" }), "stop", false, Some("done")),
        ("PreCompact", serde_json::json!({ "trigger": "auto" }), "pre-compact", false, None),
        ("SessionEnd", serde_json::json!({ "reason": "exit" }), "session-end", false, None),
    ] {
        let user = User::new();
        let all = [
            "session-start",
            "prompt-submit",
            "pre-tool-use",
            "post-tool-use",
            "subagent-stop",
            "stop",
            "pre-compact",
            "session-end",
        ];
        user.config(&all.map(|event| line(event, "cat >> heard", "")).concat());
        let seen = told(&user, theirs, &more);
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(0), ""), "{theirs}: {seen}");
        let heard: Value =
            serde_json::from_str(&fs::read_to_string(user.path("work/heard")).unwrap()).unwrap();
        let mut expected =
            serde_json::json!({ "event": event, "session_id": session(&user), "cwd": user.path("work") });
        if has_tool {
            expected["tool"] = tool.clone();
        }
        if let Some(text) = text {
            expected["text"] = text.into();
        }
        assert_eq!(heard, expected, "{theirs}");
    }
}

/// A session that a hook refuses has no call, in whatever process, until it is begun anew.
#[test]
fn a_session_that_a_hook_refuses_has_no_call() {
    let user = User::new();
    user.config(&line("session-start", "test -e ticket || { echo no ticket >&2; exit 2; }", ""));
    let call =
        serde_json::json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "t1" });
    assert_eq!(told(&user, "PreToolUse", &call).code, Some(0));
    let start = told(&user, "SessionStart", &serde_json::json!({ "source": "startup" }));
    assert!(start.code == Some(0) && start.stdout.contains("no ticket"), "{start}");
    for _ in 0..2 {
        let seen = told(&user, "PreToolUse", &call);
        assert!(seen.code == Some(2) && seen.stderr.contains("no ticket"), "{seen}");
        assert!(seen.stderr.contains("portcullis hooks list"), "{seen}");
    }
    user.write("work/ticket", "");
    told(&user, "SessionStart", &serde_json::json!({ "source": "resume" }));
    assert_eq!(told(&user, "PreToolUse", &call).code, Some(0));
}

/// H-16, H-17 and CF-30.
#[test]
fn an_agent_is_sent_on_up_to_the_limit_and_the_turn_ends_once() {
    let user = User::new();
    user.config(&format!(
        "[plugins]\nenabled = [\"guard\", \"bell\"]\n[hook_defaults]\nmax_turns = 3\n{}",
        line("stop", "echo the tests fail >&2; exit 2", "")
    ));
    for turn in 0..2 {
        for (round, again) in [(1, false), (2, true), (3, true)] {
            let seen = told(&user, "Stop", &serde_json::json!({ "stop_hook_active": again }));
            let sent_on = seen.stdout.contains("\"decision\":\"block\"");
            assert_eq!(sent_on, round < 3, "{turn} {round}: {seen}");
            assert!(!sent_on || seen.stdout.contains("[stop-hook] "), "{seen}");
            assert_eq!(seen.stderr.contains('\u{7}'), round == 3, "{turn} {round}: {seen}");
        }
    }
    let shown = user.run(&["ledger", "show", "--json"], "").stdout;
    let own = format!("\"session\":\"{}\"", session(&user));
    let tagged = |line: &&str| line.contains(&own) && line.contains("[stop-hook] ");
    assert_eq!(shown.lines().filter(tagged).count(), 6);
}

/// H09: a hook that has Portcullis judge the call comes back to itself, and an end is made.
#[test]
fn a_hook_that_asks_portcullis_comes_to_an_end() {
    let user = User::new();
    let program = BINARY;
    let again = format!(
        "echo x >> asked; echo '{{\"tool\":\"Bash\",\"input\":{{\"command\":\"ls\"}}}}' | {program} check >> said || exit 2"
    );
    user.config(&line("pre-tool-use", &again, ""));
    let (seen, said) = check(&user, "ls");
    assert_eq!((seen.code, &said["by"]["kind"]), (Some(2), &"hook".into()), "{seen}");
    assert_eq!(fs::read_to_string(user.path("work/asked")).unwrap().lines().count(), 3);
    let deepest = fs::read_to_string(user.path("work/said")).unwrap();
    assert!(deepest.lines().next().unwrap().contains("hooks have started one another"), "{deepest}");
}

/// When nobody can ask the hooks, a prompt is withheld and nothing else is kept from
/// going on: the calls are refused in any case.
#[test]
fn a_configuration_that_is_broken_withholds_prompts_and_ends_answers() {
    let user = User::new();
    user.config("[[hooks]]\nevent = \"stop\"\ncomand = \"/bin/true\"\n");
    let seen = told(&user, "UserPromptSubmit", &serde_json::json!({ "prompt": "go" }));
    assert!(
        seen.stdout.contains("\"decision\":\"block\"") && seen.stdout.contains("not a decision"),
        "{seen}"
    );
    for (event, more) in [
        ("SessionStart", serde_json::json!({})),
        ("Stop", serde_json::json!({ "stop_hook_active": false })),
        ("PreCompact", serde_json::json!({})),
        ("SessionEnd", serde_json::json!({})),
    ] {
        let seen = told(&user, event, &more);
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(0), ""), "{event}: {seen}");
        assert!(!seen.stderr.is_empty(), "{event}");
    }
}

/// A hook that no installed entry asks is told, with the remedy, and the remedy works.
#[test]
fn doctor_tells_that_a_hook_is_not_asked_until_install_runs_again() {
    let user = User::new();
    assert_eq!(user.run(&["install", "claude"], "").code, Some(0));
    assert_eq!(user.run(&["doctor"], "").code, Some(0));
    user.config(&line("prompt-submit", "exit 0", "failure_mode = \"closed\""));
    let doctor = user.run(&["doctor"], "");
    assert_eq!(doctor.code, Some(1), "{doctor}");
    assert!(doctor.stdout.contains("that hook is not asked; run `portcullis install claude`"), "{doctor}");
    assert_eq!(user.run(&["install", "claude"], "").code, Some(0));
    let doctor = user.run(&["doctor"], "");
    assert_eq!(doctor.code, Some(0), "{doctor}");
    // Everything is asked for once that was wanted, and stays so.
    assert_eq!(user.run(&["install", "claude", "--events", "all"], "").code, Some(0));
    assert!(user.run(&["install", "claude"], "").stdout.contains("already has the entry"));
    assert_eq!(user.run(&["doctor"], "").code, Some(0));
    // Crush tells of calls alone, and gone programs are told.
    user.run(&["install", "crush"], "");
    user.config("[[hooks]]\nevent = \"stop\"\ncommand = \"/no/such/program\"\nfailure_mode = \"closed\"\n");
    let doctor = user.run(&["doctor"], "").stdout;
    assert!(
        doctor.contains("no entry of crush tells of it") && doctor.contains("its program is not there"),
        "{doctor}"
    );
}

#[test]
fn a_hook_that_is_switched_off_stays_in_the_list_and_is_not_asked() {
    let user = user("echo 'not on Fridays' >&2; exit 2", "failure_mode = \"closed\" # strict");
    let file = user.path("config/portcullis/config.toml");
    let before = std::fs::read_to_string(&file).unwrap();
    let state = || {
        let seen = user.run(&["hooks", "list", "--json"], "");
        let said: Value = serde_json::from_str(&seen.stdout).unwrap();
        (said["hooks"].as_array().unwrap().len(), said["hooks"][0]["enabled"].clone())
    };
    for (verb, enabled, code) in [("disable", false, 0), ("disable", false, 0), ("enable", true, 2)] {
        let seen = user.run(&["hooks", verb, "pre-tool-use hook.sh"], "");
        assert_eq!(seen.code, Some(0), "{seen}");
        assert_eq!(state(), (1, enabled.into()), "{verb}");
        let (seen, _) = check(&user, "npm test");
        assert_eq!(seen.code, Some(code), "{verb}: {seen}");
    }
    let after = std::fs::read_to_string(&file).unwrap();
    assert_eq!(after.replace("enabled = true\n", ""), before, "nothing else changed");
    let seen = user.run(&["hooks", "disable", "pre-tool-use other.sh"], "");
    assert!(seen.code == Some(3) || seen.code == Some(1), "{seen}");
    assert!(seen.stderr.contains("it has `pre-tool-use hook.sh`"), "{seen}");
    let agent = r#"portcullis hooks disable 'pre-tool-use hook.sh'"#;
    let (seen, said) = check(&user, agent);
    assert_eq!((seen.code, &said["code"]), (Some(2), &"self/command".into()), "{seen}");
}

/// Three arms: hooks let the session begin, they do not, and nobody can tell. Without
/// hooks at that moment there is nothing to tell, and nobody is locked out.
#[test]
fn how_a_session_began_is_known_or_its_calls_are_refused() {
    let payload = |user: &User, event: &str| {
        serde_json::json!({
            "session_id": user.path("").display().to_string(), "cwd": user.path("work"),
            "hook_event_name": event, "source": "startup", "tool_name": "Bash", "tool_use_id": "t",
            "tool_input": { "command": "npm test" },
        })
        .to_string()
    };
    let ask = |user: &User, event: &str, is_at_home: bool| {
        let mut command = user.command(BINARY);
        command.args(["hook", "--agent", "claude"]);
        if !is_at_home {
            command.env_remove("HOME").env_remove("XDG_STATE_HOME");
        }
        user.finish(&mut command, payload(user, event).as_bytes())
    };
    for (script, event, is_at_home, code, said) in [
        ("exit 0", "session-start", true, 0, ""),
        ("exit 2", "session-start", true, 2, "session"),
        ("exit 0", "session-start", false, 2, "HOME tells where one is"),
        ("exit 0", "stop", false, 0, ""),
    ] {
        let user = User::new();
        let hook = format!("[[hooks]]\nevent = \"{event}\"\nshell = true\ncommand = \"{script}\"\n");
        user.config(&hook);
        ask(&user, "SessionStart", is_at_home);
        for _ in 0..2 {
            let seen = ask(&user, "PreToolUse", is_at_home);
            assert_eq!(seen.code, Some(code), "{script} at {event}: {seen}");
            assert!(seen.stderr.contains(said), "{script} at {event}: {seen}");
        }
    }
}
