//! What goes wrong between a client and the server: every such call is refused, is in the
//! ledger as that, and harms no other.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;
mod wired;

use std::fs;
use std::io::Read as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use portcullis::Host;
use portcullis::extension::{Level, Scope};
use portcullis::ledger::{self, Record};
use portcullis_model::extension::{
    Answer, Content, Extension, ToolEntry, ToolProvider, ToolResult, ToolTraits,
};
use portcullis_serve::{AtEnd, ServeLimits, Server, ledger_beside};
use portcullis_tests::plugin::Plugin;
use rustix::fs::{CWD, FileType, Mode};
use serde_json::{Value, json};

use crate::place::Place;
use crate::wired::{Wire, bash, hello, server, server_with};

/// A host with a ledger, and a hook that holds up the calls that say `wait`.
struct Held {
    place: Place,
    host: Host,
    server: Server,
    /// A byte for each call that is held up.
    started: fs::File,
}

impl Held {
    async fn with(more: &str, change: impl FnOnce(&mut ServeLimits)) -> Self {
        let place = Place::new();
        for name in ["started", "go"] {
            rustix::fs::mknodat(CWD, place.path(name), FileType::Fifo, Mode::RWXU, 0).unwrap();
        }
        let wait = format!(
            "grep -q wait || exit 0; printf x > \"{}\"; cat \"{}\" > /dev/null",
            place.path("started").display(),
            place.path("go").display()
        );
        let config = format!("[[hooks]]\nevent = \"pre-tool-use\"\nshell = true\ncommand = '{wait}'\n{more}");
        place.put("own.wasm", &Plugin::new("own").tool("own_tool", true).build().unwrap());
        let mut options = place.options(&config);
        options.env.insert("PATH".to_owned(), "/usr/bin:/bin".to_owned());
        options.config.audit.allowed = true;
        options.ledger = Some(ledger::LedgerOptions::new(place.path("ledger")));
        let ledger = ledger_beside(&options, &<_>::default());
        let host = Host::open(options).await.unwrap();
        let server = server_with(&host, ledger, change);
        // Open at both ends, so that nobody waits for somebody to open it.
        let started = fs::File::options().read(true).write(true).open(place.path("started")).unwrap();
        Self { place, host, server, started }
    }

    async fn new() -> Self {
        Self::with("", |_| {}).await
    }

    /// Until a call is held up.
    async fn started(&self) {
        let mut started = self.started.try_clone().unwrap();
        let read = tokio::task::spawn_blocking(move || started.read_exact(&mut [0]).unwrap());
        read.await.unwrap();
    }

    /// Lets one go.
    async fn go(&self) {
        let path = self.place.path("go");
        // It waits until somebody reads.
        let opened = tokio::task::spawn_blocking(move || fs::File::options().write(true).open(path).unwrap());
        drop(opened.await.unwrap());
    }

    /// What the ledger says of calls: verdict and code, in order.
    fn calls(&self) -> Vec<String> {
        let mut seen = Vec::new();
        ledger::read(&self.place.path("ledger"), |_, record: Record| {
            if let Some(verdict) = record.verdict {
                seen.push(format!("{verdict} {}", record.code.unwrap_or_default()).trim().to_owned());
            }
        })
        .unwrap();
        seen
    }
}

#[tokio::test]
async fn a_client_says_first_who_it_is_and_in_which_version() {
    let host = Place::new().open("").await;
    let server = server(&host);
    let mut wire = Wire::silent(&server, AtEnd::Refuse);
    let open = json!({"session_id": "s1", "cwd": "/home/dev/app"});
    assert_eq!(wire.refused("session/open", open.clone()).await, "wire/not-initialized");
    assert_eq!(wire.refused("beforeToolCall", bash("t1", "ls")).await, "wire/not-initialized");
    let old = json!({"protocol": "0.1", "client": {"name": "old", "version": "1"}});
    let error = wire.error("initialize", old).await;
    assert_eq!((&error["code"], &error["data"]["supported"]), (&json!(-32001), &json!(["1.0"])));
    assert_eq!(wire.refused("session/open", open.clone()).await, "wire/not-initialized");
    let said = wire.ok("initialize", hello(&[])).await;
    assert_eq!(said["server"]["name"], "portcullis");
    assert_eq!(wire.refused("initialize", hello(&[])).await, "wire/initialized");
    wire.begin("s1", "t1").await;
    assert_eq!(wire.bash("ls").await["verdict"], "allow");
    assert_eq!(wire.bash("rm -rf x").await["code"], "guard/rm");
}

