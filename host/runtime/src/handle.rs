//! What a guest holds handles to.

#![allow(unreachable_pub, reason = "the generated bindings re-export these, which demands `pub`")]

use std::sync::Arc;

use crate::setup::{CallView, InvocationView, OccurrenceView};

/// A call.
pub struct CallHandle(pub(crate) Arc<dyn CallView>);

/// One script of a call: the call, and which one.
pub struct ScriptHandle(pub(crate) Arc<dyn CallView>, pub(crate) usize);

/// An event.
pub struct OccurrenceHandle(pub(crate) Arc<dyn OccurrenceView>);

/// A slash command.
pub struct InvocationHandle(pub(crate) Arc<dyn InvocationView>);
