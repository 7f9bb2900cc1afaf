//! Epochs: what each turn was bound to, what is written of it, and what is left of it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use portcullis::Host;
use portcullis::ledger::LedgerOptions;
use portcullis_model::capability::{CapabilityKind, Standing};
use portcullis_model::extension::{CommandEntry, Known, SkillEntry};
use portcullis_tests::extension::{Fake, register, tool};
use portcullis_tests::plugin::Plugin;
use serde_json::{Value, json};

use crate::place::{Place, bash, call, judge};

/// The lines of the ledger that tell of turns and epochs.
fn lines(ledger: &Path) -> Vec<Value> {
    let text = fs::read_to_string(ledger.join("ledger.jsonl")).unwrap_or_default();
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["kind"] == "turn" || line["kind"] == "capabilities").collect()
}

/// How many lines the ledger has.
fn all(place: &Place) -> usize {
    fs::read_to_string(place.path("ledger").join("ledger.jsonl")).unwrap().lines().count()
}

fn ids(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|id| id.as_str().unwrap().to_owned()).collect()
}

/// What was there at each epoch, from the ledger alone.
fn replayed(lines: &[Value]) -> BTreeMap<u64, BTreeSet<String>> {
    let mut all: BTreeMap<u64, BTreeSet<String>> = BTreeMap::new();
    let mut now = BTreeSet::new();
    for line in lines.iter().filter(|line| line["kind"] == "capabilities") {
        let changes = &line["changes"];
        now.extend(ids(&changes["added"]));
        for gone in ids(&changes["removed"]) {
            now.remove(&gone);
        }
        all.insert(changes["to"].as_u64().unwrap(), now.clone());
    }
    all
}

#[tokio::test]
async fn what_each_turn_could_use_is_told_by_the_ledger_alone() {
    let place = Place::new();
    let mut options = place.options("");
    options.ledger = Some(LedgerOptions::new(place.path("ledger")));
    let host = Host::open(options).await.unwrap();
    let own = Arc::new(Fake::new("own"));
    register(&host, &own).await;
    let session = host.session("s1");
    // More than fits into a line, then fewer, then others.
    let many: Vec<_> = (0..200).map(|n| format!("tool_{n}")).collect();
    let sets = [many.clone(), many[..150].to_vec(), vec!["last".to_owned()]];
    let mut seen = BTreeMap::new();
    for set in &sets {
        own.brings(Known { tools: set.iter().map(|name| tool(name)).collect(), ..Known::default() });
        host.reconcile().await;
        let turn = session.turn();
        turn.standing().await;
        turn.standing().await;
        let there = host.capabilities().rows.into_iter().map(|row| row.capability.id.to_string());
        seen.insert(turn.epoch(), there.collect::<BTreeSet<_>>());
    }
    let lines = lines(&place.path("ledger"));
    assert_eq!(replayed(&lines), seen);
    let turns: Vec<_> = lines.iter().filter(|line| line["kind"] == "turn").collect();
    let bound: BTreeSet<_> = turns.iter().map(|line| line["changes"]["to"].as_u64().unwrap()).collect();
    assert_eq!(bound, seen.keys().copied().collect(), "each turn is there with its epoch");
    let changed: Vec<_> = turns.iter().filter(|line| line["changes"]["to"] == 4).collect();
    assert_eq!(ids(&changed[0]["changes"]["added"]), ["tool:last"]);
    assert_eq!(changed.iter().map(|line| ids(&line["changes"]["removed"]).len()).sum::<usize>(), 150);
    assert!(turns.iter().all(|line| line["session"] == "s1" && line["epoch"].is_string()));
    let verified = portcullis::ledger::verify(&place.path("ledger")).unwrap();
    assert!(verified.broken.is_none());
    // A turn that only judges has no line of its own.
    let before = all(&place);
    judge(&host, bash("ls")).await;
    assert_eq!(all(&place), before);
}

#[tokio::test]
async fn ten_thousand_changes_leave_one_epoch_and_no_tombstone() {
    let place = Place::new();
    let host = place.open("").await;
    let own = Arc::new(Fake::new("own"));
    register(&host, &own).await;
    let session = host.session("s1");
    let held = session.turn();
    for round in 0..10_000_u32 {
        own.brings_tools(&[&format!("tool_{}", round % 7)]);
        assert!(host.reconcile().await.is_some());
        if round % 100 == 0 {
            let turn = session.turn();
            assert_eq!(turn.epoch(), host.capabilities().epoch);
        }
    }
    let gauges = host.gauges();
    assert_eq!((gauges.epochs, gauges.tombstones), (2, 0), "{gauges:?}");
    drop(held);
    let gauges = host.gauges();
    assert_eq!((gauges.epochs, gauges.extensions), (1, 1), "{gauges:?}");
}

