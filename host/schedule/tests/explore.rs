//! What tasks at once can do to a claim table, explored by a scheduler that tries orders.

#![allow(clippy::unwrap_used, reason = "a test ends when anything is wrong")]

use std::sync::Arc;

use portcullis_schedule::{
    Access, Claim, ClaimRefused, ClaimTable, Disk, Found, Gauge, Held, Lock, Look, Place, Table,
};
use shuttle::future;
use shuttle::sync::Mutex;
use shuttle::sync::atomic::{AtomicUsize, Ordering};
use shuttle::thread;

/// How many orders are tried of each test.
const ORDERS: usize = 2000;

/// A lock at which the scheduler may go on with another task.
struct Explored(Mutex<Table>);

impl Lock for Explored {
    fn with<T>(&self, work: impl FnOnce(&mut Table) -> T) -> T {
        work(&mut self.0.lock().unwrap())
    }
}

#[derive(Debug)]
struct Plain;

impl Disk for Plain {
    fn look(&self, path: &str) -> Option<Look> {
        Some(Look { real: path.to_owned(), found: Found::File, folds_case: false })
    }
}

fn table() -> ClaimTable<Explored> {
    ClaimTable::new(Explored(Mutex::new(Table::new())))
}

fn writes(path: &str) -> Claim {
    Claim::of(Access::Write, Place { cwd: "/w", disk: &Plain }.pattern(path).unwrap())
}

/// How many are inside at once, and whether ever too many were.
#[derive(Default)]
struct Inside(AtomicUsize);

impl Inside {
    fn alone(&self) {
        assert_eq!(self.0.fetch_add(1, Ordering::SeqCst), 0, "two at once");
        thread::yield_now();
        assert_eq!(self.0.fetch_sub(1, Ordering::SeqCst), 1, "two at once");
    }
}

fn explore(test: impl Fn() + Send + Sync + 'static) {
    shuttle::check_random(test, ORDERS);
}

#[test]
fn what_conflicts_is_never_held_at_once_and_everybody_gets_a_turn() {
    explore(|| {
        let (table, inside, done) = (table(), Arc::new(Inside::default()), Arc::new(AtomicUsize::new(0)));
        let tasks: Vec<_> = [writes("src/**"), writes("src/a"), Claim::exclusive(), writes("src/a")]
            .into_iter()
            .map(|claim| {
                let (table, inside, done) = (table.clone(), Arc::clone(&inside), Arc::clone(&done));
                thread::spawn(move || {
                    future::block_on(async {
                        let held = table.take(claim, None).unwrap().await.unwrap();
                        inside.alone();
                        assert!(held.is_current());
                        done.fetch_add(1, Ordering::SeqCst);
                    });
                })
            })
            .collect();
        tasks.into_iter().for_each(|task| task.join().unwrap());
        assert_eq!(done.load(Ordering::SeqCst), 4);
        assert_eq!(table.gauge(), Gauge::default());
    });
}

#[test]
fn one_who_gives_up_hands_its_turn_on() {
    explore(|| {
        let table = table();
        let first = table.take(writes("a"), None).unwrap();
        let second = table.take(writes("a"), None).unwrap();
        let third = table.take(writes("a"), None).unwrap();
        // It may have the claim already when it goes away without having looked.
        let gives_up = thread::spawn(move || drop(second));
        let holds = thread::spawn(move || drop(future::block_on(first).unwrap()));
        let waits = thread::spawn(move || future::block_on(third).unwrap().is_current());
        gives_up.join().unwrap();
        holds.join().unwrap();
        assert!(waits.join().unwrap());
        assert_eq!(table.gauge(), Gauge::default());
    });
}

#[test]
fn calls_within_a_claim_never_wait_for_those_who_wait_for_it() {
    explore(|| {
        let (table, inside) = (table(), Arc::new(Inside::default()));
        let task = future::block_on(table.take(writes("src/**"), None).unwrap()).unwrap();
        let ticket = task.ticket();
        let work = |claim: Claim, parent| {
            let (table, inside) = (table.clone(), Arc::clone(&inside));
            thread::spawn(move || {
                let held: Held<_> = future::block_on(table.take(claim, parent).unwrap()).unwrap();
                inside.alone();
                drop(held);
            })
        };
        let stranger = work(writes("src/a"), None);
        let children = [work(writes("src/a"), Some(ticket)), work(writes("src/a"), Some(ticket))];
        children.into_iter().for_each(|child| child.join().unwrap());
        drop(task);
        stranger.join().unwrap();
        assert_eq!(table.gauge(), Gauge::default());
    });
}

#[test]
fn one_who_is_revoked_is_told_before_anybody_else_holds_the_same() {
    explore(|| {
        let table = table();
        let held = future::block_on(table.take(writes("a"), None).unwrap()).unwrap();
        let waits = table.take(writes("a"), None).unwrap();
        let (ticket, revoker) = (held.ticket(), table.clone());
        let revokes = thread::spawn(move || revoker.revoke(ticket));
        let next = future::block_on(waits).unwrap();
        assert!(!held.is_current() && next.is_current() && next.ticket() > held.ticket());
        revokes.join().unwrap();
        // The late one gives back what is no longer its own, and takes nothing from the next.
        drop(held);
        assert!(next.is_current());
        drop(next);
        assert_eq!(table.gauge(), Gauge::default());
    });
}

#[test]
fn one_who_waits_and_is_revoked_is_told_so() {
    explore(|| {
        let table = table();
        let held = future::block_on(table.take(Claim::exclusive(), None).unwrap()).unwrap();
        let waits = table.take(writes("a"), None).unwrap();
        let ticket = waits.ticket().unwrap();
        let waiter = thread::spawn(move || future::block_on(waits).map(|_| ()));
        table.revoke(ticket);
        assert_eq!(waiter.join().unwrap(), Err(ClaimRefused::Revoked));
        drop(held);
        assert_eq!(table.gauge(), Gauge::default());
    });
}
