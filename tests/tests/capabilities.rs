//! What an agent can use: what is there is the turn's, what is permitted is of now.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use portcullis::extension::{Level, Scope};
use portcullis::surface::Reading;
use portcullis::{Called, Host, Turn};
use portcullis_model::capability::{CapabilityId, CapabilityKind, Domain};
use portcullis_model::extension::{CommandEntry, Known, SkillEntry};
use portcullis_model::judgement::RefuserKind;
use portcullis_runtime::Content;
use portcullis_tests::extension::{Fake, register, tool};
use portcullis_tests::plugin::Plugin;
use serde_json::{Value, json};

use crate::place::{Place, call, rename_into};

fn words(called: &Called) -> String {
    let text = |content: &Content| match content {
        Content::Text(text) => text.clone(),
        Content::Binary { bytes, .. } => format!("{bytes:?}"),
    };
    called.output.content.iter().map(text).collect::<Vec<_>>().join("\n")
}

/// The code of the error, or the text of the answer.
async fn outcome(turn: &Turn, name: &str, input: Value) -> String {
    let called = turn.call(call(name, input)).await;
    assert_eq!(called.error.is_some(), called.error.is_some() && called.output.is_error);
    match &called.error {
        None => words(&called),
        Some(error) => match &error.refusal {
            None => error.code.clone(),
            Some(refusal) => refusal.code.clone(),
        },
    }
}

fn shown(turn: &Turn) -> Vec<String> {
    turn.surface().shown().map(|tool| tool.name.clone()).collect()
}

fn usable(host: &Host, kind: CapabilityKind) -> Vec<String> {
    let rows = host.capabilities().rows.into_iter();
    rows.filter(|row| row.usable && row.capability.id.kind == kind)
        .map(|row| row.capability.id.name)
        .collect()
}

fn greeter(answer: &str) -> Vec<u8> {
    Plugin::new("greeter").tool("greet", false).answers(answer).build().unwrap()
}

#[tokio::test]
async fn all_five_kinds_are_in_one_registry_with_where_they_come_from() {
    let place = Place::new();
    place.put("greeter.wasm", &greeter("hello"));
    place.put("namer.wasm", &Plugin::new("namer").command("Name it.").follows("stop", None).build().unwrap());
    let config = "[[hooks]]\nevent = \"pre-tool-use\"\ncommand = \"/bin/true\"\n";
    let host = place.open(config).await;
    register(&host, &Arc::new(Fake::server("github"))).await;
    let own = Arc::new(Fake::new("own"));
    own.brings(Known {
        skills: vec![SkillEntry::new("skill://pdf/SKILL.md", "pdf", "Reads PDF files.")],
        commands: vec![CommandEntry::new("ship", "ships")],
        ..Known::default()
    });
    register(&host, &own).await;
    let report = host.capabilities();
    let rows: Vec<_> = report
        .rows
        .iter()
        .map(|row| format!("{} from {}: {}", row.capability.id, row.capability.origin, row.usable))
        .collect();
    assert_eq!(
        rows,
        [
            "tool:current_time from plugin time: true",
            "tool:greet from plugin greeter: true",
            "skill:pdf from extension own: true",
            "server:github from extension github: true",
            "hook:guard guard from plugin guard: true",
            "hook:pre-tool-use true from configuration: true",
            "hook:stop namer from plugin namer: true",
            "command:greet from plugin namer: true",
            "command:ship from extension own: true",
        ]
    );
    for (kind, count) in [(CapabilityKind::Tool, 2), (CapabilityKind::Hook, 3), (CapabilityKind::Command, 2)]
    {
        assert_eq!((report.counts[&kind].usable, report.counts[&kind].unusable), (count, 0), "{kind}");
    }
    assert!(serde_json::to_value(&report).unwrap()["rows"][0]["because"].is_string());
}

