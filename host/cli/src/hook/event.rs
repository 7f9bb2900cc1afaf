//! Every event but the one before a call: the hooks are asked, and an objection is said
//! in the agent's words where it counts.

use portcullis::agent::{Agent, Ending, HookAnswer, HookEvent, HookRequest};
use portcullis::model::judgement::Refusal;
use portcullis::{Host, Noted, Prompted, Ran, Session, Started, Stopped};

use super::failure as unjudged;
use crate::args::Common;
use crate::environment::Environment;
use crate::open;

pub(super) fn answer(
    agent: Agent,
    common: &Common,
    environment: &Environment,
    request: &HookRequest,
) -> anyhow::Result<HookAnswer> {
    let mut options = open::options(common, environment, Some(&request.cwd))?;
    options.ledger = open::ledger(common, environment, Some(agent.as_str()));
    let forgetful = options.store_dir.is_none();
    let refusal = open::block_on(async {
        let session = Host::open(options).await?.session(request.session_id.clone());
        anyhow::Ok(objection(&session, request).await)
    })??;
    let Some(Refusal { mut reason, .. }) = refusal else { return Ok(request.no_objection()) };
    if forgetful && matches!(request.event, HookEvent::SessionStart) {
        // The next process cannot know of it, and refuses.
        reason.push_str(" There is no place to remember this, so every call is refused until there is one; HOME tells where.");
    }
    Ok(said(agent, request, &reason))
}

/// An objection, in words that are so in this agent.
fn said(agent: Agent, request: &HookRequest, reason: &str) -> HookAnswer {
    let prompt = matches!(request.event, HookEvent::PromptSubmit { .. });
    if prompt && !request.heeds_objection() {
        return request.objection(&handed_on(agent, reason));
    }
    request.objection(reason)
}

/// What the hooks have against the event.
async fn objection(session: &Session, request: &HookRequest) -> Option<Refusal> {
    let cwd = request.cwd.as_str();
    match &request.event {
        HookEvent::SessionStart => match session.start(cwd).await.outcome {
            Started::Open => None,
            Started::Refused(refusal) => Some(refusal),
        },
        HookEvent::PromptSubmit { prompt } => {
            match session.part_of_turn(true).prompt(cwd, prompt).await.outcome {
                Prompted::HandedOn => None,
                Prompted::Withheld(refusal) => Some(refusal),
            }
        }
        HookEvent::PostToolUse { call, output, .. } => {
            match session.part_of_turn(false).ran((**call).clone(), output).await.outcome {
                Ran::Stands => None,
                Ran::Annotated(refusal) => Some(refusal),
            }
        }
        HookEvent::SubagentStop(ending) => {
            let turn = session.part_of_turn(is_first(ending));
            goes_on(request, turn.subagent_stop(cwd, ending.words.as_deref()).await.outcome).0
        }
        HookEvent::Stop(ending) => {
            let turn = session.part_of_turn(is_first(ending));
            let (refusal, ends) = goes_on(request, turn.stop(cwd, ending.words.as_deref()).await.outcome);
            // Once, and only when it is over.
            if ends {
                turn.end().await;
            }
            refusal
        }
        HookEvent::PreCompact => noted(session.compact(cwd).await.outcome),
        HookEvent::SessionEnd => noted(session.end(cwd).await.outcome),
        HookEvent::PreToolUse(_) | HookEvent::Other(_) => None,
    }
}

/// Whether the agent says that its answer comes to an end for the first time. One that
/// does not say is counted.
fn is_first(ending: &Ending) -> bool {
    ending.again == Some(false)
}

/// What is said of the end of an answer, and whether it ends all the same.
fn goes_on(request: &HookRequest, stopped: Stopped) -> (Option<Refusal>, bool) {
    match stopped {
        Stopped::Ends => (None, true),
        // Where nobody can be sent on, it is told.
        Stopped::GoesOn(refusal) => (Some(refusal), !request.heeds_objection()),
        Stopped::AtTheLimit(refusal) => {
            let reason = &refusal.reason;
            tracing::warn!("the agent has gone on as often as it may, and ends: {reason}");
            (None, true)
        }
    }
}

/// What is told of a prompt that this agent hands on whatever a hook says.
fn handed_on(agent: Agent, reason: &str) -> String {
    let begins = format!("{agent} hands this prompt on all the same");
    let by = reason.strip_prefix("The prompt was not handed on, by ");
    let because = reason.strip_prefix("The prompt was not handed on, because ");
    match (by, because) {
        (Some(rest), _) => format!("{begins}, against {rest}"),
        (None, Some(rest)) => format!("{begins}, although {rest}"),
        (None, None) => format!("{begins}. {reason}"),
    }
}

fn noted(noted: Noted) -> Option<Refusal> {
    match noted {
        Noted::Fine => None,
        Noted::Objected(refusal) => Some(refusal),
    }
}

/// The answer when nobody could ask the hooks. A prompt is withheld, because one of them
/// could have withheld it, and with a result it is told. Nothing else is kept from
/// going on: an agent that is not let end its answer would try for ever.
pub(super) fn failure(agent: Agent, request: &HookRequest, what: &str, way_out: &str) -> HookAnswer {
    let told =
        |begins: &str| format!("{begins}, because Portcullis could not ask its hooks: {what}. {way_out}");
    match &request.event {
        HookEvent::PreToolUse(_) => unjudged(agent, what, way_out),
        HookEvent::PromptSubmit { .. } => said(agent, request, &told("The prompt was not handed on")),
        HookEvent::PostToolUse { .. } => request.objection(&told("This result was not looked at")),
        HookEvent::SessionStart
        | HookEvent::SubagentStop(_)
        | HookEvent::Stop(_)
        | HookEvent::PreCompact
        | HookEvent::SessionEnd
        | HookEvent::Other(_) => {
            tracing::error!("the hooks were not asked: {what}");
            request.no_objection()
        }
    }
}
