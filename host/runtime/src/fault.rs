//! Errors of the engine, told apart.

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use portcullis_model::fault::{Fault, FaultKind};
use wasmtime::component::ResourceTableError;
use wasmtime::{PoolConcurrencyLimitError, Trap};

use crate::limiter::PastLimit;

/// A host function was called that the operator did not grant.
#[derive(Debug, thiserror::Error)]
#[error("it used `{what}`, which it was not granted; hint: `[plugin.{plugin}.grant] {what} = true`")]
pub(crate) struct NotGranted {
    pub(crate) what: &'static str,
    pub(crate) plugin: String,
}

/// Marks a fault as having happened before the guest's own code ran.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Instantiate,
    Call,
}

/// Which fault `error` is.
pub(crate) fn classify(error: &wasmtime::Error, phase: Phase) -> Fault {
    if let Some(past) = error.downcast_ref::<PastLimit>() {
        return Fault::new(FaultKind::Memory, past.to_string());
    }
    if let Some(denied) = error.downcast_ref::<NotGranted>() {
        return Fault::new(FaultKind::Trap, denied.to_string());
    }
    if let Some(full) = error.downcast_ref::<ResourceTableError>() {
        return Fault::new(FaultKind::Resource, format!("host handles: {full}"));
    }
    if let Some(full) = error.downcast_ref::<PoolConcurrencyLimitError>() {
        return Fault::new(FaultKind::Resource, full.to_string());
    }
    if let Some(exit) = error.downcast_ref::<wasmtime_wasi::I32Exit>() {
        return Fault::new(FaultKind::Trap, format!("it called exit with status {}", exit.0));
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => Fault::new(FaultKind::Timeout, "no answer within its deadline"),
        Some(Trap::AllocationTooLarge) => Fault::new(FaultKind::Memory, "an allocation that is too large"),
        Some(
            trap @ (Trap::InvalidChar
            | Trap::StringOutOfBounds
            | Trap::ListOutOfBounds
            | Trap::InvalidDiscriminant
            | Trap::UnalignedPointer),
        ) => Fault::new(FaultKind::BadVerdict, trap.to_string()),
        Some(trap) => Fault::new(FaultKind::Trap, trap.to_string()),
        None => match phase {
            Phase::Instantiate => Fault::new(FaultKind::Resource, root(error)),
            // Past the traps, what ends a call is an answer that cannot be lifted.
            Phase::Call => Fault::new(FaultKind::BadVerdict, root(error)),
        },
    }
}

/// The innermost message, without the engine's backtrace.
fn root(error: &wasmtime::Error) -> String {
    error.root_cause().to_string()
}

/// How long a host call may outlive the deadline before the whole call is
/// abandoned from outside. The guest's own code is stopped by the ticker before.
const GRACE: Duration = Duration::from_millis(20);

/// Waits until `deadline`, and a little longer, and catches a panic of the host
/// functions that the guest calls.
pub(crate) async fn caught<R>(deadline: Instant, work: impl Future<Output = R>) -> Result<R, Fault> {
    let late = tokio::time::Instant::from_std(deadline + GRACE);
    match tokio::time::timeout_at(late, AssertUnwindSafe(work).catch_unwind()).await {
        Ok(Ok(result)) => Ok(result),
        Ok(Err(panic)) => {
            Err(Fault::new(FaultKind::Trap, format!("a host function panicked: {}", said(&*panic))))
        }
        Err(_) => Err(Fault::new(FaultKind::Timeout, "no answer within its deadline")),
    }
}

fn said(panic: &(dyn std::any::Any + Send)) -> &str {
    panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}
