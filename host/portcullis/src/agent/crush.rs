//! Crush: Claude Code's payload, with the event's name in `event`.
//!
//! It replaces arguments that are no JSON with an empty object before it asks,
//! which the gate refuses for every tool that needs any. It cannot be made to
//! ask.

use super::dialect::{Dialect, Names, SHORT};
use super::event::Moment;

pub(super) static DIALECT: Dialect = Dialect {
    name: "crush",
    waits: SHORT,
    // It knows no other.
    events: &[("PreToolUse", Moment::PreToolUse)],
    names: Names { event: "event", ..Dialect::CLAUDE.names },
    ..Dialect::CLAUDE
};
