//! `portcullis plugin list`, `inspect` and `check`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use std::path::Path;

use portcullis_tests::plugin::Plugin;
use serde_json::Value;

use crate::support::User;

/// The cases of a bundled plugin.
fn cases(plugin: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins").join(plugin).join("cases");
    path.to_string_lossy().into_owned()
}

/// Where a plugin of ours lies as a file.
fn dist(plugin: &str) -> String {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../plugins/dist").join(format!("{plugin}.wasm"));
    path.canonicalize().unwrap().to_string_lossy().into_owned()
}

#[test]
fn the_plugins_of_a_new_user_are_listed() {
    seen!(User::new().run(&["plugin", "list"], ""), @r#"
    exit 0
    out: NAME        STATE     KINDS  FROM     NOTES
    out: guard       active    guard  bundled
    out: time        active    tool   bundled
    out: bell        inactive         bundled
    out: no-secrets  inactive         bundled
    "#);
}

#[test]
fn everything_that_does_not_act_is_listed_with_its_reason() {
    let user = User::new();
    user.plugin("a-mute.wasm", &Plugin::new("mute").without_appendix().allows("").build().unwrap());
    user.plugin("b-mute.wasm", &Plugin::new("mute").allows("").build().unwrap());
    user.plugin("bad.wasm", b"random bytes");
    user.project_plugin("own.wasm", &Plugin::new("own").allows("").tool("greet", true).build().unwrap());
    seen!(user.run(&["plugin", "list"], ""), @r#"
    exit 1
    out: NAME        STATE     KINDS        FROM              NOTES
    out: guard       active    guard        bundled
    out: time        active    tool         bundled
    out: mute        active    guard        user a-mute.wasm  it can refuse calls and has no appendix, so the model is not told of it and will try to route around it
    out: mute        shadowed  guard        user b-mute.wasm  another plugin of the same name comes first
    out: bad         broken                 user bad.wasm     not a WebAssembly file
    out: own         active    guard, tool  project own.wasm  it came with the project: only its guard acts, the rest waits for trust
    out: bell        inactive               bundled
    out: no-secrets  inactive               bundled
    err: Every tool call is refused, because the plugin `bad.wasm` cannot be used (not a WebAssembly file).
    "#);
    user.config("[plugins]\nenabled = [\"guard\", \"mute\", \"nope\"]\nrequired = [\"absent\"]");
    seen!(user.run(&["plugin", "list"], ""), @r#"
    exit 1
    out: NAME        STATE       KINDS        FROM              NOTES
    out: nope        unresolved                                 no plugin has this name
    out: guard       active      guard        bundled
    out: mute        active      guard        user a-mute.wasm  it can refuse calls and has no appendix, so the model is not told of it and will try to route around it
    out: bad         broken                   user bad.wasm     not a WebAssembly file
    out: time        inactive                 bundled
    out: bell        inactive                 bundled
    out: no-secrets  inactive                 bundled
    out: mute        inactive    guard        user b-mute.wasm
    out: own         inactive    guard, tool  project own.wasm  it came with the project: only its guard acts, the rest waits for trust
    err: Every tool call is refused, because the plugin `bad.wasm` cannot be used (not a WebAssembly file).
    err: Every tool call is refused, because the required plugin `absent` is not live.
    "#);
    user.config("[plugin.bad]\nfailure_mode = \"open\"");
    let seen = user.run(&["plugin", "list"], "");
    assert!(seen.code == Some(1) && seen.stdout.contains("broken (advisory)"), "{seen}");
    seen!(user.run(&["plugin", "list", "--no-plugins"], ""), @r#"
    exit 0
    out: NAME        STATE     KINDS  FROM              NOTES
    out: guard       inactive         bundled
    out: time        inactive         bundled
    out: bell        inactive         bundled
    out: no-secrets  inactive         bundled
    out: a-mute      inactive         user a-mute.wasm
    out: b-mute      inactive         user b-mute.wasm
    out: bad         inactive         user bad.wasm
    out: own         inactive         project own.wasm
    err: Plugins are off, because of `--no-plugins`: every call is allowed.
    "#);
}

#[test]
fn the_list_is_json_when_a_program_asks() {
    let seen = User::new().run(&["plugin", "list", "--json"], "");
    assert_eq!((seen.code, seen.stderr.as_str()), (Some(0), ""));
    let list: Value = serde_json::from_str(&seen.stdout).unwrap();
    let names: Vec<_> =
        list["plugins"].as_array().unwrap().iter().map(|row| row["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["guard", "time", "bell", "no-secrets"]);
    assert_eq!(list["plugins"][0]["state"], "active");
    assert_eq!(list["plugins"][1]["tools"], serde_json::json!(["current_time"]));
    assert_eq!(list["standing"], serde_json::json!([]));
}

#[test]
fn a_configuration_that_is_broken_is_told_and_nothing_is_listed() {
    let user = User::new();
    user.config("[plugin.guard.limits]\nguard_ms = 0");
    let seen = user.run(&["plugin", "list"], "");
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""));
    assert!(
        seen.stderr.contains("config.toml:2:12: ") && seen.stderr.contains("1 to 600000 milliseconds"),
        "{seen}"
    );
}

#[test]
fn a_plugin_is_inspected_by_name_and_by_file() {
    let user = User::new();
    seen!(user.run(&["plugin", "inspect", "time"], ""), @r#"
    exit 0
    out: name         time
    out: state        active
    out: from         bundled
    out: version      0.1.0
    out: kinds        tool
    out: tools        current_time
    out: digest       [digest]
    out: warnings     none
    out: description  Tells the model the date and the time.
    out: serves       none
    out: imports      portcullis:host/clock@0.1.1, portcullis:host/call@0.1.1
    out: limits       guard_ms 1000, hook_ms 10000, command_ms 10000, tool_ms 60000, describe_ms 5000, memory_mib 64, reason_bytes 4096, appendix_bytes 4096, tools 256
    out: grant        clock true
    "#);
    let by_name: Value =
        serde_json::from_str(&user.run(&["plugin", "inspect", "no-secrets", "--json"], "").stdout).unwrap();
    let by_file: Value =
        serde_json::from_str(&user.run(&["plugin", "inspect", &dist("no-secrets"), "--json"], "").stdout)
            .unwrap();
    for key in ["name", "digest", "kinds", "description", "appendix", "imports", "limits", "grant"] {
        assert_eq!(by_name[key], by_file[key], "{key}");
    }
    assert_eq!(by_name["limits"]["guard_ms"], 1000);
}

#[test]
fn what_cannot_be_inspected_is_told() {
    let user = User::new();
    for (plugin, said) in [
        ("nope", "there is no plugin `nope`; there are: guard, time"),
        ("Not A Name", "a plugin is named by its name, or by a file that ends in `.wasm`"),
        ("nope.wasm", "`nope.wasm` cannot be used: it cannot be read"),
    ] {
        let seen = user.run(&["plugin", "inspect", plugin], "");
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""), "{seen}");
        assert!(seen.stderr.contains(said), "{seen}");
    }
}

#[test]
fn the_bundled_plugins_pass_their_cases_embedded_and_as_files() {
    let user = User::new();
    for plugin in ["guard", "time", "bell", "no-secrets"] {
        for what in [plugin.to_owned(), dist(plugin)] {
            let seen = user.run(&["plugin", "check", &what, "--cases", &cases(plugin)], "");
            assert_eq!(seen.code, Some(0), "{seen}");
            assert!(
                seen.stdout.starts_with(&format!("{plugin}: ")) && seen.stdout.ends_with(", 0 failed\n"),
                "{seen}"
            );
            assert!(!seen.stdout.contains(": 0 passed"), "{seen}");
        }
    }
}

const CASES: &str = r#"
[[case]]
name = "this holds"
tool = "Bash"
input = { command = "rm -rf build" }
expect = "block"
code = "guard/rm"

[[case]]
name = "this is too strict"
tool = "Bash"
input = { command = "ls" }
expect = "block"

[[case]]
name = "this is the wrong reason"
tool = "Bash"
input = { command = "rm -rf build" }
expect = "block"
reason = "for fun"
"#;

#[test]
fn a_case_that_fails_is_named_and_the_exit_code_says_no() {
    let user = User::new();
    user.write("work/cases.toml", CASES);
    seen!(user.run(&["plugin", "check", "guard", "--cases", "cases.toml"], ""), @r#"
    exit 1
    out: FAILED cases.toml: this is too strict: expected block, got allow
    out: FAILED cases.toml: this is the wrong reason: expected the reason to hold `for fun`, got `Blocked by the guard plugin: refusing "rm -rf build" (recursive or forced delete). Ask the user to run it themselves if it is really needed.`
    out: guard: 1 passed, 2 failed
    "#);
    let seen = user.run(&["plugin", "check", "guard", "--json", "--cases", "cases.toml"], "");
    let report: Value = serde_json::from_str(&seen.stdout).unwrap();
    assert_eq!(
        (seen.code, report["cases"].as_u64(), report["failed"].as_array().unwrap().len()),
        (Some(1), Some(3), 2)
    );
}

#[test]
fn a_guard_that_fails_does_not_pass_for_one_that_refuses() {
    let user = User::new();
    let file = user.write("trap.wasm", Plugin::new("trap").allows("unreachable").build().unwrap());
    user.write(
        "work/cases.toml",
        "[[case]]\nname = \"no\"\ntool = \"Bash\"\ninput = { command = \"ls\" }\nexpect = \"block\"",
    );
    let seen = user.run(&["plugin", "check", file.to_str().unwrap(), "--cases", "cases.toml"], "");
    assert_eq!(seen.code, Some(1), "{seen}");
    assert!(seen.stdout.contains("refused by a fault, trap"), "{seen}");
}

#[test]
fn a_warning_is_told_and_is_no_failure() {
    let user = User::new();
    let mute = Plugin::new("mute").without_appendix().allows("").build().unwrap();
    let file = user.write("mute.wasm", mute);
    seen!(user.run(&["plugin", "check", file.to_str().unwrap()], ""), @r#"
    exit 0
    out: mute: 0 passed, 0 failed
    err: warning: mute: it can refuse calls and has no appendix, so the model is not told of it and will try to route around it
    "#);
}

#[test]
fn what_cannot_be_checked_is_told() {
    let user = User::new();
    user.write("work/bad.wasm", "random bytes");
    user.write("work/odd.toml", "[[case]]\nname = \"x\"\ntool = \"Bash\"\ninput = {}\nexpct = \"block\"");
    std::fs::create_dir(user.path("work/empty")).unwrap();
    for (line, said) in [
        (&["bad.wasm"][..], "`bad.wasm` cannot be used: not a WebAssembly file"),
        (&["guard", "--cases", "nowhere"], "there are no cases at `nowhere`"),
        (&["guard", "--cases", "empty"], "there is no `.toml` file in `empty`"),
        (&["guard", "--cases", "odd.toml"], "unknown field `expct`"),
    ] {
        let seen = user.run(&[&["plugin", "check"], line].concat(), "");
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""), "{seen}");
        assert!(seen.stderr.contains(said), "{seen}");
    }
}