#[tokio::test]
async fn what_comes_or_changes_is_there_in_the_next_turn_of_every_session() {
    let place = Place::new();
    let host = place.watch("").await;
    let sessions = [host.session("s1"), host.session("s2"), host.session("s3")];
    let turns = sessions.each_ref().map(portcullis::Session::turn);
    fs::write(place.user().join("greeter.wasm"), greeter("hello")).unwrap();
    host.refresh();
    for turn in &turns {
        assert!(!shown(turn).contains(&"greet".to_owned()));
        assert_eq!(outcome(turn, "greet", json!({})).await, "capability/next-turn");
    }
    let next = sessions.each_ref().map(portcullis::Session::turn);
    for turn in &next {
        assert!(shown(turn).contains(&"greet".to_owned()));
        assert_eq!(outcome(turn, "greet", json!({})).await, "hello");
        assert_eq!(turn.news().unwrap().added, ["tool:greet".parse().unwrap()]);
    }
    // Another version: the turn that runs keeps the schema and the answer that it knew.
    rename_into(&place.user().join("greeter.wasm"), &greeter("good day"));
    host.refresh();
    assert_eq!(outcome(&next[0], "greet", json!({})).await, "hello");
    let last = sessions[0].turn();
    assert_eq!(outcome(&last, "greet", json!({})).await, "good day");
    assert_eq!(last.news().unwrap().changed, ["tool:greet".parse().unwrap()]);
}

#[tokio::test]
async fn what_is_removed_stays_until_the_turn_ends_and_what_is_turned_off_does_not() {
    let place = Place::new();
    let file = place.user().join("greeter.wasm");
    for off in [false, true] {
        fs::write(&file, greeter("hello")).unwrap();
        let host = place.follow("").await;
        let session = host.session("s1");
        let turn = session.turn();
        assert_eq!(outcome(&turn, "greet", json!({})).await, "hello");
        if off {
            place.configure("[plugins]\nenabled = [\"guard\"]\n");
        } else {
            fs::remove_file(&file).unwrap();
        }
        host.refresh();
        let expected = if off { "capability/retired" } else { "hello" };
        assert_eq!(outcome(&turn, "greet", json!({})).await, expected);
        let next = session.turn();
        assert_eq!(outcome(&next, "greet", json!({})).await, "unknown_capability");
        assert!(next.news().unwrap().removed.contains(&"tool:greet".parse().unwrap()));
        let section = next.standing().await;
        assert!(section.text.contains("tool `greet`"), "{}", section.text);
        assert!(!session.turn().standing().await.text.contains("## Changes"), "it is told once");
    }
}

#[tokio::test]
async fn what_is_there_and_what_is_permitted_are_two_questions() {
    let place = Place::new();
    place.put("greeter.wasm", &greeter("hello"));
    let host = place.follow("").await;
    let turn = host.session("s1").turn();
    let denied = "[permissions]\ndeny = [\"greet*\"]\n";
    assert_eq!(outcome(&turn, "greet", json!({})).await, "hello", "there and permitted");
    assert_eq!(outcome(&turn, "wave", json!({})).await, "unknown_capability", "neither");
    place.configure(denied);
    host.refresh();
    assert_eq!(host.capabilities().health.failing, None);
    assert_eq!(outcome(&turn, "greet", json!({})).await, "capability/retired", "there, not permitted");
    let row = host.capabilities().rows.into_iter().find(|row| row.capability.id.name == "greet").unwrap();
    assert!(!row.usable && row.because.contains("`permissions.deny` has `greet*`"), "{}", row.because);
    let next = host.session("s2").turn();
    assert!(!shown(&next).contains(&"greet".to_owned()), "it is not offered");
    place.configure("");
    host.refresh();
    assert!(host.accept_config(), "losing a rule of refusal waits for the operator's word");
    assert_eq!(outcome(&turn, "greet", json!({})).await, "hello", "given back");
    let id: CapabilityId = "tool:greet".parse().unwrap();
    host.revoke(id.clone(), "the operator said so");
    assert_eq!(outcome(&turn, "greet", json!({})).await, "capability/retired");
    host.restore(&id);
    assert_eq!(outcome(&turn, "greet", json!({})).await, "hello");
}

