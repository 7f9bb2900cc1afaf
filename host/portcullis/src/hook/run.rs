//! Asking everybody who listens to an event, in order.

use std::time::{Duration, Instant};

use portcullis_model::config::FailureMode;
use portcullis_model::fault::FaultKind;
use portcullis_model::name::PluginName;

use super::answer::Answer;
use super::handler::{Handler, Surroundings};
use super::{Event, Occasion};

/// All hooks of an event together have this long, or as long as the one that may take
/// the longest, when that is more.
pub(crate) const TOGETHER: Duration = Duration::from_secs(60);

/// What all hooks say together.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outcome {
    /// Who blocked first.
    pub(crate) blocked: Option<Blocked>,
    /// Who was asked, in order, and what came of it.
    pub(crate) runs: Vec<HookRun>,
}

/// One hook that was asked, for whoever shows what happens. No entry of the ledger is
/// made of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookRun {
    /// The hook's name.
    pub hook: String,
    /// What it said.
    pub said: HookSaid,
    /// How long it took.
    pub took: Duration,
}

/// What a hook said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HookSaid {
    /// Nothing.
    NoOpinion,
    /// That it does not object, which grants nothing.
    Approved,
    /// That it objects.
    Blocked,
    /// It failed to answer, in this way. Whether that blocks is up to its failure mode.
    Failed(String),
}

/// A hook that blocks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Blocked {
    /// The hook's name.
    pub(crate) hook: String,
    /// The plugin that it belongs to; none for a script.
    pub(crate) plugin: Option<PluginName>,
    /// When.
    pub(crate) event: Event,
    /// Its reason, or how it failed.
    pub(crate) reason: String,
    /// How it failed to answer, when it did not decide.
    pub(crate) fault: Option<FaultKind>,
}

/// How hooks are asked.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Asking<'a> {
    /// What programs are started with.
    pub(crate) surroundings: &'a Surroundings,
    /// The time for all of them.
    pub(crate) together: Duration,
    /// No failure blocks, whatever the failure mode is.
    pub(crate) failures_pass: bool,
}

/// Asks those of `handlers` that `occasion` is for, in order, up to the first that
/// blocks.
pub(crate) async fn ask_all<'h>(
    handlers: impl IntoIterator<Item = Handler<'h>>,
    occasion: &Occasion,
    asking: Asking<'_>,
) -> Outcome {
    let meant: Vec<_> = handlers.into_iter().filter(|handler| handler.is_about(occasion)).collect();
    let longest = meant.iter().map(Handler::time).max().unwrap_or_default();
    let deadline = Instant::now() + asking.together.max(longest);
    let mut outcome = Outcome::default();
    for handler in meant {
        let start = Instant::now();
        let left = deadline.saturating_duration_since(start);
        let answer = if left.is_zero() {
            let what = "the time for all hooks of an event together was over";
            Answer::Failed(FaultKind::Timeout, what.to_owned())
        } else {
            handler.ask(occasion, asking.surroundings, handler.time().min(left)).await
        };
        let run = HookRun { hook: handler.name(occasion.event), said: said(&answer), took: start.elapsed() };
        tell(occasion.event, &run);
        let blocks = blocks(answer, handler.failure_mode())
            .filter(|(_, fault)| fault.is_none() || !asking.failures_pass);
        outcome.blocked = blocks.map(|(reason, fault)| Blocked {
            hook: run.hook.clone(),
            plugin: handler.plugin().cloned(),
            event: occasion.event,
            reason,
            fault,
        });
        outcome.runs.push(run);
        if outcome.blocked.is_some() {
            break;
        }
    }
    outcome
}

/// The reason, when this answer blocks.
fn blocks(answer: Answer, mode: FailureMode) -> Option<(String, Option<FaultKind>)> {
    match answer {
        Answer::NoOpinion | Answer::Approve => None,
        Answer::Block(reason) => Some((reason, None)),
        Answer::TooDeep(how) => Some((how, Some(FaultKind::Resource))),
        Answer::Failed(kind, how) => (mode == FailureMode::Closed).then_some((how, Some(kind))),
    }
}

fn said(answer: &Answer) -> HookSaid {
    match answer {
        Answer::NoOpinion => HookSaid::NoOpinion,
        Answer::Approve => HookSaid::Approved,
        Answer::Block(_) => HookSaid::Blocked,
        Answer::Failed(_, how) | Answer::TooDeep(how) => HookSaid::Failed(how.clone()),
    }
}

/// A run is a live event, and no entry of the ledger.
fn tell(event: Event, run: &HookRun) {
    let HookRun { hook, said, took } = run;
    match said {
        HookSaid::Failed(how) => tracing::warn!(%event, hook, ?took, "a hook failed: {how}"),
        HookSaid::NoOpinion | HookSaid::Approved | HookSaid::Blocked => {
            tracing::debug!(%event, hook, ?took, ?said, "a hook was asked");
        }
    }
}
