//! What a host writes down of its judgements, and what happens when it cannot.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::Duration;

use portcullis::ledger::{self, Entry, EntryKind, Ledger, LedgerOptions, Record};
use portcullis::{Host, HostOptions};
use portcullis_model::judgement::RefuserKind;
use portcullis_tests::plugin::Plugin;
use serde_json::json;

use crate::place::{Place, bash, call, judge, ls, outcome};

fn dir(place: &Place) -> PathBuf {
    place.path("state/ledger")
}

fn options(place: &Place, config: &str) -> HostOptions {
    let mut options = place.options(config);
    options.ledger = Some(LedgerOptions::new(dir(place)));
    options
}

fn records(place: &Place) -> Vec<Record> {
    let mut records = Vec::new();
    ledger::read(&dir(place), |_, record| records.push(record)).unwrap();
    assert_eq!(ledger::verify(&dir(place)).unwrap().broken, None);
    records
}

/// Row D04 of the faults, and D09: a disk that takes nothing.
#[tokio::test]
async fn a_required_ledger_allows_denies_and_refuses_every_call_when_it_cannot_be_written() {
    let place = Place::new();
    for allowed in [false, true] {
        let host =
            Host::open(options(&place, &format!("audit.required = true\naudit.allowed = {allowed}"))).await;
        let host = host.unwrap();
        // A call that is allowed, and one that is denied.
        assert_eq!(ls(&host).await, "allow");
        assert_eq!(outcome(&judge(&host, bash("rm -rf x")).await), "guard");
        // The fault: something else stands where the ledger belongs.
        fs::remove_dir_all(dir(&place)).unwrap();
        fs::write(dir(&place), "").unwrap();
        for _ in 0..2 {
            let wire = judge(&host, bash("ls")).await;
            assert_eq!(outcome(&wire), "ledger!resource");
            assert_eq!(wire.by.unwrap().kind, RefuserKind::Standing);
            assert!(wire.reason.unwrap().contains("the ledger of Portcullis cannot be written"));
            assert_eq!(outcome(&judge(&host, bash("rm -rf x")).await), "guard");
        }
        // Mended, it serves the next call.
        fs::remove_file(dir(&place)).unwrap();
        assert_eq!(ls(&host).await, "allow");
        let seen: Vec<_> = records(&place).into_iter().filter_map(|record| record.verdict).collect();
        assert_eq!(seen, if allowed { vec!["allow"] } else { vec![] });
        let _ = fs::remove_dir_all(dir(&place));
    }
    // Nobody said where it is.
    let host = place.open("audit.required = true").await;
    assert_eq!(ls(&host).await, "ledger!resource");
}

#[tokio::test]
async fn a_ledger_that_is_not_required_changes_no_judgement_when_it_cannot_be_written() {
    let place = Place::new();
    fs::create_dir_all(place.path("state")).unwrap();
    fs::write(dir(&place), "").unwrap();
    let host = Host::open(options(&place, "audit.allowed = true")).await.unwrap();
    assert_eq!(ls(&host).await, "allow");
    assert_eq!(outcome(&judge(&host, bash("rm -rf x")).await), "guard");
    // What is lost meanwhile is counted, and said when it can be.
    fs::remove_file(dir(&place)).unwrap();
    assert_eq!(ls(&host).await, "allow");
    assert_eq!(ls(&host).await, "allow");
    let records = records(&place);
    let kinds: Vec<_> = records.iter().map(|record| record.kind.as_str()).collect();
    assert_eq!(kinds, ["judgement", "lost", "judgement"]);
    assert_eq!(records[1].reason.as_deref(), Some("2 entries could not be written before the last one."));
}

#[tokio::test]
async fn an_allowed_call_that_nobody_asks_for_touches_no_file() {
    let place = Place::new();
    let host = Host::open(options(&place, "")).await.unwrap();
    let _ = fs::remove_dir_all(dir(&place));
    assert_eq!(ls(&host).await, "allow");
    assert!(!dir(&place).exists());
    assert_eq!(outcome(&judge(&host, bash("rm -rf x")).await), "guard");
    assert!(dir(&place).exists());
}

#[tokio::test]
async fn every_sort_of_refusal_is_written_with_what_is_known_of_the_call() {
    let place = Place::new();
    place.put("trap.wasm", &Plugin::new("trap").allows("unreachable").build().unwrap());
    let host = Host::open(options(&place, "plugins.required = [\"guard\"]")).await.unwrap();
    for call in [
        bash("rm -rf x"),
        bash("ls"),
        call("Bash", json!({})),
        call("frobnicate", json!({"token": "ghp_0123456789abcdefghij0123456789abcdef"})),
        bash("curl -H 'Authorization: Bearer ghp_0123456789abcdefghij0123456789abcdef' x; rm -rf y"),
    ] {
        judge(&host, call).await;
    }
    let records = records(&place);
    let seen: Vec<_> = records
        .iter()
        .map(|record| {
            let by = record.by.as_ref().unwrap();
            (
                by.name.as_str(),
                record.code.as_deref().unwrap(),
                record.canonical.as_deref(),
                record.effects.len(),
            )
        })
        .collect();
    assert_eq!(
        seen,
        [
            ("guard", "guard/rm", Some("bash"), 1),
            ("trap", "fault/trap", Some("bash"), 1),
            ("Bash", "input/no-command", None, 0),
            ("frobnicate", "input/unknown-tool", Some("frobnicate"), 1),
            ("guard", "guard/rm", Some("bash"), 1),
        ]
    );
    assert_eq!(records[1].fault.as_deref(), Some("trap"));
    for record in &records {
        assert_eq!((record.kind.as_str(), record.session.as_deref()), ("judgement", Some("s1")));
        assert!(record.call.as_deref() == Some("c1") && record.tool.is_some() && record.micros.is_some());
        // One set of plugins judged them all.
        assert!(record.epoch.is_some() && record.epoch == records[0].epoch);
    }
    let text = fs::read_to_string(dir(&place).join("ledger.jsonl")).unwrap();
    assert!(!text.contains("ghp_") && text.contains("Authorization: Bearer [redacted]"), "{text}");
}