#[tokio::test]
async fn a_name_of_nothing_or_of_something_else_is_an_answer_and_the_loop_goes_on() {
    let place = Place::new();
    let host = place.open("").await;
    let own = Arc::new(Fake::new("own"));
    own.brings(Known {
        skills: vec![SkillEntry::new("skill://pdf/SKILL.md", "pdf", "Reads PDF files.")],
        tools: vec![tool("mark")],
        ..Known::default()
    });
    register(&host, &own).await;
    let turn = host.session("s1").turn();
    let called = turn.call(call("nope", json!({}))).await;
    assert_eq!(called.error.as_ref().unwrap().code, "unknown_capability");
    assert!(called.output.is_error && words(&called).contains("no tool `nope`"), "{}", words(&called));
    assert_eq!(outcome(&turn, "pdf", json!({})).await, "kind_mismatch");
    assert!(words(&turn.call(call("marc", json!({}))).await).contains("did you mean `mark`?"));
    assert_eq!(own.calls.load(Ordering::SeqCst), 0, "nothing ran");
    assert_eq!(outcome(&turn, "mark", json!({})).await, "mark of own with {}");
    assert_eq!(own.calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn arguments_that_do_not_fit_are_an_answer_that_names_the_field() {
    let place = Place::new();
    let schema = r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;
    let plugin = Plugin::new("weather").tool("forecast", false).schema(schema).answers("sun");
    place.put("weather.wasm", &plugin.build().unwrap());
    place.put("odd.wasm", &Plugin::new("odd").tool("odd_one", false).schema("{").build().unwrap());
    let host = place.open("").await;
    let turn = host.session("s1").turn();
    assert_eq!(outcome(&turn, "forecast", json!({ "city": "Rome" })).await, "sun");
    let called = turn.call(call("forecast", json!({ "city": 3 }))).await;
    let refusal = called.error.unwrap().refusal.unwrap();
    assert_eq!((refusal.by.kind, refusal.code.as_str()), (RefuserKind::Schema, "schema/mismatch"));
    assert!(refusal.reason.contains("`/city`") && refusal.fault.is_none(), "{}", refusal.reason);
    assert_eq!(outcome(&turn, "forecast", json!({})).await, "schema/mismatch");
    // A schema that is none: the tool is left out, and the plugin says so.
    assert_eq!(outcome(&turn, "odd_one", json!({})).await, "not_usable");
    assert!(crate::place::row(&host, "odd", "active").warnings[0].contains("`odd_one` is left out"));
}

#[tokio::test]
async fn a_tool_that_misbehaves_is_an_answer_and_the_next_call_is_served() {
    let place = Place::new();
    let faults = [("trap", "(unreachable)"), ("timeout", "(loop $again (br $again))"), ("memory", MEMORY)];
    for (name, body) in faults {
        let plugin = Plugin::new(name).tool(&format!("do_{name}"), false).when_called(body);
        place.put(&format!("{name}.wasm"), &plugin.build().unwrap());
    }
    place.put("greeter.wasm", &greeter("hello"));
    let limits =
        "[plugin.timeout]\nlimits = { tool_ms = 20 }\n[plugin.memory]\nlimits = { memory_mib = 1 }\n";
    let host = place.open(limits).await;
    let turn = host.session("s1").turn();
    for (name, _) in faults {
        for _ in 0..2 {
            let called = turn.call(call(&format!("do_{name}"), json!({}))).await;
            assert!(called.output.is_error);
            let code = called.error.unwrap().code;
            assert!(code == name || (name == "memory" && code == "trap"), "{name}: {code}");
            assert_eq!(outcome(&turn, "greet", json!({})).await, "hello");
        }
    }
}

/// Grows its memory until that fails, and then ends in a trap.
const MEMORY: &str =
    "(loop $again (br_if $again (i32.ne (memory.grow (i32.const 16)) (i32.const -1)))) (unreachable)";

#[tokio::test]
async fn what_a_turn_is_about_decides_what_is_shown_and_never_what_can_be_called() {
    let place = Place::new();
    let web = Plugin::new("web").tool("fetch_news", false).serves(&["web"]).answers("news");
    let vcs = Plugin::new("vcs").tool("history", false).serves(&["vcs"]).answers("commits");
    let always = Plugin::new("always").tool("remind", false).serves(&["quantum"]).always_loaded();
    for (name, plugin) in [("web", &web), ("vcs", &vcs), ("always", &always)] {
        place.put(&format!("{name}.wasm"), &plugin.build().unwrap());
    }
    let host = place.open("").await;
    let reading = Reading { needs: [Domain::Web].into(), ..Reading::default() };
    let session = host.session("s1");
    let turn = session.turn().about(reading.clone());
    let surface = turn.surface();
    let names = |surface: &portcullis::surface::Surface| -> Vec<_> {
        surface.shown().map(|tool| tool.name.clone()).collect()
    };
    assert_eq!(names(&surface), ["current_time", "fetch_news", "find_tools", "remind"]);
    let section = turn.standing().await;
    assert!(
        section.text.contains("## More tools") && section.text.contains("- history: a tool of the tests"),
        "{}",
        section.text
    );
    assert_eq!(section.tokens, section.text.chars().count().div_ceil(4));
    assert_eq!(outcome(&turn, "history", json!({})).await, "commits", "what is not shown can be called");
    assert_eq!(turn.surface().misreads(), 1);
    assert_eq!(outcome(&turn, "find_tools", json!({ "query": "zzz" })).await, "No tool fits these words.");
    let found = outcome(&turn, "find_tools", json!({ "query": "history" })).await;
    assert!(found.starts_with("history: a tool of the tests\narguments: {"), "{found}");
    assert!(names(&turn.surface()).contains(&"history".to_owned()), "it is shown from now on");
    assert_eq!(outcome(&turn, "find_tools", json!({})).await, "schema/mismatch");
    // A new turn begins anew; without slices all is shown and there is no catalogue.
    assert_eq!(
        names(&session.turn().about(reading.clone()).surface()),
        ["current_time", "fetch_news", "find_tools", "remind"]
    );
    let host = place.open("[intent]\nslice_capabilities = false\n").await;
    let turn = host.session("s1").turn().about(reading);
    assert_eq!(names(&turn.surface()).len(), 5);
    assert!(!turn.standing().await.text.contains("More tools"));
}

#[tokio::test]
async fn extensions_are_seen_where_they_are_registered_and_end_with_it() {
    let place = Place::new();
    let host = place.open("").await;
    let make = |name: &str| {
        let fake = Arc::new(Fake::new(name));
        fake.brings_tools(&[&format!("of_{name}")]);
        fake
    };
    let (pool, session, turn, agent) = (make("pool"), make("session"), make("turn"), make("agent"));
    let (one, other) = (host.session("s1"), host.session("s2"));
    register(&host, &pool).await;
    host.register(Arc::clone(&session) as _, Level::Session, &one.scope(), None).await.unwrap();
    let worker = one.clone().agent("worker");
    host.register(Arc::clone(&agent) as _, Level::Agent, &worker.scope(), None).await.unwrap();
    let first = one.turn_with(vec![Arc::clone(&turn) as _]).await.unwrap();
    let of =
        |turn: &Turn| -> Vec<_> { shown(turn).into_iter().filter(|name| name.starts_with("of_")).collect() };
    assert_eq!(of(&first), ["of_pool", "of_session", "of_turn"], "for its own turn it is there");
    assert_eq!(of(&one.turn()), ["of_pool", "of_session"]);
    assert_eq!(of(&other.turn()), ["of_pool"]);
    assert_eq!(of(&worker.turn()), ["of_agent", "of_pool", "of_session"]);
    assert_eq!(outcome(&first, "of_turn", json!({ "a": 1 })).await, "of_turn of turn with {\"a\":1}");
    assert_eq!(outcome(&other.turn(), "of_session", json!({})).await, "unknown_capability");
    first.end().await;
    assert!(turn.closed.load(Ordering::SeqCst) && !session.closed.load(Ordering::SeqCst));
    assert_eq!(of(&one.turn()), ["of_pool", "of_session"]);
    one.end("/").await;
    assert!(session.closed.load(Ordering::SeqCst) && agent.closed.load(Ordering::SeqCst));
    assert_eq!(of(&host.session("s1").turn()), ["of_pool"]);
    // Taken away: gone for a turn that runs as well.
    let last = other.turn();
    host.unregister("pool", Level::Pool, &Scope::new()).await.unwrap();
    assert_eq!(outcome(&last, "of_pool", json!({})).await, "capability/retired");
    assert_eq!(host.extensions().places(), 0);
    // A turn that nobody ends leaves nothing.
    let dropped = other.turn_with(vec![make("dropped")]).await.unwrap();
    assert_eq!(host.extensions().places(), 1);
    drop(dropped);
    assert_eq!(host.extensions().places(), 0);
}

#[tokio::test]
async fn a_tool_without_its_server_means_the_only_server_that_has_it() {
    let place = Place::new();
    let host = place.open("").await;
    let (github, gitlab) = (Arc::new(Fake::server("github")), Arc::new(Fake::server("gitlab")));
    github.brings_tools(&["create_issue", "look_up", "read"]);
    gitlab.brings_tools(&["look_up"]);
    register(&host, &github).await;
    register(&host, &gitlab).await;
    let turn = host.session("s1").turn();
    assert_eq!(outcome(&turn, "create_issue", json!({})).await, "create_issue of github with {}");
    assert_eq!(outcome(&turn, "mcp__gitlab__look_up", json!({})).await, "look_up of gitlab with {}");
    let called = turn.call(call("look_up", json!({}))).await;
    assert_eq!(called.error.as_ref().unwrap().code, "ambiguous");
    assert!(words(&called).contains("`github`, `gitlab`"), "{}", words(&called));
    assert_eq!(
        outcome(&turn, "read", json!({})).await,
        "unknown_capability",
        "a tool of the host's is none of a server"
    );
    assert_eq!((github.calls.load(Ordering::SeqCst), gitlab.calls.load(Ordering::SeqCst)), (1, 1));
    assert_eq!(github.lists.load(Ordering::SeqCst), 0, "nobody asks a server for what is known");
    // What one judges is the server's tool, by its whole name.
    let place = Place::new();
    let host = place.open("[permissions]\ndeny = [\"mcp__github\"]\n").await;
    register(&host, &github).await;
    assert_eq!(usable(&host, CapabilityKind::Server), Vec::<String>::new());
    assert_eq!(outcome(&host.session("s1").turn(), "create_issue", json!({})).await, "unknown_capability");
    assert_eq!(github.calls.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_server_that_fails_is_tried_again_and_fails_for_one_reason_once() {
    let place = Place::new();
    let host = place.open("").await;
    let github = Arc::new(Fake::server("github"));
    github.brings_tools(&["create_issue"]);
    register(&host, &github).await;
    let before = host.capabilities().epoch;
    let down = Known {
        tools: vec![tool("create_issue")],
        failed: Some("connection refused".to_owned()),
        ..Known::default()
    };
    for _ in 0..5 {
        github.brings(down.clone());
        host.reconcile().await;
    }
    let report = host.capabilities();
    assert_eq!(report.epoch, before + 1, "one reason is one change");
    let row = report.rows.iter().find(|row| row.capability.id.name == "github").unwrap();
    assert!(row.usable && row.because.contains("connection refused"), "{row:?}");
    let turn = host.session("s1").turn();
    assert!(turn.standing().await.text.contains("its last use failed: connection refused"));
    assert_eq!(outcome(&turn, "create_issue", json!({})).await, "create_issue of github with {}");
}

#[tokio::test]
async fn twenty_extensions_that_hang_keep_no_turn_from_its_start() {
    let place = Place::new();
    let host = place.open("").await;
    for n in 0..20 {
        let server = Fake::server(&format!("server{n}"));
        server.hang();
        register(&host, &Arc::new(server)).await;
    }
    let turn = host.session("s1").turn();
    assert_eq!(outcome(&turn, "find_tools", json!({ "query": "time" })).await.lines().count(), 2);
    assert_eq!(usable(&host, CapabilityKind::Server).len(), 20);
}

#[tokio::test]
async fn a_local_extension_that_fails_keeps_what_it_said_with_its_reason() {
    let place = Place::new();
    let host = place.open("").await;
    let own = Arc::new(Fake::new("own"));
    own.brings_tools(&["mark"]);
    register(&host, &own).await;
    own.brings(Known {
        tools: vec![tool("other")],
        failed: Some("no such file".to_owned()),
        ..Known::default()
    });
    host.reconcile().await;
    let rows = host.capabilities().rows;
    let row = rows.iter().find(|row| row.capability.id.name == "mark").unwrap();
    assert!(row.usable && row.because.contains("no such file; mend it"), "{row:?}");
    assert!(rows.iter().all(|row| row.capability.id.name != "other"));
    own.brings_tools(&["other"]);
    host.reconcile().await;
    assert_eq!(usable(&host, CapabilityKind::Tool), ["current_time", "other"]);
}

#[tokio::test]
async fn news_of_an_extension_are_a_hint() {
    let place = Place::new();
    let host = place.watch("").await;
    let own = Arc::new(Fake::new("own"));
    register(&host, &own).await;
    own.brings_tools(&["mark"]);
    own.tell();
    while usable(&host, CapabilityKind::Tool) != ["current_time", "mark"] {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_quiet_world_never_moves_the_epoch_of_a_host() {
    let place = Place::new();
    place.put("greeter.wasm", &greeter("hello"));
    let host = place.watch("").await;
    register(&host, &Arc::new(Fake::new("own"))).await;
    let before = host.capabilities();
    for _ in 0..200 {
        assert_eq!(host.reconcile().await, None);
        host.refresh();
    }
    let after = host.capabilities();
    assert_eq!((after.epoch, &after.digest), (before.epoch, &before.digest));
    assert!(after.health.passes > before.health.passes && after.health.failing.is_none());
}

#[tokio::test]
async fn bytes_come_through_as_they_are() {
    let place = Place::new();
    let host = place.open("").await;
    let own = Arc::new(Fake::new("own"));
    own.brings_tools(&["picture"]);
    register(&host, &own).await;
    let called = host.session("s1").turn().call(call("picture", json!({}))).await;
    let [Content::Binary { bytes, .. }] = called.output.content.as_slice() else { panic!("{called:?}") };
    assert_eq!(bytes, &[0x89, b'P', 0, 0xff]);
}

#[tokio::test]
async fn the_looking_itself_says_since_when_it_fails() {
    let place = Place::new();
    let host = place.follow("").await;
    place.configure("[plugins]\nenabled = 3\n");
    host.refresh();
    let failing = host.capabilities().health.failing.unwrap();
    assert!(failing.why.contains("plugins.enabled"), "{failing:?}");
    host.refresh();
    assert_eq!(host.capabilities().health.failing.unwrap().since, failing.since, "since the first time");
    place.configure("[intent]\nslice_capabilities = false\n");
    host.refresh();
    assert_eq!(host.capabilities().health.failing, None);
}
