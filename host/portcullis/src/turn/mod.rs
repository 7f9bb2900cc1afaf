//! One turn of an agent: from the user's words to the agent's last.

mod batch;
mod command;
mod front;
mod have;
mod hold;
mod judge;
mod moments;
mod run;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use portcullis_model::extension::Extension;
use portcullis_model::fault::Fault;
use portcullis_model::name::PluginName;
use portcullis_runtime::Kind;
use portcullis_schedule::Ticket;

use crate::admission::Admitted;
use crate::extension::{Level, RegisterError, Scope};
use crate::hook::{Event, Rounds};
use crate::host::Host;
use crate::moment::{Circle, Ran};
use crate::policy::DirectWrites;
use crate::registry::Delta;
use crate::rules::Snapshot;
use crate::session::Session;
use crate::surface::Surface;

pub use have::{TextError, TurnCapabilities};
pub use hold::Hold;
pub use run::{Called, TOOL_TIME, ToolError};

/// One turn of an agent. It binds what was there when it began: tools stay as they were
/// until it ends, a guard that vanishes meanwhile keeps acting, and one that appears acts
/// at once. What the operator takes away is gone at once.
#[derive(Debug)]
pub struct Turn {
    host: Host,
    session: Session,
    scope: Scope,
    admitted: Admitted,
    /// What changed since the session's turn before.
    news: Option<Delta>,
    /// What the model is shown, once somebody has asked.
    surface: Mutex<Option<Surface>>,
    /// The epoch is in the ledger.
    noted: tokio::sync::OnceCell<()>,
    /// How its end has gone so far.
    rounds: Mutex<BTreeMap<Event, Rounds>>,
    /// What became of the calls that have run, by their ids.
    told: Mutex<BTreeMap<String, Ran>>,
    /// The claims that a loop holds for calls that it runs itself.
    holds: Arc<Mutex<BTreeSet<Ticket>>>,
    /// Other processes see other parts of it.
    in_parts: bool,
    direct_writes: Option<Arc<DirectWrites>>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What went wrong when the plugins were told that a turn has ended. The turn's
/// own answer stands.
#[derive(Debug, Default)]
pub struct EndReport {
    /// The plugins that failed, in order.
    pub failed: Vec<(PluginName, Fault)>,
}

impl Session {
    /// Begins a turn, which binds the plugins as they are now.
    #[must_use]
    pub fn turn(&self) -> Turn {
        self.with_turn(self.next_scope(), BTreeMap::new(), false)
    }

    /// The same, with extensions that are there for this turn alone and end with it.
    ///
    /// # Errors
    /// When one of them cannot be registered; no turn begins then.
    pub async fn turn_with(&self, extensions: Vec<Arc<dyn Extension>>) -> Result<Turn, RegisterError> {
        let scope = self.next_scope();
        for extension in extensions {
            if let Err(error) = self.host().extensions().register(extension, Level::Turn, &scope, None) {
                self.host().extensions().forget(Level::Turn, &scope);
                return Err(error);
            }
        }
        self.host().take_up().await;
        Ok(self.with_turn(scope, BTreeMap::new(), false))
    }

    fn next_scope(&self) -> Scope {
        self.scope().turn(self.host().next_turn())
    }

    /// A turn of which this process sees a part. What hooks said at its end is kept in
    /// the store directory from one part to the next; `begins` forgets it.
    #[must_use]
    pub fn part_of_turn(&self, begins: bool) -> Turn {
        let events = [Event::Stop, Event::SubagentStop].into_iter().filter(|_| !begins);
        let rounds = events.map(|event| (event, self.host().memory().rounds(self.id(), event)));
        self.with_turn(self.next_scope(), rounds.collect(), true)
    }

    fn with_turn(&self, scope: Scope, rounds: BTreeMap<Event, Rounds>, in_parts: bool) -> Turn {
        let host = self.host().clone();
        let (admitted, news) = self.admit(&scope);
        Turn {
            admitted,
            host,
            session: self.clone(),
            scope,
            news,
            surface: Mutex::default(),
            noted: tokio::sync::OnceCell::new(),
            rounds: Mutex::new(rounds),
            told: Mutex::default(),
            holds: Arc::default(),
            in_parts,
            direct_writes: self.direct_writes(),
        }
    }
}

impl Turn {
    /// The place of this turn.
    #[must_use]
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    fn circle<'a>(&'a self, now: &'a Snapshot) -> Circle<'a> {
        Circle { host: &self.host, now, bound: Some(self.admitted.plugins()), session: self.session.id() }
    }

    /// Ends the turn: every plugin that follows turns is told, in order, whatever
    /// the others do. Then what was registered for the turn is closed.
    pub async fn end(self) -> EndReport {
        self.keep(Event::Stop, Rounds::default());
        let mut report = EndReport::default();
        for plugin in self.admitted.plugins().plugins().filter(|plugin| plugin.acts_as(Kind::Hook)) {
            if let Err(fault) = plugin.guest.after_turn(self.session.id()).await {
                tracing::warn!(plugin = %plugin.info.name, "after the turn: {fault}");
                report.failed.push((plugin.info.name.clone(), fault));
            }
        }
        if let Err(error) = self.host.end_scope(Level::Turn, &self.scope).await {
            tracing::warn!("what was registered for a turn cannot be closed: {error}");
        }
        report
    }
}

impl Drop for Turn {
    /// A turn that nobody ended leaves nothing registered, and one that has ended keeps
    /// nobody waiting for what it held.
    fn drop(&mut self) {
        let held = std::mem::take(&mut *locked(&self.holds));
        held.into_iter().for_each(|ticket| self.host.claims().revoke(ticket));
        self.host.world().extensions().forget(Level::Turn, &self.scope);
    }
}
