//! The engine: how every instance is allocated, bounded and stopped.

use std::sync::Arc;

use tokio::sync::Semaphore;
use wasmtime::{Config, Enabled, Engine, PoolingAllocationConfig};

use crate::error::RuntimeError;
use crate::precompiled;
use crate::ticker::{Pulse, Running, Ticker};

/// Calls that may run at the same time. More wait, within their own deadlines.
const CONCURRENT_CALLS: usize = 64;
/// Instances that may wait for a guard's next call, beside those that run.
const SPARES: usize = 32;
/// Core instances, memories and tables of one component, on average.
const CORES_PER_CALL: u32 = 4;
/// The largest memory that a pooled slot can hold: the operator's highest limit.
const POOLED_MEMORY_MAX: usize = 4_000 << 20;
/// Bytes of a slot that stay resident between calls.
const KEEP_RESIDENT: usize = 1 << 20;
/// A guest's own stack, and the stack that it runs on together with the host
/// functions that it calls.
const WASM_STACK: usize = 512 << 10;
const FIBER_STACK: usize = 1 << 20;

/// Where instances come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allocation {
    /// A pool of slots, which makes a fresh instance five times cheaper; on
    /// demand where the address space for it cannot be had.
    Pool,
    /// One mapping for each instance: right for a process that ends after one call.
    OnDemand,
}

/// An engine with its ticker, and the slots of its calls.
pub(crate) struct Engines {
    pub(crate) engine: Engine,
    /// None where a pulse ticks in its place.
    ticker: Option<Ticker>,
    pub(crate) slots: Semaphore,
    pub(crate) spares: Arc<Semaphore>,
    pub(crate) pooled: bool,
}

impl Engines {
    pub(crate) fn start(
        allocation: Allocation,
        pulse: Option<&Pulse>,
        runs_foreign: bool,
    ) -> Result<Self, RuntimeError> {
        let mut config = config();
        if runs_foreign {
            precompiled::allow(&mut config);
        }
        let pool = match allocation {
            Allocation::Pool => Engine::new(&pooled(config.clone()))
                .inspect_err(|e| tracing::warn!("no pool of instances, which makes calls slower: {e:#}"))
                .ok(),
            Allocation::OnDemand => None,
        };
        let pooled = pool.is_some();
        let engine = pool.map_or_else(|| Engine::new(&config).map_err(engine_error), Ok)?;
        let beats = pulse.is_some_and(|pulse| pulse.follow(engine.weak()));
        let ticker = if beats { None } else { Some(Ticker::start(engine.weak())) };
        let ticker = ticker.transpose().map_err(RuntimeError::Thread)?;
        Ok(Self {
            engine,
            ticker,
            slots: Semaphore::new(CONCURRENT_CALLS),
            spares: Arc::new(Semaphore::new(SPARES)),
            pooled,
        })
    }
}

impl Engines {
    /// Makes sure that guests are stopped at their deadlines until the answer is dropped.
    pub(crate) fn running(&self) -> Option<Running<'_>> {
        self.ticker.as_ref().map(Ticker::run)
    }
}

fn engine_error(error: wasmtime::Error) -> RuntimeError {
    RuntimeError::Engine(format!("{error:#}"))
}

#[cfg(feature = "compiler")]
pub(crate) fn on_demand() -> Result<Engine, RuntimeError> {
    Engine::new(&config()).map_err(engine_error)
}

/// An engine that compiles for every machine of this kind.
#[cfg(feature = "compiler")]
pub(crate) fn portable() -> Result<Engine, RuntimeError> {
    let mut config = config();
    // To name the target is to take nothing from the machine that compiles.
    config.target(&format!("{}-unknown-linux-gnu", std::env::consts::ARCH)).map_err(engine_error)?;
    Engine::new(&config).map_err(engine_error)
}

/// What every engine of ours agrees on, the compile helper's included.
fn config() -> Config {
    let mut config = Config::new();
    config
        .wasm_component_model(true)
        // Costs a warm call twice its time, and the guests that need it are
        // where most of the engine's recent faults were.
        .concurrency_support(false)
        .epoch_interruption(true)
        .memory_init_cow(true)
        .wasm_memory64(false)
        .wasm_multi_memory(true)
        .wasm_relaxed_simd(false)
        .wasm_backtrace_max_frames(None)
        // Nobody unwinds through a guest or asks where in it a trap was, and both
        // tables would be read again by every process.
        .native_unwind_info(false)
        .generate_address_map(false)
        .max_wasm_stack(WASM_STACK)
        .async_stack_size(FIBER_STACK);
    config
}

fn pooled(mut config: Config) -> Config {
    let calls = u32::try_from(CONCURRENT_CALLS + SPARES).unwrap_or(u32::MAX);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(calls)
        .total_core_instances(calls * CORES_PER_CALL)
        .total_memories(calls * 2)
        .total_tables(calls * CORES_PER_CALL)
        .total_stacks(calls)
        .max_memories_per_module(4)
        .max_tables_per_module(8)
        .table_elements(100_000)
        .max_component_instance_size(10 << 20)
        .max_core_instance_size(10 << 20)
        .max_memory_size(POOLED_MEMORY_MAX)
        .max_unused_warm_slots(calls)
        .linear_memory_keep_resident(KEEP_RESIDENT)
        .table_keep_resident(KEEP_RESIDENT)
        .async_stack_keep_resident(64 << 10)
        .pagemap_scan(Enabled::Auto);
    config.allocation_strategy(pool);
    config
}
