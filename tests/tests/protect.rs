//! Portcullis's own files and the hooks of agents are kept from every call, by the
//! host and by no plugin.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use std::fs;
use std::os::unix::fs::symlink;

use portcullis::{Host, HostOptions, OwnFiles};
use portcullis_model::call::ToolCall;
use portcullis_model::judgement::{RefuserKind, Verdict};
use portcullis_tests::guest::Guard;
use portcullis_tests::plugin::Plugin;
use serde_json::json;

use crate::place::{Place, bash, call, judge, ls};

/// A place with a home, a workspace in it, and hooks in both.
fn furnished() -> Place {
    let place = Place::new();
    for (path, text) in [
        ("home/.claude/settings.json", "{}"),
        ("home/.config/portcullis/config.toml", ""),
        ("home/app/.claude/settings.json", "{}"),
        ("home/app/src/main.rs", ""),
    ] {
        let path = place.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    place
}

/// The options of a host of `place` that has no guard, so that a refusal is the host's own.
fn options(place: &Place, config: &str) -> HostOptions {
    let mut options = place.options(&format!("plugins.enabled = []\n{config}"));
    options.env = [("HOME".to_owned(), place.path("home").to_string_lossy().into_owned())].into();
    options.own = OwnFiles {
        config: Some(place.path("config.toml")),
        state: Some(place.path("state")),
        program: Some(place.path("opt/gate")),
        project: Some(place.path("home/app")),
    };
    options
}

/// The call, made in the workspace.
fn there(place: &Place, mut call: ToolCall) -> ToolCall {
    call.cwd = place.path("home/app").to_string_lossy().into_owned();
    call
}

/// `allow`, or the code of the refusal.
async fn code(host: &Host, place: &Place, call: ToolCall) -> String {
    judge(host, there(place, call)).await.code.unwrap_or_else(|| "allow".to_owned())
}

async fn script(host: &Host, place: &Place, script: &str) -> String {
    code(host, place, bash(script)).await
}

#[tokio::test]
async fn the_refusal_names_the_path_and_what_the_user_can_do() {
    let place = furnished();
    let host = Host::open(options(&place, "")).await.unwrap();
    let wire = judge(&host, there(&place, bash("echo '{}' > ~/.claude/settings.json"))).await;
    assert_eq!((wire.verdict, wire.fault), (Verdict::Block, None));
    let by = wire.by.unwrap();
    assert_eq!((by.kind, by.name.as_str()), (RefuserKind::Path, "~/.claude/settings.json"));
    assert_eq!(wire.code.as_deref(), Some("self/hooks"));
    let reason = wire.reason.unwrap();
    for part in
        ["`~/.claude/settings.json`", "the hooks of Claude Code", "Tell the user", "own_files = false"]
    {
        assert!(reason.contains(part), "{reason}");
    }
    let home = place.path("home");
    assert!(!reason.contains(&*home.to_string_lossy()), "the model sent no such path: {reason}");
    assert!(!reason.contains("  "), "{reason}");
}

#[tokio::test]
async fn each_of_our_own_places_is_kept_and_what_lies_beside_is_not() {
    let place = furnished();
    let mut options = options(&place, "");
    options.plugins = vec![place.path("named.wasm")];
    fs::write(place.path("named.wasm"), Plugin::new("named").build().unwrap()).unwrap();
    options.store_dir = Some(place.path("store"));
    let host = Host::open(options).await.unwrap();
    for (name, expected) in [
        ("config.toml", "self/config"),
        ("config.toml.bak", "allow"),
        ("user/new.wasm", "self/plugins"),
        ("project/new.wasm", "self/plugins"),
        ("named.wasm", "self/plugins"),
        ("state/ledger.jsonl", "self/state"),
        ("store/x", "self/state"),
        ("opt/gate", "self/program"),
        ("opt/other", "allow"),
        ("home/app/.portcullis/config.toml", "self/config"),
        ("home/app/portcullis/config.toml", "allow"),
    ] {
        let path = place.path(name).to_string_lossy().into_owned();
        let write = call("Write", json!({"file_path": path, "content": ""}));
        assert_eq!(code(&host, &place, write).await, expected, "{name}");
        assert_eq!(script(&host, &place, &format!("tee {path} < x")).await, expected, "{name}");
        let read = call("Read", json!({ "file_path": path }));
        assert_eq!(code(&host, &place, read).await, "allow", "{name}");
    }
}

#[tokio::test]
async fn a_file_that_is_not_there_yet_is_kept_too() {
    let place = furnished();
    let host = Host::open(options(&place, "")).await.unwrap();
    assert!(!place.path("home/.codex").exists());
    assert_eq!(
        script(&host, &place, "mkdir -p ~/.codex && echo '{}' > ~/.codex/hooks.json").await,
        "self/hooks"
    );
    assert_eq!(
        script(&host, &place, "mkdir -p ~/.codex && echo '{}' > ~/.codex/prompts.json").await,
        "allow"
    );
    assert_eq!(script(&host, &place, "echo '{}' > ~/.codex/../.codex/./hooks.json").await, "self/hooks");
}

#[tokio::test]
async fn a_patch_is_refused_for_one_such_file_among_many() {
    let place = furnished();
    let host = Host::open(options(&place, "")).await.unwrap();
    let patch = |file: &str| {
        let text = format!(
            "*** Begin Patch\n*** Update File: src/main.rs\n@@\n-a\n+b\n*** Add File: {file}\n+x\n*** End Patch"
        );
        [call("apply_patch", json!({ "input": text })), bash(&format!("apply_patch <<'E'\n{text}\nE"))]
    };
    for (file, expected) in [
        (".claude/settings.local.json", "self/hooks"),
        ("docs/settings.json", "allow"),
        ("src/../.cursor/hooks.json", "self/hooks"),
    ] {
        for call in patch(file) {
            assert_eq!(code(&host, &place, call).await, expected, "{file}");
        }
    }
    let edits = |path: &str| {
        let one =
            |path: &str| json!({"tool_name": "Write", "parameters": {"file_path": path, "content": ""}});
        call("batch", json!({"tool_calls": [one("src/a.rs"), one(path)]}))
    };
    assert_eq!(code(&host, &place, edits(".github/hooks/x.json")).await, "self/hooks");
    assert_eq!(code(&host, &place, edits(".github/x.json")).await, "allow");
}

#[tokio::test]
async fn a_link_does_not_lead_around_it() {
    let place = furnished();
    symlink(place.path("home/.claude"), place.path("home/app/notes")).unwrap();
    symlink(place.path("user"), place.path("home/app/mine")).unwrap();
    let host = Host::open(options(&place, "")).await.unwrap();
    for (path, expected) in [
        ("notes/settings.json", "self/hooks"),
        ("notes/CLAUDE.md", "allow"),
        ("mine/guard.wasm", "self/plugins"),
        ("mine/../project/guard.wasm", "self/plugins"),
    ] {
        let write = call("Write", json!({"file_path": path, "content": ""}));
        assert_eq!(code(&host, &place, write).await, expected, "{path}");
        assert_eq!(script(&host, &place, &format!("echo > {path}")).await, expected, "{path}");
    }
    // One that the same script makes.
    assert_eq!(script(&host, &place, "ln -s ~/.claude x; echo > x/settings.json").await, "self/hooks");
    assert_eq!(script(&host, &place, "ln -s ~/.claude/commands x; echo > x/y.md").await, "allow");
}

#[tokio::test]
async fn moving_or_removing_a_parent_counts() {
    let place = furnished();
    let host = Host::open(options(&place, "")).await.unwrap();
    for (command, expected) in [
        ("mv ~/.claude ~/.claude.old", "self/hooks"),
        ("rm -r .claude", "self/hooks"),
        ("mv ~/.config/portcullis x", "self/config"),
        ("rm -r ~/.config", "self/config"),
        ("mv ~/.claude.old x", "allow"),
        ("rm -r src", "allow"),
        ("mv ~/.cursor x", "allow"),
    ] {
        assert_eq!(script(&host, &place, command).await, expected, "{command}");
    }
    let user = place.user().to_string_lossy().into_owned();
    assert_eq!(script(&host, &place, &format!("mv {user} {user}2")).await, "self/plugins");
}

#[tokio::test]
async fn a_relative_path_counts_from_where_the_script_went() {
    let place = furnished();
    let host = Host::open(options(&place, "")).await.unwrap();
    for (command, expected) in [
        ("cd ~/.claude && sed -i s/a/b/ settings.json", "self/hooks"),
        ("cd ~/.claude && sed -n p settings.json", "allow"),
        ("cd src && echo > settings.json", "allow"),
        ("cd src; cd ../.claude; tee settings.json < x", "self/hooks"),
    ] {
        assert_eq!(script(&host, &place, command).await, expected, "{command}");
    }
    let shell =
        |directory: &str| call("shell", json!({"command": ["rm", "settings.json"], "workdir": directory}));
    assert_eq!(code(&host, &place, shell(".claude")).await, "self/hooks");
    assert_eq!(code(&host, &place, shell("src")).await, "allow");
}

#[tokio::test]
async fn verbs_of_portcullis_that_change_anything_are_refused() {
    let place = furnished();
    let host = Host::open(options(&place, "")).await.unwrap();
    for (command, expected) in [
        ("portcullis plugin list --json", "allow"),
        ("echo '{}' | portcullis check", "allow"),
        ("portcullis trust .", "self/command"),
        ("env -i /usr/bin/portcullis uninstall", "self/command"),
        ("../../opt/gate trust .", "self/command"),
        ("../../opt/gate --version", "allow"),
        ("pkill -f portcullis", "self/command"),
        ("git commit -m 'portcullis trust .'", "allow"),
    ] {
        assert_eq!(script(&host, &place, command).await, expected, "{command}");
    }
}

#[tokio::test]
async fn no_list_of_plugins_and_no_flag_drops_it() {
    let place = furnished();
    let mut without = options(&place, "");
    without.no_plugins = true;
    let mut allowed = options(&place, "");
    allowed.config.plugins.enabled = None;
    place.put("probe.wasm", &Guard::new("probe").build().unwrap());
    for options in [without, options(&place, ""), allowed] {
        let host = Host::open(options).await.unwrap();
        assert_eq!(script(&host, &place, "echo > .claude/settings.json").await, "self/hooks");
        assert_eq!(script(&host, &place, "allow").await, "allow");
    }
}

#[tokio::test]
async fn a_guard_that_fails_does_not_answer_in_its_place() {
    let place = furnished();
    let mut options = options(&place, "");
    place.put("broken.wasm", &Plugin::new("broken").allows("unreachable").build().unwrap());
    options.config.plugins.enabled = None;
    let host = Host::open(options).await.unwrap();
    assert_eq!(ls(&host).await, "broken!trap");
    assert_eq!(script(&host, &place, "rm .claude/settings.json").await, "self/hooks");
}

#[tokio::test]
async fn the_user_can_switch_it_off_and_the_project_cannot() {
    let place = furnished();
    let off = "[protect]\nown_files = false";
    let project = place.path("home/app/.portcullis");
    fs::create_dir_all(&project).unwrap();
    fs::write(project.join("config.toml"), off).unwrap();
    let host = Host::open(options(&place, "")).await.unwrap();
    assert_eq!(script(&host, &place, "rm .claude/settings.json").await, "self/hooks");
    let host = Host::open(options(&place, off)).await.unwrap();
    for command in ["rm .claude/settings.json", "portcullis trust .", "echo > .portcullis/config.toml"] {
        assert_eq!(script(&host, &place, command).await, "allow", "{command}");
    }
}

#[tokio::test]
async fn a_script_with_more_changes_than_are_looked_at_is_refused() {
    let place = furnished();
    let host = Host::open(options(&place, "")).await.unwrap();
    let touches = |count: usize| {
        let files: Vec<String> = (0..count).map(|number| format!("f{number}")).collect();
        format!("touch {}", files.join(" "))
    };
    assert_eq!(script(&host, &place, &touches(9_000)).await, "allow");
    let late = format!("{}; rm .claude/settings.json", touches(9_000));
    assert_eq!(script(&host, &place, &late).await, "self/hooks");
    assert_eq!(script(&host, &place, &touches(11_000)).await, "fault/too-big");
    assert_eq!(script(&host, &place, &format!("echo {}", touches(11_000))).await, "allow");
}

#[tokio::test]
async fn the_guides_examples_are_true() {
    let guide = include_str!("../../docs/guides/self-protection.md");
    let place = furnished();
    let host = Host::open(options(&place, "")).await.unwrap();
    let mut count = 0;
    for line in guide.lines().skip_while(|line| !line.starts_with("| refused | passes")) {
        // A cell that is no command says so in words.
        for (cell, refused) in line.trim_matches('|').split(" | ").zip([true, false]) {
            let Some(command) = cell.trim().strip_prefix('`').and_then(|cell| cell.strip_suffix('`')) else {
                continue;
            };
            if command.contains('`') {
                continue;
            }
            count += 1;
            assert_eq!(script(&host, &place, command).await != "allow", refused, "{command}");
        }
    }
    assert!(count >= 12, "{count}");
}

#[tokio::test]
async fn a_host_that_knows_no_home_and_no_project_keeps_what_it_can_name() {
    let place = furnished();
    let mut bare = place.options("plugins.enabled = []");
    bare.env.clear();
    let host = Host::open(bare).await.unwrap();
    for (command, expected) in [
        ("echo > ~/.claude/settings.json", "self/hooks"),
        ("echo > \"$HOME/.config/portcullis/config.toml\"", "self/config"),
        ("rm -r .claude", "self/hooks"),
        ("echo > settings.json", "allow"),
    ] {
        assert_eq!(script(&host, &place, command).await, expected, "{command}");
    }
}
