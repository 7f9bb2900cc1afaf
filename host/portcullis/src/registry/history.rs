//! The last changes, for sessions that were idle while they came.

use std::collections::{BTreeMap, VecDeque};

use portcullis_model::capability::CapabilityId;

use super::Delta;

/// As many ids are remembered, of all changes together.
const IDS_MAX: usize = 20_000;

/// The last changes, the oldest first, each from the epoch of the one before.
#[derive(Debug, Default)]
pub(super) struct History {
    deltas: VecDeque<Delta>,
    ids: usize,
}

/// What became of one capability.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    Added,
    Removed,
    Changed,
}

fn size(delta: &Delta) -> usize {
    delta.added.len() + delta.removed.len() + delta.changed.len() + 1
}

impl History {
    pub(super) fn push(&mut self, delta: Delta) {
        self.ids += size(&delta);
        self.deltas.push_back(delta);
        while self.ids > IDS_MAX {
            let Some(oldest) = self.deltas.pop_front() else { return };
            self.ids -= size(&oldest);
        }
    }

    /// The way from one epoch to another as one change; none when it is not remembered.
    pub(super) fn since(&self, from: u64, to: u64) -> Option<Delta> {
        let start = self.deltas.iter().position(|delta| delta.from == from)?;
        let mut fates: BTreeMap<&CapabilityId, Fate> = BTreeMap::new();
        for delta in self.deltas.range(start..) {
            for id in &delta.added {
                match fates.get(id) {
                    // It went and came back, and may be another one.
                    Some(_) => drop(fates.insert(id, Fate::Changed)),
                    None => drop(fates.insert(id, Fate::Added)),
                }
            }
            for id in &delta.removed {
                match fates.get(id) {
                    Some(Fate::Added) => drop(fates.remove(id)),
                    Some(Fate::Changed | Fate::Removed) | None => drop(fates.insert(id, Fate::Removed)),
                }
            }
            for id in &delta.changed {
                fates.entry(id).or_insert(Fate::Changed);
            }
        }
        let of = |wanted: Fate| {
            let ids = fates.iter().filter(|(_, fate)| **fate == wanted);
            ids.map(|(id, _)| (*id).clone()).collect()
        };
        Some(Delta {
            from,
            to,
            added: of(Fate::Added),
            removed: of(Fate::Removed),
            changed: of(Fate::Changed),
        })
    }
}
