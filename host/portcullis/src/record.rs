//! Between the gate and the ledger: what is written, and what happens when it cannot
//! be.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use portcullis_model::capability::{CapabilityId, CapabilityKind};
use portcullis_model::config::AuditConfig;
use portcullis_model::judgement::{Refusal, RefuserKind, Verdict};
use portcullis_runtime::CallView as _;
use tokio::sync::oneshot;

use crate::gate::{self, Judged, JudgedCall, Judgement};
use crate::ledger::{
    CAPABILITIES_MAX, ChangesEntry, Configured, Entry, EntryKind, Epoch, Ledger, LedgerError, PluginEntry,
    Prepared,
};
use crate::plugin::{PluginRow, PluginState, Report};
use crate::registry::{CapabilitySet, Delta, Registry};

/// Writes down what a host decides.
#[derive(Debug)]
pub(crate) struct Recorder {
    ledger: Option<Arc<Ledger>>,
    /// Where plugins are looked for: hosts that look elsewhere have other sets, and
    /// those are no changes of one another's.
    place: String,
    /// The set that was seen last.
    epoch: Mutex<Option<Epoch>>,
    /// The epoch of the capabilities that was written last.
    capabilities: Mutex<Option<u64>>,
    /// A failure was told.
    told: AtomicBool,
    /// How many entries could not be written since the last one that was.
    lost: AtomicU64,
}

impl Recorder {
    /// Writes nothing without a ledger. `place` tells where plugins and configurations are
    /// looked for.
    pub(crate) fn new(ledger: Option<Ledger>, place: String) -> Self {
        Self {
            ledger: ledger.map(Arc::new),
            place,
            epoch: Mutex::default(),
            capabilities: Mutex::default(),
            told: AtomicBool::default(),
            lost: AtomicU64::default(),
        }
    }

    /// A host has opened.
    pub(crate) fn opened(&self, report: &Report, configured: Option<&Configured>, no_plugins: bool) {
        let Some(ledger) = &self.ledger else { return };
        if no_plugins {
            let what = "A host was opened with every plugin turned off, by `--no-plugins`.";
            self.tell(ledger.append(Entry::new(EntryKind::NoPlugins, what)));
        } else {
            self.follow(report, configured);
        }
    }

    /// A change of the configuration is not taken over; `digest` is the one that serves.
    pub(crate) fn kept_configuration(&self, why: &str, digest: Option<String>) {
        let Some(ledger) = &self.ledger else { return };
        let what =
            format!("A change of the configuration is not taken over, and the last good one serves: {why}");
        self.tell(ledger.append(Entry { config: digest, ..Entry::new(EntryKind::Config, what) }));
    }

    /// The ledger is kept as `audit` says from now on.
    pub(crate) fn keep_as(&self, audit: AuditConfig) {
        if let Some(ledger) = &self.ledger {
            ledger.keep_as(audit);
        }
    }

    /// These plugins act from now on, by this configuration.
    pub(crate) fn follow(&self, report: &Report, configured: Option<&Configured>) {
        let Some(ledger) = &self.ledger else { return };
        let now = Epoch { configured: configured.cloned(), ..epoch(report) };
        let mut last = self.epoch.lock().unwrap_or_else(PoisonError::into_inner);
        if last.as_ref() != Some(&now) {
            self.tell(ledger.note_plugins(&self.place, &now));
            *last = Some(now);
        }
    }

    /// A turn shows a model what it can use: which epoch that is, and what changed since
    /// the session's turn before. Of an epoch that nobody wrote yet all is written that
    /// tells it from the one that was written last.
    pub(crate) async fn bound(
        &self,
        session: &str,
        registry: &Registry,
        set: &CapabilitySet,
        news: Option<&Delta>,
    ) {
        let Some(ledger) = &self.ledger else { return };
        let epoch = set.epoch();
        let last = {
            let mut last = self.capabilities.lock().unwrap_or_else(PoisonError::into_inner);
            let before = *last;
            *last = Some(before.unwrap_or(0).max(epoch));
            before
        };
        let whole =
            || Delta { to: epoch, added: set.all().map(|own| own.id.clone()).collect(), ..Delta::default() };
        let change = match last {
            Some(last) if last >= epoch => None,
            Some(last) => Some(registry.since(last).filter(|delta| delta.to == epoch).unwrap_or_else(whole)),
            None => Some(whole()),
        };
        let told =
            change.iter().flat_map(|delta| changes(delta, set, EntryKind::Capabilities)).map(|entry| Entry {
                reason: Some(format!("These capabilities are there now. {} in all.", set.all().count())),
                ..entry
            });
        let begun = match news {
            None => vec![Entry {
                changes: Some(ChangesEntry { from: Some(epoch), to: epoch, ..ChangesEntry::default() }),
                ..Entry::new(EntryKind::Turn, "A turn began with the capabilities of this epoch.")
            }],
            Some(delta) => {
                let what = "A turn began with other capabilities than the session's turn before.";
                let entries = changes(delta, set, EntryKind::Turn);
                entries.map(|entry| Entry { reason: Some(what.to_owned()), ..entry }).collect()
            }
        };
        let begun = begun.into_iter().map(|entry| Entry { session: Some(session.to_owned()), ..entry });
        for entry in told.chain(begun) {
            let entry = Entry { epoch: Some(short_of(set)), ..entry };
            let written = write(ledger, ledger.prepare(entry)).await;
            self.count(ledger, &written);
            self.tell(written);
        }
    }

