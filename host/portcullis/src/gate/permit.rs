//! The one thing that lets a call run.

use std::fmt;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::gate::JudgedCall;

/// Every guard was asked about this call, and none objected.
///
/// A permit cannot be made or copied outside the gate, and holds the very
/// arguments that were judged, so what runs is what was shown to the guards.
pub struct Permit {
    call: Arc<JudgedCall>,
    digest: [u8; 32],
    auto_approved: bool,
}

impl Permit {
    pub(super) fn new(call: Arc<JudgedCall>, auto_approved: bool) -> Self {
        Self { digest: digest(&call), call, auto_approved }
    }

    /// The canonical tool name.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.call.canonical()
    }

    /// The arguments that were judged, as JSON text.
    #[must_use]
    pub fn input(&self) -> &str {
        self.call.input_text()
    }

    /// SHA-256 over the tool, the arguments and the directory that were judged.
    #[must_use]
    pub const fn digest(&self) -> &[u8; 32] {
        &self.digest
    }

    /// True when these are the arguments that the permit was given for. An agent
    /// loop that keeps its own copy of a call asks this before it runs it.
    #[must_use]
    pub fn covers(&self, tool: &str, input: &str, cwd: &str) -> bool {
        digest_of(tool, input, cwd) == self.digest
    }

    /// True when the tool's own plugin says that the user need not be asked.
    #[must_use]
    pub const fn is_auto_approved(&self) -> bool {
        self.auto_approved
    }

    pub(crate) const fn call(&self) -> &Arc<JudgedCall> {
        &self.call
    }
}

impl fmt::Debug for Permit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit")
            .field("tool", &self.tool())
            .field("auto_approved", &self.auto_approved)
            .finish()
    }
}

fn digest(call: &JudgedCall) -> [u8; 32] {
    digest_of(call.agent_tool(), call.input_text(), call.cwd_text())
}

fn digest_of(tool: &str, input: &str, cwd: &str) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [tool, input, cwd] {
        // The length keeps two different calls from running together into one text.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hash.finalize().into()
}
