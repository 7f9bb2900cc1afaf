//! `portcullis check`.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use portcullis_tests::plugin::Plugin;

use crate::support::User;

const RM: &str = r#"{"tool":"Bash","input":{"command":"rm -rf build"}}"#;
const NPM: &str = r#"{"tool":"Bash","input":{"command":"npm test"}}"#;

#[test]
fn the_command_of_the_readme_is_blocked() {
    seen!(User::new().run(&["check", "--isolated"], RM), @r#"
    exit 2
    out: {"id":"","verdict":"block","by":{"kind":"guard","name":"guard"},"code":"guard/rm","fault":null,"reason":"Blocked by the guard plugin: refusing \"rm -rf build\" (recursive or forced delete). Ask the user to run it themselves if it is really needed.","auto_approved":false,"micros":0}
    "#);
}

#[test]
fn an_ordinary_command_is_allowed() {
    seen!(User::new().run(&["check", "--isolated"], NPM), @r#"
    exit 0
    out: {"id":"","verdict":"allow","by":null,"code":null,"fault":null,"reason":null,"auto_approved":false,"micros":0}
    "#);
}

#[test]
fn every_line_gets_its_own_answer_in_order() {
    let lines = [
        r#"{"id":"a","tool":"run_shell_command","input":{"command":"ls"},"cwd":"/w","session_id":"s"}"#,
        "",
        r#"{"id":"b","tool":"Execute","input":{"command":"git reset --hard"}}"#,
        "what is this",
        r#"{"id":"c","tool":"Read","input":{"file_path":"/w/a"}}"#,
    ];
    seen!(User::new().run(&["check"], lines.join("\n")), @r#"
    exit 2
    out: {"id":"a","verdict":"allow","by":null,"code":null,"fault":null,"reason":null,"auto_approved":false,"micros":0}
    out: {"id":"b","verdict":"block","by":{"kind":"guard","name":"guard"},"code":"guard/git-reset","fault":null,"reason":"Blocked by the guard plugin: refusing \"git reset --hard\" (discards uncommitted work). Ask the user to run it themselves if it is really needed.","auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"input","name":"check"},"code":"fault/bad-input","fault":"bad-input","reason":"Blocked: the input is not valid JSON: expected value at line 1 column 1.","auto_approved":false,"micros":0}
    out: {"id":"c","verdict":"allow","by":null,"code":null,"fault":null,"reason":null,"auto_approved":false,"micros":0}
    "#);
}

#[test]
fn one_object_over_many_lines_is_one_call() {
    let text = "{\n  \"id\": \"a\",\n  \"tool\": \"Bash\",\n  \"input\": {\n    \"command\": \"rm -rf build\"\n  }\n}\n";
    seen!(User::new().run(&["check"], text), @r#"
    exit 2
    out: {"id":"a","verdict":"block","by":{"kind":"guard","name":"guard"},"code":"guard/rm","fault":null,"reason":"Blocked by the guard plugin: refusing \"rm -rf build\" (recursive or forced delete). Ask the user to run it themselves if it is really needed.","auto_approved":false,"micros":0}
    "#);
}

#[test]
fn what_is_no_call_is_blocked_with_the_reason() {
    let lines = [
        r#"{"tool":"Bash","input":{"command":"ls"},"command":"rm"}"#,
        r#"{"input":{"command":"ls"}}"#,
        r#"{"tool":"Bash","id":"e"}"#,
        r#"{"tool":7,"input":{}}"#,
        r#"{"tool":"Bash","input":{"command":"ls"},"id":7}"#,
        r#"["Bash"]"#,
        "null",
        r#"{"tool":"Bash","input":{"command":"ls"}} {}"#,
        r#"{"tool":"Bash","input":{"command":"ls"}"#,
        r#"{"tool":"Bash","tool":"Read","input":{"command":"ls"}}"#,
        r#"{"tool":"Bash","input":{"command":"ls","command":"rm -rf /"}}"#,
        r#"{"tool":"Bash","input":"ls"}"#,
        r#"{"tool":"Bash","input":{}}"#,
        r#"{"tool":"Ba\u0000sh","input":{"command":"ls"}}"#,
    ];
    // A first line that is only half a call must not swallow the others.
    seen!(User::new().run(&["check"], format!("{NPM}\n{}", lines.join("\n"))), @r#"
    exit 2
    out: {"id":"","verdict":"allow","by":null,"code":null,"fault":null,"reason":null,"auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"input","name":"check"},"code":"fault/bad-input","fault":"bad-input","reason":"Blocked: the key `command` is not known; the keys are tool, input, cwd, session_id, id.","auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"input","name":"check"},"code":"fault/bad-input","fault":"bad-input","reason":"Blocked: `tool` is missing.","auto_approved":false,"micros":0}
    out: {"id":"e","verdict":"block","by":{"kind":"input","name":"check"},"code":"fault/bad-input","fault":"bad-input","reason":"Blocked: `input` is missing.","auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"input","name":"check"},"code":"fault/bad-input","fault":"bad-input","reason":"Blocked: `tool` is not a string.","auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"input","name":"check"},"code":"fault/bad-input","fault":"bad-input","reason":"Blocked: `id` is not a string.","auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"input","name":"check"},"code":"fault/bad-input","fault":"bad-input","reason":"Blocked: a call is a JSON object with `tool` and `input`.","auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"input","name":"check"},"code":"fault/bad-input","fault":"bad-input","reason":"Blocked: a call is a JSON object with `tool` and `input`.","auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"input","name":"check"},"code":"fault/bad-input","fault":"bad-input","reason":"Blocked: the input is not valid JSON: trailing characters at line 1 column 42.","auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"input","name":"check"},"code":"fault/bad-input","fault":"bad-input","reason":"Blocked: the input is not valid JSON: EOF while parsing an object at line 2 column 0.","auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"input","name":"check"},"code":"fault/bad-input","fault":"bad-input","reason":"Blocked: the input is not valid JSON: the key `tool` occurs twice in one object at line 1 column 21.","auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"input","name":"check"},"code":"fault/bad-input","fault":"bad-input","reason":"Blocked: the input is not valid JSON: the key `command` occurs twice in one object at line 1 column 48.","auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"input","name":"Bash"},"code":"input/not-an-object","fault":"bad-input","reason":"Blocked, because the arguments of the tool `Bash` are not a JSON object.","auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"input","name":"Bash"},"code":"input/no-command","fault":"bad-input","reason":"Blocked, because the tool `Bash` needs a command, as text, in the field `command`.","auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"input","name":"Ba\u0000sh"},"code":"input/tool-name","fault":"bad-input","reason":"Blocked, because the tool name `Ba\\u{0}sh` holds characters that cannot be seen.","auto_approved":false,"micros":0}
    "#);
}

#[test]
fn a_first_line_that_is_half_a_call_does_not_swallow_the_others() {
    let seen = User::new().run(&["check"], format!("{{\"tool\":\"Bash\",\n{NPM}\n{RM}\n"));
    let verdicts: Vec<_> = seen.stdout.lines().map(verdict).collect();
    assert_eq!(verdicts, ["block bad-input", "allow", "block"], "{seen}");
    assert_eq!(seen.code, Some(2));
}

#[test]
fn nothing_on_standard_input_is_wrong_input() {
    for nothing in ["", "\n", " \r\n\t\n"] {
        let seen = User::new().run(&["check"], nothing);
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""), "{nothing:?}");
        assert!(seen.stderr.starts_with("error: there was no call on standard input; hint: "), "{seen}");
    }
}

