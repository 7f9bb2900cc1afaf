//! A fresh instance, and the one that waits for the next call.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
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
pub(crate) struct Spare {
    waiting: Mutex<Option<Fresh>>,
    making: AtomicBool,
}

impl Spare {
    /// The waiting instance, made ready for a call of `session` that ends by `deadline`.
    pub(crate) fn take(&self, session: &str, deadline: Instant) -> Option<Fresh> {
        let mut fresh = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        let state = fresh.store.data_mut();
        session.clone_into(&mut state.session);
        state.deadline = deadline;
        fresh.store.set_epoch_deadline(1);
        Some(fresh)
    }

    /// Whether one is to be made. Whoever is told so keeps the promise, or drops it.
    pub(crate) fn promise(self: &Arc<Self>) -> Option<Promise> {
        let none = self.waiting.lock().unwrap_or_else(PoisonError::into_inner).is_none();
        (none && !self.making.swap(true, Ordering::AcqRel)).then(|| Promise(Arc::clone(self)))
    }
}

/// The promise to make the instance of the next call. When it is dropped, kept or
/// not, another one can be made.
pub(crate) struct Promise(Arc<Spare>);

impl Promise {
    /// Lets `fresh` wait.
    pub(crate) fn keep(self, fresh: Fresh, permit: OwnedSemaphorePermit) {
        let fresh = Fresh { _waiting: Some(permit), ..fresh };
        *self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner) = Some(fresh);
    }
}

impl Drop for Promise {
    fn drop(&mut self) {
        self.0.making.store(false, Ordering::Release);
    }
}
