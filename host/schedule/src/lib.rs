//! What may run beside what: the claims of calls, the waves of a batch, and the claims of a
//! workspace.
//!
//! A [`Claim`] says what a call needs while it runs. Two claims [conflict](Claim::conflict)
//! when what they name may meet and one of them writes. [`plan`] puts the calls of a batch
//! into waves, so that those that conflict never overlap and never change their order. The
//! [`ClaimTable`] is where calls of all sessions of a workspace wait for one another.
//!
//! Everything here is data and decides nothing about permission. What a file system has to
//! say is asked through [`Disk`]. Whatever is in doubt conflicts: two calls may wait for one
//! another without need, and never run side by side when they should not.

mod claim;
mod table;
mod wave;

pub use claim::{
    Access, Claim, ClaimError, Conflict, Disk, FileId, Found, Look, PATHS_MAX, PATTERN_BYTES_MAX, Pattern,
    Place,
};
pub use table::{CLAIMS_MAX, ClaimRefused, ClaimTable, Gauge, Held, Lock, Table, Ticket, Waiting};
pub use wave::{Placed, Plan, plan};
