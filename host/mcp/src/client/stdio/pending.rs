//! Requests that wait for their answers.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::oneshot;

use crate::client::error::Failure;

/// What comes of a request.
pub(super) type Outcome = Result<Value, Failure>;

#[derive(Debug, Default)]
pub(super) struct Pending {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    last: u64,
    /// None for one whose answer nobody waits for.
    waiting: HashMap<u64, Option<oneshot::Sender<Outcome>>>,
    ended: Option<Failure>,
}

impl Pending {
    /// A new request: its id, which no other one has or had, and where its answer comes.
    pub(super) fn begin(&self) -> Result<(u64, oneshot::Receiver<Outcome>), Failure> {
        let (sender, receiver) = oneshot::channel();
        Ok((self.add(Some(sender))?, receiver))
    }

    /// One whose answer means nothing.
    pub(super) fn begin_unheard(&self) -> Result<u64, Failure> {
        self.add(None)
    }

    fn add(&self, sender: Option<oneshot::Sender<Outcome>>) -> Result<u64, Failure> {
        let mut state = self.state();
        if let Some(failure) = &state.ended {
            return Err(failure.clone());
        }
        state.last = state.last.saturating_add(1);
        let id = state.last;
        state.waiting.insert(id, sender);
        Ok(id)
    }

    /// False when nobody waits for it.
    pub(super) fn settle(&self, id: u64, outcome: Outcome) -> bool {
        let Some(waiter) = self.state().waiting.remove(&id) else { return false };
        if let Some(sender) = waiter {
            // Who has given up since needs no answer.
            drop(sender.send(outcome));
        }
        true
    }

    /// Nobody waits for it any more.
    pub(super) fn forget(&self, id: u64) {
        self.state().waiting.remove(&id);
    }

    /// All that wait now fail so.
    pub(super) fn fail(&self, failure: &Failure) {
        let waiting = std::mem::take(&mut self.state().waiting);
        for sender in waiting.into_values().flatten() {
            drop(sender.send(Err(failure.clone())));
        }
    }

    /// And so does whatever is asked from here on.
    pub(super) fn end(&self, failure: Failure) {
        self.state().ended = Some(failure.clone());
        self.fail(&failure);
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
