//! The capabilities of one epoch, and what tells two epochs apart.

use std::collections::BTreeMap;

use portcullis_model::capability::{Capability, CapabilityId, CapabilityKind};
use serde::Serialize;

use portcullis_runtime::Digest;

/// The capabilities of one epoch. Never changed, only replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapabilitySet {
    epoch: u64,
    digest: Digest,
    all: BTreeMap<CapabilityId, Capability>,
}

impl CapabilitySet {
    /// The capabilities with the number `epoch`. Of several with one id the first one
    /// counts; the others belong into the declaration of whoever collects them.
    pub(super) fn new(epoch: u64, capabilities: impl IntoIterator<Item = Capability>) -> Self {
        let mut all = BTreeMap::new();
        for capability in capabilities {
            all.entry(capability.id.clone()).or_insert(capability);
        }
        let digest = digest(&all);
        Self { epoch, digest, all }
    }

    /// Its number. A later one is larger.
    #[must_use]
    pub const fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Over who each capability is, where it comes from, how it stands, what it consists
    /// of, what it serves and how it is set up.
    #[must_use]
    pub const fn digest(&self) -> &Digest {
        &self.digest
    }

    /// The one of this id.
    #[must_use]
    pub fn get(&self, id: &CapabilityId) -> Option<&Capability> {
        self.all.get(id)
    }

    /// All of them, by kind and name.
    pub fn all(&self) -> impl Iterator<Item = &Capability> {
        self.all.values()
    }

    /// Those that can be used.
    pub fn usable(&self) -> impl Iterator<Item = &Capability> {
        self.all().filter(|own| own.standing.is_usable())
    }

    /// How many of a kind can be used.
    #[must_use]
    pub fn count(&self, kind: CapabilityKind) -> usize {
        self.usable().filter(|own| own.id.kind == kind).count()
    }

    pub(super) fn with_epoch(self, epoch: u64) -> Self {
        Self { epoch, ..self }
    }

    /// What is other in `self` than in `before`.
    #[must_use]
    pub fn delta(&self, before: &Self) -> Delta {
        let lacks = |other: &Self, id: &&CapabilityId| !other.all.contains_key(*id);
        let other = |own: &&Capability| before.all.get(&own.id).is_some_and(|old| old != *own);
        Delta {
            from: before.epoch,
            to: self.epoch,
            added: self.all.keys().filter(|id| lacks(before, id)).cloned().collect(),
            removed: before.all.keys().filter(|id| lacks(self, id)).cloned().collect(),
            changed: self.all.values().filter(other).map(|own| own.id.clone()).collect(),
        }
    }
}

/// What changed from one epoch to another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Delta {
    /// The epoch before.
    pub from: u64,
    /// The epoch now.
    pub to: u64,
    /// What is new.
    pub added: Vec<CapabilityId>,
    /// What is gone.
    pub removed: Vec<CapabilityId>,
    /// What is there and is not as it was.
    pub changed: Vec<CapabilityId>,
}

impl Delta {
    /// Nothing changed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }
}

/// Every text stands with its length before it, so that two different sets never run
/// together into one.
fn digest(all: &BTreeMap<CapabilityId, Capability>) -> Digest {
    let mut bytes = Vec::new();
    let mut text = |text: Option<&str>| match text {
        None => bytes.push(0),
        Some(text) => {
            bytes.push(1);
            bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
            bytes.extend_from_slice(text.as_bytes());
        }
    };
    for capability in all.values() {
        let Capability { id, origin, declaration, standing } = capability;
        text(Some(id.kind.as_str()));
        text(Some(&id.name));
        text(Some(origin));
        text(Some(&declaration.description));
        text(declaration.content.as_deref());
        text(declaration.configuration.as_deref());
        for domain in &declaration.serves {
            text(Some(domain.as_str()));
        }
        text(None);
        text(Some(standing.as_str()));
        text(standing.why());
    }
    Digest::of(&bytes)
}
