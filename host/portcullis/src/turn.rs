//! One turn of an agent: from the user's words to the agent's last.

use std::sync::Arc;
use std::time::Instant;

use portcullis_model::call::ToolCall;
use portcullis_model::fault::Fault;
use portcullis_model::name::PluginName;
use portcullis_runtime::{CallView as _, Kind, ToolOutput};

use crate::error::RunError;
use crate::gate::{self, Bench, Explanation, Judged, Judgement, Permit};
use crate::hook::{self, Event, Occasion};
use crate::host::Host;
use crate::plugin::PluginSet;
use crate::rule::Subject;
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
    /// Takes at most 5 s, whatever the guards do; as long as each script hook may take
    /// that is asked behind them; and 2 s more when other processes
    /// keep the ledger busy. Dropping the future is safe: a judgement that was not
    /// waited for is no permit.
    pub async fn judge(&self, call: ToolCall) -> Judgement {
        let now = self.host.plugins();
        let judged = self.decided(&now, call).await;
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
        let judged = self.decided(&now, call).await;
        gate::explain(self.bench(&now), judged).await
    }

    /// The gate's judgement, and behind it the hooks'.
    async fn decided(&self, now: &PluginSet, call: ToolCall) -> Judged {
        let start = Instant::now();
        let mut judged = gate::judge(&self.bench(now), &self.session, call).await;
        let hooks = self.host.hooks();
        let Some(call) =
            judged.call.clone().filter(|_| !hooks.is_empty() && judged.judgement.outcome.is_ok())
        else {
            return judged;
        };
        let occasion = Occasion {
            event: Event::PreToolUse,
            session_id: &self.session,
            cwd: call.cwd_text(),
            call: Some(Subject {
                tool: call.canonical(),
                agent_tool: call.agent_tool(),
                effects: call.effects(),
                scripts: call.scripts(),
                input: call.input_value(),
                cwd: call.cwd(),
                home: self.host.home(),
            }),
            text: None,
        };
        let outcome = hook::ask_all(hooks, &occasion, self.host.variables()).await;
        for (hook, how) in &outcome.failed {
            tracing::warn!(hook, "a hook failed to judge a call, and its failure mode is open: {how}");
        }
        if let Some(blocked) = &outcome.blocked {
            judged = judged.refused_by(blocked);
        }
        judged.judgement.took = start.elapsed();
        judged
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
