//! What cannot be used, as three of them tell it: `doctor`, the report on the wire, and the
//! section of a model's prompt.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use portcullis_tests::plugin::Plugin;
use serde_json::{Value, json};

use support::{BINARY, User};

/// The results of these requests, asked one after the other.
fn asked(user: &User, requests: &[(&str, Value)]) -> Vec<Value> {
    let mut command = user.command(BINARY);
    let mut child = command.arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut output = child.stdin.take().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut results = Vec::new();
    for (id, (method, params)) in requests.iter().enumerate() {
        writeln!(output, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .unwrap();
        let answer: Value = serde_json::from_str(&lines.next().unwrap().unwrap()).unwrap();
        assert_eq!((&answer["id"], &answer["error"]), (&json!(id), &Value::Null), "{method}");
        results.push(answer["result"].clone());
    }
    drop(output);
    assert!(child.wait().unwrap().success());
    results
}

#[test]
fn doctor_the_wire_and_the_section_tell_the_same() {
    let user = User::new();
    for n in 0..7 {
        let odd = Plugin::new(&format!("odd{n}")).tool(&format!("odd_{n}"), false).schema("{");
        user.plugin(&format!("odd{n}.wasm"), &odd.build().unwrap());
        let twin = Plugin::new(&format!("twin{n}")).tool("twin", false);
        user.plugin(&format!("twin{n}.wasm"), &twin.build().unwrap());
        let hidden = Plugin::new(&format!("hidden{n}")).tool(&format!("hidden_{n}"), false);
        user.plugin(&format!("hidden{n}.wasm"), &hidden.build().unwrap());
    }
    user.config(
        "[channels.tools]\ndeny = [\"hidden_*\"]\n[[hooks]]\nevent = \"stop\"\ncommand = \"/bin/true\"\nenabled = false\n",
    );
    let doctor: Value = serde_json::from_str(&user.run(&["doctor", "--json"], "").stdout).unwrap();
    let findings = doctor["findings"].as_array().unwrap();
    let results = asked(
        &user,
        &[
            ("initialize", json!({"protocol": "1.0", "client": {"name": "test", "version": "1"}})),
            ("session/open", json!({"session_id": "s1", "cwd": "/home/dev/app"})),
            ("turn/begin", json!({"session_id": "s1", "turn_id": "t1"})),
            ("registry/report", json!({})),
            ("turn/standing", json!({"turn_id": "t1"})),
        ],
    );
    let (report, section) = (&results[3], &results[4]);
    let rows = report["rows"].as_array().unwrap();
    let wrong: Vec<_> = rows.iter().filter(|row| row["usable"] == false).collect();
    assert_eq!(wrong.len(), 7 + 6 + 7 + 1, "{wrong:#?}");
    for row in &wrong {
        let because = row["because"].as_str().unwrap();
        let finding = findings.iter().find(|finding| finding["subject"] == row["id"]).unwrap();
        assert!(finding["text"].as_str().unwrap().ends_with(because), "{finding} {row}");
        let level = if row["standing"] == "broken" { "warn" } else { "ok" };
        assert_eq!(finding["level"], level, "{finding}");
        assert_eq!(finding["remedy"].is_string(), level == "warn", "{finding}");
        let told = section["text"].as_str().unwrap().contains(because);
        assert_eq!(told, row["standing"] == "broken", "{row}");
    }
    let counts = &report["counts"];
    assert_eq!(&section["counts"], counts);
    assert_eq!((&counts["tool"]["usable"], &counts["tool"]["unusable"]), (&json!(2), &json!(20)));
    let summary = findings.iter().find(|finding| finding["subject"] == "capabilities").unwrap();
    assert_eq!(summary["text"], "2 tools, 1 hook can be used");
}
