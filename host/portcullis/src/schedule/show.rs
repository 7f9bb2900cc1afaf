//! The plan of a batch, for whoever looks at it.

use std::sync::Arc;

use portcullis_runtime::CallView as _;
use portcullis_schedule::{Access, Claim, Plan};
use serde::Serialize;

use super::need::Need;
use crate::gate::JudgedCall;

/// What of a batch runs side by side, and what waits for what.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct BatchPlan {
    /// The calls of each wave, by their places in the batch. Waves run one after the other.
    pub waves: Vec<Vec<usize>>,
    /// Each call, in the order of the batch.
    pub calls: Vec<PlannedCall>,
}

/// One call of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PlannedCall {
    /// Its id.
    pub id: String,
    /// The canonical name of its tool.
    pub tool: String,
    /// The number of its wave, from 0.
    pub wave: usize,
    /// What it claims.
    pub claim: ShownClaim,
    /// The place in the batch of an earlier call, of the wave before, that it waits for.
    pub behind: Option<usize>,
    /// Why it waits for that one.
    pub why: Option<String>,
}

/// What a call claims. Nothing of all: it touches no file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ShownClaim {
    /// It may write anything.
    pub exclusive: bool,
    /// It writes nothing, and does not say what it reads.
    pub read_only: bool,
    /// The paths that it reads, with everything below where `/**` is behind them.
    pub reads: Vec<String>,
    /// The paths that it writes.
    pub writes: Vec<String>,
    /// Why it is exclusive.
    pub because: Option<String>,
}

impl BatchPlan {
    /// Each call with what it needs, as `plan` has placed them.
    pub(crate) fn new(calls: &[Arc<JudgedCall>], needs: &[Need], plan: &Plan) -> Self {
        let planned = calls.iter().zip(needs).zip(&plan.calls).map(|((call, need), placed)| {
            let other = placed.behind.and_then(|at| needs.get(at));
            let why = other.and_then(|other| Some(other.claim.conflict(&need.claim)?.to_string()));
            PlannedCall {
                id: call.id().to_owned(),
                tool: call.canonical().to_owned(),
                wave: placed.wave,
                claim: ShownClaim::new(&need.claim, need.because.clone()),
                behind: placed.behind,
                why,
            }
        });
        Self { waves: plan.waves(), calls: planned.collect() }
    }
}

impl ShownClaim {
    fn new(claim: &Claim, because: Option<String>) -> Self {
        let named = |wanted| {
            let paths = claim.paths().filter(move |(access, _)| *access == wanted);
            paths.map(|(_, pattern)| pattern.to_string()).collect()
        };
        Self {
            exclusive: claim.is_exclusive(),
            read_only: claim.is_read_only(),
            reads: named(Access::Read),
            writes: named(Access::Write),
            because,
        }
    }
}
