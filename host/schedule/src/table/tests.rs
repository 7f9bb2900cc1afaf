//! The table as plain data: turns, claims within claims, and that nothing is left behind.

use std::task::Waker;

use proptest::prelude::*;

use super::{CLAIMS_MAX, ClaimRefused, Gauge, Table, Ticket};
use crate::claim::tests::FakeDisk;
use crate::{Access, Claim, Place};

fn named(access: Access, text: &str) -> Claim {
    Claim::of(access, Place { cwd: "/w", disk: &FakeDisk::default() }.pattern(text).unwrap())
}

fn writes(text: &str) -> Claim {
    named(Access::Write, text)
}

fn reads(text: &str) -> Claim {
    named(Access::Read, text)
}

fn take(table: &mut Table, claim: Claim) -> Ticket {
    table.submit(claim, None).unwrap()
}

fn release(table: &mut Table, ticket: Ticket) {
    drop(table.release(ticket));
}

#[test]
fn first_come_first_served_among_those_that_conflict() {
    let mut table = Table::new();
    let first = take(&mut table, writes("src"));
    let second = take(&mut table, writes("src/a"));
    let third = take(&mut table, writes("src/b"));
    let fourth = take(&mut table, writes("src/a"));
    let beside = take(&mut table, writes("docs"));
    assert!(table.is_held(first) && table.is_held(beside));
    for waiting in [second, third, fourth] {
        assert!(!table.is_held(waiting));
    }
    assert_eq!(table.waits_for(fourth).unwrap().0, second);
    release(&mut table, first);
    assert!(table.is_held(second) && table.is_held(third) && !table.is_held(fourth));
    release(&mut table, second);
    assert!(table.is_held(fourth));
}

#[test]
fn nobody_passes_one_who_waits_and_conflicts() {
    let mut table = Table::new();
    let reader = take(&mut table, reads("src/a"));
    let shell = take(&mut table, Claim::exclusive());
    let late = take(&mut table, reads("src/a"));
    assert!(table.is_held(reader) && !table.is_held(shell) && !table.is_held(late));
    release(&mut table, reader);
    assert!(table.is_held(shell) && !table.is_held(late));
    release(&mut table, shell);
    assert!(table.is_held(late));
}

#[test]
fn a_shell_among_readers_runs_alone_and_never_starves() {
    let mut table = Table::new();
    let mut readers = std::collections::VecDeque::new();
    let mut ran_alone = 0;
    for step in 0..100_000_u32 {
        readers.push_back(take(&mut table, reads("src/a")));
        if step % 10 == 0 {
            let shell = take(&mut table, Claim::exclusive());
            // As many steps as there are readers before it, whoever else comes meanwhile.
            let behind = take(&mut table, reads("src/a"));
            for reader in readers.drain(..) {
                assert!(!table.is_held(shell));
                release(&mut table, reader);
            }
            assert!(table.is_held(shell) && !table.is_held(behind));
            assert_eq!(table.gauge(), Gauge { held: 1, waiting: 1 });
            release(&mut table, shell);
            assert!(table.is_held(behind));
            release(&mut table, behind);
            ran_alone += 1;
        }
    }
    assert_eq!(ran_alone, 10_000);
}

#[test]
fn a_call_within_another_never_waits_for_it() {
    let mut table = Table::new();
    let task = take(&mut table, writes("src/**"));
    let stranger = take(&mut table, writes("src/a"));
    let own = table.submit(writes("src/a"), Some(task)).unwrap();
    // The stranger came first and waits for the task, which waits for its own call.
    assert!(table.is_held(own) && !table.is_held(stranger));
    let sibling = table.submit(writes("src/a"), Some(task)).unwrap();
    let beside = table.submit(writes("src/b"), Some(task)).unwrap();
    assert!(!table.is_held(sibling) && table.is_held(beside));
    let deeper = table.submit(writes("src/a/x"), Some(own)).unwrap();
    assert!(table.is_held(deeper));
    // The outer ones end before what is within them: it stays theirs until that ends.
    release(&mut table, task);
    release(&mut table, own);
    assert!(!table.is_held(sibling) && !table.is_held(stranger));
    release(&mut table, deeper);
    assert!(table.is_held(sibling) && !table.is_held(stranger));
    release(&mut table, sibling);
    assert!(!table.is_held(stranger));
    release(&mut table, beside);
    assert!(table.is_held(stranger));
    release(&mut table, stranger);
    assert_eq!(table.gauge(), Gauge::default());
}

#[test]
fn what_could_never_be_held_is_refused_at_once() {
    let mut table = Table::new();
    let task = take(&mut table, writes("src/**"));
    for wanted in [writes("docs/a"), Claim::exclusive(), writes("src").and(writes("docs"))] {
        let refused = table.submit(wanted.clone(), Some(task)).unwrap_err();
        assert!(
            matches!(&refused, ClaimRefused::Outside { outer, .. } if outer == "write /w/src/**"),
            "{wanted}"
        );
        assert_eq!(refused.code(), "claim/outside");
    }
    // It may look at what it does not claim.
    let outside = take(&mut table, writes("docs"));
    let looks = table.submit(reads("docs/a"), Some(task)).unwrap();
    assert!(table.is_held(outside) && table.is_held(looks));
    let quiet = take(&mut table, Claim::read_only());
    assert!(matches!(table.submit(writes("x"), Some(quiet)), Err(ClaimRefused::Outside { .. })));
    // What it reads is put in order, because its task keeps nobody from anything.
    let reader = table.submit(reads("docs/a"), Some(quiet)).unwrap();
    assert!(!table.is_held(reader));
    release(&mut table, outside);
    assert!(table.is_held(reader));
    let waiting = take(&mut table, writes("src"));
    assert_eq!(table.submit(writes("src/a"), Some(waiting)), Err(ClaimRefused::ParentGone));
    release(&mut table, task);
    assert_eq!(table.submit(writes("src/a"), Some(task)), Err(ClaimRefused::ParentGone));
    let full: Vec<_> = (table.entries.len()..CLAIMS_MAX).map(|_| take(&mut table, Claim::none())).collect();
    assert_eq!(table.submit(Claim::none(), None), Err(ClaimRefused::TooMany { max: CLAIMS_MAX }));
    release(&mut table, full[0]);
    assert!(table.submit(Claim::none(), None).is_ok());
}

