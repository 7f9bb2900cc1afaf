//! One call in, a [`Permit`] or a refusal out.
//!
//! The gate does no I/O of its own: the same call and the same answers of the
//! guards give the same judgement. Nothing but [`judge`] makes a permit.

mod call;
mod explain;
mod permit;
mod reason;

use std::mem;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use portcullis_model::call::ToolCall;
use portcullis_model::fault::{Fault, FaultKind};
use portcullis_model::judgement::{JudgementWire, Refusal, RefusedBy, RefuserKind, Verdict};
use portcullis_model::limits::JUDGEMENT_TIME;
use portcullis_runtime::CallView as _;

pub(crate) use call::JudgedCall;
pub(crate) use explain::explain;
pub use explain::{Explanation, Part, Understood};
pub use permit::Permit;
pub(crate) use reason::no_ledger;

use crate::admission::{Admitted, Owner};
use crate::plugin::{Plugin, PluginSet};
use crate::policy::Channel;
use crate::protect::{Code, Protection};
use crate::tool::{self, Resolved};

/// The gate's answer to one call.
#[derive(Debug)]
pub struct Judgement {
    /// The call's id.
    pub id: String,
    /// The permit to run it, or why it must not run.
    pub outcome: Result<Permit, Refusal>,
    /// True when the call was refused only because consent is wanted and nobody was
    /// asked: whoever can ask may do so. There is no permit without a judgement.
    pub wants_consent: bool,
    /// How long the judgement took.
    pub took: Duration,
}

impl Judgement {
    /// May it run?
    #[must_use]
    pub const fn verdict(&self) -> Verdict {
        match self.outcome {
            Ok(_) => Verdict::Allow,
            Err(_) if self.wants_consent => Verdict::Ask,
            Err(_) => Verdict::Block,
        }
    }

    /// The judgement as data for programs.
    #[must_use]
    pub fn to_wire(&self) -> JudgementWire {
        let refusal = self.outcome.as_ref().err();
        JudgementWire {
            id: self.id.clone(),
            verdict: self.verdict(),
            by: refusal.map(|r| r.by.clone()),
            code: refusal.map(|r| r.code.clone()),
            fault: refusal.and_then(|r| r.fault),
            reason: refusal.map(|r| r.reason.clone()),
            auto_approved: self.outcome.as_ref().is_ok_and(Permit::is_auto_approved),
            micros: u64::try_from(self.took.as_micros()).unwrap_or(u64::MAX),
        }
    }
}

/// What a judgement is made with.
#[derive(Debug)]
pub(crate) struct Bench<'a> {
    /// The plugins as they are now.
    pub(crate) now: &'a PluginSet,
    /// What the turn may use. A guard that has vanished since it began keeps acting until
    /// it ends.
    pub(crate) admitted: &'a Admitted,
    /// Tools that the operator vouches for although the host has no table for them.
    pub(crate) known_tools: &'a [String],
    /// The user's home directory, for paths such as `~/.ssh/config`.
    pub(crate) home: Option<&'a str>,
    /// The standing refusals that the operator has lifted for a while, by name.
    pub(crate) lifted: Vec<String>,
    /// Which tools and servers there are.
    pub(crate) channel: &'a Channel,
    /// What no call may change, unless the user has switched that off.
    pub(crate) protection: Option<&'a Protection>,
}

impl Bench<'_> {
    fn guards(&self) -> impl Iterator<Item = &Arc<Plugin>> {
        // Another version takes a guard's place, but not one that is trusted less.
        let replaced = |old: &Plugin| {
            let mut now = self.now.guards().filter(|new| new.info.name == old.info.name);
            now.any(|new| new.origin.is_trusted() || !old.origin.is_trusted())
        };
        let gone = self.admitted.plugins().guards().filter(move |old| !replaced(old));
        self.now.guards().chain(gone)
    }
}

/// Scripts with more bytes than this are taken apart on a thread of their own, so
/// that the executor goes on and the deadline holds.
const INLINE_MAX: usize = 256 << 10;

/// A judgement, and what it was about.
#[derive(Debug)]
pub(crate) struct Judged {
    pub(crate) judgement: Judgement,
    /// None when the call could not be understood.
    pub(crate) call: Option<Arc<JudgedCall>>,
    /// The permit of a call that only wants consent.
    held: Option<Permit>,
}

impl Judged {
    /// The same, refused. What was refused before stays so.
    pub(crate) fn refused(mut self, refusal: Refusal) -> Self {
        if self.judgement.outcome.is_ok() {
            self.judgement.outcome = Err(refusal);
        }
        self
    }

    /// The call, when it may run.
    pub(crate) fn permitted(&self) -> Option<Arc<JudgedCall>> {
        self.call.clone().filter(|_| self.judgement.outcome.is_ok())
    }

