//! Every capability in one registry, epoch by epoch.
//!
//! Whoever collects capabilities publishes them; the epoch moves only when they differ
//! from before. A turn binds one epoch from its start to its end. What is there is read
//! from the bound epoch, and what is permitted is asked at each use: what an operator
//! takes away is gone at once.

mod content;
mod epochs;
mod history;
mod set;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, PoisonError, RwLock, Weak};

use portcullis_model::capability::{Capability, CapabilityId, CapabilityKind, Resolution, Standing};
use serde::Serialize;
use tokio::sync::watch;

pub use content::ContentStore;
pub use epochs::Epochs;
use history::History;
pub use set::{CapabilitySet, Delta};

/// Why a capability cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unusable {
    /// Nothing of that name was there when the turn began.
    #[error("there is no {kind} `{name}` in this turn{hint}")]
    Unknown {
        /// What was asked for.
        kind: CapabilityKind,
        /// By which name.
        name: String,
        /// What may have been meant, as the end of the sentence.
        hint: String,
    },
    /// The name is that of something else.
    #[error("`{name}` is a {actual} and no {wanted}")]
    KindMismatch {
        /// The name.
        name: String,
        /// What was asked for.
        wanted: CapabilityKind,
        /// What it is.
        actual: CapabilityKind,
    },
    /// It was there when the turn began, and cannot be used.
    #[error("`{id}` cannot be used: {why}")]
    NotUsable {
        /// Which.
        id: CapabilityId,
        /// Why.
        why: String,
    },
    /// It was taken away since.
    #[error("`{id}` was taken away: {reason}")]
    Retired {
        /// Which.
        id: CapabilityId,
        /// Why.
        reason: String,
    },
}

impl Unusable {
    /// A stable word.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown { .. } => "unknown_capability",
            Self::KindMismatch { .. } => "kind_mismatch",
            Self::NotUsable { .. } => "not_usable",
            Self::Retired { .. } => "retired",
        }
    }
}

/// One capability, for people and programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CapabilityRow {
    /// The capability.
    #[serde(flatten)]
    pub capability: Capability,
    /// Whether it is there.
    #[serde(flatten)]
    pub resolution: Resolution,
    /// Whether it can be used now.
    pub usable: bool,
    /// Why it can, or why it cannot, in a sentence.
    pub because: String,
}

/// Every capability, epoch by epoch. Cheap to clone: clones are the same registry.
#[derive(Debug, Clone)]
pub struct Registry {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    current: RwLock<Arc<CapabilitySet>>,
    /// What somebody took away by name.
    revoked: RwLock<BTreeMap<CapabilityId, String>>,
    /// What an epoch that somebody holds has, and what the world of now takes away.
    withdrawn: RwLock<BTreeMap<CapabilityId, String>>,
    history: Mutex<History>,
    /// The number of the epoch of now, for those who wait for another one.
    moved: watch::Sender<u64>,
    /// Every set that somebody may still hold.
    sets: Mutex<Vec<Weak<CapabilitySet>>>,
}

/// One epoch, held from the start of a turn to its end.
#[derive(Debug, Clone)]
pub struct Binding {
    set: Arc<CapabilitySet>,
    registry: Registry,
}

impl Default for Registry {
    fn default() -> Self {
        Self::new()
    }
}

impl Registry {
    /// Without a capability, at epoch 0.
    #[must_use]
    pub fn new() -> Self {
        let first = Arc::new(CapabilitySet::new(0, []));
        let sets = Mutex::new(vec![Arc::downgrade(&first)]);
        let shared = Shared {
            current: RwLock::new(first),
            revoked: RwLock::default(),
            withdrawn: RwLock::default(),
            history: Mutex::default(),
            moved: watch::Sender::new(0),
            sets,
        };
        Self { shared: Arc::new(shared) }
    }

