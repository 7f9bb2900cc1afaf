//! One host, served to any number of clients.

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis::Host;
use portcullis::ledger::{Entry, Ledger};
use serde_json::Value;
use tokio::sync::{SetOnce, broadcast};

use crate::error::WireError;
use crate::limits::ServeLimits;
use crate::note::Note;

/// Judgements that a slow listener may be behind.
const NEWS_MAX: usize = 256;

/// One host, served to any number of clients. Cheap to clone: clones are the same server.
#[derive(Debug, Clone)]
pub struct Server {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    host: Host,
    ledger: Option<Arc<Ledger>>,
    limits: ServeLimits,
    judgements: broadcast::Sender<Arc<Value>>,
    ending: SetOnce<()>,
}

impl Server {
    /// Serves `host`. `ledger` is told of the calls that never reach it.
    #[must_use]
    pub fn new(host: Host, ledger: Option<Ledger>, limits: ServeLimits) -> Self {
        let (judgements, _) = broadcast::channel(NEWS_MAX);
        let ledger = ledger.map(Arc::new);
        Self { inner: Arc::new(Inner { host, ledger, limits, judgements, ending: SetOnce::new() }) }
    }

    /// Ends every connection: calls are refused, then turns and sessions end.
    pub fn end(&self) {
        // It may be ending already.
        drop(self.inner.ending.set(()));
    }

    /// Until somebody has called [`end`](Self::end).
    pub async fn ending(&self) {
        self.inner.ending.wait().await;
    }

    /// What one connection may hold.
    #[must_use]
    pub fn limits(&self) -> &ServeLimits {
        &self.inner.limits
    }

    pub(crate) fn host(&self) -> &Host {
        &self.inner.host
    }

    /// Tells those who want to hear of every judgement.
    pub(crate) fn tell(&self, judgement: impl FnOnce() -> Value) {
        if self.inner.judgements.receiver_count() > 0 {
            // The last listener may have gone.
            drop(self.inner.judgements.send(Arc::new(judgement())));
        }
    }

    pub(crate) fn judgements(&self) -> broadcast::Receiver<Arc<Value>> {
        self.inner.judgements.subscribe()
    }

    /// Writes down that calls were refused without having been judged. They are refused
    /// whether or not that succeeds.
    pub(crate) async fn note(&self, notes: Vec<Note>, error: WireError) {
        let Some(ledger) = self.inner.ledger.clone().filter(|_| !notes.is_empty()) else { return };
        let entries: Vec<Entry> = notes.into_iter().map(|note| note.refused(&error)).collect();
        // Other processes may keep the ledger busy.
        let written = tokio::task::spawn_blocking(move || {
            for entry in entries {
                if let Err(error) = ledger.append(entry) {
                    tracing::warn!("a refusal is not written down: {error}");
                }
            }
        });
        if written.await.is_err() {
            tracing::warn!("a refusal is not written down: the ledger failed inside");
        }
    }
}

/// A ledger for what never reaches the host, with the host's own rules.
#[must_use]
pub fn ledger_beside(options: &portcullis::HostOptions, env: &BTreeMap<String, String>) -> Option<Ledger> {
    let place = options.ledger.clone()?;
    Some(Ledger::new(place, options.config.audit, env))
}
