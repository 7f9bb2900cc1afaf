//! The conversation that the reference of the wire shows is held with the binary.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;

use serde_json::{Value, json};

use support::{BINARY, User};

/// The page, and what it shows: what is sent, or what comes back.
fn page() -> (String, Vec<(bool, Value)>) {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/wire.md");
    let page = fs::read_to_string(page).unwrap();
    let message = |line: &str| {
        let (sent, text) = match (line.strip_prefix("--> "), line.strip_prefix("<-- ")) {
            (Some(text), None) => (true, text),
            (None, Some(text)) => (false, text),
            _ => return None,
        };
        Some((sent, serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))))
    };
    let shown = page.lines().filter_map(message).collect();
    (page, shown)
}

/// Without what differs from run to run.
fn plain(value: &mut Value) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match key.as_str() {
                    "micros" | "millis" | "version" | "passes" => *value = json!(0),
                    // It is one, whichever.
                    "digest" | "configuration" => *value = json!(value.as_str().unwrap().len()),
                    // Here too; and what a tool gave back is a list.
                    "content" if value.is_string() => *value = json!(value.as_str().unwrap().len()),
                    _ => plain(value),
                }
            }
        }
        Value::Array(values) => values.iter_mut().for_each(plain),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn the_conversation_of_the_reference_is_what_the_binary_says() {
    let (page, shown) = page();
    let user = User::new();
    let mut child = user.command(BINARY).args(["serve", "--isolated"]).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    // What is said between two requests may come in either order.
    let mut expected: Vec<Value> = Vec::new();
    let mut settle = |expected: &mut Vec<Value>| {
        while !expected.is_empty() {
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            let mut said: Value =
                serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            plain(&mut said);
            let at = expected.iter().position(|shown| *shown == said);
            let at =
                at.unwrap_or_else(|| panic!("the page does not show this: {line}\nbut {}", json!(expected)));
            expected.remove(at);
        }
    };
    let mut methods = Vec::new();
    for (sent, mut message) in shown {
        if sent {
            settle(&mut expected);
            methods.push(message["method"].as_str().unwrap().to_owned());
            writeln!(input, "{message}").unwrap();
        } else {
            plain(&mut message);
            expected.push(message);
        }
    }
    settle(&mut expected);
    drop(input);
    assert_eq!(child.wait().unwrap().code(), Some(0));
    // Each method that the server says it has is there, with an example.
    let said = page.lines().find(|line| line.contains("\"methods\":")).unwrap();
    let said: Value = serde_json::from_str(said.strip_prefix("<-- ").unwrap()).unwrap();
    for method in said["result"]["methods"].as_array().unwrap() {
        let method = method.as_str().unwrap();
        assert!(page.contains(&format!("\n## `{method}`\n")), "no heading for {method}");
        assert!(methods.iter().any(|shown| shown == method), "no example of {method}");
    }
}
