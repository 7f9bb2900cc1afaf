//! What the gate decided, as data.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::fault::FaultKind;

/// May the call run?
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nobody objects.
    Allow,
    /// Nobody objects, and the user is to be asked.
    Ask,
    /// It must not run.
    Block,
}

impl Verdict {
    /// The stable word for programs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Block => "block",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which step of the gate refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RefuserKind {
    /// A plugin's guard.
    Guard,
    /// A pre-tool-use hook.
    Hook,
    /// The operator's policy.
    Policy,
    /// A protected path.
    Path,
    /// The tool's schema.
    Schema,
    /// A plugin that cannot judge, and refuses everything until that is mended.
    Standing,
    /// The call itself could not be understood.
    Input,
}

/// Who refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RefusedBy {
    /// Which step of the gate.
    pub kind: RefuserKind,
    /// The guard's, hook's or file's name; the tool's for `schema` and `input`.
    pub name: String,
}

/// Why a call must not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// Who refused.
    pub by: RefusedBy,
    /// A stable word such as `guard/rm` or `fault/timeout`.
    pub code: String,
    /// None for a decision; the failure's class for a fault.
    pub fault: Option<FaultKind>,
    /// What the model is told.
    pub reason: String,
}

/// The gate's answer as the wire has it: one line of `check`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JudgementWire {
    /// The call's id.
    pub id: String,
    /// May it run?
    pub verdict: Verdict,
    /// Who refused; none when nobody did.
    pub by: Option<RefusedBy>,
    /// The refusal's stable word.
    pub code: Option<String>,
    /// The failure's class when the refusal is no decision.
    pub fault: Option<FaultKind>,
    /// What the model is told.
    pub reason: Option<String>,
    /// True when the call runs without asking the user because its plugin says
    /// so of its own tool.
    pub auto_approved: bool,
    /// How long the judgement took, in microseconds.
    pub micros: u64,
}
