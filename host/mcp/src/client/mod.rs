//! A client of MCP servers that are programs.
//!
//! Its servers may be anybody's, so it is built for those that misbehave: whatever a
//! server does, each request comes to an end within its time, memory is bounded, and no
//! process is left behind. Results are handed on as the server sent them.

mod ask;
mod connection;
mod error;
mod handshake;
mod limits;
mod list;
mod program;
mod secret;
mod stdio;
mod variable;

pub use ask::Client;
pub use connection::{Connection, Era, Heard, Reply, Stray, Transport};
pub use error::{ClientError, Failure};
pub use handshake::{LEGACY, MODERN, Peer};
pub use limits::{ENTRIES_MAX, FRAME_MAX, PAGES_MAX, QUEUE_MAX, REQUEST_MAX, SAID_MAX, TAIL_MAX, Times};
pub use list::Listed;
pub use program::Program;
pub use secret::Secrets;
pub use stdio::Stdio;
pub use variable::{Surroundings, VariableError};
