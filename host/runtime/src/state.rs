//! What belongs to one call: the data of its store.

use std::sync::Arc;
use std::time::Instant;

use wasmtime::component::ResourceTable;
use wasmtime_wasi::WasiCtx;

use crate::limiter::Limiter;
use crate::setup::GuestSetup;

/// Handles that one call may hold at a time.
const HANDLES: usize = 10_000;

/// The data of one call's store. Dropped with the call.
pub(crate) struct CallState {
    pub(crate) limiter: Limiter,
    pub(crate) table: ResourceTable,
    pub(crate) setup: Arc<GuestSetup>,
    pub(crate) session: String,
    pub(crate) deadline: Instant,
    /// Made at the first use: most components import no WASI at all.
    pub(crate) wasi: Option<WasiCtx>,
}

impl CallState {
    pub(crate) fn new(setup: &Arc<GuestSetup>, session: &str, deadline: Instant) -> Self {
        let mut table = ResourceTable::new();
        table.set_max_capacity(HANDLES);
        Self {
            limiter: Limiter::new(setup.limits.memory),
            table,
            setup: Arc::clone(setup),
            session: session.to_owned(),
            deadline,
            wasi: None,
        }
    }
}
