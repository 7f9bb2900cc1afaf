//! Asking for consent.

use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::time::Duration;

use futures_util::FutureExt as _;
use portcullis_model::call::Effect;
use portcullis_model::fault::FaultKind;
use portcullis_model::judgement::Refusal;

use super::reason;

/// Whoever can be asked for consent: a person at a prompt, or a service that decides in
/// their place.
///
/// Asked once for each call that needs consent, and only when nothing else refuses the
/// call. Failing to answer, in whichever way, is no consent.
pub trait Approver: fmt::Debug + Send + Sync {
    /// Asks. The future is dropped when the time for an answer is over, and when
    /// nobody waits for the judgement any more.
    fn ask<'a>(
        &'a self,
        request: &'a ApprovalRequest<'a>,
    ) -> Pin<Box<dyn Future<Output = Approval> + Send + 'a>>;
}

/// What consent is wanted for.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalRequest<'a> {
    /// The agent's session.
    pub session_id: &'a str,
    /// The agent's id for the call.
    pub call_id: &'a str,
    /// The canonical name of the tool.
    pub tool: &'a str,
    /// The agent's own name for it.
    pub agent_tool: &'a str,
    /// The arguments, exactly as they will run, as JSON text.
    pub input: &'a str,
    /// The directory that the call runs in.
    pub cwd: &'a str,
    /// What the call would do.
    pub effects: &'a [Effect],
    /// Why consent is needed, in a sentence for a person.
    pub why: &'a str,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Approval {
    /// The call may run, this once.
    Granted,
    /// It must not, with the words for the model, if there are any.
    Refused(Option<String>),
    /// There is nobody to ask, and why.
    Unavailable(String),
}

/// Who is asked what, and for how long.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Question<'a> {
    pub(crate) approver: &'a dyn Approver,
    pub(crate) request: ApprovalRequest<'a>,
    pub(crate) time: Duration,
}

/// Asks; `unasked` is the refusal when there turns out to be nobody.
pub(crate) async fn ask(question: Question<'_>, unasked: Refusal) -> Result<(), Refusal> {
    let Question { approver, request, time } = question;
    let answer = AssertUnwindSafe(async { approver.ask(&request).await }).catch_unwind();
    match tokio::time::timeout(time, answer).await {
        Ok(Ok(Approval::Granted)) => Ok(()),
        Ok(Ok(Approval::Refused(words))) => Err(reason::not_granted(words.as_deref())),
        Ok(Ok(Approval::Unavailable(why))) => {
            tracing::warn!("nobody could be asked for consent: {why}");
            Err(unasked)
        }
        Ok(Err(_)) => Err(reason::no_answer(FaultKind::Internal, "what asks for it failed inside")),
        Err(_) => {
            let waited = format!("nobody answered within {} s", time.as_secs());
            Err(reason::no_answer(FaultKind::Timeout, &waited))
        }
    }
}