#[tokio::test]
async fn a_reload_within_a_hundred_calls_changes_no_call_that_runs() {
    let place = Place::new();
    let file = place.user().join("greeter.wasm");
    let greeter = |word: &str| Plugin::new("greeter").tool("greet", false).answers(word).build().unwrap();
    fs::write(&file, greeter("one")).unwrap();
    let host = place.watch("").await;
    let turn = Arc::new(host.session("s1").turn());
    let calls = (0..100).map(|_| {
        let turn = Arc::clone(&turn);
        async move {
            tokio::task::yield_now().await;
            let called = turn.call(call("greet", json!({}))).await;
            assert!(called.error.is_none(), "{called:?}");
            format!("{:?}", called.output.content)
        }
    });
    let calls: Vec<_> = calls.collect();
    let reloads = async {
        for word in ["two", "three"] {
            fs::write(&file, greeter(word)).unwrap();
            host.refresh();
            tokio::task::yield_now().await;
        }
    };
    let (answers, ()) = tokio::join!(futures(calls), reloads);
    assert!(answers.iter().all(|answer| answer.contains("one")), "{answers:?}");
    let next = host.session("s1").turn().call(call("greet", json!({}))).await;
    assert!(format!("{:?}", next.output.content).contains("three"));
}

/// All of them, one step of each after the other.
async fn futures<F: Future>(all: Vec<F>) -> Vec<F::Output> {
    let mut all: Vec<_> = all.into_iter().map(Box::pin).map(Some).collect();
    let mut done: Vec<Option<F::Output>> = all.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (slot, answer) in all.iter_mut().zip(&mut done) {
            let ready = slot.as_mut().map(|future| future.as_mut().poll(context));
            if let Some(std::task::Poll::Ready(output)) = ready {
                (*answer, *slot) = (Some(output), None);
            }
        }
        if all.iter().all(Option::is_none) { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    done.into_iter().flatten().collect()
}

#[tokio::test]
async fn the_report_and_the_section_agree_on_twenty_things_that_are_wrong() {
    let place = Place::new();
    for n in 0..4 {
        let odd = Plugin::new(&format!("odd{n}")).tool(&format!("odd_{n}"), false).schema("{");
        place.put(&format!("odd{n}.wasm"), &odd.build().unwrap());
        let twin = Plugin::new(&format!("twin{n}")).tool("twin", false);
        place.put(&format!("twin{n}.wasm"), &twin.build().unwrap());
        let hidden = Plugin::new(&format!("hidden{n}")).tool(&format!("hidden_{n}"), false);
        place.put(&format!("hidden{n}.wasm"), &hidden.build().unwrap());
    }
    let config = "[channels.tools]\ndeny = [\"hidden_*\"]\n[permissions]\ndeny = [\"denied_*\", \"mcp__evil\"]\n\
                  [[hooks]]\nevent = \"stop\"\ncommand = \"/bin/true\"\nenabled = false\n";
    let host = place.open(config).await;
    let skills = |text: &str| {
        (0..3).map(|n| SkillEntry::new(format!("skill://s{n}/SKILL.md"), format!("s{n}"), text)).collect()
    };
    let commands = vec![CommandEntry::new("ship", "ships")];
    let (first, second) = (Arc::new(Fake::new("first")), Arc::new(Fake::new("second")));
    first.brings(Known { skills: skills("one"), commands: commands.clone(), ..Known::default() });
    let tools = ["denied_1", "denied_2"].map(tool).to_vec();
    second.brings(Known { skills: skills("two"), commands, tools, failed: None });
    let (evil, down) = (Arc::new(Fake::server("evil")), Arc::new(Fake::server("down")));
    down.brings(Known { failed: Some("connection refused".to_owned()), ..Known::default() });
    for extension in [&first, &second, &evil, &down] {
        register(&host, extension).await;
    }
    host.revoke("skill:s2".parse().unwrap(), "the operator said so");
    let report = host.capabilities();
    let wrong: Vec<_> = report
        .rows
        .iter()
        .filter(|row| !row.usable || matches!(row.capability.standing, Standing::Degraded(_)))
        .collect();
    assert_eq!(wrong.len(), 21, "{wrong:#?}");
    let section = host.session("s1").turn().standing().await;
    assert_eq!(section.counts, report.counts);
    let broken: Vec<_> = section.text.lines().filter(|line| line.contains("it is broken: ")).collect();
    let expected: Vec<_> = wrong
        .iter()
        .filter(|row| matches!(row.capability.standing, Standing::Broken(_)))
        .map(|row| format!("- {} `{}`: {}", row.capability.id.kind, row.capability.id.name, row.because))
        .collect();
    assert_eq!((broken, expected.len()), (expected.iter().map(String::as_str).collect(), 4));
    assert!(
        section.text.contains("- down: 0 tools are known of it (its last use failed: connection refused)")
    );
    for row in report.rows.iter().filter(|row| row.capability.id.kind == CapabilityKind::Skill) {
        let listed = section.text.contains(&format!("\n- {}: ", row.capability.id.name));
        assert_eq!(listed, row.usable, "{row:?}");
    }
    assert_eq!(second.calls.load(Ordering::SeqCst), 0);
}