#[test]
fn bytes_that_editors_and_shells_add_are_taken_off() {
    let user = User::new();
    let pretty = RM.replace(',', ",\r\n");
    for text in
        [format!("\u{feff}{RM}"), format!("{RM}\r\n"), format!("\u{feff}{pretty}\r\n"), format!("  {RM}  ")]
    {
        let seen = user.run(&["check", "--isolated"], &text);
        assert_eq!(seen.code, Some(2), "{text:?}: {seen}");
        assert_eq!(seen.stdout.lines().map(verdict).collect::<Vec<_>>(), ["block"], "{text:?}: {seen}");
    }
}

#[test]
fn bytes_that_are_no_text_are_blocked_and_the_next_line_is_read() {
    let user = User::new();
    let utf16: Vec<u8> = NPM.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let nul = NPM.replace("npm", "n\0pm");
    for bad in [b"\xff\xfe\xfa".to_vec(), utf16, nul.into_bytes(), b"\0".to_vec()] {
        let seen = user.run(&["check", "--isolated"], [bad.as_slice(), b"\n", NPM.as_bytes()].concat());
        assert_eq!(seen.code, Some(2), "{seen}");
        assert_eq!(
            seen.stdout.lines().map(verdict).collect::<Vec<_>>(),
            ["block bad-input", "allow"],
            "{seen}"
        );
    }
}

