//! What there is for agents: what plugins, the configuration and extensions bring
//! becomes the registry's capabilities, again and again, until nothing differs.
//!
//! A pass is idempotent, so a hint that is lost costs a tick and nothing else. It talks
//! to no network and starts no process.

mod declare;
mod health;
mod listed;
mod report;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::task::Context;

use portcullis_model::capability::{Capability, CapabilityId, CapabilityKind, Standing};
use portcullis_model::extension::{CommandRank, Extension};

use crate::extension::{Extensions, Level, Scope, Seen};
use crate::registry::{Binding, Delta, Registry};
use crate::rules::{Rules, Snapshot};

pub use health::{Failing, Health};
pub(crate) use listed::{Listed, ListedTool};
pub use report::{CapabilityReport, Count};

use listed::Lists;

/// What there is for agents.
#[derive(Debug, Default)]
pub(crate) struct World {
    registry: Registry,
    extensions: Extensions,
    /// What each extension brought when it was asked last. Never changed, only replaced.
    lists: RwLock<Arc<Lists>>,
    health: Mutex<Health>,
}

/// An extension as a turn sees it, with what it brings.
#[derive(Debug, Clone)]
pub(crate) struct Bound {
    pub(crate) extension: Arc<dyn Extension>,
    pub(crate) level: Level,
    pub(crate) listed: Arc<Listed>,
}

impl World {
    pub(crate) fn new(extensions: Extensions) -> Self {
        Self { extensions, ..Self::default() }
    }

    pub(crate) const fn registry(&self) -> &Registry {
        &self.registry
    }

    pub(crate) const fn extensions(&self) -> &Extensions {
        &self.extensions
    }

    /// Asks every extension what it brings, where asking is cheap.
    pub(crate) async fn look(&self) {
        self.look_at(self.extensions.all()).await;
    }

    /// Asks those that nobody has asked yet.
    pub(crate) async fn look_at_new_ones(&self) {
        let lists = self.lists();
        let new = self.extensions.all().into_iter().filter(|own| !lists.has(own));
        self.look_at(new.collect()).await;
    }

    /// Asks these. Looks do not wait for one another: one may be at an extension that hangs.
    pub(crate) async fn look_at(&self, these: Vec<Arc<dyn Extension>>) {
        let asked = Lists::of(these, &self.lists()).await;
        let mut lists = self.lists.write().unwrap_or_else(PoisonError::into_inner);
        *lists = Arc::new(asked.beside(&lists, &self.extensions.all()));
    }

    /// Publishes what `now` and the extensions of the pool bring. When that is what there
    /// was, no epoch begins.
    pub(crate) fn publish(&self, now: &Snapshot) -> Option<Delta> {
        let bound = self.bound(&Scope::default());
        let own = declare::plugins(now).into_iter().chain(declare::hooks(now));
        // A project's command comes before a plugin's of the same name.
        let (first, rest): (Vec<_>, Vec<_>) =
            extensions(&bound, &now.rules).into_iter().partition(|(rank, _)| *rank == CommandRank::First);
        let of_extension = |(_, capability)| capability;
        let all = first.into_iter().map(of_extension).chain(own).chain(rest.into_iter().map(of_extension));
        let capabilities = one_of_each(all);
        let is_there = |origin: &str| bound.iter().any(|own| origin == origin_of(&*own.extension));
        self.registry.publish(capabilities, |gone| {
            declare::taken_away(now, gone).or_else(|| {
                let left = gone.origin.starts_with(EXTENSION) && !is_there(&gone.origin);
                left.then(|| "its extension was taken away".to_owned())
            })
        })
    }

    /// The epoch of now, for a turn that begins.
    pub(crate) fn bind(&self) -> Binding {
        self.registry.bind()
    }

    /// The extensions that are seen from `scope`, the narrowest first.
    pub(crate) fn bound(&self, scope: &Scope) -> Vec<Bound> {
        if self.extensions.places() == 0 {
            return Vec::new();
        }
        let lists = self.lists();
        let bound = |Seen { extension, level, .. }| {
            let listed = lists.of_extension(&extension);
            Bound { extension, level, listed }
        };
        self.extensions.seen(scope).into_iter().map(bound).collect()
    }

    /// True when an extension has told of a change since the last time. Whoever has none
    /// yet wakes `context`.
    pub(crate) fn poll_news(&self, context: &mut Context<'_>) -> bool {
        self.lists().poll_news(context)
    }

    /// The directories in which a change may be one of what extensions bring.
    pub(crate) fn places(&self) -> Vec<PathBuf> {
        self.lists().places().cloned().collect()
    }

    pub(crate) fn health(&self) -> std::sync::MutexGuard<'_, Health> {
        self.health.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lists(&self) -> Arc<Lists> {
        Arc::clone(&self.lists.read().unwrap_or_else(PoisonError::into_inner))
    }
}

const EXTENSION: &str = "extension ";

fn origin_of(extension: &dyn Extension) -> String {
    format!("{EXTENSION}{}", extension.name())
}

/// What `bound` bring, in their order, which is that of whose name counts.
pub(crate) fn extensions(bound: &[Bound], rules: &Rules) -> Vec<(CommandRank, Capability)> {
    let mut all = Vec::new();
    for own in bound {
        let origin = origin_of(&*own.extension);
        // What a server brings beside its tools is as little there as the server.
        let of_server = || {
            let is_server = !own.extension.is_local() && own.extension.tools().is_some();
            is_server.then(|| denial(CapabilityKind::Server, own.extension.name(), rules)).flatten()
        };
        let server = of_server();
        all.extend(own.listed.capabilities(&*own.extension, &origin).into_iter().map(
            |(rank, capability)| {
                match server.clone().or_else(|| denial(capability.id.kind, &capability.id.name, rules)) {
                    Some(why) => (rank, Capability { standing: Standing::Denied(why), ..capability }),
                    None => (rank, capability),
                }
            },
        ));
    }
    all
}

/// Of several of one name the first one counts; the others are there under a longer one.
pub(crate) fn one_of_each(all: impl IntoIterator<Item = Capability>) -> Vec<Capability> {
    let mut firsts: BTreeMap<CapabilityId, String> = BTreeMap::new();
    let one = |mut own: Capability| {
        if let Some(first) = firsts.get(&own.id) {
            own.standing = Standing::Shadowed(first.clone());
            own.id.name = format!("{}@{}", own.id.name, own.origin);
        } else {
            firsts.insert(own.id.clone(), own.origin.clone());
        }
        own
    };
    all.into_iter().map(one).collect()
}

/// Why the operator does not want it at all, if they do not.
fn denial(kind: CapabilityKind, name: &str, rules: &Rules) -> Option<String> {
    if !rules.channel.has(kind, name) {
        return Some(format!("`channels.{kind}s` hides it"));
    }
    let rule = rules.policy.denies_wholly(kind, name)?;
    Some(format!("`permissions.deny` has `{rule}`"))
}