/// Row G-15 of the requirements: each line names the set of plugins that judged it.
#[tokio::test]
async fn plugins_that_come_while_the_host_runs_are_an_entry_and_a_new_epoch() {
    let place = Place::new();
    let mut options = options(&place, "");
    options.watch = true;
    let host = Host::open(options).await.unwrap();
    judge(&host, bash("rm -rf x")).await;
    place.put("late.wasm", &Plugin::new("late").allows("").build().unwrap());
    host.refresh();
    host.refresh();
    judge(&host, bash("rm -rf x")).await;
    let records = records(&place);
    let kinds: Vec<_> = records.iter().map(|record| record.kind.as_str()).collect();
    assert_eq!(kinds, ["judgement", "plugins", "judgement"]);
    assert!(records[1].reason.as_deref().unwrap().contains("late came"));
    assert_ne!(records[0].epoch, records[1].epoch);
    assert_eq!(records[1].epoch, records[2].epoch);
}

/// Row CF-09 of the requirements.
#[tokio::test]
async fn a_host_without_plugins_says_so_in_the_ledger() {
    let place = Place::new();
    let mut options = options(&place, "");
    options.no_plugins = true;
    let host = Host::open(options).await.unwrap();
    assert_eq!(outcome(&judge(&host, bash("rm -rf x")).await), "allow");
    let records = records(&place);
    assert_eq!((records.len(), records[0].kind.as_str()), (1, "no-plugins"));
}

#[tokio::test]
async fn a_busy_ledger_does_not_stall_other_sessions_and_is_waited_for_in_its_time_only() {
    let place = Place::new();
    let mut with_ledger = options(&place, "audit.required = true");
    with_ledger.ledger.as_mut().unwrap().lock_wait = Duration::from_secs(600);
    let host = Host::open(with_ledger).await.unwrap();
    judge(&host, bash("rm -rf x")).await;
    let lock = File::options().write(true).open(dir(&place).join("lock")).unwrap();
    lock.lock().unwrap();
    let waits = judge(&host, bash("rm -rf x"));
    tokio::pin!(waits);
    // The refusal waits for the ledger, and another session of the same thread does not wait for it.
    tokio::select! {
        biased;
        _ = &mut waits => panic!("it did not wait"),
        allowed = ls(&host) => assert_eq!(allowed, "allow"),
    }
    lock.unlock().unwrap();
    assert_eq!(outcome(&waits.await), "guard");
    assert_eq!(records(&place).len(), 2);
    // One that has less time gives up, and the call is refused.
    lock.lock().unwrap();
    let mut hasty = options(&place, "audit.required = true\naudit.allowed = true");
    hasty.ledger.as_mut().unwrap().lock_wait = Duration::from_millis(20);
    let wire = judge(&Host::open(hasty).await.unwrap(), bash("ls")).await;
    assert_eq!(outcome(&wire), "ledger!resource");
    assert!(wire.reason.unwrap().contains("another process held it for more than 20 ms"));
}

#[tokio::test]
async fn no_agent_may_change_the_ledger() {
    let place = Place::new();
    fs::create_dir_all(dir(&place)).unwrap();
    fs::write(dir(&place).join("ledger.jsonl"), "").unwrap();
    let host = Host::open(options(&place, "plugins.enabled = []")).await.unwrap();
    let file = dir(&place).join("ledger.jsonl");
    let file = file.to_str().unwrap();
    for script in [
        format!("rm {file}"),
        format!("rm -rf {}", dir(&place).display()),
        format!("echo '{{}}' >> {file}"),
        format!("sed -i 1d {file}"),
        format!("truncate -s 0 {file}"),
        format!("mv {} /tmp/x", place.path("state").display()),
    ] {
        let wire = judge(&host, bash(&script)).await;
        assert_eq!(wire.code.as_deref(), Some("self/state"), "{script}");
    }
    let write = call("Write", json!({"file_path": file, "content": ""}));
    assert_eq!(judge(&host, write).await.code.as_deref(), Some("self/state"));
    // Reading it is allowed.
    for script in [format!("tail {file}"), "portcullis ledger show --fault".to_owned()] {
        assert_eq!(outcome(&judge(&host, bash(&script)).await), "allow", "{script}");
    }
}

/// Row L07 of the faults, as far as it stands: the entry.
#[test]
fn changes_by_the_operator_have_entries_of_their_own() {
    let place = Place::new();
    let ledger = Ledger::new(LedgerOptions::new(dir(&place)), <_>::default(), &<_>::default());
    for kind in [EntryKind::Trust, EntryKind::Config, EntryKind::BreakGlass] {
        ledger.append(Entry::new(kind, "somebody did it with --token hunter2")).unwrap();
    }
    let records = records(&place);
    let kinds: Vec<_> = records.iter().map(|record| record.kind.as_str()).collect();
    assert_eq!(kinds, ["trust", "config", "break-glass"]);
    assert!(
        records
            .iter()
            .all(|record| record.reason.as_deref() == Some("somebody did it with --token [redacted]"))
    );
}
