//! One conversation of an agent.

use std::sync::{Arc, Mutex, PoisonError};

use portcullis_model::fault::FaultKind;

use crate::extension::{Level, Scope};
use crate::hook::{Blocked, Event};
use crate::host::Host;
use crate::moment::{Circle, Noted, Started, Told};
use crate::policy::DirectWrites;
use crate::rules::Snapshot;
use crate::schedule::{Seen, Within};

/// One conversation of an agent. Sessions of one host do not wait for one another.
#[derive(Debug, Clone)]
pub struct Session {
    host: Host,
    id: String,
    agent: String,
    direct_writes: Option<Arc<DirectWrites>>,
    /// The call that it works for.
    within: Option<Within>,
    /// What it has seen of files.
    seen: Seen,
    /// The epoch of its last turn.
    told: Arc<Mutex<Option<u64>>>,
}

impl Host {
    /// Opens a conversation of an agent.
    #[must_use]
    pub fn session(&self, id: impl Into<String>) -> Session {
        Session {
            host: self.clone(),
            id: id.into(),
            agent: String::new(),
            direct_writes: None,
            within: None,
            seen: Seen::default(),
            told: Arc::default(),
        }
    }
}

impl Session {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The same, where tools may write nothing but these paths, in every turn that
    /// begins from now on.
    #[must_use]
    pub fn with_direct_writes(self, paths: DirectWrites) -> Self {
        Self { direct_writes: Some(Arc::new(paths)), ..self }
    }

    /// The same, working for a call that holds a claim: its calls take theirs within that
    /// one. They may write what it claims and nothing else, and never wait for it.
    #[must_use]
    pub fn within(self, call: Within) -> Self {
        Self { within: Some(call), ..self }
    }

    /// The same, for one of its agents: a worker sees what the session has, and what is
    /// registered for the agent of this name.
    #[must_use]
    pub fn agent(self, name: impl Into<String>) -> Self {
        Self { agent: name.into(), told: Arc::default(), seen: Seen::default(), ..self }
    }

    /// Its place, for extensions that are registered for it alone.
    #[must_use]
    pub fn scope(&self) -> Scope {
        Scope::new().session(&self.id).agent(&self.agent)
    }

    /// The model is told of `epoch` from now on. The epoch that it was told of before.
    pub(crate) fn tell_of(&self, epoch: u64) -> Option<u64> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner).replace(epoch)
    }

    /// The claim that its calls are within.
    pub(crate) const fn outer_claim(&self) -> Option<Within> {
        self.within
    }

    pub(crate) const fn seen(&self) -> &Seen {
        &self.seen
    }

    pub(crate) fn direct_writes(&self) -> Option<Arc<DirectWrites>> {
        self.direct_writes.clone()
    }

    /// Asks the hooks at `session-start`: when a session begins, and when it goes on
    /// after a pause. When one objects, the session is there, and every call of it is
    /// refused until this is asked again and nobody objects.
    pub async fn start(&self, cwd: &str) -> Told<Started> {
        let now = self.host.snapshot();
        let circle = self.circle(&now);
        self.expect_an_answer(circle);
        let outcome = circle.ask(Event::SessionStart, cwd, None, None).await;
        let mut refusal = outcome.blocked.as_ref().map(Blocked::refusal);
        if let Err(why) = self.host.memory().begin(&self.id, outcome.blocked.as_ref()) {
            tracing::error!("whether a hook let this session begin cannot be remembered: {why}");
            // The calls of other processes go on then, so whoever reads this has to know.
            if let Some(refusal) = &mut refusal {
                refusal.reason.push_str(" This could not be remembered: end the session.");
            }
        }
        if let Some(refusal) = &refusal {
            circle.write_down(refusal, None).await;
        }
        Told { outcome: refusal.map_or(Started::Open, Started::Refused), runs: outcome.runs }
    }

    /// Until a closed hook has answered, its silence is its answer: this process may end
    /// before it.
    fn expect_an_answer(&self, circle: Circle<'_>) {
        let Some((hook, plugin)) = circle.first_closed(Event::SessionStart) else { return };
        let silent = Blocked {
            hook,
            plugin,
            event: Event::SessionStart,
            reason: "it has not answered".to_owned(),
            fault: Some(FaultKind::Timeout),
        };
        if let Err(why) = self.host.memory().begin(&self.id, Some(&silent)) {
            tracing::error!("what a hook says of this session could not be remembered: {why}");
        }
    }

    /// Asks the hooks at `pre-compact`, before the agent shortens what it remembers.
    pub async fn compact(&self, cwd: &str) -> Told<Noted> {
        self.note(Event::PreCompact, cwd).await
    }

    /// Tells the hooks at `session-end` that it is over. What was remembered of it is
    /// forgotten, and what was registered for it is closed.
    pub async fn end(&self, cwd: &str) -> Told<Noted> {
        let told = self.note(Event::SessionEnd, cwd).await;
        // A worker's end is not its session's.
        let level = if self.agent.is_empty() { Level::Session } else { Level::Agent };
        if let Err(error) = self.host.end_scope(level, &self.scope()).await {
            tracing::warn!("what was registered for a {level} cannot be closed: {error}");
        }
        // A session that may not have any call may be resumed.
        if !matches!(self.host.memory().refused(&self.id), Ok(Some(_)) | Err(_)) {
            self.host.memory().forget(&self.id);
        }
        told
    }

    async fn note(&self, event: Event, cwd: &str) -> Told<Noted> {
        let now = self.host.snapshot();
        let told = self.circle(&now).told(event, cwd, None, None).await;
        told.map(|refusal| refusal.map_or(Noted::Fine, Noted::Objected))
    }

    fn circle<'a>(&'a self, now: &'a Snapshot) -> Circle<'a> {
        Circle { host: &self.host, now, bound: None, session: &self.id }
    }

    pub(crate) const fn host(&self) -> &Host {
        &self.host
    }
}
