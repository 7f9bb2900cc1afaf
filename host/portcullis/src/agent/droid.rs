//! Factory Droid: Claude Code's payload with other names for tools. It cannot be
//! made to ask.

use super::claude;
use super::dialect::{Dialect, SHORT};

pub(super) static DIALECT: Dialect =
    Dialect { name: "droid", waits: SHORT, objects: claude::follower, ..Dialect::CLAUDE };
