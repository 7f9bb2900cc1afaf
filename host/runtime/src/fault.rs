//! Errors of the engine, told apart.

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
