//! One turn of an agent: from the user's words to the agent's last.

use std::sync::Arc;

use portcullis_model::call::ToolCall;
use portcullis_model::fault::Fault;
use portcullis_model::name::PluginName;
use portcullis_runtime::{Kind, ToolOutput};

use crate::error::RunError;
use crate::gate::{self, Bench, Explanation, Judgement, Permit};
use crate::host::Host;
use crate::plugin::PluginSet;
use crate::session::Session;

/// One turn of an agent. It binds the plugins that were active when it began: a
/// guard that vanishes meanwhile keeps acting, and one that appears acts at once.
#[derive(Debug)]
pub struct Turn {
    host: Host,
    session: String,
    bound: Arc<PluginSet>,
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
        let host = self.host().clone();
        Turn { bound: host.plugins(), host, session: self.id().to_owned() }
    }
}

impl Turn {
    /// Judges a call before it runs. Needs a tokio runtime with its timers on.
    ///
    /// Takes at most 5 s, whatever the guards do, and 2 s more when other processes
    /// keep the ledger busy. Dropping the future is safe: a judgement that was not
    /// waited for is no permit.
    pub async fn judge(&self, call: ToolCall) -> Judgement {
        let now = self.host.plugins();
        let judged = gate::judge(&self.bench(&now), &self.session, call).await;
        match self.host.recorder() {
            // Written before anybody can act on it.
            Some(recorder) => recorder.judged(judged, &self.session, &now.report).await,
            None => judged.judgement,
        }
    }

    /// Judges a call and says what each part of the gate made of it. Nothing is
    /// written down, and the permit is as good as any.
    pub async fn explain(&self, call: ToolCall) -> Explanation {
        let now = self.host.plugins();
        gate::explain(self.bench(&now), &self.session, call).await
    }

    fn bench<'a>(&'a self, now: &'a PluginSet) -> Bench<'a> {
        Bench {
            now,
            bound: &self.bound,
            known_tools: self.host.known_tools(),
            lifted: self.host.lifted(now),
            home: self.host.home(),
            protection: self.host.protection(),
        }
    }

    /// Runs a permitted call of a tool that a plugin brings. The inner error is
    /// the tool's own.
    ///
    /// # Errors
    /// When no plugin brings the tool, or the tool misbehaves.
    pub async fn run(&self, permit: Permit) -> Result<Result<ToolOutput, String>, RunError> {
        let now = self.host.plugins();
        let brought = now.tool(permit.tool()).or_else(|| self.bound.tool(permit.tool()));
        let (plugin, _) = brought.ok_or_else(|| RunError::NotAPluginTool(permit.tool().to_owned()))?;
        let call = Arc::clone(permit.call());
        plugin
            .guest
            .call_tool(call)
            .await
            .map_err(|fault| RunError::Fault { plugin: plugin.info.name.clone(), fault })
    }

    /// Ends the turn: every plugin that follows turns is told, in order, whatever
    /// the others do.
    pub async fn end(self) -> EndReport {
        let mut report = EndReport::default();
        for plugin in self.bound.plugins().filter(|plugin| plugin.acts_as(Kind::Hook)) {
            if let Err(fault) = plugin.guest.after_turn(&self.session).await {
                tracing::warn!(plugin = %plugin.info.name, "after the turn: {fault}");
                report.failed.push((plugin.info.name.clone(), fault));
            }
        }
        report
    }
}
