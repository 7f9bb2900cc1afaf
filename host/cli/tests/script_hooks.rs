//! `[[hooks]]` through the binary: asked behind the guards, and what each end means for
//! the call. Rows H-01 to H-32, as far as they are about a call that has not run.

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

use crate::support::{Seen, User};

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
