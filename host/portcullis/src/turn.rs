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
use crate::policy::{self, ApprovalRequest, DirectWrites, Opinion, Place, Question, Standing};
use crate::session::Session;

/// One turn of an agent. It binds the plugins that were active when it began: a
/// guard that vanishes meanwhile keeps acting, and one that appears acts at once.
#[derive(Debug)]
pub struct Turn {
    host: Host,
    session: String,
    bound: Arc<PluginSet>,
    direct_writes: Option<Arc<DirectWrites>>,
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
        let direct_writes = self.direct_writes();
        Turn { bound: host.plugins(), host, session: self.id().to_owned(), direct_writes }
    }
}

impl Turn {
    /// Judges a call before it runs. Needs a tokio runtime with its timers on.
    ///
    /// Takes at most 5 s, whatever the guards do; as long as each script hook may take
    /// that is asked behind them; as long as the approver is given when the call needs
    /// consent; and 2 s more when other processes keep the ledger busy. Dropping the future is safe: a judgement that was not
    /// waited for is no permit.
    pub async fn judge(&self, call: ToolCall) -> Judgement {
        let now = self.host.plugins();
        let judged = self.with_consent(self.decided(&now, call).await, &now).await;
        match self.host.recorder() {
            // Written before anybody can act on it.
            Some(recorder) => recorder.judged(judged, &self.session, &now.report).await,
            None => judged.judgement,
        }
    }

    /// Judges a call and says what each part of the gate made of it. Nothing is
    /// written down, nobody is asked for consent, and the permit is as good as any.
    pub async fn explain(&self, call: ToolCall) -> Explanation {
        let now = self.host.plugins();
        let judged = self.decided(&now, call).await;
        gate::explain(self.bench(&now), judged).await
    }

    /// The gate's judgement, behind it the hooks', and last the operator's policy.
    async fn decided(&self, now: &PluginSet, call: ToolCall) -> Judged {
        let start = Instant::now();
        let judged = gate::judge(&self.bench(now), &self.session, call).await;
        let mut judged = self.permitted(self.hooked(judged).await, now);
        judged.judgement.took = start.elapsed();
        judged
    }

    /// What the hooks make of a call that the gate lets pass.
    async fn hooked(&self, judged: Judged) -> Judged {
        let hooks = self.host.hooks();
        let Some(call) = judged.permitted().filter(|_| !hooks.is_empty()) else { return judged };
        let occasion = Occasion {
            event: Event::PreToolUse,
            session_id: &self.session,
            cwd: call.cwd_text(),
            call: Some(call.subject(self.host.home())),
            text: None,
        };
        let outcome = hook::ask_all(hooks, &occasion, self.host.variables()).await;
        for (hook, how) in &outcome.failed {
            tracing::warn!(hook, "a hook failed to judge a call, and its failure mode is open: {how}");
        }
        match &outcome.blocked {
            Some(blocked) => judged.blocked_by(blocked),
            None => judged,
        }
    }

    /// What the operator permits of a call that nobody objects to.
    fn permitted(&self, judged: Judged, now: &PluginSet) -> Judged {
        let policy = self.host.policy();
        if self.direct_writes.is_none() && policy.says_nothing() {
            return judged;
        }
        let Some(call) = judged.permitted() else { return judged };
        let tool = now.tool(call.canonical()).or_else(|| self.bound.tool(call.canonical()));
        let harmless = tool.is_some_and(|(plugin, _)| plugin.guest.setup().grant.write.is_empty());
        let subject = call.subject(self.host.home());
        let outside = self.direct_writes.as_ref().and_then(|paths| paths.objection(&subject, harmless));
        if let Some(refusal) = outside {
            return judged.refused(refusal);
        }
        let place = Place { cwd: call.cwd(), project: self.host.project(), home: self.host.home() };
        let auto_approved = judged.judgement.outcome.as_ref().is_ok_and(Permit::is_auto_approved);
        match policy.opinion(&subject, &Standing { place, auto_approved, harmless }) {
            Opinion::Pass => judged,
            Opinion::Ask(refusal) => judged.without_consent(refusal),
            Opinion::Refuse(refusal) => judged.refused(refusal),
        }
    }

    /// Asks for consent, where that is all that is wanting. Plugins that changed while
    /// somebody thought about it judge the call anew.
    async fn with_consent(&self, judged: Judged, now: &Arc<PluginSet>) -> Judged {
        let start = Instant::now();
        let (Some((approver, time)), Some((call, unasked))) = (self.host.approver(), judged.wanting()) else {
            return judged;
        };
        let request = ApprovalRequest {
            session_id: &self.session,
            call_id: call.id(),
            tool: call.canonical(),
            agent_tool: call.agent_tool(),
            input: call.input_text(),
            cwd: call.cwd(),
            effects: call.effects(),
            why: &unasked.reason,
        };
        let answer = policy::ask(Question { approver, request, time }, unasked.clone()).await;
        let later = self.host.plugins();
        let mut judged = match answer {
            Err(refusal) => judged.denied_consent(refusal),
            Ok(()) if Arc::ptr_eq(now, &later) => judged.given_consent(),
            Ok(()) => gate::judge(&self.bench(&later), &self.session, call.original()).await,
        };
        judged.judgement.took = judged.judgement.took.saturating_add(start.elapsed());
        judged
    }

    fn bench<'a>(&'a self, now: &'a PluginSet) -> Bench<'a> {
        Bench {
            now,
            bound: &self.bound,
            known_tools: self.host.known_tools(),
            lifted: self.host.lifted(now),
            home: self.host.home(),
            channel: self.host.channel(),
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
