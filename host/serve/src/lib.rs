//! The gate for a loop in any language: JSON-RPC 2.0, one message a line, over pipes and
//! over a Unix socket.
//!
//! A [`Server`] serves one [`Host`](portcullis::Host) to any number of clients. It knows
//! of the library what everybody knows, and therefore gives no other answer: permits stay
//! with it, and a client gets names for them that work once. A client that goes away, or
//! takes a call back, has that call refused.
//!
//! `docs/reference/wire.md` has every method, `docs/guides/serve.md` says how to use them.

mod answer;
mod connection;
mod error;
mod frame;
mod hello;
mod limits;
mod message;
mod method;
mod note;
mod outgoing;
mod parameter;
mod server;
#[cfg(unix)]
mod socket;
mod state;

pub use connection::AtEnd;
pub use error::WireError;
pub use hello::PROTOCOL;
pub use limits::ServeLimits;
pub use server::{Server, ledger_beside};
#[cfg(unix)]
pub use socket::{Socket, SocketError};