#[tokio::test]
async fn a_client_that_says_nothing_is_closed() {
    let host = Place::new().open("").await;
    let server = server_with(&host, None, |limits| limits.hello = Duration::from_millis(10));
    let mut wire = Wire::silent(&server, AtEnd::Refuse);
    assert_eq!(wire.next().await.unwrap()["error"]["data"]["code"], "wire/not-initialized");
    assert_eq!(wire.next().await, None);
}

#[tokio::test]
async fn what_is_no_request_is_answered_and_the_next_one_is_served() {
    let host = Place::new().open("").await;
    let mut wire = Wire::in_turn(&server(&host)).await;
    let deep = format!(
        r#"{{"jsonrpc":"2.0","id":"x","method":"beforeToolCall","params":{{"input":{}"#,
        "[".repeat(300)
    );
    for (line, number, code, id) in [
        ("nonsense", -32700, "wire/not-json", json!(null)),
        (deep.as_str(), -32700, "wire/not-json", json!("x")),
        (r#"{"jsonrpc":"2.0","id":"y","method":"a","method":"b"}"#, -32700, "wire/not-json", json!("y")),
        (r#"[{"jsonrpc":"2.0","id":1,"method":"turn/end"}]"#, -32600, "wire/batch", json!(null)),
        ("7", -32600, "wire/message", json!(null)),
        (r#"{"jsonrpc":"2.0","id":"z","method":"batch/run"}"#, -32601, "wire/unknown-method", json!("z")),
        (r#"{"jsonrpc":"2.0","id":null,"method":"turn/end"}"#, -32600, "wire/message", json!(null)),
    ] {
        wire.send(line).await;
        let answer = wire.next().await.unwrap();
        assert_eq!(answer["error"]["code"], number, "{line}: {answer}");
        assert_eq!(answer["error"]["data"]["code"], code, "{line}");
        assert_eq!(answer["id"], id, "{line}");
        assert!(answer["error"]["data"]["hint"].as_str().unwrap().len() > 10, "{line}");
        // What is neither a request nor an answer is passed over.
        wire.notify("some/news", json!({})).await;
        wire.send(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#).await;
        wire.send("  ").await;
        assert_eq!(wire.bash("ls").await["verdict"], "allow", "{line}");
        assert_eq!(wire.bash("rm -rf x").await["verdict"], "block", "{line}");
    }
    for (params, field) in [
        (json!({}), "turn_id"),
        (json!({"turn_id": 1}), "turn_id"),
        (json!({"turn_id": "t1"}), "tool"),
        (json!({"turn_id": "t1", "tool": "Bash"}), "input"),
        (json!({"turn_id": "t1", "tool": ["Bash"], "input": {}}), "tool"),
        (json!({"turn_id": "t1", "tool": "Bash", "input": {}, "id": 7}), "id"),
        (json!({"turn_id": "t1", "tool": "Bash", "input": {}, "Cwd": "/"}), "Cwd"),
    ] {
        let error = wire.error("beforeToolCall", params.clone()).await;
        assert_eq!((&error["code"], &error["data"]["field"]), (&json!(-32602), &json!(field)), "{params}");
    }
    let big = json!({"turn_id": "t1", "tool": "Bash", "input": {"command": "x".repeat(8 << 20)}});
    let error = wire.error("beforeToolCall", big).await;
    assert_eq!(
        (&error["data"]["code"], &error["data"]["fault"]),
        (&json!("wire/too-big"), &json!("too-big"))
    );
}

#[tokio::test]
async fn a_line_that_is_too_long_fails_alone_where_its_id_is_known() {
    let held = Held::with("", |limits| limits.line = 2000).await;
    let mut wire = Wire::in_turn(&held.server).await;
    let long = "x".repeat(5000);
    let call = |front: &str, back: &str| {
        let params = format!(r#"{{"turn_id":"t1","tool":"Bash","input":{{"command":"{long}"}}}}"#);
        format!(r#"{{{front}"jsonrpc":"2.0","method":"beforeToolCall","params":{params}{back}}}"#)
    };
    assert_eq!(wire.bash("ls").await["verdict"], "allow");
    assert_eq!(wire.bash("rm -rf x").await["verdict"], "block");
    wire.send(&call("\"id\":\"early\",", "")).await;
    let answer = wire.next().await.unwrap();
    assert_eq!((&answer["id"], &answer["error"]["data"]["code"]), (&json!("early"), &json!("wire/too-big")));
    assert_eq!(wire.bash("ls").await["verdict"], "allow");
    // Nobody can say whose this is, so that nothing is left without an answer.
    let waiting = wire.ask("beforeToolCall", bash("t1", "wait")).await;
    held.started().await;
    wire.send(&call("", ",\"id\":\"late\"")).await;
    let answer = wire.next().await.unwrap();
    assert_eq!((&answer["id"], &answer["error"]["data"]["code"]), (&json!(null), &json!("wire/too-big")));
    assert_eq!(wire.answer(waiting).await["error"]["data"]["code"], "wire/closing");
    assert_eq!(wire.next().await, None);
    wire.served().await;
    let calls = [
        "allow",
        "block guard/rm",
        "block wire/too-big",
        "allow",
        "block wire/too-big",
        "block wire/closing",
    ];
    assert_eq!(held.calls(), calls);
}

#[tokio::test]
async fn sessions_and_calls_do_not_wait_for_one_another() {
    let held = Held::new().await;
    let mut wire = Wire::in_turn(&held.server).await;
    wire.begin("s2", "t2").await;
    let waiting = wire.ask("beforeToolCall", bash("t1", "wait")).await;
    held.started().await;
    // The same turn, another session, another client.
    assert_eq!(wire.bash("ls").await["verdict"], "allow");
    assert_eq!(wire.ok("beforeToolCall", bash("t2", "rm -rf x")).await["verdict"], "block");
    let mut other = Wire::in_turn(&held.server).await;
    assert_eq!(other.bash("ls").await["verdict"], "allow");
    held.go().await;
    assert_eq!(wire.answer(waiting).await["result"]["verdict"], "allow");
}

#[tokio::test]
async fn a_call_that_is_cancelled_is_refused_and_written_down() {
    let held = Held::new().await;
    let mut wire = Wire::in_turn(&held.server).await;
    assert_eq!(wire.bash("ls").await["verdict"], "allow");
    assert_eq!(wire.bash("rm -rf x").await["verdict"], "block");
    let own = json!({"turn_id": "t1", "tool": "own_tool", "input": {"x": "wait"}});
    for (method, params) in [("beforeToolCall", bash("t1", "wait")), ("tools/call", own)] {
        let waiting = wire.ask(method, params).await;
        held.started().await;
        wire.notify("$/cancelRequest", json!({"id": waiting})).await;
        // Again, and one that nobody asked: nothing.
        wire.notify("$/cancelRequest", json!({"id": waiting})).await;
        wire.notify("$/cancelRequest", json!({"id": "nobody"})).await;
        wire.notify("$/cancelRequest", json!({})).await;
        let error = wire.answer(waiting).await["error"].clone();
        assert_eq!((&error["code"], &error["data"]["code"]), (&json!(-32800), &json!("wire/cancelled")));
    }
    assert_eq!(wire.bash("ls").await["verdict"], "allow");
    assert!(wire.finish().await.is_empty(), "each is answered once");
    let calls = ["allow", "block guard/rm", "block wire/cancelled", "block wire/cancelled", "allow"];
    assert_eq!(held.calls(), calls);
}

#[tokio::test]
async fn a_call_whose_client_has_gone_is_refused_and_written_down() {
    let held = Held::new().await;
    let mut wire = Wire::in_turn(&held.server).await;
    assert_eq!(wire.bash("ls").await["verdict"], "allow");
    assert_eq!(wire.bash("rm -rf x").await["verdict"], "block");
    wire.ask("beforeToolCall", bash("t1", "wait")).await;
    held.started().await;
    wire.vanish().await;
    assert_eq!(held.calls(), ["allow", "block guard/rm", "block wire/gone"]);
    let mut next = Wire::in_turn(&held.server).await;
    assert_eq!(next.bash("ls").await["verdict"], "allow");
}

#[tokio::test]
async fn an_allow_that_never_reaches_its_client_is_a_refusal() {
    let held = Held::new().await;
    // Its input ends, and nobody knows yet that it does not read any more either.
    let mut wire = Wire::silent(&held.server, AtEnd::Answer);
    wire.ok("initialize", hello(&[])).await;
    wire.begin("s1", "t1").await;
    assert_eq!(wire.bash("ls").await["verdict"], "allow");
    wire.ask("beforeToolCall", bash("t1", "wait")).await;
    held.started().await;
    let gone = tokio::spawn(wire.vanish());
    held.go().await;
    gone.await.unwrap();
    assert_eq!(held.calls(), ["allow", "allow", "block wire/gone"]);
}

#[tokio::test]
async fn what_was_asked_before_the_end_of_a_pipe_is_answered_in_its_order() {
    let held = Held::new().await;
    let mut wire = Wire::silent(&held.server, AtEnd::Answer);
    let asked = [
        ("initialize", hello(&[])),
        ("session/open", json!({"session_id": "s1", "cwd": "/home/dev/app"})),
        ("turn/begin", json!({"session_id": "s1", "turn_id": "t1"})),
        ("beforeToolCall", bash("t1", "ls")),
        ("beforeToolCall", bash("t1", "rm -rf x")),
        ("turn/end", json!({"turn_id": "t1"})),
        ("beforeToolCall", bash("t1", "ls")),
        ("session/close", json!({"session_id": "s1"})),
        ("turn/begin", json!({"session_id": "s1"})),
    ];
    for (method, params) in asked {
        wire.ask(method, params).await;
    }
    let mut answers = wire.finish().await;
    answers.sort_by_key(|answer| answer["id"].as_u64());
    assert_eq!(
        answers.iter().map(|answer| answer["id"].as_u64().unwrap()).collect::<Vec<_>>(),
        Vec::from_iter(1..=9)
    );
    assert_eq!(answers[3]["result"]["verdict"], "allow");
    assert_eq!(answers[4]["result"]["verdict"], "block");
    assert_eq!(answers[5]["result"]["outcome"], "ends");
    assert_eq!(answers[6]["error"]["data"]["code"], "wire/ended");
    assert_eq!(answers[7]["result"]["outcome"], "fine");
    assert_eq!(answers[8]["error"]["data"]["code"], "wire/unknown");
}

#[tokio::test]
async fn a_permit_works_once_and_for_its_own_turn() {
    let place = Place::new();
    place.put("own.wasm", &Plugin::new("own").tool("own_tool", true).build().unwrap());
    let host = place.open("").await;
    let server = server_with(&host, None, |limits| limits.permits = 2);
    let mut wire = Wire::in_turn(&server).await;
    wire.ok("turn/begin", json!({"session_id": "s1", "turn_id": "t2"})).await;
    let own = json!({"turn_id": "t1", "tool": "own_tool", "input": {}});
    let permit = |judged: Value| json!({"turn_id": "t1", "permit": judged["permit"]["id"]});
    let first = permit(wire.ok("beforeToolCall", own.clone()).await);
    assert_eq!(wire.ok("tools/call", first.clone()).await["output"]["is_error"], false);
    assert_eq!(wire.refused("tools/call", first).await, "wire/unknown");
    // Another turn, another client, a name that nobody gave.
    let second = permit(wire.ok("beforeToolCall", own.clone()).await);
    let elsewhere = json!({"turn_id": "t2", "permit": second["permit"]});
    assert_eq!(wire.refused("tools/call", elsewhere).await, "wire/unknown");
    let mut other = Wire::in_turn(&server).await;
    assert_eq!(other.refused("tools/call", second.clone()).await, "wire/unknown");
    assert_eq!(
        wire.refused("tools/call", json!({"turn_id": "t1", "permit": "permit-99"})).await,
        "wire/unknown"
    );
    // No other arguments than those that were judged.
    let changed = json!({"turn_id": "t1", "permit": second["permit"], "input": {"other": 1}});
    assert_eq!(wire.refused("tools/call", changed).await, "wire/parameter");
    assert_eq!(wire.ok("tools/call", second).await["output"]["is_error"], false);
    // The oldest of too many.
    let mut kept = Vec::new();
    for _ in 0..3 {
        kept.push(permit(wire.ok("beforeToolCall", own.clone()).await));
    }
    assert_eq!(wire.refused("tools/call", kept[0].clone()).await, "wire/unknown");
    assert_eq!(wire.ok("tools/call", kept[1].clone()).await["output"]["is_error"], false);
    // What is left when the turn ends.
    wire.ok("turn/end", json!({"turn_id": "t1"})).await;
    wire.ok("turn/begin", json!({"session_id": "s1", "turn_id": "t1"})).await;
    assert_eq!(wire.refused("tools/call", kept[2].clone()).await, "wire/unknown");
    // A tool that the agent runs itself is not run here, and its permit is spent.
    let judged = permit(wire.bash("ls").await);
    let ran = wire.ok("tools/call", judged.clone()).await;
    assert_eq!(
        (&ran["error"]["code"], &ran["output"]["is_error"]),
        (&json!("unknown_capability"), &json!(true))
    );
    assert_eq!(wire.refused("tools/call", judged).await, "wire/unknown");
    assert_eq!(wire.bash("rm -rf x").await["permit"], Value::Null);
}

#[tokio::test]
async fn there_is_no_more_of_anything_than_there_may_be() {
    let held = Held::with("", |limits| {
        limits.in_flight = 2;
        limits.sessions = 2;
        limits.turns = 2;
    })
    .await;
    let mut wire = Wire::in_turn(&held.server).await;
    wire.begin("s2", "t2").await;
    let open = json!({"cwd": "/home/dev/app"});
    assert_eq!(wire.refused("session/open", open.clone()).await, "wire/too-many");
    assert_eq!(wire.refused("turn/begin", json!({"session_id": "s1"})).await, "wire/too-many");
    let waiting = [
        wire.ask("beforeToolCall", bash("t1", "wait")).await,
        wire.ask("beforeToolCall", bash("t2", "wait")).await,
    ];
    for _ in waiting {
        held.started().await;
    }
    let error = wire.error("beforeToolCall", bash("t1", "ls")).await;
    assert_eq!((&error["code"], &error["data"]["fault"]), (&json!(-32003), &json!("resource")));
    assert_eq!(error["message"], "there are 2 requests without an answer already, which is the most");
    // What takes a request back has a place all the same.
    wire.notify("$/cancelRequest", json!({"id": waiting[0]})).await;
    assert_eq!(wire.answer(waiting[0]).await["error"]["data"]["code"], "wire/cancelled");
    wire.notify("$/cancelRequest", json!({"id": waiting[1]})).await;
    assert_eq!(wire.answer(waiting[1]).await["error"]["data"]["code"], "wire/cancelled");
    assert_eq!(wire.bash("ls").await["verdict"], "allow");
    assert_eq!(wire.bash("rm -rf x").await["verdict"], "block");
    wire.ok("session/close", json!({"session_id": "s2"})).await;
    let opened = wire.ok("session/open", open).await;
    let begun = wire.ok("turn/begin", json!({"session_id": opened["session_id"]})).await;
    assert_eq!(
        wire.ok("beforeToolCall", bash(begun["turn_id"].as_str().unwrap(), "ls")).await["verdict"],
        "allow"
    );
}

#[tokio::test]
async fn names_are_a_connections_own_and_each_means_one_thing() {
    let host = Place::new().open("").await;
    let server = server(&host);
    let mut wire = Wire::in_turn(&server).await;
    let open = json!({"session_id": "s1", "cwd": "/home/dev/app"});
    assert_eq!(wire.refused("session/open", open).await, "wire/taken");
    assert_eq!(wire.refused("turn/begin", json!({"session_id": "s1", "turn_id": "t1"})).await, "wire/taken");
    assert_eq!(wire.refused("session/open", json!({"cwd": "app"})).await, "wire/parameter");
    let mut other = Wire::connect(&server).await;
    assert_eq!(other.refused("beforeToolCall", bash("t1", "ls")).await, "wire/unknown");
    assert_eq!(other.refused("session/close", json!({"session_id": "s1"})).await, "wire/unknown");
    other.begin("s1", "t1").await;
    assert_eq!(other.bash("ls").await["verdict"], "allow");
    assert_eq!(other.bash("rm -rf x").await["verdict"], "block");
}

#[tokio::test]
async fn two_requests_with_one_id_are_both_refused() {
    let held = Held::new().await;
    let mut wire = Wire::in_turn(&held.server).await;
    let waiting = wire.ask("beforeToolCall", bash("t1", "wait")).await;
    held.started().await;
    let twin =
        json!({"jsonrpc": "2.0", "id": waiting, "method": "beforeToolCall", "params": bash("t1", "ls")});
    wire.send(&twin.to_string()).await;
    for _ in 0..2 {
        let answer = wire.next().await.unwrap();
        assert_eq!((&answer["id"], &answer["error"]["data"]["field"]), (&json!(waiting), &json!("id")));
    }
    assert_eq!(wire.bash("ls").await["verdict"], "allow");
    assert_eq!(wire.bash("rm -rf x").await["verdict"], "block");
    wire.finish().await;
    assert_eq!(held.calls(), ["block wire/message", "block wire/message", "allow", "block guard/rm"]);
}

#[tokio::test]
async fn a_client_that_does_not_read_is_closed_and_what_waits_for_it_is_refused() {
    let held = Held::with("", |limits| limits.stall = Duration::from_millis(50)).await;
    let mut wire = Wire::in_turn(&held.server).await;
    assert_eq!(wire.bash("ls").await["verdict"], "allow");
    assert_eq!(wire.bash("rm -rf x").await["verdict"], "block");
    wire.ask("beforeToolCall", bash("t1", "wait")).await;
    held.started().await;
    // Answers that fill the pipe, and an allow that stands behind them.
    let unknown = "x".repeat(400);
    for at in 0..300 {
        let (method, params) =
            if at == 299 { ("beforeToolCall", bash("t1", "ls")) } else { (&*unknown, json!({})) };
        let message =
            json!({"jsonrpc": "2.0", "id": format!("more {at}"), "method": method, "params": params});
        if !wire.try_send(&message.to_string()).await {
            break;
        }
    }
    wire.served().await;
    let calls = held.calls();
    assert_eq!(calls[..2], ["allow", "block guard/rm"]);
    let rest = &calls[2..];
    assert!(rest.contains(&"block wire/gone".to_owned()), "{rest:?}");
    let count = |word: &str| rest.iter().filter(|call| *call == word).count();
    assert!(count("allow") < count("block wire/gone"), "an allow is followed by its refusal: {rest:?}");
    let mut next = Wire::in_turn(&held.server).await;
    assert_eq!(next.bash("ls").await["verdict"], "allow");
}

#[tokio::test]
async fn who_wants_to_hear_of_judgements_does_and_is_told_what_it_missed() {
    let host = Place::new().open("").await;
    let server = server(&host);
    let mut listener = Wire::listening(&server, &["judgement"]).await;
    let mut deaf = Wire::in_turn(&server).await;
    deaf.bash("rm -rf x").await;
    let heard = listener.next().await.unwrap();
    assert_eq!(heard["method"], "judgement");
    let said = &heard["params"];
    let expected = json!(["block", "guard/rm", "s1", "t1", "Bash", 0]);
    let seen = ["verdict", "code", "session_id", "turn_id", "tool", "dropped"].map(|key| said[key].clone());
    assert_eq!(json!(seen), expected);
    // More than the pipe and the news that are kept for it can hold.
    const CALLS: u64 = 2000;
    let refused = json!({"turn_id": "t1", "tool": "\u{200b}", "input": {}});
    for _ in 0..CALLS {
        deaf.ok("beforeToolCall", refused.clone()).await;
    }
    assert!(deaf.news.is_empty());
    let (mut told, mut dropped) = (0, 0);
    while told + dropped < CALLS {
        let heard = listener.next().await.unwrap();
        told += 1;
        dropped += heard["params"]["dropped"].as_u64().unwrap();
    }
    assert_eq!(told + dropped, CALLS);
    assert!(dropped > 0, "{told} were told");
    // Its answers were never dropped.
    listener.begin("s1", "t1").await;
    assert_eq!(listener.bash("ls").await["verdict"], "allow");
}

#[tokio::test]
async fn a_server_that_ends_refuses_what_runs_and_ends_the_last_session_first() {
    let closed = tempfile::NamedTempFile::new().unwrap();
    let log: PathBuf = closed.path().to_owned();
    let note = format!("sed 's/.*\\\"session_id\\\":\\\"\\([^\\\"]*\\)\\\".*/\\1/' >> \"{}\"", log.display());
    let hook = format!("[[hooks]]\nevent = \"session-end\"\nshell = true\ncommand = '''{note}'''\n");
    let held = Held::with(&hook, |_| {}).await;
    let mut wire = Wire::in_turn(&held.server).await;
    wire.begin("s2", "t2").await;
    wire.begin("s3", "t3").await;
    assert_eq!(wire.bash("ls").await["verdict"], "allow");
    assert_eq!(wire.bash("rm -rf x").await["verdict"], "block");
    let waiting = wire.ask("beforeToolCall", bash("t1", "wait")).await;
    held.started().await;
    held.server.end();
    assert_eq!(wire.answer(waiting).await["error"]["data"]["code"], "wire/closing");
    wire.served().await;
    assert_eq!(held.calls(), ["allow", "block guard/rm", "block wire/closing"]);
    let closed = fs::read_to_string(log).unwrap();
    assert_eq!(closed.split_whitespace().collect::<Vec<_>>(), ["s3", "s2", "s1"]);
}

#[tokio::test]
async fn a_session_that_does_not_end_keeps_no_other_from_its_end() {
    let log = tempfile::NamedTempFile::new().unwrap();
    // `s2` waits for somebody who never comes.
    let note = format!(
        "case \"$(cat)\" in *s2*) exec tail -f /dev/null;; *s1*) echo s1 > \"{}\";; esac",
        log.path().display()
    );
    let hook = format!("[[hooks]]\nevent = \"session-end\"\nshell = true\ncommand = '''{note}'''\n");
    let held = Held::with(&hook, |limits| limits.close = Duration::from_millis(300)).await;
    let mut wire = Wire::in_turn(&held.server).await;
    wire.begin("s2", "t2").await;
    wire.vanish().await;
    assert_eq!(fs::read_to_string(log.path()).unwrap(), "s1\n");
    assert_eq!(held.host.session("s3").turn().judge(place::bash("ls")).await.to_wire().reason, None);
}

/// An extension with a tool that fails inside when it is told to.
#[derive(Debug)]
struct Fragile;

impl Extension for Fragile {
    fn name(&self) -> &'static str {
        "fragile"
    }

    fn tools(&self) -> Option<&dyn ToolProvider> {
        Some(self)
    }
}

impl ToolProvider for Fragile {
    fn list(&self) -> Answer<'_, Vec<ToolEntry>> {
        let entry = ToolEntry {
            name: "fragile_tool".to_owned(),
            description: "Breaks.".to_owned(),
            schema: json!({"type": "object"}),
            traits: ToolTraits::default(),
        };
        Box::pin(async { Ok(vec![entry]) })
    }

    fn call<'a>(&'a self, _: &'a str, arguments: &'a Value) -> Answer<'a, ToolResult> {
        assert!(arguments["break"] != true, "inside");
        Box::pin(async { Ok(ToolResult { content: Content::Text("whole".to_owned()), is_error: false }) })
    }
}

#[tokio::test]
async fn a_request_that_fails_inside_is_refused_and_the_next_one_is_served() {
    let held = Held::new().await;
    held.host.register(Arc::new(Fragile), Level::Pool, &Scope::new(), None).await.unwrap();
    let mut wire = Wire::in_turn(&held.server).await;
    let call = |breaks: bool| json!({"turn_id": "t1", "tool": "fragile_tool", "input": {"break": breaks}});
    for _ in 0..2 {
        let whole = wire.ok("tools/call", call(false)).await;
        assert_eq!(whole["output"]["content"][0]["text"], "whole", "{whole}");
        assert_eq!(wire.bash("rm -rf x").await["verdict"], "block");
        let error = wire.error("tools/call", call(true)).await;
        assert_eq!((&error["code"], &error["data"]["code"]), (&json!(-32603), &json!("wire/internal")));
    }
    // The turn is as good as before.
    assert_eq!(wire.bash("ls").await["verdict"], "allow");
    assert_eq!(wire.ok("turn/end", json!({"turn_id": "t1"})).await["outcome"], "ends");
    assert_eq!(held.calls().iter().filter(|call| *call == "block wire/internal").count(), 2);
}
