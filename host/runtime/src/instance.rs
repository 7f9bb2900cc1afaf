//! A fresh instance, and the one that waits for the next call.

use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use portcullis_model::fault::Fault;
use tokio::sync::OwnedSemaphorePermit;
use wasmtime::component::{Instance, InstancePre};
use wasmtime::{Store, UpdateDeadline};

use crate::engine::Engines;
use crate::fault::{Phase, caught, classify};
use crate::setup::GuestSetup;
use crate::state::CallState;

/// A store with an instance in it that no call has touched.
pub(crate) struct Fresh {
    pub(crate) store: Store<CallState>,
    pub(crate) instance: Instance,
    /// Held by one that waits.
    _waiting: Option<OwnedSemaphorePermit>,
}

/// Makes an instance for one call, or for the next.
pub(crate) async fn instantiate(
    engines: &Engines,
    pre: &InstancePre<CallState>,
    setup: &Arc<GuestSetup>,
    session: &str,
    deadline: Instant,
) -> Result<Fresh, Fault> {
    let mut store = Store::new(&engines.engine, CallState::new(setup, session, deadline));
    store.limiter(|state| &mut state.limiter);
    // At every tick the guest gives way to other tasks of the executor, and is
    // ended when its time is over.
    store.set_epoch_deadline(1);
    store.epoch_deadline_callback(|store| {
        let over = Instant::now() >= store.data().deadline;
        Ok(if over { UpdateDeadline::Interrupt } else { UpdateDeadline::Yield(1) })
    });
    let instance = caught(deadline, pre.instantiate_async(&mut store))
        .await?
        .map_err(|e| classify(&e, Phase::Instantiate))?;
    Ok(Fresh { store, instance, _waiting: None })
}

/// The instance that waits for a guard's next call, so that making it is off that
/// call's own path. It serves one call like any other, and is dropped after it.
#[derive(Default)]
pub(crate) struct Spare(Mutex<Slot>);

#[derive(Default)]
enum Slot {
    #[default]
    Empty,
    /// One is promised. What the answered call left is dropped before it is made, so
    /// that the two count as one. It lies here and not with the task that makes the
    /// new one, so that it goes with its guest even when that task never runs.
    Promised {
        _used: Fresh,
    },
    /// The promise is being kept.
    Making,
    Waiting(Fresh),
}

impl Spare {
    /// The waiting instance, made ready for a call of `session` that ends by `deadline`.
    pub(crate) fn take(&self, session: &str, deadline: Instant) -> Option<Fresh> {
        let mut slot = self.slot();
        if !matches!(*slot, Slot::Waiting(_)) {
            return None;
        }
        let Slot::Waiting(mut fresh) = mem::take(&mut *slot) else { return None };
        let state = fresh.store.data_mut();
        session.clone_into(&mut state.session);
        state.deadline = deadline;
        fresh.store.set_epoch_deadline(1);
        Some(fresh)
    }

    /// Whether one is to be made, now that the call of `used` is answered.
    pub(crate) fn promise(&self, used: Fresh) -> bool {
        let mut slot = self.slot();
        let empty = matches!(*slot, Slot::Empty);
        if empty {
            *slot = Slot::Promised { _used: used };
        }
        empty
    }

    /// Drops the instance of the answered call, to begin with the next one's.
    pub(crate) fn begin(&self) {
        let used = mem::replace(&mut *self.slot(), Slot::Making);
        // Not under the lock: it takes as long as a call.
        drop(used);
    }

    /// Lets `fresh` wait.
    pub(crate) fn keep(&self, fresh: Fresh, permit: OwnedSemaphorePermit) {
        *self.slot() = Slot::Waiting(Fresh { _waiting: Some(permit), ..fresh });
    }

    /// Makes room for another promise when this one was not kept.
    pub(crate) fn give_up(&self) {
        let mut slot = self.slot();
        if matches!(*slot, Slot::Promised { .. } | Slot::Making) {
            *slot = Slot::Empty;
        }
    }

    fn slot(&self) -> MutexGuard<'_, Slot> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
