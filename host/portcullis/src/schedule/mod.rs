//! Which calls may run beside which: what each of them claims, and the table of the
//! workspace where they wait for one another.
//!
//! The rules are in `portcullis-schedule`; here they meet calls, their effects and the disk.
//! A call of which nobody can say what it touches claims everything.

mod disk;
mod need;
mod script;
mod seen;
mod show;
mod within;

pub(crate) use disk::Volumes;
pub(crate) use need::{CLAIMS_TIME, Need, need};
pub(crate) use seen::{Glance, Seen};
pub use show::{BatchPlan, PlannedCall, ShownClaim};
pub use within::Within;

/// How long a call waits for those that it conflicts with.
pub const CLAIM_WAIT: std::time::Duration = std::time::Duration::from_secs(600);
