//! Each way in which a guard can fail, with its three arms: a healthy allow, a
//! healthy deny, and the fault, twice, with an honest call behind it.
//!
//! The oracle is a file that the guarded tool would have made.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod bench;

use portcullis_model::fault::FaultKind;
use portcullis_tests::guest::Guard;

use crate::bench::{Bench, GUARD_MS};

/// A way to fail: its name, the guard, and the class that the refusal must show.
type Row = (&'static str, fn(Guard) -> Guard, FaultKind);

const SLEEP: &str = r#"
  (import "wasi:clocks/monotonic-clock@0.2.0" "subscribe-duration" (func $sleep (param i64) (result i32)))
  (import "wasi:io/poll@0.2.0" "[method]pollable.block" (func $block (param i32)))"#;

const ROWS: &[Row] = &[
    ("unreachable", |g| g.fault("unreachable"), FaultKind::Trap),
    ("an index out of bounds", |g| g.fault("(drop (i32.load (i32.const -8)))"), FaultKind::Trap),
    (
        "a division by zero",
        |g| g.fault("(drop (i32.div_u (i32.const 1) (i32.load (i32.const 900))))"),
        FaultKind::Trap,
    ),
    ("a stack overflow", |g| g.fields("(func $deep (call $deep))").fault("(call $deep)"), FaultKind::Trap),
    ("an endless loop", |g| g.fault("(loop $again (br $again))"), FaultKind::Timeout),
    (
        "a host call that never returns",
        |g| {
            g.world("import wasi:clocks/monotonic-clock@0.2.0; import wasi:io/poll@0.2.0;")
                .fields(SLEEP)
                .fault("(call $block (call $sleep (i64.const 3600000000000)))")
        },
        FaultKind::Timeout,
    ),
    ("memory past the limit", |g| g.fault("(drop (memory.grow (i32.const 16384)))"), FaultKind::Memory),
    (
        "a table past the limit",
        |g| {
            g.fields("(table $t 1 funcref)")
                .fault("(drop (table.grow $t (ref.null func) (i32.const 10000000)))")
        },
        FaultKind::Memory,
    ),
    (
        "a million handles",
        |g| {
            g.fields(
                r#"(import "portcullis:host/call@0.1.0" "[method]tool-call.scripts" (func $scripts (param i32 i32)))"#,
            )
            .fault("(loop $again (global.set $next (i32.const 65536)) (call $scripts (local.get $call) (i32.const 512)) (br $again))")
        },
        FaultKind::Resource,
    ),
    (
        "the error case",
        |g| g.fault("(call $drop (local.get $call)) (return (call $err (i32.const 16) (i32.const 8)))"),
        FaultKind::BadVerdict,
    ),
    (
        "a reason that is not UTF-8",
        |g| {
            g.fault("(i32.store (i32.const 600) (i32.const 0xfffefdfc)) (call $drop (local.get $call)) (return (call $refuse (i32.const 600) (i32.const 4)))")
        },
        FaultKind::BadVerdict,
    ),
    (
        "an unknown variant",
        |g| {
            g.fault("(i32.store (i32.const 700) (i32.const 7)) (call $drop (local.get $call)) (return (i32.const 700))")
        },
        FaultKind::BadVerdict,
    ),
    (
        "an answer outside its memory",
        |g| {
            g.fault("(call $drop (local.get $call)) (return (call $refuse (i32.const 0x7fffff00) (i32.const 4096)))")
        },
        FaultKind::BadVerdict,
    ),
    (
        "a reason of ten megabytes",
        |g| {
            g.pages(200).fault("(call $drop (local.get $call)) (return (call $refuse (i32.const 2048) (i32.const 10485760)))")
        },
        FaultKind::BadVerdict,
    ),
    (
        "a bell that it was not granted",
        |g| {
            g.fields(r#"(import "portcullis:host/terminal@0.1.0" "bell" (func $bell))"#).fault("(call $bell)")
        },
        FaultKind::Trap,
    ),
];

#[tokio::test]
async fn every_way_to_fail_refuses_the_call_and_serves_the_next() {
    for (what, make, kind) in ROWS {
        let guard = make(Guard::new("probe")).build().unwrap_or_else(|e| panic!("{what}: {e}"));
        let bench = Bench::with(&guard).await;
        for (command, runs) in [
            ("allow", true),
            ("deny", false),
            ("fault", false),
            ("fault", false),
            ("allow", true),
            ("deny", false),
        ] {
            let seen = bench.call(command).await;
            assert_eq!(seen.ran, runs, "{what}: `{command}`: {:?}", seen.wire);
            let fault = (command == "fault").then_some(*kind);
            assert_eq!(seen.wire.fault, fault, "{what}: `{command}`: {:?}", seen.wire);
            let reason = seen.wire.reason.unwrap_or_default();
            match command {
                "deny" => assert_eq!(reason, "Blocked by the probe plugin: the guest says no", "{what}"),
                "fault" => {
                    let way_out = "portcullis plugin inspect probe";
                    for part in ["the probe plugin failed", kind.as_str(), "not a decision", way_out] {
                        assert!(reason.contains(part), "{what}: no `{part}` in: {reason}");
                    }
                }
                _ => assert_eq!(reason, "", "{what}"),
            }
        }
    }
}

#[tokio::test]
async fn a_host_function_that_panics_is_a_fault_and_the_host_lives() {
    let guard = Guard::new("probe")
        .fields(r#"(import "portcullis:host/terminal@0.1.0" "bell" (func $bell))"#)
        .fault("(call $bell)")
        .build()
        .unwrap();
    let bench = Bench::with_panicking_bell(&guard).await;
    assert!(bench.call("allow").await.ran);
    for _ in 0..2 {
        let seen = bench.call("fault").await;
        assert!(!seen.ran);
        assert_eq!(seen.wire.fault, Some(FaultKind::Trap));
        assert!(seen.wire.reason.unwrap().contains("a host function panicked"));
    }
    assert!(!bench.call("deny").await.ran);
    assert!(bench.call("allow").await.ran);
}

#[tokio::test]
async fn a_guard_keeps_nothing_from_one_call_to_the_next() {
    // Refuses when its memory is not as it was at the start.
    let guard = Guard::new("probe")
        .fault(
            "(call $drop (local.get $call))
             (if (i32.load (i32.const 800)) (then (return (i32.const 1056))))
             (i32.store (i32.const 800) (i32.const 1))
             (return (i32.const 1024))",
        )
        .build()
        .unwrap();
    let bench = Bench::with(&guard).await;
    for _ in 0..3 {
        assert!(bench.call("state").await.ran);
    }
}

#[tokio::test]
async fn a_long_reason_is_cut_and_still_refuses() {
    let guard = Guard::new("probe")
        .fault(
            "(memory.fill (i32.const 70000) (i32.const 120) (i32.const 20000))
             (call $drop (local.get $call))
             (return (call $refuse (i32.const 70000) (i32.const 20000)))",
        )
        .build()
        .unwrap();
    let bench = Bench::with(&guard).await;
    let seen = bench.call("long").await;
    assert!(!seen.ran);
    assert_eq!(seen.wire.fault, None);
    assert!(seen.wire.reason.unwrap().len() < 4200);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_hundred_calls_at_once_each_get_a_verdict() {
    let busy = Guard::new("probe").fault("(loop $again (br $again))").build().unwrap();
    let bench = std::sync::Arc::new(Bench::with(&busy).await);
    let calls: Vec<_> = (0..200)
        .map(|at| {
            let bench = std::sync::Arc::clone(&bench);
            let command = ["allow", "deny", "fault", "allow"][at % 4];
            tokio::spawn(async move { (command, bench.call(command).await) })
        })
        .collect();
    for call in calls {
        let (command, seen) = call.await.unwrap();
        match command {
            "fault" | "deny" => assert!(!seen.ran, "{:?}", seen.wire),
            // A call that waited too long for its turn is refused, never let through unseen.
            _ => assert!(seen.ran || seen.wire.fault == Some(FaultKind::Timeout), "{:?}", seen.wire),
        }
    }
}

#[tokio::test]
async fn a_judgement_that_is_dropped_harms_nothing() {
    let guard = Guard::new("probe").fault("(loop $again (br $again))").build().unwrap();
    let bench = Bench::with(&guard).await;
    for polls in 0..20 {
        bench.call_and_drop("fault", polls).await;
        assert!(bench.call("allow").await.ran);
        assert!(!bench.call("deny").await.ran);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_guard_does_not_stall_other_sessions() {
    let guard = Guard::new("probe").fault("(loop $again (br $again))").build().unwrap();
    let bench = std::sync::Arc::new(Bench::with(&guard).await);
    let busy: Vec<_> = (0..4)
        .map(|_| {
            let bench = std::sync::Arc::clone(&bench);
            tokio::spawn(async move { bench.call("fault").await })
        })
        .collect();
    // More busy guards than threads, and these calls still end before any of them.
    for _ in 0..10 {
        assert!(bench.call("allow").await.ran);
    }
    assert!(busy.iter().all(|call| !call.is_finished()), "ten calls took longer than {GUARD_MS} ms");
    for call in busy {
        assert_eq!(call.await.unwrap().wire.fault, Some(FaultKind::Timeout));
    }
}
