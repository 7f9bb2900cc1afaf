//! Waves, by examples and against a checker that compares everything with everything.

use std::cell::Cell;

use proptest::prelude::*;

use super::{GLOBS_MAX, NAMES_MAX, plan};
use crate::claim::tests::{FakeDisk, meaning, plainly, runner, spelling, tree};
use crate::{Access, Claim, Place};

fn writes(text: &str) -> Claim {
    named(&FakeDisk::default(), Access::Write, text)
}

fn reads(text: &str) -> Claim {
    named(&FakeDisk::default(), Access::Read, text)
}

fn named(disk: &FakeDisk, access: Access, text: &str) -> Claim {
    Claim::of(access, Place { cwd: "/w", disk }.pattern(text).unwrap())
}

fn waves(claims: &[Claim]) -> Vec<Vec<usize>> {
    plan(claims).waves()
}

#[test]
fn a_call_goes_behind_the_last_one_that_it_conflicts_with() {
    assert_eq!(waves(&[]), Vec::<Vec<usize>>::new());
    assert_eq!(waves(&[writes("src"), writes("src"), writes("docs")]), [vec![0, 2], vec![1]]);
    let exclusive = Claim::exclusive;
    assert_eq!(waves(&[exclusive(), writes("a"), exclusive()]), [vec![0], vec![1], vec![2]]);
    // The second writer of `a` may not pass into the hole beside `b`, before the first.
    let holes = [writes("a"), writes("a"), writes("b"), writes("a"), writes("b")];
    assert_eq!(waves(&holes), [vec![0, 2], vec![1, 4], vec![3]]);
}

#[test]
fn what_claims_nothing_is_in_the_first_wave() {
    let none = Claim::none;
    let five = [none(), none(), Claim::read_only(), none(), Claim::read_only()];
    assert_eq!(waves(&five), [vec![0, 1, 2, 3, 4]]);
    let read_only = Claim::read_only;
    assert_eq!(waves(&[read_only(), Claim::exclusive(), read_only(), read_only()]), [vec![0, 1, 2, 3]]);
}

#[test]
fn a_read_keeps_its_place_among_the_writes() {
    let batch = [reads("a"), writes("a"), reads("a"), reads("b"), Claim::reads_everything(), writes("b")];
    assert_eq!(waves(&batch), [vec![0, 3], vec![1], vec![2, 4], vec![5]]);
    // A shell of which nobody knows what it does runs by itself among readers.
    let shell = [reads("a"), reads("b"), Claim::exclusive(), reads("a"), reads("b")];
    assert_eq!(waves(&shell), [vec![0, 1], vec![2], vec![3, 4]]);
}

#[test]
fn the_plan_says_what_each_call_is_behind() {
    let batch = [writes("a"), writes("b"), writes("b/c"), reads("b"), Claim::exclusive()];
    let placed = plan(&batch).calls.iter().map(|call| (call.wave, call.behind)).collect::<Vec<_>>();
    assert_eq!(placed, [(0, None), (0, None), (1, Some(1)), (2, Some(2)), (3, Some(3))]);
}

/// A call of a random batch: its claims, each with what it means of the tree.
type Call = Vec<(Access, String)>;

fn any_call() -> impl Strategy<Value = (u8, Call)> {
    let access = prop_oneof![Just(Access::Read), Just(Access::Write)];
    (0..16_u8, proptest::collection::vec((access, spelling()), 1..3))
}