    /// These are the capabilities that there are now. When they are those of before, no
    /// epoch begins and there is no delta.
    ///
    /// What a turn holds and the operator took away ends at once: a capability that is
    /// there and denied or broken, and one that is gone and for which `taken_away` has a
    /// reason. What went by itself stays until the turn ends.
    pub fn publish(
        &self,
        capabilities: impl IntoIterator<Item = Capability>,
        taken_away: impl Fn(&Capability) -> Option<String>,
    ) -> Option<Delta> {
        let new = CapabilitySet::new(0, capabilities);
        let mut current = self.shared.current.write().unwrap_or_else(PoisonError::into_inner);
        // Before the new epoch is there: nobody may bind it and use what is gone.
        self.withdraw(&new, taken_away);
        if new.digest() == current.digest() {
            return None;
        }
        let new = Arc::new(new.with_epoch(current.epoch().saturating_add(1)));
        let delta = new.delta(&current);
        let mut sets = self.shared.sets.lock().unwrap_or_else(PoisonError::into_inner);
        sets.push(Arc::downgrade(&new));
        *current = new;
        sets.retain(|set| set.strong_count() > 0);
        self.shared.history.lock().unwrap_or_else(PoisonError::into_inner).push(delta.clone());
        self.shared.moved.send_replace(delta.to);
        Some(delta)
    }

    fn withdraw(&self, new: &CapabilitySet, taken_away: impl Fn(&Capability) -> Option<String>) {
        let held = self.live();
        let held = held.iter().flat_map(|set| set.usable());
        let gone = held.filter_map(|old| {
            let why = match new.get(&old.id).map(|now| &now.standing) {
                None => taken_away(old)?,
                Some(Standing::Denied(why) | Standing::Broken(why)) => why.clone(),
                Some(Standing::Usable | Standing::Degraded(_) | Standing::Shadowed(_)) => return None,
            };
            Some((old.id.clone(), why))
        });
        let gone = gone.collect();
        *self.shared.withdrawn.write().unwrap_or_else(PoisonError::into_inner) = gone;
    }

    /// What changed since the epoch with the number `epoch`; none when nothing did. Of what
    /// is too long ago everything that is there now is told, as if it had come.
    #[must_use]
    pub fn since(&self, epoch: u64) -> Option<Delta> {
        let current = self.current();
        if epoch >= current.epoch() {
            return None;
        }
        let history = self.shared.history.lock().unwrap_or_else(PoisonError::into_inner);
        let delta = history.since(epoch, current.epoch()).unwrap_or_else(|| Delta {
            to: current.epoch(),
            added: current.all().map(|own| own.id.clone()).collect(),
            ..Delta::default()
        });
        Some(delta).filter(|delta| !delta.is_empty())
    }

    /// The epochs that begin from now on.
    #[must_use]
    pub fn epochs(&self) -> Epochs {
        // Before the epoch of now is read, so that none is missed between the two.
        let moved = self.shared.moved.subscribe();
        Epochs::new(self.clone(), moved)
    }

