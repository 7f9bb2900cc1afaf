//! What of a project may act besides its guards, because the user has looked at it.
//!
//! Trust is bound to the workspace's own directory and to the bytes of each file. It
//! is decided before anything of those bytes is interpreted: whoever reads a file
//! hashes what was read, asks here, and goes on with the very same bytes.

mod error;
mod identity;
mod store;
#[cfg(test)]
mod tests;
mod warrant;
mod workspace;

pub use error::TrustError;
pub use store::{Held, TrustStore};
pub(crate) use warrant::Warrant;
pub use workspace::{Covered, Workspace, root_of};
pub(crate) use workspace::{below, project_of};