    /// A call was judged. The answer is the judgement, or a refusal in the place of a
    /// permit when it had to be written down and could not be.
    pub(crate) async fn judged(
        &self,
        judged: Judged,
        session: &str,
        report: &Report,
        audit: AuditConfig,
    ) -> Judgement {
        let written = match &self.ledger {
            Some(ledger) if judged.judgement.outcome.is_err() || audit.allowed => {
                let written = write(ledger, ledger.prepare(entry(&judged, session, report))).await;
                self.count(ledger, &written);
                written.map(drop)
            }
            // Nothing is written of this call, but the next one may be refused.
            Some(ledger) if audit.required => ledger.check(),
            None if audit.required => Err(LedgerError::NoPlace),
            Some(_) | None => Ok(()),
        };
        let mut judgement = judged.judgement;
        if let Err(error) = &written
            && audit.required
            && judgement.outcome.is_ok()
        {
            judgement.outcome = Err(gate::no_ledger(&error.without_paths()));
        }
        self.tell(written);
        judgement
    }

    /// A hook has objected at an event that is no call, or about one that has run.
    pub(crate) async fn objected(
        &self,
        refusal: &Refusal,
        session: &str,
        call: Option<&JudgedCall>,
        report: &Report,
    ) {
        let Some(ledger) = &self.ledger else { return };
        let entry = Entry {
            session: Some(session.to_owned()),
            call: call.map(|call| call.id().to_owned()),
            tool: call.map(|call| call.agent_tool().to_owned()),
            canonical: call.map(|call| call.canonical().to_owned()),
            verdict: Some(Verdict::Block),
            by: Some(refusal.by.clone()),
            code: Some(refusal.code.clone()),
            fault: refusal.fault,
            epoch: Some(epoch(report).id()),
            ..Entry::new(EntryKind::Hook, refusal.reason.clone())
        };
        let written = write(ledger, ledger.prepare(entry)).await;
        self.count(ledger, &written);
        self.tell(written);
    }

    /// Somebody typed a command, and this is what a model is asked.
    pub(crate) async fn expanded(&self, session: &str, name: &str, text: &str) {
        let Some(ledger) = &self.ledger else { return };
        let entry = Entry {
            session: Some(session.to_owned()),
            canonical: Some(format!("command:{name}")),
            ..Entry::new(EntryKind::Command, text)
        };
        let written = write(ledger, ledger.prepare(entry)).await;
        self.count(ledger, &written);
        self.tell(written);
    }

