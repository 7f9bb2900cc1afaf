//! Extensions: who is registered where, who sees them, and how they are asked.
//!
//! An extension is registered for a pool, a session, an agent or a turn, and is seen
//! from there and from everything narrower. Registering does no work. What is read is
//! asked for first: only the owner of an address is read.
//!
//! What asks or closes needs a tokio runtime with its timers on.

mod ask;
mod close;
mod news;
mod registry;
mod scope;
#[cfg(test)]
mod tests;
mod uri;

pub use ask::{ASK_TIME, Listing, RouteError};
pub(crate) use ask::{failed_inside, off_the_executor, within};
pub use close::{CLOSE_TIME, Closed};
pub use news::News;
pub use registry::{ExtensionOptions, Extensions, RegisterError, Seen};
pub use scope::{Level, Scope};
pub use uri::UriError;
