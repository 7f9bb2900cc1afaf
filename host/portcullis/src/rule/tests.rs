#![allow(clippy::unwrap_used, clippy::panic, reason = "a test ends when anything is wrong")]

use portcullis_model::call::{Effect, ToolCall};
use portcullis_model::input::Input;
use portcullis_model::script::Script;
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

struct Call {
    tool: String,
    inner: Vec<String>,
    agent_tool: String,
    effects: Vec<Effect>,
    scripts: Vec<Script>,
    input: Value,
}

impl Call {
    fn new(tool: &str, input: Value) -> Self {
        let text = Input::from_value(input.clone()).unwrap();
        let (id, session_id) = (String::new(), String::new());
        let call =
            ToolCall { id, tool: tool.to_owned(), input: text, cwd: "/home/dev/app".to_owned(), session_id };
        let resolved = tool::resolve_with_home(&call, "/home/dev").unwrap();
        let scripts = resolved.scripts.iter().map(|text| portcullis_shell::analyse(text)).collect();
        let inner = resolved.inner;
        Self {
            tool: resolved.tool,
            inner,
            agent_tool: tool.to_owned(),
            effects: resolved.effects,
            scripts,
            input,
        }
    }

    fn bash(command: &str) -> Self {
        Self::new("Bash", json!({ "command": command }))
    }

    fn subject(&self) -> Subject<'_> {
        Subject {
            tool: &self.tool,
            agent_tool: &self.agent_tool,
            inner: &self.inner,
            effects: &self.effects,
            scripts: &self.scripts,
            input: &self.input,
            cwd: "/home/dev/app",
            home: Some("/home/dev"),
        }
    }
}

fn rule(text: &str) -> Rule {
    text.parse().unwrap()
}

fn cover(texts: &[&str], call: &Call) -> bool {
    Rule::cover(&texts.iter().map(|text| rule(text)).collect::<Vec<_>>(), &call.subject())
}

#[test]
fn a_rule_touches_what_it_names() {
    let push = Call::bash("git push origin x");
    let pull = Call::bash("git pull");
    let hidden = Call::bash("cd lib && sh -c 'git push -f'");
    let env = Call::new("Write", json!({ "file_path": "/home/dev/app/.env.local", "content": "x" }));
    let edit = Call::new(
        "Edit",
        json!({ "file_path": "/home/dev/app/src/a.rs", "old_string": "a", "new_string": "b" }),
    );
    let read = Call::new("Read", json!({ "file_path": "/home/dev/.ssh/id" }));
    let fetch = Call::new("WebFetch", json!({ "url": "https://example.com/a", "prompt": "p" }));
    let mcp = Call::new("mcp__github__create_issue", json!({ "title": "t" }));
    let other = Call::new("frobnicate", json!({ "what": "the thing" }));
    for (text, call, touches) in [
        ("*", &push, true),
        ("Bash(git push *)", &push, true),
        ("bash(git push *)", &push, true),
        ("run_shell_command(git push *)", &push, true),
        ("Bash(git push *)", &pull, false),
        ("Bash(git push *)", &read, false),
        ("run(git push *)", &hidden, true),
        ("Bash(git push)", &push, false),
        ("run", &pull, true),
        ("run", &env, false),
        ("write(**/.env*)", &env, true),
        ("write(.env*)", &env, true),
        ("write(.env*)", &edit, false),
        ("write(src/**)", &edit, true),
        ("write(src/*)", &edit, true),
        ("write(lib/**)", &edit, false),
        ("Edit", &edit, true),
        ("Edit", &env, false),
        ("read(~/.ssh/**)", &read, true),
        ("read(/home/dev/.ssh/*)", &read, true),
        ("read(/home/*/.ssh/*)", &read, true),
        ("read(/home/*)", &read, false),
        ("fetch(https://example.com/*)", &fetch, true),
        ("fetch(https://example.org/*)", &fetch, false),
        ("mcp(github/*)", &mcp, true),
        ("mcp__github__create_issue", &mcp, true),
        ("mcp(gitlab/*)", &mcp, false),
        ("frobnicate", &other, true),
        ("frobnicate(the *)", &other, true),
        ("frobnicate(a *)", &other, false),
        ("opaque", &other, true),
    ] {
        assert_eq!(rule(text).touches(&call.subject()), touches, "{text} on {}", call.input);
    }
}

#[test]
fn a_rule_covers_only_what_is_understood_whole() {
    for (text, command, covers) in [
        ("Bash(git status *)", "git status", true),
        ("Bash(git status *)", "git status --short", true),
        ("Bash(git status *)", "git status && git status -s", true),
        ("Bash(git status *)", "git status && rm -rf x", false),
        ("Bash(git status *)", "git status > ~/.bashrc", false),
        ("Bash(git status *)", "git status 2>/dev/null", true),
        ("Bash(git status *)", "GIT_DIR=/x git status", false),
        ("Bash(git status *)", "sudo git status", false),
        ("Bash(git status *)", "git status $(rm -rf x)", false),
        ("Bash(git status *)", "git status $X", false),
        ("Bash(git status *)", "git status | sh", false),
        ("Bash(git status *)", "git 'status", false),
        ("Bash(*)", "git status $X", false),
        ("Bash", "git status $X", true),
        ("run", "rm -rf x", true),
        ("*", "rm -rf x", true),
    ] {
        assert_eq!(cover(&[text], &Call::bash(command)), covers, "{text} on {command}");
    }
    let both = Call::new("Write", json!({ "file_path": "/home/dev/app/src/a.rs", "content": "x" }));
    assert!(cover(&["write(src/**)"], &both) && !cover(&["write(lib/**)"], &both));
    for (texts, command, covers) in [
        (&["Bash(git status *)", "Bash(npm test)"][..], "git status && npm test", true),
        (&["Bash(git status *)", "run(npm test)"], "git status && npm test", true),
        (&["Bash(git status *)", "Bash(npm test)"], "git status && npm publish", false),
        (&["Bash(git status *)", "write(**)"], "git status > x", false),
        (&[], "git status", false),
    ] {
        assert_eq!(cover(texts, &Call::bash(command)), covers, "{texts:?} on {command}");
    }
}

