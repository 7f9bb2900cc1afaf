//! Everything that is known of capabilities, as one value.

use std::collections::BTreeMap;

use portcullis_model::capability::CapabilityKind;
use serde::Serialize;

use super::{Health, World};
use crate::registry::CapabilityRow;

/// Every capability and how it stands: the one value that the model's section, `doctor`
/// and programs are shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CapabilityReport {
    /// The epoch of now.
    pub epoch: u64,
    /// What tells it from others.
    pub digest: String,
    /// Every capability, by kind and name.
    pub rows: Vec<CapabilityRow>,
    /// How many there are of each kind.
    pub counts: BTreeMap<CapabilityKind, Count>,
    /// How the host keeps up.
    pub health: Health,
}

/// How many there are of a kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Count {
    /// That can be used.
    pub usable: usize,
    /// That cannot.
    pub unusable: usize,
}

impl World {
    pub(crate) fn report(&self) -> CapabilityReport {
        let current = self.registry().current();
        let rows = self.registry().report();
        let mut counts: BTreeMap<_, Count> =
            CapabilityKind::ALL.into_iter().map(|kind| (kind, Count::default())).collect();
        for row in &rows {
            let count = counts.entry(row.capability.id.kind).or_default();
            if row.usable {
                count.usable += 1;
            } else {
                count.unusable += 1;
            }
        }
        CapabilityReport {
            epoch: current.epoch(),
            digest: current.digest().to_string(),
            rows,
            counts,
            health: self.health().clone(),
        }
    }
}
