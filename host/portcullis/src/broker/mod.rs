//! MCP servers on demand.
//!
//! A server is started when somebody needs it, once for all of a workspace's sessions, and
//! ended when nobody has used it for a while. That it cannot be used is a state, with a
//! reason and a remedy, and not an entry of any list. What it offers is learned when it is
//! asked for, and kept when it cannot be asked again.

mod answer;
mod call;
mod catalogue;
mod error;
pub(crate) mod front;
mod learn;
mod memory;
mod pool;
mod prompt;
mod server;
mod settings;
mod skill;
mod slot;

pub(crate) use catalogue::near;
pub(crate) use memory::Memory;
pub(crate) use pool::Pool;
pub(crate) use server::Server;
pub use server::ServerRow;
pub(crate) use settings::{Bounds, Settings};
