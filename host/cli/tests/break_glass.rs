//! `portcullis break-glass`: L07 of the faults. It works while every call is refused, it
//! is written down, it ends, and no agent and no project can do it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use crate::support::{BINARY, Seen, User};

/// A user whose state is their own, with a plugin that cannot be used.
fn user() -> User {
    let user = User::new();
    user.plugin("broken.wasm", b"not a component");
    user
}

fn run(user: &User, arguments: &[&str], stdin: &str) -> Seen {
    let mut command = user.command(BINARY);
    command.args(arguments).env("XDG_STATE_HOME", user.path("state"));
    user.finish(&mut command, stdin.as_bytes())
}

fn check(user: &User, command: &str) -> Seen {
    run(user, &["check"], &format!("{{\"tool\":\"bash\",\"input\":{{\"command\":\"{command}\"}}}}"))
}

#[test]
fn a_standing_refusal_is_lifted_for_a_while_and_the_other_guards_go_on() {
    let user = user();
    let refused = check(&user, "npm test");
    assert!(refused.code == Some(2) && refused.stdout.contains("broken.wasm"), "{refused}");
    let lifted = run(&user, &["break-glass", "broken.wasm", "--reason", "the mirror is down"], "");
    assert!(lifted.code == Some(0) && lifted.stdout.contains("is lifted until"), "{lifted}");
    assert_eq!(check(&user, "npm test").code, Some(0));
    let dangerous = check(&user, "rm -rf build");
    assert!(dangerous.code == Some(2) && dangerous.stdout.contains("guard/rm"), "{dangerous}");
    let list = run(&user, &["break-glass"], "");
    assert!(list.stdout.contains("broken.wasm") && list.stdout.contains("the mirror is down"), "{list}");
    let doctor = run(&user, &["doctor"], "");
    assert!(doctor.code == Some(1) && doctor.stdout.contains("lifted for a while"), "{doctor}");
    let ledger = run(&user, &["ledger", "show", "--json"], "");
    assert!(
        ledger.stdout.contains("break-glass") && ledger.stdout.contains("the mirror is down"),
        "{ledger}"
    );
    let ended = run(&user, &["break-glass", "broken.wasm", "--end"], "");
    assert_eq!(ended.code, Some(0), "{ended}");
    assert_eq!(check(&user, "npm test").code, Some(2));
}

#[test]
fn it_ends_by_itself_and_a_file_that_others_could_write_lifts_nothing() {
    let user = user();
    run(&user, &["break-glass", "broken.wasm", "--reason", "r"], "");
    let file = user.path("state/portcullis/lifted.json");
    let text = fs::read_to_string(&file).unwrap();
    let mut lift: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(check(&user, "npm test").code, Some(0));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    assert_eq!(check(&user, "npm test").code, Some(2));
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    lift[0]["until"] = lift[0]["since"].clone();
    fs::write(&file, lift.to_string()).unwrap();
    assert_eq!(check(&user, "npm test").code, Some(2));
    // One in the project is never looked at.
    user.write("work/.portcullis/lifted.json", &text);
    assert_eq!(check(&user, "npm test").code, Some(2));
}

#[test]
fn it_needs_a_reason_a_time_within_bounds_and_a_refusal_that_stands() {
    let user = user();
    for (arguments, said) in [
        (&["break-glass", "broken.wasm"][..], "--reason"),
        (&["break-glass", "guard", "--reason", "r"], "name: broken.wasm"),
        (&["break-glass", "broken.wasm", "--reason", "r", "--for", "25h"], "24 h"),
        (&["break-glass", "broken.wasm", "--reason", "r", "--for", "soon"], "hint: `90s`"),
        (&["break-glass", "broken.wasm", "--reason", "r", "--for", "0s"], "no time at all"),
        (&["break-glass", "broken.wasm", "--end"], "is not lifted"),
    ] {
        let seen = run(&user, arguments, "");
        assert!(seen.code == Some(1) && seen.stderr.contains(said), "{arguments:?}: {seen}");
    }
    assert_eq!(check(&user, "npm test").code, Some(2));
}

#[test]
fn no_agent_can_do_it() {
    let user = User::new();
    for command in
        ["portcullis break-glass broken.wasm --reason x", "echo x > ~/.local/state/portcullis/lifted.json"]
    {
        let seen = run(&user, &["why", command], "");
        assert!(seen.code == Some(2) && seen.stdout.contains("code self/"), "{command}: {seen}");
    }
}
