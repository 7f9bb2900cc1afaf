//! `portcullis trust`: what of a project acts, and every way in which it stops.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use portcullis_tests::plugin::Plugin;
use serde_json::{Value, json};

use crate::support::{BINARY, Seen, User};

const CONFIG: &str = "\
[plugins]
locked = true

[plugin.mine.settings]
words = [\"a\"]

[plugin.mine.grant]
clock = true

[plugin.guard.settings.categories]
rm = \"allow\"

[tools]
known = [\"deploy_preview\"]

[[hooks]]
event = \"pre-tool-use\"
match = \"Bash(npm *)\"
command = \"tools/hook\"
failure_mode = \"closed\"
";

/// A user with a project that brings everything: a plugin, a configuration, a hook. The
/// user's state is their own.
fn user() -> User {
    let user = User::new();
    let mine = Plugin::new("mine").allows("").tool("greet", true).build().unwrap();
    user.write("work/.portcullis/plugins/mine.wasm", mine);
    user.write("work/.portcullis/config.toml", CONFIG);
    hook(&user, "echo 'not today' >&2; exit 2");
    user
}

fn hook(user: &User, script: &str) {
    let program = user.write("work/tools/hook", format!("#!/bin/sh\n{script}\n"));
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Runs the binary with a state of the user's own.
fn run(user: &User, arguments: &[&str], stdin: &str) -> Seen {
    let mut command = user.command(BINARY);
    command.env("XDG_STATE_HOME", user.path("state")).args(arguments);
    user.finish(&mut command, stdin.as_bytes())
}

fn check(user: &User, command: &str) -> Value {
    let call = json!({ "tool": "Bash", "input": { "command": command } });
    serde_json::from_str(&run(user, &["check"], &call.to_string()).stdout).unwrap()
}

/// Who refused `npm test`, or `allow`.
fn npm(user: &User) -> String {
    let said = check(user, "npm test");
    said["code"].as_str().unwrap_or("allow").to_owned()
}

/// The tools of the project's plugin, as the list of plugins has them.
fn tools(user: &User) -> Value {
    let list: Value = serde_json::from_str(&run(user, &["plugin", "list", "--json"], "").stdout).unwrap();
    list["plugins"].as_array().unwrap().iter().find(|row| row["name"] == "mine").unwrap()["tools"].clone()
}

/// How each file of the project stands, and the exit code.
fn stands(user: &User) -> (Vec<String>, Option<i32>) {
    let seen = run(user, &["trust", "status", "--json"], "");
    let said: Value = serde_json::from_str(&seen.stdout).unwrap_or_else(|_| panic!("{seen}"));
    let file =
        |file: &Value| format!("{} {}", file["path"].as_str().unwrap(), file["stands"].as_str().unwrap());
    (said["files"].as_array().unwrap().iter().map(file).collect(), seen.code)
}

const FILES: [&str; 3] = [".portcullis/config.toml", "tools/hook", ".portcullis/plugins/mine.wasm"];

fn all(stands: &str) -> Vec<String> {
    FILES.map(|file| format!("{file} {stands}")).to_vec()
}

#[test]
fn add_shows_what_it_allows_and_binds_it_and_remove_takes_it_back() {
    let user = user();
    assert_eq!((npm(&user), tools(&user)), ("allow".to_owned(), json!([])));
    assert_eq!(stands(&user), (all("waits"), Some(0)));
    let doctor = run(&user, &["doctor"], "");
    assert_eq!(doctor.stdout.matches("warn  trust in ").count(), 3, "{doctor}");

    let added = run(&user, &["trust", "add", "--yes"], "");
    assert_eq!(added.code, Some(0), "{added}");
    for shown in [
        "line 5: plugin.mine.settings.words = [\"a\"]",
        "line 8: plugin.mine.grant.clock = true",
        "line 14: tools.known = [\"deploy_preview\"]",
        "hooks.1 = {",
        "tools/hook  sha256 ",
        "mine.wasm  sha256 ",
        "the plugin `mine` 0.0.1: guard, tool",
        "brings the tools greet",
        "tells the model: A plugin of the tests.",
    ] {
        assert!(added.stdout.contains(shown), "{shown}: {added}");
    }
    assert!(!added.stdout.contains("rm = ") && !added.stdout.contains("locked"), "{added}");
    assert!(
        added.stderr.contains("plugins.locked") && added.stderr.contains("plugin.guard.settings"),
        "{added}"
    );

    assert_eq!(stands(&user), (all("trusted"), Some(0)));
    assert_eq!((npm(&user), tools(&user)), ("hook/block".to_owned(), json!(["greet"])));
    assert_eq!(check(&user, "rm -rf build")["code"], "guard/rm", "the bundled guard is not the project's");
    let shown = run(&user, &["config", "show"], "");
    assert!(shown.stdout.contains("plugin.mine.grant.clock"), "{shown}");
    let inspect = run(&user, &["plugin", "inspect", "mine", "--json"], "");
    assert!(inspect.stdout.contains("\"clock\":true"), "{inspect}");
    let doctor = run(&user, &["doctor"], "");
    assert_eq!(doctor.stdout.matches("ok    trust in ").count(), 3, "{doctor}");

    let removed = run(&user, &["trust", "remove"], "");
    assert_eq!(removed.code, Some(0), "{removed}");
    assert_eq!((npm(&user), tools(&user)), ("allow".to_owned(), json!([])));
    assert_eq!(run(&user, &["trust", "remove"], "").code, Some(1));
    let ledger = run(&user, &["ledger", "show", "--json"], "");
    let kinds: Vec<_> = ledger.stdout.lines().filter(|line| line.contains("\"kind\":\"trust\"")).collect();
    assert!(kinds.len() == 2 && kinds[0].contains("tools/hook sha256"), "{ledger}");
    assert!(kinds[1].contains("not trusted any more"), "{ledger}");
}

#[test]
fn a_file_that_changed_loses_what_it_brought_and_is_named() {
    let user = user();
    assert_eq!(run(&user, &["trust", "add", "--yes"], "").code, Some(0));

    // A plugin keeps its guard.
    let strict = Plugin::new("mine").refuses("no", "evil words").tool("greet", true).build().unwrap();
    user.write("work/.portcullis/plugins/mine.wasm", strict);
    assert_eq!(tools(&user), json!([]));
    let said = check(&user, "ls");
    assert!(said["code"] == "mine/no" && !said.to_string().contains("evil words"), "{said}");
    assert_eq!(stands(&user).0[2], ".portcullis/plugins/mine.wasm changed");
    assert_eq!(stands(&user).1, Some(1));
    let doctor = run(&user, &["doctor"], "");
    let line = doctor.stdout.lines().find(|line| line.contains("trust in .portcullis/plugins/mine.wasm"));
    assert!(line.unwrap().starts_with("FAIL") && line.unwrap().contains("portcullis trust add"), "{doctor}");
    let mine = Plugin::new("mine").allows("").tool("greet", true).build().unwrap();
    user.write("work/.portcullis/plugins/mine.wasm", mine);
    assert_eq!(stands(&user), (all("trusted"), Some(0)), "the same bytes are the same bytes");

    // A hook's program acts on as it was trusted: who can edit it cannot switch it off.
    hook(&user, "exit 0");
    assert_eq!(npm(&user), "hook/block");
    assert_eq!(stands(&user).0[1], "tools/hook kept");
    fs::remove_file(user.path("work/tools/hook")).unwrap();
    assert_eq!(npm(&user), "hook/block");
    hook(&user, "echo 'not today' >&2; exit 2");

    // A configuration narrows, and no more.
    user.write("work/.portcullis/config.toml", format!("{CONFIG}\n[audit]\nallowed = true\n"));
    assert_eq!(npm(&user), "allow");
    assert_eq!(stands(&user).0[0], ".portcullis/config.toml changed");
    let shown = run(&user, &["config", "show"], "");
    assert!(
        shown.stdout.lines().any(|line| line.starts_with("audit.allowed") && line.contains("true  ")),
        "{shown}"
    );
    assert_eq!(run(&user, &["trust", "add", "--yes"], "").code, Some(0));
    assert_eq!(npm(&user), "hook/block");
}

#[test]
fn a_hook_whose_kept_program_is_gone_fails_closed() {
    let user = user();
    assert_eq!(run(&user, &["trust", "add", "--yes"], "").code, Some(0));
    fs::remove_dir_all(user.path("state/portcullis/trust/programs")).unwrap();
    assert_eq!(npm(&user), "fault/load");
    assert_eq!(run(&user, &["trust", "add", "--yes"], "").code, Some(0));
    assert_eq!(npm(&user), "hook/block");
}

#[test]
fn nobody_says_yes_for_the_user() {
    let user = user();
    let seen = run(&user, &["trust", "add"], "y\n");
    assert!(
        seen.code == Some(1) && seen.stderr.contains("nobody to ask") && seen.stderr.contains("--yes"),
        "{seen}"
    );
    assert_eq!(stands(&user), (all("waits"), Some(0)));
    for (command, code) in [
        ("portcullis trust add --yes", "self/command"),
        ("portcullis trust remove", "self/command"),
        ("echo '{}' > ~/.local/state/portcullis/trust/trust.json", "self/state"),
        ("rm ~/.local/state/portcullis/trust/trust.json", "self/state"),
    ] {
        assert_eq!(check(&user, command)["code"], code, "{command}");
    }
    let moved = format!("cp /tmp/x {}", user.path("state/portcullis/trust/trust.json").display());
    assert_eq!(check(&user, &moved)["code"], "self/state");
    assert_eq!(check(&user, "portcullis trust status")["verdict"], "allow");
}

#[test]
fn a_damaged_store_trusts_nothing_says_so_and_is_not_written_over() {
    let user = user();
    assert_eq!(run(&user, &["trust", "add", "--yes"], "").code, Some(0));
    let file = user.path("state/portcullis/trust/trust.json");
    let whole = fs::read(&file).unwrap();
    for half in [&whole[..whole.len() / 2], b"", b"{}"] {
        fs::write(&file, half).unwrap();
        assert_eq!((npm(&user), tools(&user)), ("allow".to_owned(), json!([])));
        let doctor = run(&user, &["doctor"], "");
        assert!(doctor.code == Some(1) && doctor.stdout.contains("is damaged"), "{doctor}");
        for verb in [&["trust", "add", "--yes"][..], &["trust", "remove"], &["trust", "status"]] {
            let seen = run(&user, verb, "");
            assert!(seen.code == Some(1) && seen.stderr.contains("move it away"), "{verb:?}: {seen}");
        }
        assert_eq!(fs::read(&file).unwrap(), half);
    }
    fs::write(&file, &whole).unwrap();
    assert_eq!(npm(&user), "hook/block");
}

#[test]
fn a_directory_that_was_moved_or_replaced_is_not_trusted() {
    let user = user();
    assert_eq!(run(&user, &["trust", "add", "--yes"], "").code, Some(0));
    let (work, away) = (user.path("work"), user.path("away"));
    fs::rename(&work, &away).unwrap();
    fs::create_dir(&work).unwrap();
    // The same bytes at the same path, in another directory.
    for file in FILES {
        fs::create_dir_all(work.join(file).parent().unwrap()).unwrap();
        fs::copy(away.join(file), work.join(file)).unwrap();
    }
    assert_eq!((npm(&user), tools(&user)), ("allow".to_owned(), json!([])));
    let seen = run(&user, &["trust", "status"], "");
    assert!(seen.code == Some(1) && seen.stderr.contains("Another directory was trusted"), "{seen}");
    let doctor = run(&user, &["doctor"], "");
    assert!(doctor.stdout.contains("FAIL  trust"), "{doctor}");
}

#[test]
fn a_project_without_a_wish_has_nothing_to_trust() {
    let user = User::new();
    let seen = run(&user, &["trust", "status"], "");
    assert!(seen.code == Some(1) && seen.stderr.contains("nothing to trust"), "{seen}");
    user.write("work/.portcullis/config.toml", "[audit]\nrequired = true\n");
    let seen = run(&user, &["trust", "add"], "");
    assert!(seen.code == Some(0) && seen.stdout.contains("brings nothing"), "{seen}");
    user.write("work/.portcullis/config.toml", "[audit]\nrequired = 1\n");
    let seen = run(&user, &["trust", "add", "--yes"], "");
    assert!(seen.code == Some(1) && seen.stderr.contains("config.toml:2:"), "{seen}");
}

#[test]
fn a_plugin_that_cannot_be_loaded_is_not_trusted_and_the_rest_is() {
    let user = user();
    user.write("work/.portcullis/plugins/bad.wasm", "random bytes");
    let seen = run(&user, &["trust", "add", "--yes", "--json"], "");
    let said: Value = serde_json::from_str(&seen.stdout).unwrap_or_else(|_| panic!("{seen}"));
    assert_eq!(seen.code, Some(1), "{seen}");
    assert_eq!(said["files"].as_object().unwrap().len(), 3, "{said}");
    assert!(said["problems"][0].as_str().unwrap().starts_with(".portcullis/plugins/bad.wasm: "), "{said}");
}
