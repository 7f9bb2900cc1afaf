//! `portcullis why`: how a judgement came about.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use serde_json::Value;

use crate::support::{BINARY, User};

#[test]
fn a_refusal_is_explained_with_the_setting_that_would_change_it() {
    let user = User::new();
    let seen = user.run(&["why", "cd app && sh -c 'rm -rf build'"], "");
    assert_eq!(seen.code, Some(2), "{seen}");
    for said in
        ["tool", "bash", "rm -rf build", "guard: refuses, guard/rm", "code guard/rm", "rm = \"allow\""]
    {
        assert!(seen.stdout.contains(said), "{said}: {seen}");
    }
    // The setting is true.
    user.config("[plugin.guard.settings.categories]\nrm = \"allow\"\n");
    let allowed = user.run(&["why", "cd app && sh -c 'rm -rf build'"], "");
    assert!(allowed.code == Some(0) && allowed.stdout.contains("verdict  allow"), "{allowed}");
}

#[test]
fn every_guard_is_asked_also_behind_one_that_refuses() {
    let user = User::new();
    user.config("[plugins]\nenabled = [\"guard\", \"no-secrets\"]\n");
    let seen = user.run(&["why", "--json", "rm -rf .env"], "");
    let said: Value = serde_json::from_str(&seen.stdout).unwrap();
    let parts = said["parts"].as_array().unwrap();
    let codes: Vec<_> =
        parts.iter().map(|part| (part["name"].as_str().unwrap(), part["code"].is_string())).collect();
    assert_eq!(codes, [("self-protection", false), ("guard", true), ("no-secrets", true)], "{seen}");
    assert_eq!(said["judgement"]["code"], "guard/rm", "{seen}");
}

#[test]
fn own_files_unknown_tools_and_calls_that_are_none_are_explained() {
    let user = User::new();
    let own = user.run(&["why", "echo x > ~/.config/portcullis/config.toml"], "");
    assert!(own.code == Some(2) && own.stdout.contains("own_files = false"), "{own}");
    user.config("[plugins]\nrequired = [\"guard\"]\n");
    let unknown = user.run(&["why"], "{\"tool\":\"frobnicate\",\"input\":{}}");
    assert!(unknown.code == Some(2) && unknown.stdout.contains("known = [\"frobnicate\"]"), "{unknown}");
    let none = user.run(&["why"], "{\"tol\":1}");
    assert!(none.code == Some(1) && none.stderr.contains("hint: `portcullis why"), "{none}");
    let both = user.run(&["why", "ls"], "{\"tool\":\"bash\",\"input\":{\"command\":\"ls\"}}");
    assert!(both.code == Some(1) && both.stderr.contains("give one of them"), "{both}");
}

#[test]
fn nothing_is_written_to_the_ledger() {
    let user = User::new();
    let run = |arguments: &[&str], stdin: &str| {
        let mut command = user.command(BINARY);
        command.args(arguments).env("XDG_STATE_HOME", user.path("state"));
        user.finish(&mut command, stdin.as_bytes())
    };
    let call = "{\"tool\":\"bash\",\"input\":{\"command\":\"rm -rf build\"}}";
    assert_eq!(run(&["why"], call).code, Some(2));
    assert!(!run(&["ledger", "show"], "").stdout.contains("guard/rm"));
    assert_eq!(run(&["check"], call).code, Some(2));
    assert!(run(&["ledger", "show"], "").stdout.contains("guard/rm"));
}
