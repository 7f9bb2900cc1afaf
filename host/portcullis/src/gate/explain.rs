//! One judgement, part by part, for a person who wants to know why.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_model::call::Effect;
use portcullis_model::judgement::{Refusal, RefuserKind};
use portcullis_model::limits::JUDGEMENT_TIME;
use portcullis_model::script::Script;
use portcullis_runtime::CallView as _;

use super::{Bench, Judged, Judgement, reason};

/// A judgement and how it came about. Every guard was asked, also those behind
/// one that refused.
#[derive(Debug)]
pub struct Explanation {
    /// The judgement, as [`Turn::judge`](crate::Turn::judge) gives it.
    pub judgement: Judgement,
    /// What was understood of the call; nothing when it could not be.
    pub call: Option<Understood>,
    /// What each part said, in the order in which they count.
    pub parts: Vec<Part>,
}

/// A call as the guards see it.
#[derive(Debug, Clone)]
pub struct Understood {
    /// The canonical name of the tool.
    pub tool: String,
    /// What it would do.
    pub effects: Vec<Effect>,
    /// Its scripts, taken apart.
    pub scripts: Vec<Script>,
}

/// What one part of the gate said.
#[derive(Debug, Clone)]
pub struct Part {
    /// `self-protection`, the guard's or the hook's name, `permissions`, or `paths of
    /// this run`.
    pub name: String,
    /// Its refusal, by decision or by fault; nothing when it does not object.
    pub refusal: Option<Refusal>,
    /// How long it took.
    pub took: Duration,
}

/// Asks every part about a call that was judged once more.
pub(crate) async fn explain(bench: Bench<'_>, judged: Judged) -> Explanation {
    let Some(call) = judged.call else {
        return Explanation { judgement: judged.judgement, call: None, parts: Vec::new() };
    };
    let mut parts = Vec::new();
    if let Some(protection) = bench.protection {
        let start = Instant::now();
        let refusal = protection.objection(&*call).map(reason::own);
        parts.push(Part { name: "self-protection".to_owned(), refusal, took: start.elapsed() });
    }
    for guard in bench.guards() {
        let start = Instant::now();
        let deadline = start + JUDGEMENT_TIME;
        let refusal = match guard.guard().before_tool_call(Arc::clone(&call) as _, deadline).await {
            Ok(None) => None,
            Ok(Some(refusal)) => Some(reason::refusal(guard, refusal)),
            Err(fault) => Some(reason::fault(guard, &fault)),
        };
        parts.push(Part { name: guard.info.name.to_string(), refusal, took: start.elapsed() });
    }
    // A hook is a program with effects of its own, and is not asked twice; the policy
    // is asked behind it.
    if let Err(refusal) = &judged.judgement.outcome {
        let name = match refusal.by.kind {
            RefuserKind::Hook => Some(refusal.by.name.clone()),
            RefuserKind::Policy => Some("permissions".to_owned()),
            RefuserKind::Path if refusal.code == "path/direct-write" => Some("paths of this run".to_owned()),
            RefuserKind::Guard
            | RefuserKind::Path
            | RefuserKind::Schema
            | RefuserKind::Standing
            | RefuserKind::Input => None,
        };
        let took = judged.judgement.took;
        parts.extend(name.map(|name| Part { name, refusal: Some(refusal.clone()), took }));
    }
    let understood = Understood {
        tool: call.canonical().to_owned(),
        effects: call.effects().to_vec(),
        scripts: call.scripts().to_vec(),
    };
    Explanation { judgement: judged.judgement, call: Some(understood), parts }
}
