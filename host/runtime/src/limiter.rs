//! What one instance may grow to.

use wasmtime::{ResourceLimiter, Result};

/// Elements of one table. Python components need 100,000.
const TABLE_ELEMENTS: usize = 100_000;
/// Core instances, tables and memories of one component.
const INSTANCES: usize = 64;
const TABLES: usize = 64;
const MEMORIES: usize = 8;

/// Marks an error as growth past the limit.
#[derive(Debug, thiserror::Error)]
#[error("{what} would have grown to {desired}; the most is {max}")]
pub(crate) struct PastLimit {
    pub(crate) what: &'static str,
    pub(crate) desired: usize,
    pub(crate) max: usize,
}

/// Ends the call when a memory or a table would grow past its limit. A guest
/// that is merely told no may go on and answer from a half-built state.
#[derive(Debug)]
pub(crate) struct Limiter {
    memory: usize,
}

impl Limiter {
    pub(crate) const fn new(memory: usize) -> Self {
        Self { memory }
    }
}

impl ResourceLimiter for Limiter {
    fn memory_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        if desired > self.memory {
            return Err(PastLimit { what: "its memory", desired, max: self.memory }.into());
        }
        Ok(true)
    }

    fn table_growing(&mut self, _current: usize, desired: usize, _maximum: Option<usize>) -> Result<bool> {
        if desired > TABLE_ELEMENTS {
            return Err(PastLimit { what: "a table", desired, max: TABLE_ELEMENTS }.into());
        }
        Ok(true)
    }

    fn memory_grow_failed(&mut self, error: wasmtime::Error) -> Result<()> {
        Err(error.context("growing memory"))
    }

    fn table_grow_failed(&mut self, error: wasmtime::Error) -> Result<()> {
        Err(error.context("growing a table"))
    }

    fn instances(&self) -> usize {
        INSTANCES
    }

    fn tables(&self) -> usize {
        TABLES
    }

    fn memories(&self) -> usize {
        MEMORIES
    }
}