    /// The capabilities as they are now.
    #[must_use]
    pub fn current(&self) -> Arc<CapabilitySet> {
        Arc::clone(&self.shared.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The epoch of now, for a turn that begins.
    #[must_use]
    pub fn bind(&self) -> Binding {
        Binding { set: self.current(), registry: self.clone() }
    }

    /// Takes a capability away at once, in turns that run as well.
    pub fn revoke(&self, id: CapabilityId, reason: impl Into<String>) {
        self.revoked().insert(id, reason.into());
    }

    /// Gives it back.
    pub fn restore(&self, id: &CapabilityId) {
        self.revoked().remove(id);
    }

    /// Whether it was taken away.
    #[must_use]
    pub fn resolution(&self, id: &CapabilityId) -> Resolution {
        let withdrawn = || {
            let withdrawn = self.shared.withdrawn.read().unwrap_or_else(PoisonError::into_inner);
            withdrawn.get(id).cloned()
        };
        self.revocation(id).or_else(withdrawn).map_or(Resolution::Available, Resolution::Retired)
    }

    /// Why somebody took it away by name, if anybody did.
    fn revocation(&self, id: &CapabilityId) -> Option<String> {
        self.shared.revoked.read().unwrap_or_else(PoisonError::into_inner).get(id).cloned()
    }

    fn revoked(&self) -> std::sync::RwLockWriteGuard<'_, BTreeMap<CapabilityId, String>> {
        self.shared.revoked.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// Every capability with how it stands. The one value that the model's section,
    /// `doctor` and programs are shown.
    #[must_use]
    pub fn report(&self) -> Vec<CapabilityRow> {
        let current = self.current();
        let row = |capability: &Capability| {
            let resolution =
                self.revocation(&capability.id).map_or(Resolution::Available, Resolution::Retired);
            let (usable, because) = match (&resolution, &capability.standing) {
                (Resolution::Retired(reason), _) => (false, format!("it was taken away: {reason}")),
                (Resolution::Available, Standing::Usable) => {
                    (true, "it is declared and nobody objects".to_owned())
                }
                (Resolution::Available, Standing::Degraded(why)) => {
                    (true, format!("it is tried again at its next use: {why}"))
                }
                (Resolution::Available, Standing::Broken(why)) => (false, format!("it is broken: {why}")),
                (Resolution::Available, Standing::Shadowed(by)) => {
                    (false, format!("another one of its name comes first: {by}"))
                }
                (Resolution::Available, Standing::Denied(why)) => {
                    (false, format!("the operator denies it: {why}"))
                }
            };
            CapabilityRow { capability: capability.clone(), resolution, usable, because }
        };
        current.all().map(row).collect()
    }

    /// How many epochs somebody holds, that of now included.
    #[must_use]
    pub fn live_epochs(&self) -> usize {
        self.live().len()
    }

    /// What is gone and still in an epoch that somebody holds.
    #[must_use]
    pub fn tombstones(&self) -> BTreeSet<CapabilityId> {
        let current = self.current();
        let gone = self.live().into_iter().flat_map(|set| {
            let ids: Vec<_> = set.all().map(|own| own.id.clone()).collect();
            ids
        });
        gone.filter(|id| current.get(id).is_none()).collect()
    }

    /// The digests of content that an epoch somebody holds refers to.
    #[must_use]
    pub fn referenced(&self) -> BTreeSet<String> {
        let contents = self.live().into_iter().flat_map(|set| {
            let contents: Vec<_> = set.all().filter_map(|own| own.declaration.content.clone()).collect();
            contents
        });
        contents.collect()
    }

    fn live(&self) -> Vec<Arc<CapabilitySet>> {
        let mut sets = self.shared.sets.lock().unwrap_or_else(PoisonError::into_inner);
        sets.retain(|set| set.strong_count() > 0);
        sets.iter().filter_map(Weak::upgrade).collect()
    }
}

impl Binding {
    /// The epoch that is bound.
    #[must_use]
    pub fn set(&self) -> &CapabilitySet {
        &self.set
    }

    /// The capability, when it was there at the start of the turn and is permitted now.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn usable(&self, kind: CapabilityKind, name: &str) -> Result<&Capability, Unusable> {
        let id = CapabilityId::new(kind, name);
        let Some(capability) = self.set.get(&id) else { return Err(self.unknown(kind, name)) };
        if let Resolution::Retired(reason) = self.registry.resolution(&id) {
            return Err(Unusable::Retired { id, reason });
        }
        match capability.standing.why().filter(|_| !capability.standing.is_usable()) {
            Some(why) => Err(Unusable::NotUsable { id, why: why.to_owned() }),
            None => Ok(capability),
        }
    }

    /// Whether it was taken away since.
    #[must_use]
    pub fn resolution(&self, id: &CapabilityId) -> Resolution {
        self.registry.resolution(id)
    }

    /// What changed since this epoch, if anything did: what a session is told, once, when
    /// it binds the next one.
    #[must_use]
    pub fn news(&self) -> Option<Delta> {
        let now = self.registry.current();
        (now.epoch() != self.set.epoch()).then(|| now.delta(&self.set))
    }

    fn unknown(&self, wanted: CapabilityKind, name: &str) -> Unusable {
        let others = CapabilityKind::ALL.into_iter().filter(|kind| *kind != wanted);
        let mut actual = others.filter(|kind| self.set.get(&CapabilityId::new(*kind, name)).is_some());
        if let Some(actual) = actual.next() {
            return Unusable::KindMismatch { name: name.to_owned(), wanted, actual };
        }
        let near = self.set.usable().filter(|own| own.id.kind == wanted);
        let near = near.map(|own| (strsim::osa_distance(&own.id.name, name), &own.id.name));
        let near = near.filter(|(distance, _)| *distance <= 2).min();
        let hint = near.map(|(_, near)| format!("; did you mean `{near}`?")).unwrap_or_default();
        Unusable::Unknown { kind: wanted, name: name.to_owned(), hint }
    }
}
