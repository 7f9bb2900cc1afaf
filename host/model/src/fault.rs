//! The ways in which a guest, or the host in its stead, can fail to answer.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The class of a failure. Each of them refuses the call that it happened on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// The guest trapped: `unreachable`, a panic, a bad index, stack overflow,
    /// or a host function that it called went wrong.
    Trap,
    /// No answer within the deadline.
    Timeout,
    /// Linear memory or tables would have grown past their limit.
    Memory,
    /// It answered, but not with a verdict: the error case, a text that cannot
    /// be lifted, or one that is far too long.
    BadVerdict,
    /// The component could not be read, compiled, matched to the contract or
    /// instantiated.
    Load,
    /// The host ran out of instances, threads, descriptors or memory.
    Resource,
    /// The call is larger than the limit.
    TooBig,
    /// The call could not be understood.
    BadInput,
    /// The host itself failed.
    Internal,
}

impl FaultKind {
    /// Every kind, for tables and tests.
    pub const ALL: [Self; 9] = [
        Self::Trap,
        Self::Timeout,
        Self::Memory,
        Self::BadVerdict,
        Self::Load,
        Self::Resource,
        Self::TooBig,
        Self::BadInput,
        Self::Internal,
    ];

    /// The stable word for programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Trap => "trap",
            Self::Timeout => "timeout",
            Self::Memory => "memory",
            Self::BadVerdict => "bad-verdict",
            Self::Load => "load",
            Self::Resource => "resource",
            Self::TooBig => "too-big",
            Self::BadInput => "bad-input",
            Self::Internal => "internal",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A guest's misbehaviour: never a decision, always a refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {detail}")]
pub struct Fault {
    /// Its class.
    pub kind: FaultKind,
    /// What happened, for the operator. Holds no host path.
    pub detail: String,
}

impl Fault {
    /// A fault of `kind`.
    #[must_use]
    pub fn new(kind: FaultKind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}
