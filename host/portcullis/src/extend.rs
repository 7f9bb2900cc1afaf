//! Extensions of a host that runs, and what is known of all capabilities.

use std::sync::Arc;

use portcullis_model::capability::CapabilityId;
use portcullis_model::extension::{Extension, ExtensionError, ToolEntry, ToolProvider as _};

use crate::admission::Admitted;
use crate::broker::ServerRow;
use crate::extension::{Closed, Extensions, Level, RegisterError, Scope, within};
use crate::host::Host;
use crate::registry::{Delta, Epochs};
use crate::servers::NoSuchServer;
use crate::session::Session;
use crate::world::CapabilityReport;

impl Host {
    /// Registers an extension for the scope's pool, session or agent. It is there from the
    /// next turn on; for one turn alone see [`Session::turn_with`]. `scheme` is one
    /// that it answers for besides `skill` and `mcp`. A local one is asked for its lists,
    /// each within 10 s; another program is asked for nothing.
    ///
    /// # Errors
    /// When it cannot be registered there; nothing is changed then.
    pub async fn register(
        &self,
        extension: Arc<dyn Extension>,
        level: Level,
        scope: &Scope,
        scheme: Option<&str>,
    ) -> Result<(), RegisterError> {
        self.world().extensions().register(extension, level, scope, scheme)?;
        self.take_up().await;
        Ok(())
    }

    /// Takes an extension away at once, in turns that run as well, and closes it.
    ///
    /// # Errors
    /// When it is not registered there.
    pub async fn unregister(&self, name: &str, level: Level, scope: &Scope) -> Result<Closed, RegisterError> {
        let closed = self.world().extensions().unregister(name, level, scope).await;
        self.take_up().await;
        closed
    }

    /// Ends a session, an agent or a turn for extensions: what was registered for it, and
    /// for what is within it, is gone at once and closed, each within 5 s.
    ///
    /// # Errors
    /// When the scope skips the level.
    pub async fn end_scope(&self, level: Level, scope: &Scope) -> Result<Closed, RegisterError> {
        if self.world().extensions().places() == 0 {
            return Ok(Closed::default());
        }
        let closed = self.world().extensions().end(level, scope).await?;
        if !closed.is_empty() {
            self.take_up().await;
        }
        Ok(closed)
    }

    /// What was registered or taken away is published. No other extension is asked.
    pub(crate) async fn take_up(&self) {
        self.world().look_at_new_ones().await;
        self.at_one_moment(|now| self.world().publish(now));
    }

    /// These were used, and may be known better than before: what they bring is published.
    pub(crate) async fn learn(&self, these: Vec<Arc<dyn Extension>>) {
        self.world().look_at(these).await;
        self.at_one_moment(|now| self.world().publish(now));
    }

    /// Every extension that is registered: to list skills and commands, to read what is at
    /// an address, and to resolve a command.
    #[must_use]
    pub fn extensions(&self) -> &Extensions {
        self.world().extensions()
    }

    /// Asks the extensions what they bring now, and publishes what there is. A host that
    /// watches does so by itself. The change, when there is one.
    pub async fn reconcile(&self) -> Option<Delta> {
        self.world().look().await;
        self.at_one_moment(|now| self.world().publish(now))
    }

    /// Takes a capability away at once, in turns that run as well. This is the operator's
    /// word: no agent and no file may say it.
    pub fn revoke(&self, id: CapabilityId, reason: impl Into<String>) {
        self.world().registry().revoke(id, reason);
    }

    /// Gives back what was revoked.
    pub fn restore(&self, id: &CapabilityId) {
        self.world().registry().restore(id);
    }

    /// What it holds.
    #[must_use]
    pub fn gauges(&self) -> Gauges {
        let registry = self.world().registry();
        Gauges {
            epochs: registry.live_epochs(),
            tombstones: registry.tombstones().len(),
            extensions: self.world().extensions().places(),
        }
    }

    /// The epochs that begin from now on, for whoever shows what there is.
    #[must_use]
    pub fn epochs(&self) -> Epochs {
        self.world().registry().epochs()
    }

    /// Every capability and how it stands.
    #[must_use]
    pub fn capabilities(&self) -> CapabilityReport {
        self.world().report()
    }
}

impl Host {
    /// The MCP servers that the configuration names, by name, as far as they are known.
    /// Nothing is started.
    #[must_use]
    pub fn servers(&self) -> Vec<ServerRow> {
        self.mcp().rows()
    }

    /// The tools of the server `name`, which is started when they are not known.
    ///
    /// # Errors
    /// When there is no such server. The inner error is the server's.
    pub async fn server_tools(
        &self,
        name: &str,
    ) -> Result<Result<Vec<ToolEntry>, ExtensionError>, NoSuchServer> {
        let server = self.mcp().named(name)?;
        let tools = within(&**server, server.list()).await;
        self.learn(vec![Arc::clone(server) as _]).await;
        Ok(tools)
    }

    /// Ends the server `name` and forgets what is known of it: its tools, the generation
    /// that it speaks, and how its tools looked when they were first seen.
    ///
    /// # Errors
    /// When there is no such server.
    pub async fn forget_server(&self, name: &str) -> Result<(), NoSuchServer> {
        let server = self.mcp().named(name)?;
        server.forget().await;
        self.learn(vec![Arc::clone(server) as _]).await;
        Ok(())
    }
}

impl Session {
    /// What a turn at `scope` may use, and what changed since the session's turn before.
    pub(crate) fn admit(&self, scope: &Scope) -> (Admitted, Option<Delta>) {
        let world = self.host().world();
        let admitted = self.host().at_one_moment(|now| {
            let bound = world.bound(scope);
            let runs_tools = self.host().runs_tools();
            Admitted::new(Arc::clone(&now.plugins), world.bind(), bound, Arc::clone(&now.rules), runs_tools)
        });
        let epoch = admitted.binding().set().epoch();
        let news = self.tell_of(epoch).and_then(|before| world.registry().since(before));
        (admitted, news)
    }
}

/// What a host holds, for those who look for leaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gauges {
    /// Epochs that somebody holds, that of now included.
    pub epochs: usize,
    /// Capabilities that are gone and still in an epoch that somebody holds.
    pub tombstones: usize,
    /// Places at which extensions are registered.
    pub extensions: usize,
}
