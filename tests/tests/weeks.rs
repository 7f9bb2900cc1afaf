//! Weeks of a host, compressed: judgements, reloads, toggles, sessions, and plugins that
//! trap. What it holds is flat after the first part, and no refused call has run. Alone in
//! its process, because it counts what the process holds.
//!
//! `PORTCULLIS_SOAK=whole` makes it an hour's work: 20,000 reloads, 200,000 judgements,
//! 1,000 sessions. Without it the same is done a fiftieth as often.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;
mod usage;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use portcullis::extension::{Level, Scope};
use portcullis_tests::extension::Fake;
use portcullis_tests::plugin::Plugin;
use serde_json::json;

use crate::place::{Place, bash, call};
use crate::usage::Usage;

/// Rounds of the short run. The whole one has fifty times as many.
const ROUNDS: usize = 400;

#[cfg(target_os = "linux")]
#[tokio::test]
#[allow(clippy::disallowed_methods, reason = "the switch that makes it an hour")]
async fn weeks_leave_nothing_behind_and_no_refused_call_has_run() {
    let whole = std::env::var("PORTCULLIS_SOAK").is_ok_and(|word| word == "whole");
    let rounds = if whole { ROUNDS * 50 } else { ROUNDS };
    let place = Place::new();
    let trap = Plugin::new("changing").allows("(unreachable)").build().unwrap();
    let strict = Plugin::new("changing").refuses("no", "no").build().unwrap();
    let lenient = Plugin::new("changing").allows("").tool("greet", false).answers("hello").build().unwrap();
    let file = place.user().join("changing.wasm");
    let host = place.follow("").await;
    let marks = Arc::new(Fake::new("marks"));
    marks.brings_tools(&["mark"]);
    host.register(Arc::clone(&marks) as _, Level::Pool, &Scope::new(), None).await.unwrap();
    let (mut ran, mut refused) = (0, 0);
    let mut before = None;
    let mut session = host.session("s0");
    for round in 0..rounds {
        // Every twentieth session ends, with what was registered for it.
        if round % 20 == 0 {
            session.end("/").await;
            session = host.session(format!("s{round}"));
            let own = Arc::new(Fake::new("own"));
            own.brings_tools(&["own"]);
            host.register(own, Level::Session, &session.scope(), None).await.unwrap();
        }
        let is_open = match round % 5 {
            0 => {
                fs::write(&file, &lenient).unwrap();
                true
            }
            1 => {
                fs::write(&file, &trap).unwrap();
                false
            }
            2 => {
                place.configure("[plugins]\nenabled = [\"guard\"]\n");
                true
            }
            3 => {
                fs::write(&file, &strict).unwrap();
                place.configure("[intent]\nslice_capabilities = false\n");
                false
            }
            _ => {
                fs::remove_file(&file).unwrap();
                true
            }
        };
        host.refresh();
        let turn = session.turn();
        for _ in 0..9 {
            let called = turn.call(call("mark", json!({}))).await;
            assert_eq!(called.error.is_none(), is_open, "round {round}: {called:?}");
            if is_open { ran += 1 } else { refused += 1 }
        }
        assert!(turn.judge(bash("rm -rf /")).await.outcome.is_err());
        turn.standing().await;
        turn.end().await;
        if round == rounds / 4 {
            before = Some(Usage::now());
        }
    }
    assert_eq!(marks.calls.load(Ordering::SeqCst), ran, "no refused call has run");
    assert_eq!(refused, rounds / 5 * 2 * 9);
    session.end("/").await;
    let (before, after) = (before.unwrap(), Usage::now());
    assert!(after.descriptors <= before.descriptors, "{before:?} {after:?}");
    assert!(after.threads <= before.threads, "{before:?} {after:?}");
    assert!(after.watches <= before.watches, "{before:?} {after:?}");
    assert!(after.maps <= before.maps + 32, "{before:?} {after:?}");
    assert!(after.resident <= before.resident + (16 << 20), "{before:?} {after:?}");
    let gauges = host.gauges();
    assert_eq!((gauges.epochs, gauges.tombstones, gauges.extensions), (1, 0, 1), "{gauges:?}");
}
