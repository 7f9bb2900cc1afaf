//! Tools: whose they are, which are known, and what a call must look like.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use portcullis::RunError;
use portcullis_model::fault::FaultKind;
use portcullis_model::input::{Input, InputError};
use portcullis_model::judgement::{RefuserKind, Verdict};
use portcullis_model::limits::INPUT_MAX;
use portcullis_runtime::{Content, clock};
use portcullis_tests::plugin::Plugin;
use serde_json::{Value, json};

use crate::place::{Place, bash, call, judge, outcome, row};

const REQUIRED: &str = "[plugins]\nrequired = [\"guard\"]\n";

/// Names that nobody knows, or that only look known.
const STRANGE: [&str; 18] = [
    "",
    " ",
    "Edit ",
    " Edit",
    "Edit\n",
    "Edit\u{200b}",
    "Edit\u{0}",
    "E\u{301}dit",
    "Еdit",
    "Ｂａｓｈ",
    "ba\u{ad}sh",
    "Editt",
    "mcp__x",
    "mcp__",
    "mcp____x",
    "launch_rocket",
    "../bash",
    "bash;edit",
];

#[tokio::test]
async fn a_tool_that_nobody_knows_is_refused_while_a_guard_is_required() {
    let place = Place::new();
    let host = place.open(REQUIRED).await;
    for name in STRANGE {
        let wire = judge(&host, call(name, json!({"file_path": "/home/dev/app/a", "command": "ls"}))).await;
        assert_eq!(wire.verdict, Verdict::Block, "{name:?}");
        assert_eq!(wire.by.unwrap().kind, RefuserKind::Input, "{name:?}");
        assert_eq!(wire.fault, Some(FaultKind::BadInput), "{name:?}");
        let code = wire.code.unwrap();
        assert!(["input/unknown-tool", "input/tool-name"].contains(&code.as_str()), "{name:?}: {code}");
    }
    for name in ["Bash", "bash", "BASH", "run_shell_command", "mcp__x__y"] {
        assert_eq!(outcome(&judge(&host, call(name, json!({"command": "ls"}))).await), "allow", "{name}");
    }
    let reason = judge(&host, call("launch_rocket", json!({}))).await.reason.unwrap();
    assert!(reason.contains("`[tools] known = [\"launch_rocket\"]`"), "{reason}");
}

#[tokio::test]
async fn without_a_required_guard_an_unknown_tool_passes_and_a_look_alike_does_not() {
    let place = Place::new();
    let host = place.open("").await;
    for name in ["launch_rocket", "Editt"] {
        assert_eq!(outcome(&judge(&host, call(name, json!({}))).await), "allow", "{name}");
    }
    for name in
        STRANGE.iter().filter(|name| !["launch_rocket", "Editt", "../bash", "bash;edit"].contains(name))
    {
        let wire = judge(&host, call(name, json!({}))).await;
        assert_eq!(wire.code.as_deref(), Some("input/tool-name"), "{name:?}: {wire:?}");
    }
}

#[tokio::test]
async fn the_operator_can_vouch_for_a_tool() {
    let place = Place::new();
    let config = format!("{REQUIRED}[tools]\nknown = [\"launch_rocket\", \"Edit \"]");
    let host = place.open(&config).await;
    assert_eq!(outcome(&judge(&host, call("launch_rocket", json!({}))).await), "allow");
    for name in ["launch_rockets", "Launch_Rocket", "Edit "] {
        assert_eq!(judge(&host, call(name, json!({}))).await.verdict, Verdict::Block, "{name}");
    }
}

#[tokio::test]
async fn a_call_whose_arguments_are_no_object_is_refused() {
    let place = Place::new();
    let host = place.open("").await;
    for input in
        [json!(null), json!("rm -rf /"), json!(7), json!(true), json!([]), json!([{"command": "ls"}])]
    {
        for tool in ["Bash", "Read", "launch_rocket", "mcp__x__y"] {
            let wire = judge(&host, call(tool, input.clone())).await;
            assert_eq!(wire.code.as_deref(), Some("input/not-an-object"), "{tool} {input}: {wire:?}");
            assert_eq!(wire.fault, Some(FaultKind::BadInput));
        }
    }
}

