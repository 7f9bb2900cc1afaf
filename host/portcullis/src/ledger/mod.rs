//! The ledger: what was decided, for those who come later.
//!
//! One line of JSON for each judgement that refused, each fault, and each change
//! of what decides; `docs/reference/ledger.md` has the fields. Lines are only ever
//! added. Each holds the digest of the line before, so [`verify`] finds a line that
//! was changed, taken out or moved.

mod chain;
mod entry;
mod epoch;
mod error;
mod files;
mod reader;
mod redact;
mod tail;
mod verify;
mod writer;

#[cfg(test)]
mod tests;

pub use chain::SCHEMA;
pub(crate) use entry::CAPABILITIES_MAX;
pub(crate) use entry::Prepared;
pub use entry::{ChangesEntry, Entry, EntryKind, LINE_MAX, PluginEntry, TornBytes};
pub(crate) use epoch::{Configured, Epoch};
pub use error::LedgerError;
pub use reader::{Record, read};
pub use redact::REDACTED;
pub(crate) use redact::Redactor;
pub use verify::{Break, BreakKind, Mark, Spot, Verified, verify};
pub use writer::{LOCK_WAIT, Ledger, LedgerOptions, stamp};
