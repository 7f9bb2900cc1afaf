//! The claims of a workspace: who holds what, and who waits for whom.
//!
//! A [`Table`] is plain data that changes under a lock, so that a test can explore it; a
//! [`ClaimTable`] is the same for many tasks at once. First come, first served: a claim
//! waits for every earlier one that it conflicts with, those that wait themselves among
//! them, so nobody is overtaken by what they conflict with and nobody starves. A claim is
//! taken whole or not at all, so nobody holds a part and waits for the rest.
//!
//! A claim may be taken within another one that is held, such as the calls of a worker
//! within the claim of its task. It waits for its siblings alone, which is why that cannot
//! end in a circle; what is outside waits for the outer claim.

mod error;
mod shared;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::task::Waker;

use crate::Claim;

pub use error::ClaimRefused;
pub use shared::{ClaimTable, Held, Lock, Waiting};

/// How many claims are held or waited for at once, in one table.
pub const CLAIMS_MAX: usize = 16_384;

/// A claim in a table. A later one has a higher number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

/// How many claims there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Gauge {
    /// Those that are held.
    pub held: usize,
    /// Those that wait.
    pub waiting: usize,
}

/// Who holds what, and who waits for whom.
#[derive(Debug, Default)]
pub struct Table {
    last: u64,
    entries: BTreeMap<Ticket, Entry>,
    /// The claims within each claim that reserve anything; those within none have none.
    siblings: BTreeMap<Option<Ticket>, BTreeSet<Ticket>>,
}

#[derive(Debug)]
struct Entry {
    claim: Claim,
    /// The claim that it was taken within.
    parent: Option<Ticket>,
    /// The claim among whose siblings it waits: the nearest one that reserves anything.
    within: Option<Ticket>,
    /// The earlier sibling that it waits for; the ones between conflict with nothing of it.
    waits_for: Option<Ticket>,
    /// Those who wait for this one.
    watchers: Vec<Ticket>,
    waker: Option<Waker>,
    /// Those that were taken within it and have not ended.
    children: usize,
    /// Nobody holds it any more, and it stays for its children.
    has_ended: bool,
}

impl Table {
    /// An empty one.
    #[must_use]
    pub const fn new() -> Self {
        Self { last: 0, entries: BTreeMap::new(), siblings: BTreeMap::new() }
    }

    /// Takes `claim`, within `parent` when it is a part of what that holds. It is held at
    /// once when it conflicts with nobody, and waits otherwise.
    ///
    /// # Errors
    /// When it could never be held: it writes outside its parent, or that is gone. When
    /// there are [`CLAIMS_MAX`] already.
    pub fn submit(&mut self, claim: Claim, parent: Option<Ticket>) -> Result<Ticket, ClaimRefused> {
        if self.entries.len() >= CLAIMS_MAX {
            return Err(ClaimRefused::TooMany { max: CLAIMS_MAX });
        }
        let (claim, within) = self.placed(claim, parent)?;
        self.last = self.last.saturating_add(1);
        let ticket = Ticket(self.last);
        let waits_for = self.obstacle(&claim, within, ticket);
        if !claim.reserves_nothing() {
            self.siblings.entry(within).or_default().insert(ticket);
        }
        if let Some(parent) = parent.and_then(|parent| self.entries.get_mut(&parent)) {
            parent.children += 1;
        }
        if let Some(obstacle) = waits_for.and_then(|obstacle| self.entries.get_mut(&obstacle)) {
            obstacle.watchers.push(ticket);
        }
        let entry = Entry {
            claim,
            parent,
            within,
            waits_for,
            watchers: Vec::new(),
            waker: None,
            children: 0,
            has_ended: false,
        };
        self.entries.insert(ticket, entry);
        Ok(ticket)
    }

    /// The claim as it counts within `parent`, and among whose siblings.
    fn placed(
        &self,
        mut claim: Claim,
        parent: Option<Ticket>,
    ) -> Result<(Claim, Option<Ticket>), ClaimRefused> {
        let mut outer = parent;
        while let Some(ticket) = outer {
            let entry =
                self.entries.get(&ticket).filter(|entry| !entry.has_ended && entry.waits_for.is_none());
            let entry = entry.ok_or(ClaimRefused::ParentGone)?;
            // What reserves nothing and forbids nothing is as if it were not there.
            let is_open = entry.claim.reserves_nothing() && !entry.claim.is_read_only();
            if !is_open && !entry.claim.covers_writes_of(&claim) {
                return Err(ClaimRefused::Outside {
                    wanted: claim.to_string(),
                    outer: entry.claim.to_string(),
                });
            }
            if !entry.claim.reserves_nothing() {
                // Reading what the parent does not keep others from is not put in order.
                claim = claim.within(&entry.claim);
                return Ok((claim, outer));
            }
            outer = entry.parent;
        }
        Ok((claim, None))
    }

