//! Kiro CLI: Claude Code's payload with other names for tools, and no id for a
//! call. It cannot be made to ask.

use std::time::Duration;

use super::dialect::Dialect;

pub(super) static DIALECT: Dialect =
    Dialect { name: "kiro", waits: Duration::from_secs(60), ..Dialect::CLAUDE };
