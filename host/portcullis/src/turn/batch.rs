//! The calls of one answer of a model: which run side by side, and all their results.

use std::mem;
use std::pin::pin;
use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::{self, FuturesUnordered};
use portcullis_model::call::ToolCall;
use tokio::time::Instant;

use super::Turn;
use super::run::{Answer, Called};
use crate::error::RunError;
use crate::gate::{self, JudgedCall, Permit};
use crate::schedule::{BatchPlan, CLAIMS_TIME, Need, Volumes, need};

/// How many calls of a batch run at once.
const AT_ONCE: usize = 64;

/// How many plugins at once are asked what a call of theirs claims.
const ASKED_AT_ONCE: usize = 8;

impl Turn {
    /// Which of these calls may run side by side, and why the others wait: a call goes behind
    /// every earlier one that it conflicts with. A call that was refused has no permit, and
    /// so no place. Nothing runs, and no permit is used up; what the calls claim is of now.
    ///
    /// Plugins are asked what their tools claim, for at most 5 s together.
    pub fn plan<'t>(&'t self, permits: &[&Permit]) -> impl Future<Output = BatchPlan> + Send + use<'t> {
        let calls: Vec<Arc<JudgedCall>> = permits.iter().map(|permit| Arc::clone(permit.call())).collect();
        async move {
            let needs = self.needs(&calls).await;
            let plan = waves(&needs);
            BatchPlan::new(&calls, &needs, &plan)
        }
    }

    /// Runs a batch of permitted calls: in waves, those of one wave at the same time, as
    /// [`plan`](Self::plan) shows them. The answers are those of [`run`](Self::run), one for
    /// each permit and in their order. A call that fails keeps no other from running.
    ///
    /// When `cancelled` is ready, the calls that run are dropped, no other begins, and each
    /// without an answer is [`RunError::Cancelled`].
    pub async fn run_batch(&self, permits: Vec<Permit>, cancelled: impl Future<Output = ()>) -> Vec<Answer> {
        let mut cancelled = pin!(cancelled);
        let mut answers: Vec<Option<Answer>> = permits.iter().map(|_| None).collect();
        let mut permits: Vec<Option<Permit>> = permits.into_iter().map(Some).collect();
        let calls: Vec<_> = permits.iter().flatten().map(|permit| Arc::clone(permit.call())).collect();
        let run = async {
            let mut needs: Vec<Option<Need>> = Vec::new();
            let found = self.needs(&calls).await;
            let waves = waves(&found).waves();
            needs.extend(found.into_iter().map(Some));
            for (number, wave) in waves.into_iter().enumerate() {
                let begin = |at: usize| {
                    let permit = permits.get_mut(at).and_then(Option::take);
                    let need = needs.get_mut(at).and_then(Option::take);
                    // What ran before may have changed what the call means.
                    let ran =
                        permit.zip(need).map(|(permit, need)| self.run_claiming(permit, need, number > 0));
                    async move {
                        match ran {
                            Some(ran) => (at, ran.await),
                            None => (at, Err(RunError::Cancelled)),
                        }
                    }
                };
                let mut left = wave.into_iter().map(begin);
                let mut running: FuturesUnordered<_> = left.by_ref().take(AT_ONCE).collect();
                while let Some((at, answer)) = running.next().await {
                    if let Some(own) = answers.get_mut(at) {
                        *own = Some(answer);
                    }
                    running.extend(left.next());
                }
            }
        };
        // Whatever has an answer when both are ready keeps it.
        tokio::select! {
            biased;
            () = run => {}
            () = &mut cancelled => {}
        }
        answers.into_iter().map(|answer| answer.unwrap_or(Err(RunError::Cancelled))).collect()
    }

    /// Judges a batch of calls, one after the other, and runs those that are permitted, as
    /// [`run_batch`](Self::run_batch) does. There is an answer for each call, in the order in
    /// which the model made them.
    pub async fn call_batch(&self, calls: Vec<ToolCall>, cancelled: impl Future<Output = ()>) -> Vec<Called> {
        let mut cancelled = pin!(cancelled);
        let mut answers: Vec<Option<Called>> = Vec::with_capacity(calls.len());
        let mut permits: Vec<(usize, Permit)> = Vec::new();
        let mut is_over = false;
        for (at, call) in calls.into_iter().enumerate() {
            let judged = async {
                if let Some(unknown) = self.unknown(&call.tool) {
                    return Err(unknown);
                }
                let outcome = self.judge(call).await.outcome;
                outcome.map_err(|refusal| Called::failed("refused", refusal.reason.clone(), Some(refusal)))
            };
            let judged = if is_over {
                None
            } else {
                tokio::select! {
                    biased;
                    () = &mut cancelled => None,
                    judged = judged => Some(judged),
                }
            };
            is_over |= judged.is_none();
            answers.push(match judged {
                None => Some(Called::from(Err(RunError::Cancelled))),
                Some(Err(called)) => Some(called),
                Some(Ok(permit)) => {
                    permits.push((at, permit));
                    None
                }
            });
        }
        if is_over {
            return all(answers);
        }
        let (places, permits): (Vec<usize>, Vec<Permit>) = mem::take(&mut permits).into_iter().unzip();
        for (at, answer) in places.into_iter().zip(self.run_batch(permits, cancelled).await) {
            if let Some(own) = answers.get_mut(at) {
                *own = Some(answer.into());
            }
        }
        all(answers)
    }

    async fn needs(&self, calls: &[Arc<JudgedCall>]) -> Vec<Need> {
        let (disk, deadline) = (Volumes::default(), Instant::now() + CLAIMS_TIME);
        let disk = &disk;
        let asked = calls
            .iter()
            .cloned()
            .map(|call| async move { need(&call, gate::owner(&self.admitted, &call), disk, deadline).await });
        stream::iter(asked).buffered(ASKED_AT_ONCE).collect().await
    }
}

fn waves(needs: &[Need]) -> portcullis_schedule::Plan {
    portcullis_schedule::plan(needs.iter().map(|need| &need.claim))
}

/// A call that has no answer of its own was cancelled.
fn all(answers: Vec<Option<Called>>) -> Vec<Called> {
    answers.into_iter().map(|answer| answer.unwrap_or_else(|| Err(RunError::Cancelled).into())).collect()
}