#[tokio::test]
async fn a_shell_tool_without_a_command_is_refused() {
    let place = Place::new();
    let host = place.open("").await;
    for input in [
        json!({}),
        json!({"command": null}),
        json!({"command": 7}),
        json!({"command": {}}),
        json!({"description": "rm -rf /"}),
    ] {
        for tool in ["Bash", "run_shell_command", "Execute", "shell"] {
            let wire = judge(&host, call(tool, input.clone())).await;
            assert_eq!(wire.code.as_deref(), Some("input/no-command"), "{tool} {input}: {wire:?}");
        }
    }
}

#[tokio::test]
async fn an_input_that_is_too_big_or_ambiguous_is_no_input() {
    let text = |size: usize| format!("{{\"command\":\"{}\"}}", "x".repeat(size - 14));
    assert!(matches!(Input::parse(text(INPUT_MAX + 1)), Err(InputError::TooBig { .. })));
    let input = Input::parse(text(INPUT_MAX)).unwrap();
    for ambiguous in [r#"{"command":"ls","command":"rm"}"#, r#"{"a":{"b":1,"b":2}}"#, "{} {}", "{", ""] {
        assert!(matches!(Input::parse(ambiguous), Err(InputError::NotJson(_))), "{ambiguous}");
    }
    // The largest input gets a verdict within the judgement's time, whichever it is.
    let place = Place::new();
    let host = place.open("").await;
    let wire = judge(&host, portcullis_model::call::ToolCall { input, ..bash("") }).await;
    assert!(wire.verdict == Verdict::Allow || wire.fault.is_some(), "{wire:?}");
}

#[tokio::test]
async fn the_time_is_told_without_asking_the_user() {
    let place = Place::new();
    let host = place.open("").await;
    let turn = host.session("s1").turn();
    let permit = turn.judge(call("current_time", json!({}))).await.outcome.unwrap();
    assert!(permit.is_auto_approved());
    let before = clock::now().seconds;
    let output = turn.run(permit).await.unwrap().unwrap();
    let after = clock::now().seconds;
    let [Content::Text(told)] = output.content.as_slice() else { panic!("{output:?}") };
    let (stamp, words) = told.split_once('\n').unwrap();
    let stamp: jiff::Timestamp = stamp.parse().unwrap();
    assert!((before..=after).contains(&stamp.as_second()), "{before} {stamp} {after}");
    let words = words.split_once(" (").unwrap().0;
    let local = jiff::civil::DateTime::strptime("%A, %d %B %Y, %H:%M:%S", words).unwrap();
    assert_eq!(local, told.split_once(['\n']).unwrap().0[..19].parse().unwrap());

    // Once the plugin is off, its tool is nobody's.
    let host = place.open("[plugins]\nenabled = [\"guard\"]").await;
    let turn = host.session("s1").turn();
    let permit = turn.judge(call("current_time", json!({}))).await.outcome.unwrap();
    assert!(!permit.is_auto_approved());
    assert!(matches!(turn.run(permit).await, Err(RunError::NotAPluginTool(name)) if name == "current_time"));
}

#[tokio::test]
async fn the_time_plugin_reaches_for_nothing_but_the_clock() {
    let place = Place::new();
    let seen = place.open("").await.inspect("time").unwrap();
    assert!(!seen.imports.is_empty());
    let wishes = ["portcullis:host/clock@0.1.1", "portcullis:host/call@0.1.1"];
    assert!(seen.imports.iter().all(|import| wishes.contains(&import.as_str())), "{:?}", seen.imports);
    assert!(seen.grant.clock && !seen.grant.terminal && !seen.grant.random);
    assert!(seen.grant.read.is_empty() && seen.grant.write.is_empty() && seen.grant.env.is_empty());
}

