//! How to talk MCP, as client and as server.
//!
//! The only crate that names the MCP library. What it talks about are the extensions of
//! `portcullis-model`: a server serves one, a client is one.

#[cfg(feature = "client")]
pub mod client;
#[cfg(feature = "server")]
pub mod server;
