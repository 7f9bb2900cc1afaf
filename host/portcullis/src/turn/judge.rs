//! Judging a call: the gate, the hooks, the policy, and whoever can consent.

use std::sync::Arc;
use std::time::Instant;

use portcullis_model::call::ToolCall;
use portcullis_model::judgement::Refusal;
use portcullis_runtime::CallView as _;

use super::Turn;
use crate::gate::{self, Bench, Explanation, Judged, JudgedCall, Judgement, Permit};
use crate::hook::Happening as _;
use crate::policy::{self, ApprovalRequest, Opinion, Place, Question, Standing};
use crate::rules::Snapshot;

impl Turn {
    /// Judges a call before it runs. Needs a tokio runtime with its timers on.
    ///
    /// Takes at most 5 s, whatever the guards do; a minute more when hooks are asked
    /// behind them, or as long as one of them may take; as long as the approver is given
    /// when the call needs consent; and 2 s more when other processes keep the ledger busy. Dropping the future is safe: a judgement that was not
    /// waited for is no permit.
    pub async fn judge(&self, call: ToolCall) -> Judgement {
        let call = self.with_its_server(call);
        let now = self.host.snapshot();
        let judged = self.with_consent(self.decided(&now, call).await, &now).await;
        // Written before anybody can act on it.
        let recorder = self.host.recorder();
        recorder.judged(judged, self.session.id(), &now.plugins.report, now.rules.audit).await
    }

    /// Judges a call and says what each part of the gate made of it. Nothing is
    /// written down, nobody is asked for consent, and the permit is as good as any.
    pub async fn explain(&self, call: ToolCall) -> Explanation {
        let call = self.with_its_server(call);
        let now = self.host.snapshot();
        let judged = self.decided(&now, call).await;
        gate::explain(self.bench(&now), judged).await
    }

    /// The gate's judgement, behind it the hooks', and last the operator's policy.
    async fn decided(&self, now: &Snapshot, call: ToolCall) -> Judged {
        let start = Instant::now();
        let judged = gate::judge(&self.bench(now), self.session.id(), call).await;
        let mut judged = self.permitted(self.hooked(judged, now).await, now);
        judged.judgement.took = start.elapsed();
        judged
    }

    /// What the hooks make of a call that the gate lets pass.
    async fn hooked(&self, judged: Judged, now: &Snapshot) -> Judged {
        let Some(call) = judged.permitted() else { return judged };
        match self.circle(now).refusal_of(&call).await {
            Some(refusal) => judged.refused(refusal),
            None => judged,
        }
    }

    /// What the operator permits of a call that nobody objects to.
    fn permitted(&self, judged: Judged, now: &Snapshot) -> Judged {
        let Some(call) = judged.permitted() else { return judged };
        let auto_approved = judged.judgement.outcome.as_ref().is_ok_and(Permit::is_auto_approved);
        match self.opinion(&call, auto_approved, now) {
            Opinion::Pass => judged,
            Opinion::Ask(refusal) => judged.without_consent(refusal),
            Opinion::Refuse(refusal) => judged.refused(refusal),
        }
    }

    /// Why a call that was permitted and has waited since is refused after all. Links may
    /// lead elsewhere by now, because of the very calls that it waited for; what was decided
    /// of its text stands, and nobody is asked again.
    pub(super) async fn objection_now(&self, call: &Arc<JudgedCall>) -> Option<Refusal> {
        let now = self.host.snapshot();
        let refusal =
            gate::own_files(&self.bench(&now), call).or_else(|| match self.opinion(call, true, &now) {
                Opinion::Pass | Opinion::Ask(_) => None,
                Opinion::Refuse(refusal) => Some(refusal),
            })?;
        self.circle(&now).write_down(&refusal, Some(call)).await;
        Some(refusal)
    }

    fn opinion(&self, call: &JudgedCall, auto_approved: bool, now: &Snapshot) -> Opinion {
        let policy = &now.rules.policy;
        if self.direct_writes.is_none() && policy.says_nothing() {
            return Opinion::Pass;
        }
        let owner = gate::owner(&self.admitted, call);
        let harmless = owner.is_some_and(|owner| owner.is_harmless());
        let subject = call.subject(self.host.home());
        let outside = self.direct_writes.as_ref().and_then(|paths| paths.objection(&subject, harmless));
        if let Some(refusal) = outside {
            return Opinion::Refuse(refusal);
        }
        let place = Place { cwd: call.cwd(), project: self.host.project(), home: self.host.home() };
        policy.opinion(&subject, &Standing { place, auto_approved, harmless })
    }

    /// Asks for consent, where that is all that is wanting. Plugins that changed while
    /// somebody thought about it judge the call anew.
    async fn with_consent(&self, judged: Judged, now: &Snapshot) -> Judged {
        let start = Instant::now();
        let (Some((approver, time)), Some((call, unasked))) = (self.host.approver(), judged.wanting()) else {
            return judged;
        };
        let request = ApprovalRequest {
            session_id: self.session.id(),
            call_id: call.id(),
            tool: call.canonical(),
            agent_tool: call.agent_tool(),
            input: call.input_text(),
            cwd: call.cwd(),
            effects: call.effects(),
            why: &unasked.reason,
        };
        let answer = policy::ask(Question { approver, request, time }, unasked.clone()).await;
        let later = self.host.snapshot();
        let mut judged = match answer {
            Err(refusal) => judged.denied_consent(refusal),
            Ok(()) if now.is(&later) => judged.given_consent(),
            Ok(()) => {
                // Consent is what it does not want once more.
                self.decided(&later, call.original()).await.given_consent()
            }
        };
        judged.judgement.took = judged.judgement.took.saturating_add(start.elapsed());
        judged
    }

    fn bench<'a>(&'a self, now: &'a Snapshot) -> Bench<'a> {
        Bench {
            now: &now.plugins,
            admitted: &self.admitted,
            known_tools: now.rules.known_tools(),
            lifted: self.host.lifted(&now.plugins),
            home: self.host.home(),
            channel: &now.rules.channel,
            protection: now.rules.protection.as_ref(),
        }
    }
}