    /// The same, refused for want of consent.
    pub(crate) fn without_consent(mut self, refusal: Refusal) -> Self {
        if self.judgement.outcome.is_ok() {
            self.judgement.wants_consent = true;
            self.held = mem::replace(&mut self.judgement.outcome, Err(refusal)).ok();
        }
        self
    }

    /// The call and its refusal, when consent is all that is wanting.
    pub(crate) fn wanting(&self) -> Option<(Arc<JudgedCall>, Refusal)> {
        let refusal = self.judgement.outcome.as_ref().err().filter(|_| self.judgement.wants_consent)?;
        Some((self.call.clone()?, refusal.clone()))
    }

    /// The same, once consent was given.
    pub(crate) fn given_consent(mut self) -> Self {
        if let Some(permit) = self.held.take() {
            self.judgement.wants_consent = false;
            self.judgement.outcome = Ok(permit);
        }
        self
    }

    /// The same, once consent was asked for and not given.
    pub(crate) fn denied_consent(mut self, refusal: Refusal) -> Self {
        self.held = None;
        self.judgement.wants_consent = false;
        self.judgement.outcome = Err(refusal);
        self
    }
}

/// A call that has run, as hooks see it. Of one that cannot be understood they see the
/// name and the arguments, and no effects.
pub(crate) fn ran(call: ToolCall, home: Option<&str>, session: &str) -> Arc<JudgedCall> {
    let resolved = match home {
        Some(home) => tool::resolve_with_home(&call, home),
        None => tool::resolve(&call),
    };
    let resolved = resolved.unwrap_or_else(|_| Resolved {
        tool: tool::canonical_of(&call.tool).unwrap_or_else(|| call.tool.clone()),
        effects: Vec::new(),
        scripts: Vec::new(),
        powershell: Vec::new(),
        inner: Vec::new(),
        cwd: None,
        known: false,
    });
    Arc::new(JudgedCall::new(call, resolved, session))
}

/// Judges one call.
pub(crate) async fn judge(bench: &Bench<'_>, session: &str, call: ToolCall) -> Judged {
    let start = Instant::now();
    let (id, tool) = (call.id.clone(), call.tool.clone());
    let mut understood = None;
    let decision = decide(bench, session, call, start + JUDGEMENT_TIME, &mut understood);
    let outcome = answered(&tool, decision).await;
    let judgement = Judgement { id, outcome, wants_consent: false, took: start.elapsed() };
    Judged { judgement, call: understood, held: None }
}

/// A failure of the host itself is a refusal too, and the next call is judged anew.
async fn answered(
    tool: &str,
    decision: impl Future<Output = Result<Permit, Refusal>>,
) -> Result<Permit, Refusal> {
    let decision = AssertUnwindSafe(decision).catch_unwind().await;
    decision.unwrap_or_else(|_| Err(reason::host(tool, &Fault::new(FaultKind::Internal, "it failed inside"))))
}

/// Who runs the tool that `call` means, when it is not the agent itself.
pub(crate) fn owner<'a>(admitted: &'a Admitted, call: &'a JudgedCall) -> Option<Owner<'a>> {
    match admitted.tool(call.agent_tool()) {
        Some(Owner::Front { .. }) => {
            Some(Owner::Front { names_a_tool: call.canonical() != call.agent_tool() })
        }
        Some(owner) => Some(owner),
        // Agents have searches of their own, under other names.
        None => admitted
            .tool(call.canonical())
            .filter(|owner| !matches!(owner, Owner::Finder | Owner::Front { .. })),
    }
}

/// The refusal of a call that would change what is protected. It is up to the disk too, and
/// so asked again of a call that has waited.
pub(crate) fn own_files(bench: &Bench<'_>, call: &JudgedCall) -> Option<Refusal> {
    let objection = bench.protection?.objection(call)?;
    let too_many = objection.code == Code::TooMany;
    Some(if too_many { reason::too_big_a_script(call.agent_tool()) } else { reason::own(objection) })
}

async fn taken_apart(call: Arc<JudgedCall>, deadline: Instant) -> Result<(), Fault> {
    let work = tokio::task::spawn_blocking(move || call.scripts().len());
    match tokio::time::timeout_at(deadline.into(), work).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(_)) => Err(Fault::new(FaultKind::Internal, "it failed inside")),
        Err(_) => Err(Fault::new(FaultKind::Timeout, "the script was not taken apart in time")),
    }
}

