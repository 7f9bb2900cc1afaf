//! Refuses tool calls.

use core::mem::ManuallyDrop;

use crate::bindings::guard::exports::portcullis::guard::guard as wire;
use crate::bindings::host::call::ToolCall;
use crate::{Call, Error, Plugin, plugin::Adapter};

/// What a guard answers: no objection, a refusal, or that it could not judge.
pub type Verdict = Result<Option<Refusal>, Error>;

/// A plugin that can refuse a tool call.
pub trait Guard: Plugin {
    /// Judges a call before it runs. `Ok(None)` raises no objection. A refusal
    /// ends the call; so do an error, a panic, and a deadline that is missed.
    ///
    /// # Errors
    ///
    /// When the guard cannot judge.
    fn before_tool_call(call: &Call<'_>) -> Verdict;
}

/// Why a call may not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    code: String,
    reason: String,
}

impl Refusal {
    /// A refusal with a reason for the model, at most 4 KiB. The host says who
    /// refused, so the text need not.
    #[must_use]
    pub fn new(reason: impl Into<String>) -> Self {
        Self { code: String::new(), reason: reason.into() }
    }

    /// A short word that stays the same from release to release, such as `rm`.
    /// The host puts the plugin's name before it.
    #[must_use]
    pub fn code(mut self, code: impl Into<String>) -> Self {
        self.code = code.into();
        self
    }

    /// What the model is told.
    #[must_use]
    pub fn reason(&self) -> &str {
        &self.reason
    }

    /// The word for programs; may be empty.
    #[must_use]
    pub fn code_word(&self) -> &str {
        &self.code
    }
}

impl<P: Guard> wire::Guest for Adapter<P> {
    fn before_tool_call(call: &ToolCall) -> Result<Option<wire::Refusal>, String> {
        // The instance is thrown away whole, so nobody takes what was asked for apart again.
        let call = ManuallyDrop::new(Call::from(call));
        match P::before_tool_call(&call) {
            Ok(None) => Ok(None),
            Ok(Some(Refusal { code, reason })) => Ok(Some(wire::Refusal { code, reason })),
            Err(error) => Err(error.into_text()),
        }
    }
}