#[tokio::test]
async fn a_tool_asks_the_user_unless_its_own_plugin_says_otherwise() {
    let place = Place::new();
    place.put(
        "x.wasm",
        &Plugin::new("x").tool("quiet", true).tool("loud", false).tool("bash", true).build().unwrap(),
    );
    let host = place.open(REQUIRED).await;
    let turn = host.session("s1").turn();
    for (tool, approved) in [("quiet", true), ("loud", false), ("bash", false), ("Bash", false)] {
        let judgement = turn.judge(call(tool, json!({"command": "ls"}))).await;
        assert_eq!(judgement.to_wire().auto_approved, approved, "{tool}");
        assert_eq!(judgement.outcome.unwrap().is_auto_approved(), approved, "{tool}");
    }
}

#[tokio::test]
async fn a_tool_whose_name_is_taken_is_left_out_and_the_owner_keeps_it() {
    let place = Place::new();
    let names = ["read", "Bash", "WebFetch", "mcp__x__y", "Еdit", "greet"];
    let first =
        names.iter().fold(Plugin::new("first").answers("first"), |plugin, name| plugin.tool(name, true));
    place.put("a.wasm", &first.build().unwrap());
    place.put("b.wasm", &Plugin::new("second").answers("second").tool("greet", true).build().unwrap());
    let host = place.open("").await;
    let first = row(&host, "first", "active").warnings;
    assert_eq!(first.len(), names.len() - 1, "{first:?}");
    for (name, warning) in names.iter().zip(&first) {
        assert_eq!(*warning, format!("its tool `{name}` is left out: the name belongs to the host"));
    }
    assert_eq!(
        row(&host, "second", "active").warnings,
        ["its tool `greet` is left out: the name belongs to first"]
    );
    let turn = host.session("s1").turn();
    let permit = turn.judge(call("greet", json!({}))).await.outcome.unwrap();
    assert_eq!(turn.run(permit).await.unwrap().unwrap().content, [Content::Text("first".to_owned())]);
    let permit = turn.judge(call("read", json!({"path": "/a"}))).await.outcome.unwrap();
    assert!(turn.run(permit).await.is_err());
}

#[tokio::test]
async fn a_plugins_tool_passes_the_guards_of_the_others() {
    let place = Place::new();
    place.put("a.wasm", &Plugin::new("greeter").tool("greet", true).build().unwrap());
    place.put("b.wasm", &Plugin::new("strict").refuses("no", "no").build().unwrap());
    let host = place.open("").await;
    assert_eq!(outcome(&judge(&host, call("greet", json!({}))).await), "strict");
}

#[tokio::test]
async fn a_permit_holds_the_arguments_that_were_judged() {
    let place = Place::new();
    let host = place.open("").await;
    let input: Value = serde_json::from_str(
        r#"{"command":"ls","n":null,"u":"\u03b1\u0000\ud83d\ude00","deep":[[{"a":[1.50,1e400,123456789012345678901234567890]}]]}"#,
    )
    .unwrap();
    let given = call("Bash", input);
    let text = given.input.text().to_owned();
    let permit = host.session("s1").turn().judge(given).await.outcome.unwrap();
    assert_eq!(permit.input(), text);
    assert!(permit.covers("Bash", &text, "/home/dev/app"));
    for (tool, input, cwd) in [
        ("bash", text.as_str(), "/home/dev/app"),
        ("Bash", r#"{"command":"ls"}"#, "/home/dev/app"),
        ("Bash", &text, "/home/dev"),
    ] {
        assert!(!permit.covers(tool, input, cwd), "{tool} {input} {cwd}");
    }
}

#[tokio::test]
async fn every_session_of_a_host_is_guarded_alike() {
    let place = Place::new();
    let host = place.open("").await;
    let parent = host.session("parent");
    // A child's calls carry the parent's session, or one of their own.
    for session in [parent.clone(), host.session("child"), host.session("")] {
        let judgement = session.turn().judge(bash("rm -rf build")).await;
        assert_eq!(outcome(&judgement.to_wire()), "guard", "{}", session.id());
    }
}