    /// Counts what is lost, and says so in the ledger once it can be written again.
    fn count(&self, ledger: &Ledger, written: &Result<u64, LedgerError>) {
        if written.is_err() {
            self.lost.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let lost = self.lost.swap(0, Ordering::Relaxed);
        if lost > 0 {
            let what = format!("{lost} entries could not be written before the last one.");
            let said = ledger.try_write(&ledger.prepare(Entry::new(EntryKind::Lost, what)));
            if !matches!(said, Ok(Some(_))) {
                self.lost.fetch_add(lost, Ordering::Relaxed);
            }
        }
    }

    /// Tells of the first failure, and of the next one only when something was written
    /// between them: a full disk would fill the log as well.
    fn tell<T>(&self, written: Result<T, LedgerError>) {
        match written {
            Ok(_) => self.told.store(false, Ordering::Relaxed),
            Err(error) if !self.told.swap(true, Ordering::Relaxed) => {
                tracing::warn!("what was decided is not written down: {error}");
            }
            Err(_) => {}
        }
    }
}

/// Writes at once when no other process does. Waiting is left to a thread of its own,
/// so that the sessions of an executor do not wait with this one.
async fn write(ledger: &Arc<Ledger>, entry: Prepared) -> Result<u64, LedgerError> {
    if let Some(seq) = ledger.try_write(&entry)? {
        return Ok(seq);
    }
    let (done, wait) = oneshot::channel();
    let own = Arc::clone(ledger);
    let entry = Arc::new(entry);
    let its = Arc::clone(&entry);
    let thread = thread::Builder::new().name("portcullis-ledger".to_owned());
    let started = thread.spawn(move || {
        // A judgement that was dropped is written all the same.
        drop(done.send(own.wait_and_write(&its)));
    });
    match started {
        Ok(_) => match wait.await {
            Ok(written) => written,
            Err(_) => ledger.wait_and_write(&entry),
        },
        Err(_) => ledger.wait_and_write(&entry),
    }
}

/// How many letters of a skill's digest are written down.
const SKILL_DIGEST: usize = 16;

/// The beginning of an epoch's digest.
fn short_of(set: &CapabilitySet) -> String {
    set.digest().to_string().chars().take(16).collect()
}

/// As many entries as it takes to name all that changed. A skill is named with the
/// beginning of its digest, for a text is all that it is.
fn changes(delta: &Delta, set: &CapabilitySet, kind: EntryKind) -> impl Iterator<Item = Entry> {
    let lists = [&delta.added, &delta.removed, &delta.changed];
    let name = |id: &CapabilityId| {
        let skill = set.get(id).filter(|own| own.id.kind == CapabilityKind::Skill);
        let digest = skill.and_then(|own| own.declaration.content.as_deref()?.get(..SKILL_DIGEST));
        digest.map_or_else(|| id.to_string(), |digest| format!("{id}@{digest}"))
    };
    let named = |(which, ids): (usize, &Vec<CapabilityId>)| {
        ids.iter().map(|id| (which, name(id))).collect::<Vec<_>>()
    };
    let all: Vec<_> = lists.into_iter().enumerate().flat_map(named).collect();
    let from = Some(delta.from).filter(|from| *from > 0);
    let to = delta.to;
    let mut parts: Vec<_> = all.chunks(CAPABILITIES_MAX).map(<[_]>::to_vec).collect();
    if parts.is_empty() {
        parts.push(Vec::new());
    }
    let last = parts.len() - 1;
    parts.into_iter().enumerate().map(move |(at, part)| {
        let of = |which| part.iter().filter(|(own, _)| *own == which).map(|(_, id)| id.clone()).collect();
        let changes =
            ChangesEntry { from, to, added: of(0), removed: of(1), changed: of(2), more: at < last };
        Entry { kind, changes: Some(changes), ..Entry::default() }
    })
}

fn entry(judged: &Judged, session: &str, report: &Report) -> Entry {
    let wire = judged.judgement.to_wire();
    // A call that was not understood is known by the name that was refused.
    let by_input = wire.by.as_ref().filter(|by| by.kind == RefuserKind::Input).map(|by| by.name.clone());
    let call = judged.call.as_deref();
    Entry {
        session: Some(session.to_owned()),
        tool: call.map(|call| call.agent_tool().to_owned()).or(by_input),
        canonical: call.map(|call| call.canonical().to_owned()),
        effects: call.map(|call| call.effects().to_vec()).unwrap_or_default(),
        epoch: Some(epoch(report).id()),
        ..Entry::judged(EntryKind::Judgement, wire)
    }
}

/// The plugins that decide, and those that are missing.
fn epoch(report: &Report) -> Epoch {
    let decides = |row: &&PluginRow| match row.state {
        PluginState::Active
        | PluginState::Stale(_)
        | PluginState::Kept
        | PluginState::Broken { .. }
        | PluginState::Unresolved => true,
        PluginState::Inactive | PluginState::Shadowed | PluginState::Settling => false,
    };
    let plugins = report.rows.iter().filter(decides).map(|row| PluginEntry {
        name: row.name.clone(),
        state: row.state.as_str().to_owned(),
        from: row.origin.as_ref().map(|origin| origin.as_str().to_owned()),
        digest: row.digest.map(|digest| digest.to_string()),
    });
    Epoch { plugins: plugins.collect(), configured: None }
}