#[test]
fn a_line_that_is_too_long_is_blocked_and_the_next_line_is_read() {
    let user = User::new();
    // What a line may have: an input and its envelope.
    let max = (8 << 20) + (1 << 20);
    for length in [max, max + 1, max + 1000] {
        let line = format!("{}\n{NPM}\n", "x".repeat(length));
        let seen = user.run(&["check", "--isolated"], line);
        assert_eq!(seen.code, Some(2));
        assert_eq!(
            seen.stdout.lines().map(verdict).collect::<Vec<_>>(),
            ["block too-big", "allow"],
            "{length}"
        );
    }
    let input = RM.replace("build", &"x".repeat(8 << 20));
    let seen = user.run(&["check", "--isolated"], format!("{input}\n{NPM}\n"));
    assert_eq!(seen.stdout.lines().map(verdict).collect::<Vec<_>>(), ["block too-big", "allow"]);
}

#[test]
fn no_plugins_allows_everything() {
    let seen = User::new().run(&["check", "--no-plugins"], RM);
    seen!(seen, @r#"
    exit 0
    out: {"id":"","verdict":"allow","by":null,"code":null,"fault":null,"reason":null,"auto_approved":false,"micros":0}
    "#);
}

#[test]
fn no_plugins_is_refused_when_the_operator_locked_them() {
    let user = User::new();
    user.config("[plugins]\nlocked = true");
    seen!(user.run(&["check", "--no-plugins"], NPM), @r#"
    exit 2
    out: {"id":"","verdict":"block","by":{"kind":"standing","name":"portcullis"},"code":"fault/load","fault":"load","reason":"Blocked: Portcullis cannot judge: its host could not start. Every tool call is refused until that is mended. Ask the user to run `portcullis plugin list`.","auto_approved":false,"micros":0}
    err: ERROR portcullis::open: plugins cannot be turned off: `plugins.locked` is true in the user's configuration
    "#);
}

#[test]
fn a_broken_configuration_refuses_every_line() {
    let user = User::new();
    user.config("[plugins]\nenabeld = []\n");
    seen!(user.run(&["check"], format!("{NPM}\n{NPM}\n")), @r#"
    exit 2
    out: {"id":"","verdict":"block","by":{"kind":"standing","name":"portcullis"},"code":"fault/load","fault":"load","reason":"Blocked: Portcullis cannot judge: its configuration cannot be used. Every tool call is refused until that is mended. Ask the user to run `portcullis config validate`.","auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"standing","name":"portcullis"},"code":"fault/load","fault":"load","reason":"Blocked: Portcullis cannot judge: its configuration cannot be used. Every tool call is refused until that is mended. Ask the user to run `portcullis config validate`.","auto_approved":false,"micros":0}
    err: ERROR portcullis::open: the configuration is not valid, so nothing of it is used: [user]/config/portcullis/config.toml:2:1: `plugins.enabeld`: unknown key; did you mean `enabled`?
    "#);
    assert_eq!(user.run(&["check", "--isolated"], NPM).code, Some(0));
}

#[test]
fn a_configuration_that_is_named_and_not_there_refuses() {
    let seen = User::new().run(&["check", "--config", "nowhere.toml"], NPM);
    assert_eq!(seen.code, Some(2), "{seen}");
    assert!(seen.stderr.contains("`nowhere.toml` is not there"), "{seen}");
}

#[test]
fn a_plugin_on_the_command_line_stands_behind_the_others() {
    let user = User::new();
    let file =
        user.write("strict.wasm", Plugin::new("strict").refuses("all", "it refuses all").build().unwrap());
    let file = file.to_str().unwrap();
    seen!(user.run(&["check", "--plugin", file], format!("{NPM}\n{RM}")), @r#"
    exit 2
    out: {"id":"","verdict":"block","by":{"kind":"guard","name":"strict"},"code":"strict/all","fault":null,"reason":"Blocked by the strict plugin: it refuses all","auto_approved":false,"micros":0}
    out: {"id":"","verdict":"block","by":{"kind":"guard","name":"guard"},"code":"guard/rm","fault":null,"reason":"Blocked by the guard plugin: refusing \"rm -rf build\" (recursive or forced delete). Ask the user to run it themselves if it is really needed.","auto_approved":false,"micros":0}
    "#);
    let seen = user.run(&["check", "--isolated", "--plugin", "../strict.wasm"], NPM);
    assert_eq!(seen.code, Some(2), "{seen}");
}

#[test]
fn a_plugin_that_cannot_be_used_refuses_every_line() {
    let user = User::new();
    seen!(user.run(&["check", "--plugin", "/nowhere/strict.wasm"], NPM), @r#"
    exit 2
    out: {"id":"","verdict":"block","by":{"kind":"standing","name":"strict.wasm"},"code":"load/read","fault":"load","reason":"Blocked, because the plugin `strict.wasm` cannot be used (it cannot be read: No such file or directory (os error 2)). Every tool call is refused until that is mended. Ask the user to run `portcullis plugin list`, and to replace or remove it; `[plugin.strict] failure_mode = \"open\"` would make it advisory.","auto_approved":false,"micros":0}
    "#);
    user.plugin("bad.wasm", b"random bytes");
    seen!(user.run(&["check"], NPM), @r#"
    exit 2
    out: {"id":"","verdict":"block","by":{"kind":"standing","name":"bad.wasm"},"code":"load/not-wasm","fault":"load","reason":"Blocked, because the plugin `bad.wasm` cannot be used (not a WebAssembly file). Every tool call is refused until that is mended. Ask the user to run `portcullis plugin list`, and to replace or remove it; `[plugin.bad] failure_mode = \"open\"` would make it advisory.","auto_approved":false,"micros":0}
    "#);
}

#[test]
fn isolated_reads_nothing_of_the_users_or_the_projects() {
    let user = User::new();
    user.plugin("bad.wasm", b"random bytes");
    user.project_plugin("bad.wasm", b"random bytes");
    user.config("not toml");
    assert_eq!(user.run(&["check"], NPM).code, Some(2));
    assert_eq!(user.run(&["check", "--isolated"], NPM).code, Some(0));
    let dir = user.path("data/portcullis/plugins");
    assert_eq!(user.run(&["check", "--isolated", "--plugin-dir", dir.to_str().unwrap()], NPM).code, Some(2));
}

#[test]
fn a_guard_of_the_workspace_acts_below_it_and_nowhere_else() {
    let user = User::new();
    user.project_plugin("p.wasm", &Plugin::new("evil-words").refuses("no", "evil words").build().unwrap());
    let below = user.path("work/a/b");
    std::fs::create_dir_all(&below).unwrap();
    for directory in [".", below.to_str().unwrap()] {
        let seen = user.run(&["check", "-C", directory], NPM);
        assert_eq!(seen.code, Some(2), "{seen}");
        assert!(seen.stdout.contains("Blocked by a guard that came with this project."), "{seen}");
        assert!(!seen.stdout.contains("evil words") && seen.stderr.is_empty(), "{seen}");
    }
    assert_eq!(user.run(&["check", "-C", ".."], NPM).code, Some(0));
    // The user can see its words.
    assert!(user.run(&["check", "-v"], NPM).stderr.contains("evil words"));
}

#[test]
fn a_process_without_a_home_judges_as_well() {
    let user = User::new();
    let mut command = user.command(support::BINARY);
    command.env_clear().args(["check"]);
    let seen = user.finish(&mut command, RM.as_bytes());
    assert_eq!(seen.code, Some(2), "{seen}");
    assert!(seen.stdout.contains("guard/rm"), "{seen}");
}

#[test]
fn no_answer_in_time_is_a_refusal() {
    let user = User::new();
    let mut command = user.command(support::BINARY);
    command.args(["check", "--isolated", "--timeout", "1"]);
    // Standard input stays open, and nothing comes.
    let mut child = command.spawn().unwrap();
    let open = child.stdin.take();
    let seen = user.seen(&child.wait_with_output().unwrap());
    drop(open);
    seen!(seen, @r#"
    exit 2
    out: {"id":"","verdict":"block","by":{"kind":"input","name":"check"},"code":"fault/timeout","fault":"timeout","reason":"Blocked: no answer within the time of `check`.","auto_approved":false,"micros":0}
    "#);
}

/// The verdict of one line, with its fault when it has one.
fn verdict(line: &str) -> String {
    let line: serde_json::Value = serde_json::from_str(line).unwrap();
    let verdict = line["verdict"].as_str().unwrap();
    line["fault"].as_str().map_or_else(|| verdict.to_owned(), |fault| format!("{verdict} {fault}"))
}