async fn decide(
    bench: &Bench<'_>,
    session: &str,
    call: ToolCall,
    deadline: Instant,
    understood: &mut Option<Arc<JudgedCall>>,
) -> Result<Permit, Refusal> {
    let tool = call.tool.clone();
    let resolved = match bench.home {
        Some(home) => tool::resolve_with_home(&call, home),
        None => tool::resolve(&call),
    };
    let resolved = resolved.map_err(|malformed| Refusal {
        by: RefusedBy { kind: RefuserKind::Input, name: tool.clone() },
        code: malformed.code.to_owned(),
        fault: Some(FaultKind::BadInput),
        reason: format!("Blocked, because {}.", malformed.reason),
    })?;
    let is_known = resolved.known;
    let call = Arc::new(JudgedCall::new(call, resolved, session));
    *understood = Some(Arc::clone(&call));
    if let Some(refusal) = bench.channel.objection(&call.unread_subject()) {
        return Err(refusal);
    }
    let brought = owner(bench.admitted, &call);
    if let Some(wrong) = brought.and_then(|owner| owner.objection(call.input_value())) {
        return Err(reason::schema(&tool, &wrong));
    }
    let canonical = call.canonical();
    // What was withdrawn stops within the turn too, and says so.
    let is_ours = bench.admitted.runs_tools();
    if is_ours
        && brought.is_none()
        && [bench.now, &**bench.admitted.plugins()].iter().any(|set| set.is_withdrawn(canonical))
    {
        return Err(reason::withdrawn(&tool));
    }
    if let Some(unusable) = brought.and_then(|owner| bench.admitted.objection(&owner, owner.name())) {
        return Err(reason::unusable(&tool, &unusable));
    }
    // A plan may not change under the model that made it.
    if is_ours && brought.is_none() && bench.now.tool(canonical).is_some() {
        return Err(reason::next_turn(&tool));
    }
    let vouched = is_known || brought.is_some() || bench.known_tools.contains(&tool);
    if !vouched && bench.now.requires_a_plugin() {
        return Err(reason::unknown_tool(&tool));
    }
    let mut standing = bench.now.standing().iter();
    if let Some(standing) = standing.find(|standing| !bench.lifted.contains(&standing.name)) {
        return Err(reason::standing(standing));
    }
    let auto_approved = brought.is_some_and(|owner| owner.is_auto_approved());
    if call.script_bytes() > INLINE_MAX {
        taken_apart(Arc::clone(&call), deadline).await.map_err(|fault| reason::host(&tool, &fault))?;
    }
    // Before the guards: it holds without them, and none can answer in its place.
    if let Some(refusal) = own_files(bench, &call) {
        return Err(refusal);
    }
    // No guard can judge what nobody has looked at.
    if call.scripts().iter().any(|script| script.cut_short) {
        return Err(reason::too_big_a_script(&tool));
    }
    for guard in bench.guards() {
        if Instant::now() >= deadline {
            let fault = Fault::new(FaultKind::Timeout, "the time for all guards together was over");
            return Err(reason::fault(guard, &fault));
        }
        match guard.guard().before_tool_call(Arc::clone(&call) as _, deadline).await {
            Ok(None) => {}
            Ok(Some(refusal)) => return Err(reason::refusal(guard, refusal)),
            Err(fault) => return Err(reason::fault(guard, &fault)),
        }
    }
    Ok(Permit::new(call, auto_approved))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::panic, reason = "a test ends when anything is wrong")]
mod tests {
    use portcullis_model::input::Input;

    use super::*;

    fn call(command: &str) -> Arc<JudgedCall> {
        let input = Input::from_value(serde_json::json!({ "command": command })).unwrap();
        let (id, tool) = ("c1".to_owned(), "bash".to_owned());
        let call = ToolCall { id, tool, input, cwd: "/work".to_owned(), session_id: "s".to_owned() };
        let resolved = tool::resolve(&call).unwrap();
        Arc::new(JudgedCall::new(call, resolved, "s"))
    }

    #[tokio::test]
    async fn a_panic_while_a_call_is_judged_refuses_it() {
        for _ in 0..2 {
            let allow = answered("bash", async { Ok(Permit::new(call("ls"), false)) }).await;
            assert!(allow.is_ok());
            let deny = reason::unknown_tool("bash");
            assert_eq!(answered("bash", async { Err(deny.clone()) }).await.unwrap_err(), deny);
            let fault = answered("bash", async { panic!("inside") }).await.unwrap_err();
            assert_eq!((fault.code.as_str(), fault.fault), ("fault/internal", Some(FaultKind::Internal)));
            assert!(fault.reason.contains("not found to be wrong"), "{}", fault.reason);
        }
    }

    #[tokio::test]
    async fn a_long_script_is_taken_apart_within_the_deadline_or_refused() {
        let long = "echo words\n".repeat(INLINE_MAX);
        let call = call(&long);
        assert!(call.script_bytes() > INLINE_MAX);
        let late = taken_apart(Arc::clone(&call), Instant::now()).await;
        assert_eq!(late.unwrap_err().kind, FaultKind::Timeout);
        let soon = Instant::now() + Duration::from_secs(60);
        assert_eq!(taken_apart(Arc::clone(&call), soon).await, Ok(()));
        assert_eq!(call.scripts().len(), 1);
    }
}
