//! The table against `cases.json`, the reference, and arbitrary input.

use std::collections::BTreeSet;
use std::path::Path;

use portcullis_model::call::{EffectKind, ToolCall};
use portcullis_model::input::Input;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::table::{Rule, TOOLS};
use super::{CODES, Malformed, Resolved, field, reference, reference_page, resolve, resolve_with_home};

fn call(tool: &str, input: Value, cwd: &str) -> ToolCall {
    ToolCall {
        id: "c1".to_owned(),
        tool: tool.to_owned(),
        input: Input::from_value(input).unwrap(),
        cwd: cwd.to_owned(),
        session_id: "s1".to_owned(),
    }
}

fn effects(resolved: &Resolved) -> Vec<String> {
    resolved.effects.iter().map(|effect| format!("{} {}", effect.kind, effect.target)).collect()
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn cases() -> Vec<Map<String, Value>> {
    let cases: Vec<Value> = serde_json::from_str(include_str!("cases.json")).unwrap();
    cases.into_iter().map(|case| case.as_object().unwrap().clone()).collect()
}

fn check(tool: &str, case: &Map<String, Value>) -> Result<(), String> {
    let cwd = case.get("cwd").map_or("/w", |cwd| cwd.as_str().unwrap());
    let call = call(tool, case["input"].clone(), cwd);
    let answer: Result<Resolved, Malformed> = match case.get("home") {
        Some(home) => resolve_with_home(&call, home.as_str().unwrap()),
        None => resolve(&call),
    };
    let same = |what: &str, is: Value, expected: &Value| {
        if is == *expected { Ok(()) } else { Err(format!("{what} is {is}, expected {expected}")) }
    };
    if let Some(code) = case.get("malformed") {
        return match answer {
            Ok(resolved) => Err(format!("resolved to {resolved:?}, expected {code}")),
            Err(malformed) => {
                assert!(CODES.iter().any(|(code, _)| *code == malformed.code), "{malformed:?}");
                same("the code", json!(malformed.code), code)
            }
        };
    }
    let resolved = answer.map_err(|malformed| format!("{malformed:?}"))?;
    let known = case.get("known").is_none_or(|known| known == true);
    same("known", json!(resolved.known), &json!(known))?;
    if case["is"].is_null() {
        // A tool that nobody knows: it keeps its name.
        same("the name", json!(resolved.tool), &json!(tool))?;
        return same("effects", json!(effects(&resolved)), &json!([format!("opaque {tool}")]));
    }
    same("the name", json!(resolved.tool), &case["is"])?;
    same("effects", json!(effects(&resolved)), &json!(texts(&case["effects"])))?;
    same("the directory", json!(resolved.cwd), case.get("runs_in").unwrap_or(&Value::Null))?;
    for (key, is) in [("scripts", &resolved.scripts), ("powershell", &resolved.powershell)] {
        same(key, json!(is), case.get(key).unwrap_or(&json!([])))?;
    }
    Ok(())
}

#[test]
fn every_case_resolves_as_it_says() {
    let mut failures = Vec::new();
    for case in cases() {
        for tool in texts(&case["tool"]) {
            if let Err(failure) = check(&tool, &case) {
                failures.push(format!("{tool} {}: {failure}", case["input"]));
            }
        }
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn every_name_in_the_table_has_a_case() {
    let cases = cases();
    let resolved = cases.iter().filter(|case| case.contains_key("is"));
    let covered: BTreeSet<String> =
        resolved.flat_map(|case| texts(&case["tool"])).map(|tool| tool.to_ascii_lowercase()).collect();
    let missing: Vec<&str> = TOOLS
        .iter()
        .flat_map(|tool| std::iter::once(&tool.name).chain(tool.aliases))
        .copied()
        .filter(|name| !covered.contains(&name.to_ascii_lowercase()))
        .collect();
    assert!(missing.is_empty(), "add a case to cases.json for: {missing:?}");
}

#[test]
fn no_name_means_two_tools() {
    let mut names = BTreeSet::new();
    for tool in TOOLS {
        for name in std::iter::once(&tool.name).chain(tool.aliases) {
            assert!(names.insert(name.to_ascii_lowercase()), "`{name}` stands twice in the table");
        }
    }
}

#[test]
fn a_plugin_may_not_take_a_name_that_means_something() {
    for name in ["bash", "Run_Shell_Command", "mcp__a__b", "mcp__x", "b ash", ""] {
        assert!(super::is_taken(name), "{name}");
    }
    assert!(!super::is_taken("current_time"));
    assert!(super::canonical_names().all(super::is_taken));
}

#[test]
fn every_code_has_a_case() {
    let cases = cases();
    // Its case would fill a screen: it has a test of its own.
    let codes = CODES.iter().map(|(code, _)| *code).filter(|code| *code != "input/too-many");
    for code in codes {
        assert!(cases.iter().any(|case| case.get("malformed") == Some(&json!(code))), "{code}");
    }
}

#[test]
fn a_batch_holds_a_thousand_calls_and_no_more() {
    let batch = |n: usize| {
        let calls = vec![json!({"tool": "read", "parameters": {"path": "a"}}); n];
        resolve(&call("batch", json!({"tool_calls": calls}), "/w"))
    };
    assert_eq!(effects(&batch(1000).unwrap()), ["read /w/a"]);
    assert_eq!(batch(1001).unwrap_err().code, "input/batch");
}

#[test]
fn a_call_that_does_too_much_is_refused() {
    let many = |tool: &str, field: &str, n: usize| {
        let texts: Vec<String> = (0..n).map(|n| format!("f{n}")).collect();
        resolve(&call(tool, json!({ field: texts }), "/w"))
    };
    for (tool, field) in [("read_files", "paths"), ("run_commands", "commands"), ("fetch", "urls")] {
        assert_eq!(many(tool, field, 10_000).unwrap().effects.len(), 10_000);
        assert_eq!(many(tool, field, 10_001).unwrap_err().code, "input/too-many");
    }
    // Every pattern counts for every directory, also where the effect is the same.
    let input = json!({"paths": vec!["a"; 200], "patterns": vec!["/x"; 200]});
    assert_eq!(resolve(&call("glob", input, "/w")).unwrap_err().code, "input/too-many");
}

#[test]
fn a_reason_shows_what_cannot_be_told_apart() {
    let reason = resolve(&call("Ba\u{200b}sh", json!({}), "/w")).unwrap_err().reason;
    assert_eq!(reason, r"the tool name `Ba\u{200b}sh` holds characters that cannot be seen");
    let reason = resolve(&call("B\u{430}sh", json!({}), "/w")).unwrap_err().reason;
    assert_eq!(reason, r"the tool name `B\u{430}sh` only looks like a name of the tool `bash`");
}

#[test]
fn the_reference_is_up_to_date() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/tools.md");
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    let expected = reference_page();
    assert!(page == expected, "docs/reference/tools.md should be:\n\n{expected}");
}

/// Rows whose paths are effects of one kind, and no call without a path.
fn path_tools(kind: EffectKind) -> Vec<&'static str> {
    TOOLS
        .iter()
        .filter(|tool| {
            tool.rule == Rule::Paths(kind) || (tool.rule == Rule::Editor && kind == EffectKind::Write)
        })
        .flat_map(|tool| std::iter::once(tool.name).chain(tool.aliases.iter().copied()))
        .collect()
}

#[test]
fn every_path_field_of_every_writing_tool_is_seen() {
    for kind in [EffectKind::Write, EffectKind::Delete, EffectKind::Read] {
        for tool in path_tools(kind) {
            for path_field in field::PATH.fields {
                for input in [
                    json!({*path_field: ".env"}),
                    json!({"path": "ok", *path_field: ".env"}),
                    json!({*path_field: [".env"], "file_path": "ok"}),
                    json!({"file_path": "ok", "edits": [{"x": 1}, {*path_field: ".env"}]}),
                ] {
                    let resolved = resolve(&call(tool, input.clone(), "/w")).unwrap();
                    let expected = format!("{kind} /w/.env");
                    assert!(effects(&resolved).contains(&expected), "{tool} {input}");
                }
            }
        }
    }
}

#[test]
fn every_command_field_of_every_shell_is_seen() {
    let shells = TOOLS.iter().filter(|tool| matches!(tool.rule, Rule::Run(_)));
    for tool in shells {
        for role in reference::roles(tool.rule).iter().filter(|role| **role != field::DIRECTORY) {
            for field in role.fields {
                let resolved = resolve(&call(tool.name, json!({*field: "rm -rf x"}), "/w")).unwrap();
                assert_eq!(effects(&resolved), ["run rm -rf x"], "{} {field}", tool.name);
            }
        }
    }
}

/// Any JSON, with the fields that matter more often than chance would have them.
fn any_json() -> impl Strategy<Value = Value> {
    let keys = prop_oneof![
        proptest::sample::select(
            field::ROLES.iter().flat_map(|role| role.fields).copied().collect::<Vec<_>>()
        )
        .prop_map(str::to_owned),
        Just("edits".to_owned()),
        ".{0,6}",
    ];
    let texts = prop_oneof![
        ".{0,24}",
        "(/|~|\\.\\.|C:|\\\\|a| |\\*|%|\\[|\"){0,8}",
        "(\\*\\*\\* (Add|Update|Delete) File: |--- |\\+\\+\\+ |@@ -|diff --git |rename to |\"|\\\\3|a/|b/|x|\n){0,12}",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        texts.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 24, 4, move |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((keys.clone(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

fn any_tool() -> impl Strategy<Value = String> {
    let names: Vec<String> = TOOLS
        .iter()
        .flat_map(|tool| std::iter::once(&tool.name).chain(tool.aliases))
        .map(|name| (*name).to_owned())
        .collect();
    prop_oneof![8 => proptest::sample::select(names), 1 => ".{0,12}", 1 => "mcp(__|_|:)[a-z_/]{0,8}"]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1024))]

    #[test]
    fn anything_resolves_or_is_malformed(tool in any_tool(), input in any_json(), cwd in "(/[a-z/.]{0,6}|C:\\\\[a-z]{0,3}|.{0,6})") {
        match resolve_with_home(&call(&tool, input.clone(), &cwd), "/home/u") {
            Ok(resolved) => {
                prop_assert!(input.is_object());
                for effect in &resolved.effects {
                    if matches!(effect.kind, EffectKind::Read | EffectKind::Write | EffectKind::Delete) {
                        prop_assert!(effect.target.starts_with('/') || effect.target.get(1..3) == Some(":/"), "{effect:?}");
                        prop_assert!(!effect.target.split('/').any(|name| name == ".."), "{effect:?}");
                        prop_assert!(!effect.target.contains('\0'));
                    }
                }
            }
            Err(malformed) => prop_assert!(CODES.iter().any(|(code, _)| *code == malformed.code)),
        }
    }

    #[test]
    fn an_extra_field_hides_no_path(
        tool in proptest::sample::select(path_tools(EffectKind::Write)),
        path_field in proptest::sample::select(field::PATH.fields.to_vec()),
        extra in any_json(),
        name in "[a-z]{1,8}",
    ) {
        let input = json!({"x": extra, path_field: name.clone()});
        if let Ok(resolved) = resolve(&call(tool, input, "/w")) {
            let expected = format!("write /w/{name}");
            let read_only = resolved.tool == "read";
            prop_assert!(read_only || effects(&resolved).contains(&expected));
        }
    }

    #[test]
    fn a_known_name_in_any_case_is_that_tool(tool in proptest::sample::select(TOOLS.iter().collect::<Vec<_>>()), upper in any::<u64>()) {
        let name: String = tool.name.chars().enumerate()
            .map(|(at, c)| if upper >> (at % 64) & 1 == 1 { c.to_ascii_uppercase() } else { c })
            .collect();
        let input = json!({
            "command": "view", "path": "a", "to": "b", "url": "https://x.test", "code": "1", "server": "s", "tool": "t",
            "input": "*** Add File: a", "tool_calls": [{"tool": "read", "parameters": {"path": "a"}}],
        });
        let resolved = resolve(&call(&name, input, "/w")).unwrap();
        prop_assert!(resolved.known);
    }
}