#[test]
fn code_in_another_language_is_covered_by_no_words_of_a_shell() {
    let batch = |calls: Value| Call::new("batch", json!({ "tool_calls": calls }));
    let shell = json!({ "tool": "bash", "parameters": { "command": "git status" } });
    let code = json!({ "tool": "python", "parameters": { "code": "import os" } });
    assert!(cover(&["run(git status)"], &batch(json!([shell]))));
    assert!(!cover(&["run(git status)"], &batch(json!([shell, code]))));
    assert!(cover(&["run"], &batch(json!([shell, code]))));
}

#[test]
fn a_rule_touches_the_calls_of_a_batch_and_covers_none_but_the_whole() {
    let shell = json!({ "tool": "Bash", "parameters": { "command": "git status" } });
    let write = json!({ "tool": "write", "parameters": { "filePath": "a", "content": "x" } });
    let batch = Call::new("batch", json!({ "tool_calls": [shell, write] }));
    for (text, touches, covers) in [
        ("bash", true, false),
        ("Write", true, false),
        ("*ash", true, false),
        ("read", false, false),
        ("batch", true, true),
        ("bash(git *)", true, false),
        ("bash(npm *)", false, false),
    ] {
        assert_eq!(
            (rule(text).touches(&batch.subject()), cover(&[text], &batch)),
            (touches, covers),
            "{text}"
        );
    }
    assert!(cover(&["run(git status)", "write(**/a)"], &batch));
}

#[test]
fn a_head_means_a_server_or_every_tool_with_such_a_name() {
    let create = Call::new("mcp__github__create_issue", json!({ "title": "t" }));
    let cursor = Call::new("mcp:github/create_issue", json!({ "title": "t" }));
    let other = Call::new("mcp__gitlab__create_issue", json!({ "title": "t" }));
    let edit = Call::new("multi_edit", json!({ "path": "/a", "edits": [] }));
    for (text, call, touches) in [
        ("mcp__github", &create, true),
        ("mcp__GitHub", &create, true),
        ("mcp__github", &cursor, true),
        ("mcp__github", &other, false),
        ("mcp__github__*", &create, true),
        ("mcp__github__delete_*", &create, false),
        ("mcp__*__create_issue", &other, true),
        ("mcp__*", &other, true),
        ("*_edit", &edit, true),
        ("*_EDIT", &edit, true),
        ("*_edit", &create, false),
    ] {
        assert_eq!(rule(text).touches(&call.subject()), touches, "{text} on {}", call.agent_tool);
        assert_eq!(cover(&[text], call), touches, "{text} on {}", call.agent_tool);
    }
}

#[test]
fn a_call_whose_server_is_not_told_may_be_of_any_but_is_let_pass_by_none() {
    let cursor = Call::new("MCP:create_issue", json!({ "title": "t" }));
    for (text, touches) in [
        ("mcp__github", true),
        ("mcp__github__create_issue", true),
        ("mcp__github__delete_issue", false),
        ("mcp(github/*)", true),
        ("mcp(github/create_*)", true),
        ("mcp(github/delete_*)", false),
    ] {
        assert_eq!(rule(text).touches(&cursor.subject()), touches, "{text}");
        assert!(!cover(&[text], &cursor), "{text}");
    }
    assert!(cover(&["mcp"], &cursor));
}

#[test]
fn a_text_that_is_no_rule_says_why() {
    for (text, reason) in [
        ("", "names no tool"),
        ("Bash(git", "does not end with its bracket"),
        ("Bash)", "closes that was not opened"),
        ("Bash()", "brackets are empty"),
        ("*(x)", "takes no pattern"),
        ("two words", "no blanks"),
        ("read({a)", "pattern is none"),
        ("mcp__", "no tool of an MCP server"),
        ("mcp____x", "no tool of an MCP server"),
    ] {
        let error = text.parse::<Rule>().unwrap_err();
        assert!(error.reason.contains(reason), "{text}: {error}");
    }
}

#[test]
fn a_slip_of_a_name_has_a_near_miss() {
    for (text, near) in [("Bsh(x)", "bash"), ("wirte(x)", "write"), ("Fecth", "fetch")] {
        assert_eq!(rule(text).near_miss().map(str::to_lowercase).as_deref(), Some(near), "{text}");
    }
    for text in ["Bash", "run", "*", "mcp__x__y", "mcp:x/y", "a_tool_of_mine"] {
        assert_eq!(rule(text).near_miss(), None, "{text}");
    }
}

proptest! {
    #[test]
    fn any_text_is_a_rule_or_says_why(text in any::<String>()) {
        match text.parse::<Rule>() {
            Ok(rule) => prop_assert_eq!(rule.text(), text.trim()),
            Err(error) => prop_assert!(!error.reason.is_empty()),
        }
    }

    #[test]
    fn what_is_covered_is_touched(
        pattern in "(git|npm|\\*)( [a-z]{1,4}| \\*){0,2}",
        command in "(git|npm|rm)( [a-z]{1,4}| \\$X){0,3}",
    ) {
        let call = Call::bash(&command);
        let rule = format!("Bash({pattern})");
        prop_assert!(!cover(&[&rule], &call) || self::rule(&rule).touches(&call.subject()));
    }
}