    /// The last sibling before `before` that conflicts with `claim`.
    fn obstacle(&self, claim: &Claim, within: Option<Ticket>, before: Ticket) -> Option<Ticket> {
        if claim.reserves_nothing() {
            return None;
        }
        let earlier = self.siblings.get(&within)?.range(..before).rev();
        let mut earlier = earlier.filter(|ticket| {
            self.entries.get(ticket).is_some_and(|entry| entry.claim.conflict(claim).is_some())
        });
        earlier.next().copied()
    }

    /// Whether it is held: nobody whom it conflicts with is before it, and it has not ended.
    #[must_use]
    pub fn is_held(&self, ticket: Ticket) -> bool {
        self.entries.get(&ticket).is_some_and(|entry| entry.waits_for.is_none() && !entry.has_ended)
    }

    /// Whom it waits for, and what that claims.
    #[must_use]
    pub fn waits_for(&self, ticket: Ticket) -> Option<(Ticket, &Claim)> {
        let obstacle = self.entries.get(&ticket)?.waits_for?;
        Some((obstacle, &self.entries.get(&obstacle)?.claim))
    }

    /// Gives a claim back, whether it is held or waits. Claims within it keep it for as long
    /// as they last. Those whose turn it is are to be woken.
    #[must_use = "whoever is not woken waits for ever"]
    pub fn release(&mut self, ticket: Ticket) -> Vec<Waker> {
        let mut woken = Vec::new();
        self.end(ticket, &mut woken);
        woken
    }

    /// The same, for all that were taken within it as well. Whoever held one of them does
    /// not any more, and is told so when they ask.
    #[must_use = "whoever is not woken waits for ever"]
    pub fn revoke(&mut self, ticket: Ticket) -> Vec<Waker> {
        let mut woken = Vec::new();
        let mut all = vec![ticket];
        let mut at = 0;
        while let Some(outer) = all.get(at).copied() {
            if self.entries.get(&outer).is_some_and(|entry| entry.children > 0) {
                all.extend(
                    self.entries.iter().filter(|(_, own)| own.parent == Some(outer)).map(|(own, _)| *own),
                );
            }
            at += 1;
        }
        // The innermost first: nothing stays for the sake of another one.
        for ticket in all.into_iter().rev() {
            if let Some(waker) = self.entries.get_mut(&ticket).and_then(|entry| entry.waker.take()) {
                woken.push(waker);
            }
            self.end(ticket, &mut woken);
        }
        woken
    }

    fn end(&mut self, ticket: Ticket, woken: &mut Vec<Waker>) {
        let mut ending = Some(ticket);
        let mut is_first = true;
        while let Some(ticket) = ending.take() {
            let Some(entry) = self.entries.get_mut(&ticket) else { return };
            entry.has_ended |= is_first;
            is_first = false;
            if entry.children > 0 || !entry.has_ended {
                return;
            }
            let Some(entry) = self.entries.remove(&ticket) else { return };
            if let Some(siblings) = self.siblings.get_mut(&entry.within) {
                siblings.remove(&ticket);
                if siblings.is_empty() {
                    self.siblings.remove(&entry.within);
                }
            }
            for watcher in entry.watchers {
                self.look_again(watcher, ticket, woken);
            }
            if let Some(parent) = entry.parent.and_then(|parent| self.entries.get_mut(&parent)) {
                parent.children = parent.children.saturating_sub(1);
                ending = entry.parent;
            }
        }
    }

    /// What `watcher` waited for is gone. Those behind it were looked at before.
    fn look_again(&mut self, watcher: Ticket, gone: Ticket, woken: &mut Vec<Waker>) {
        let Some(entry) = self.entries.get(&watcher).filter(|entry| entry.waits_for == Some(gone)) else {
            return;
        };
        let obstacle = self.obstacle(&entry.claim, entry.within, gone);
        if let Some(obstacle) = obstacle.and_then(|obstacle| self.entries.get_mut(&obstacle)) {
            obstacle.watchers.push(watcher);
        }
        if let Some(entry) = self.entries.get_mut(&watcher) {
            entry.waits_for = obstacle;
            if obstacle.is_none() {
                woken.extend(entry.waker.take());
            }
        }
    }

    /// Leaves word whom to wake when its turn has come. False when it does not wait: it is
    /// held, or was revoked.
    pub fn wake(&mut self, ticket: Ticket, waker: &Waker) -> bool {
        let waiting = self.entries.get_mut(&ticket).filter(|entry| entry.waits_for.is_some());
        let Some(entry) = waiting else { return false };
        match &mut entry.waker {
            Some(own) => own.clone_from(waker),
            None => entry.waker = Some(waker.clone()),
        }
        true
    }

    /// How many claims there are.
    #[must_use]
    pub fn gauge(&self) -> Gauge {
        let waiting = self.entries.values().filter(|entry| entry.waits_for.is_some()).count();
        Gauge { held: self.entries.len() - waiting, waiting }
    }
}
