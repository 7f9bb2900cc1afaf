//! Factory Droid: Claude Code's payload with other names for tools. It cannot be
//! made to ask.

use super::dialect::Dialect;

pub(super) static DIALECT: Dialect = Dialect { name: "droid", ..Dialect::CLAUDE };
