//! How a Portcullis component runs. The only crate that names wasmtime; nothing
//! that it returns mentions it.
//!
//! A component goes through three doors. [`Runtime::load`] takes bytes, reads
//! what the component exports and imports without running it, and compiles it in
//! a helper process, once, into a cache that only we write. [`Runtime::link`]
//! gives a loaded component its limits and its grants. Each method of the
//! [`Guest`] that comes out runs one call in a fresh instance, which is dropped
//! after it. Every way to go wrong is a [`Fault`](portcullis_model::fault::Fault).

mod answer;
mod bindings;
mod cache;
mod capture;
pub mod clock;
mod compile;
mod component;
mod contract;
mod digest;
mod engine;
mod error;
mod fault;
mod guest;
mod handle;
mod instance;
mod interface;
mod limiter;
mod offer;
mod packed;
mod precompiled;
mod process;
mod runtime;
mod sealed;
mod setup;
mod state;
mod ticker;
mod wasi;

pub use answer::{
    CommandDefinition, Content, Decision, GuardRefusal, PluginInfo, Subscription, ToolDefinition, ToolOutput,
};
pub use cache::CacheDir;
#[cfg(feature = "compiler")]
pub use compile::helper_main;
pub use compile::{CarriedCompiler, CompileLimits, Compiler};
pub use component::{Component, Known};
pub use contract::{Contract, Kind};
pub use digest::Digest;
pub use engine::Allocation;
pub use error::{LoadError, RuntimeError};
pub use guest::Guest;
pub use packed::pack;
pub use precompiled::Precompiled;
pub use process::{Cancel, Ended, Process};
pub use runtime::{Runtime, RuntimeOptions};
pub use setup::{CallView, GuestSetup, InvocationView, OccurrenceView, Store, Terminal};
pub use ticker::Pulse;
