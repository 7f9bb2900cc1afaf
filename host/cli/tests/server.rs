//! `portcullis server`: which servers there are, what they offer, and calling them.

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

use crate::support::{BINARY, Seen, User};

/// A whole server, in the shell.
const SERVER: &str = r#"#!/bin/sh
echo started >> starts
while read -r line; do
  id=${line#*\"id\":}
  id=${id%%,*}
  case $line in
    *notifications/*) continue ;;
    *\"initialize\"*) answer='"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}}}' ;;
    *tools/list*) answer='"result":{"tools":[{"name":"greet","description":"Says hello.","inputSchema":{"type":"object"}}]}' ;;
    *\"fail\"*) answer='"result":{"content":[{"type":"text","text":"It is full."}],"isError":true}' ;;
    *tools/call*) answer='"result":{"content":[{"type":"text","text":"Hello."}]}' ;;
    *) answer='"error":{"code":-32601,"message":"unknown"}' ;;
  esac
  echo "{\"jsonrpc\":\"2.0\",\"id\":$id,$answer}"
done
"#;

fn user(more: &str) -> User {
    let user = User::new();
    let file = user.write("work/hello", SERVER);
    fs::set_permissions(file, fs::Permissions::from_mode(0o755)).unwrap();
    user.config(&format!(
        "{more}[mcp.servers.hello]\ncommand = \"./hello\"\nenv = {{ TOKEN = \"s3cret-token\" }}\n"
    ));
    user
}

fn run(user: &User, arguments: &[&str]) -> Seen {
    let mut command = user.command(BINARY);
    command.env("XDG_STATE_HOME", user.path("state")).env("PATH", "/usr/bin:/bin").args(arguments);
    user.finish(&mut command, b"")
}

fn json(user: &User, arguments: &[&str]) -> Value {
    let seen = run(user, arguments);
    serde_json::from_str(&seen.stdout).unwrap_or_else(|error| panic!("{error}: {seen}"))
}

fn starts(user: &User) -> usize {
    fs::read_to_string(user.path("work/starts")).unwrap_or_default().lines().count()
}

#[test]
fn a_list_starts_nothing_and_tells_what_the_last_look_found() {
    let user = user("");
    let row = |user: &User| json(user, &["server", "list", "--json"])["servers"][0].clone();
    let before = row(&user);
    assert!(before["name"] == "hello" && before["tools"] == serde_json::json!([]) && before["era"].is_null());
    assert_eq!(starts(&user), 0);
    let tools = json(&user, &["server", "tools", "hello", "--json"]);
    assert_eq!(tools["tools"][0]["name"], "greet");
    assert_eq!(starts(&user), 1);
    let after = row(&user);
    assert!(after["era"] == "legacy" && after["tools"][0] == "greet", "{after}");
    let seen = run(&user, &["server", "forget", "hello"]);
    assert_eq!(seen.code, Some(0), "{seen}");
    assert!(row(&user)["era"].is_null() && starts(&user) == 1);
}

#[test]
fn a_tool_is_called_as_an_agent_would_call_it_and_judged_first() {
    let user = user("[permissions]\ndeny = [\"mcp__hello__drop\"]\n");
    let seen = run(&user, &["server", "call", "hello", "greet", "{}"]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(0), "Hello.\n"), "{seen}");
    let seen = run(&user, &["server", "call", "hello", "greet", "{\"how\":\"fail\"}"]);
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), "It is full.\n"), "{seen}");
    let seen = run(&user, &["server", "call", "hello", "drop"]);
    assert!(seen.code == Some(2) && seen.stdout.is_empty() && !seen.stderr.is_empty(), "{seen}");
    let seen = run(&user, &["server", "call", "hello", "gret"]);
    assert!(seen.code == Some(1) && seen.stderr.contains("did you mean `greet`?"), "{seen}");
    let seen = run(&user, &["server", "call", "hello", "greet", "[]"]);
    assert!(seen.code == Some(1) && seen.stderr.contains("JSON object"), "{seen}");
    let seen = run(&user, &["server", "tools", "helo"]);
    assert!(seen.code == Some(1) && seen.stderr.contains("it has `hello`"), "{seen}");
}

#[test]
fn no_value_of_an_environment_is_printed() {
    let user = user("");
    run(&user, &["server", "tools", "hello"]);
    for arguments in
        [&["config", "show"][..], &["config", "show", "--json"], &["server", "list", "--json"], &["doctor"]]
    {
        let seen = run(&user, arguments);
        assert!(!format!("{seen}").contains("s3cret-token"), "{arguments:?}: {seen}");
    }
}