#[test]
fn no_batch_overlaps_or_reorders_calls_that_conflict() {
    let (disk, tree) = (FakeDisk::linked(), tree());
    let everything: Vec<usize> = (0..tree.len()).collect();
    let (apart, needless) = (Cell::new(0_u64), Cell::new(0_u64));
    // Sixteen batches in a case: `PROPTEST_CASES=6250` makes 100,000 of them.
    let batches = proptest::collection::vec(proptest::collection::vec(any_call(), 0..9), 16);
    let check = |batch: &[(u8, Call)]| -> Result<(), TestCaseError> {
        let claims: Vec<Claim> = batch
            .iter()
            .map(|(kind, paths)| match kind {
                0 => Claim::exclusive(),
                1 => Claim::none(),
                2 => Claim::reads_everything(),
                _ => paths
                    .iter()
                    .fold(Claim::none(), |claim, (access, text)| claim.and(named(&disk, *access, text))),
            })
            .collect();
        let touched: Vec<Vec<(Access, Vec<usize>)>> = batch
            .iter()
            .map(|(kind, paths)| match kind {
                0 => vec![(Access::Write, everything.clone())],
                1 => Vec::new(),
                2 => vec![(Access::Read, everything.clone())],
                _ => paths
                    .iter()
                    .map(|(access, text)| (*access, meaning(&disk, plainly(text), &tree)))
                    .collect(),
            })
            .collect();
        let plan = plan(&claims);
        let waves = plan.waves();
        let mut all: Vec<usize> = waves.concat();
        all.sort_unstable();
        prop_assert_eq!(all, (0..batch.len()).collect::<Vec<_>>(), "each call once");
        for (at, call) in plan.calls.iter().enumerate() {
            // As early as it can be: what the whole comparison gives.
            let before = (0..at).filter(|other| claims[*other].conflict(&claims[at]).is_some());
            let expected = before.map(|other| plan.calls[other].wave + 1).max().unwrap_or_default();
            prop_assert_eq!(call.wave, expected, "call {} of {:?}", at, batch);
            if let Some(behind) = call.behind {
                prop_assert!(behind < at && plan.calls[behind].wave + 1 == call.wave);
                prop_assert!(claims[behind].conflict(&claims[at]).is_some());
            }
            for other in 0..at {
                let meet = touched[other].iter().any(|(one, ones)| {
                    touched[at].iter().any(|(other, others)| {
                        (*one == Access::Write || *other == Access::Write)
                            && ones.iter().any(|path| others.contains(path))
                    })
                });
                prop_assert!(
                    !meet || plan.calls[other].wave < call.wave,
                    "{} and {} of {:?}",
                    other,
                    at,
                    batch
                );
                apart.set(apart.get() + u64::from(!meet));
                needless
                    .set(needless.get() + u64::from(!meet && claims[other].conflict(&claims[at]).is_some()));
            }
        }
        Ok(())
    };
    runner().run(&batches, |batches| batches.iter().try_for_each(|batch| check(batch))).unwrap();
    println!("of {} pairs that are apart {} are put in order without need", apart.get(), needless.get());
}

#[test]
fn a_batch_that_costs_too_much_to_compare_is_put_in_order() {
    let disk = FakeDisk::default();
    let globs = |count: usize| -> Vec<Claim> {
        (0..count).map(|n| named(&disk, Access::Write, &format!("{n}/*.rs"))).collect()
    };
    assert_eq!(waves(&globs(GLOBS_MAX)).len(), 1);
    assert_eq!(waves(&globs(GLOBS_MAX + 3)).len(), 4);
    let deep = "a/".repeat(100);
    let names = |count: usize| -> Vec<Claim> { (0..count).map(|n| writes(&format!("{deep}{n}"))).collect() };
    // With `/w` and its own name each has 102.
    let max = NAMES_MAX / 102;
    assert_eq!((waves(&names(max)).len(), waves(&names(max + 2)).len()), (1, 3));
    let mut quiet = globs(GLOBS_MAX + 1);
    quiet.push(Claim::none());
    assert_eq!(waves(&quiet)[0].len(), GLOBS_MAX + 1, "what claims nothing costs nothing");
}

#[test]
fn a_large_batch_is_planned_as_a_small_one() {
    let disk = FakeDisk::default();
    let claims: Vec<Claim> = (0..4000)
        .map(|n| named(&disk, Access::Write, &format!("src/m{}/f{}.rs", n % 200, n % 1000)))
        .collect();
    let waves = waves(&claims);
    assert_eq!(waves.iter().map(Vec::len).collect::<Vec<_>>(), [1000; 4]);
}