#[test]
fn who_is_revoked_holds_nothing_and_those_behind_go_on() {
    let mut table = Table::new();
    let task = take(&mut table, writes("src/**"));
    let own = table.submit(writes("src/a"), Some(task)).unwrap();
    let waits = table.submit(writes("src/a"), Some(own)).unwrap();
    let stranger = take(&mut table, writes("src"));
    assert!(table.wake(stranger, Waker::noop()));
    assert_eq!(table.revoke(task).len(), 1);
    for gone in [task, own, waits] {
        assert!(!table.is_held(gone));
    }
    assert!(table.is_held(stranger) && stranger > task);
    // Giving back what was taken back already does nothing.
    release(&mut table, task);
    assert!(table.is_held(stranger));
    release(&mut table, stranger);
    assert_eq!(table.gauge(), Gauge::default());
}

#[test]
fn ten_thousand_that_wait_and_give_up_leave_nothing() {
    let mut table = Table::new();
    let holder = take(&mut table, Claim::exclusive());
    let waiting: Vec<_> = (0..10_000)
        .map(|n| take(&mut table, if n % 3 == 0 { Claim::exclusive() } else { writes(&format!("f{n}")) }))
        .collect();
    assert_eq!(table.gauge(), Gauge { held: 1, waiting: 10_000 });
    // From the front, from the back and from the middle.
    let (front, rest) = waiting.split_at(3000);
    let (middle, back) = rest.split_at(3000);
    for ticket in front.iter().chain(back.iter().rev()).chain(middle) {
        release(&mut table, *ticket);
    }
    assert_eq!(table.gauge(), Gauge { held: 1, waiting: 0 });
    release(&mut table, holder);
    assert!(table.entries.is_empty() && table.siblings.is_empty());
}

#[derive(Debug, Clone)]
enum Step {
    Take(usize, Option<usize>),
    Release(usize),
    Revoke(usize),
}

fn any_step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..9_usize, proptest::option::weighted(0.4, 0..8_usize)).prop_map(|(claim, within)| Step::Take(claim, within)),
        4 => (0..8_usize).prop_map(Step::Release),
        1 => (0..8_usize).prop_map(Step::Revoke),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_nothing_overlaps_and_somebody_can_go_on(steps in proptest::collection::vec(any_step(), 0..60)) {
        let claims = [
            Claim::none(), Claim::read_only(), Claim::exclusive(), Claim::reads_everything(),
            reads("a"), writes("a"), writes("a/b"), writes("c"), reads("a/b").and(writes("c")),
        ];
        let mut table = Table::new();
        // Each with its claim and the one that it is within, those that have ended left out.
        let mut all: Vec<(Ticket, usize, Option<Ticket>)> = Vec::new();
        for step in steps {
            match step {
                Step::Take(claim, within) => {
                    let within = within.and_then(|at| all.get(at)).map(|(ticket, ..)| *ticket);
                    if let Ok(ticket) = table.submit(claims[claim].clone(), within) {
                        all.push((ticket, claim, within));
                    }
                }
                Step::Release(at) if at < all.len() => release(&mut table, all.remove(at).0),
                Step::Revoke(at) if at < all.len() => drop(table.revoke(all[at].0)),
                Step::Release(_) | Step::Revoke(_) => {}
            }
            all.retain(|(ticket, ..)| table.entries.contains_key(ticket));
            let ancestors = |ticket: Ticket| {
                std::iter::successors(table.entries.get(&ticket), |entry| {
                    entry.parent.and_then(|parent| table.entries.get(&parent))
                }).filter_map(|entry| entry.parent).collect::<Vec<_>>()
            };
            for (ticket, entry) in &table.entries {
                let Some(obstacle) = entry.waits_for else { continue };
                prop_assert!(obstacle < *ticket && table.entries[&obstacle].watchers.contains(ticket));
            }
            for (one, entry) in table.entries.iter().filter(|(_, entry)| entry.waits_for.is_none()) {
                for (other, others) in table.entries.range(..one).filter(|(_, entry)| entry.waits_for.is_none()) {
                    let akin = ancestors(*one).contains(other) || ancestors(*other).contains(one);
                    prop_assert!(akin || entry.claim.conflict(&others.claim).is_none(), "{} and {}", entry.claim, others.claim);
                }
            }
            // Whoever waits at the front of a queue waits for one who is held.
            let waiting = table.entries.values().filter(|entry| entry.waits_for.is_some()).count();
            let moved = table.entries.values().filter_map(|entry| entry.waits_for).any(|ticket| table.entries[&ticket].waits_for.is_none());
            prop_assert!(waiting == 0 || moved);
        }
        for (ticket, ..) in all.into_iter().rev() {
            release(&mut table, ticket);
        }
        let left: Vec<_> = table.entries.keys().copied().collect();
        prop_assert!(left.is_empty(), "{:?}", left);
        prop_assert!(table.siblings.is_empty());
    }
}
