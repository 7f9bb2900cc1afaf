//! Finds the last wave that a claim conflicts with, without comparing it to every call.
//!
//! The names of all patterns are a tree. What a pattern meets lies on its way down (what is
//! above it holds it) or below its end. Each place knows the last wave of what ends there
//! and of what is below.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use crate::claim::{Access, Claim, FileId, Pattern, Reach, Segment};

/// A wave, and a call of it. Of the calls of one wave the first one counts.
pub(super) type At = (usize, usize);

/// The last wave of what reads, and of what writes.
#[derive(Debug, Clone, Copy, Default)]
struct Last {
    read: Option<At>,
    write: Option<At>,
}

impl Last {
    fn note(&mut self, access: Access, at: At) {
        let own = match access {
            Access::Read => &mut self.read,
            Access::Write => &mut self.write,
        };
        *own = later(*own, Some(at));
    }

    /// What conflicts with an access of this kind.
    fn against(self, access: Access) -> Option<At> {
        match access {
            Access::Read => self.write,
            Access::Write => later(self.read, self.write),
        }
    }
}

fn later(one: Option<At>, other: Option<At>) -> Option<At> {
    one.into_iter().chain(other).max_by_key(|(wave, call)| (*wave, Reverse(*call)))
}

#[derive(Debug, Default)]
struct Node {
    /// Of the patterns that end here.
    ends: Last,
    /// Of those, and of all below.
    all: Last,
    /// By the name without its case.
    named: HashMap<String, Vec<Branch>>,
    /// Wildcards, and names whose case is not plain.
    others: Vec<Branch>,
}

#[derive(Debug)]
struct Branch {
    segment: Segment,
    folds_case: bool,
    node: Node,
}

/// What the calls so far claim.
#[derive(Debug, Default)]
pub(super) struct Index {
    root: Node,
    /// Of exclusive claims.
    exclusive: Option<At>,
    /// Of every claim that an exclusive one conflicts with.
    any: Option<At>,
    /// Files with several names.
    shared: BTreeMap<FileId, Last>,
    every_shared: Last,
    /// Patterns below which such a file may be.
    trees: Last,
}

impl Index {
    /// The last wave that holds a call that conflicts with `claim`.
    pub(super) fn last_conflict(&self, claim: &Claim) -> Option<At> {
        if claim.reserves_nothing() {
            return None;
        }
        if claim.is_exclusive() {
            return self.any;
        }
        claim.paths().fold(self.exclusive, |last, (access, pattern)| {
            let met = self.root.met(pattern.segments(), pattern, access);
            later(later(last, met), self.by_another_name(access, pattern))
        })
    }

    fn by_another_name(&self, access: Access, pattern: &Pattern) -> Option<At> {
        match pattern.reach() {
            Reach::One => None,
            Reach::Tree => self.every_shared.against(access),
            Reach::Shared(file) => {
                let same = self.shared.get(&file).and_then(|last| last.against(access));
                later(same, self.trees.against(access))
            }
        }
    }

    pub(super) fn add(&mut self, claim: &Claim, at: At) {
        if claim.reserves_nothing() {
            return;
        }
        self.any = later(self.any, Some(at));
        if claim.is_exclusive() {
            self.exclusive = later(self.exclusive, Some(at));
        }
        for (access, pattern) in claim.paths() {
            self.root.add(pattern.segments(), pattern.folds_case(), access, at);
            match pattern.reach() {
                Reach::One => {}
                Reach::Tree => self.trees.note(access, at),
                Reach::Shared(file) => {
                    self.every_shared.note(access, at);
                    self.shared.entry(file).or_default().note(access, at);
                }
            }
        }
    }
}

impl Node {
    fn met(&self, rest: &[Segment], pattern: &Pattern, access: Access) -> Option<At> {
        let Some((segment, rest)) = rest.split_first() else { return self.all.against(access) };
        let own = self.ends.against(access);
        let meets =
            |branch: &&Branch| segment.meets(&branch.segment, pattern.folds_case() || branch.folds_case);
        let down = |last, branch: &Branch| later(last, branch.node.met(rest, pattern, access));
        let last = self.others.iter().filter(meets).fold(own, down);
        match segment.key() {
            Some(key) => self.named.get(&*key).into_iter().flatten().filter(meets).fold(last, down),
            None => self.named.values().flatten().filter(meets).fold(last, down),
        }
    }

    fn add(&mut self, rest: &[Segment], folds_case: bool, access: Access, at: At) {
        self.all.note(access, at);
        let Some((segment, rest)) = rest.split_first() else { return self.ends.note(access, at) };
        let branches = match segment.key() {
            Some(key) => self.named.entry(key.into_owned()).or_default(),
            None => &mut self.others,
        };
        let is_own = |branch: &Branch| branch.segment == *segment && branch.folds_case == folds_case;
        if let Some(branch) = branches.iter_mut().find(|branch| is_own(branch)) {
            return branch.node.add(rest, folds_case, access, at);
        }
        let mut node = Node::default();
        node.add(rest, folds_case, access, at);
        branches.push(Branch { segment: segment.clone(), folds_case, node });
    }
}
