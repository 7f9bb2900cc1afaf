//! Turns.

use std::sync::Arc;

use portcullis::Stopped;
use serde_json::{Value, json};

use super::{Client, Work, tool};
use crate::answer;
use crate::error::WireError;
use crate::parameter::Parameters;
use crate::state::{Ending, TurnSlot};

/// `Session::turn`, and `Turn::prompt` when there is one.
pub(super) fn begin(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let session = client.state.session(&params.required("session_id")?)?;
    let own = params.name("turn_id")?;
    let prompt = params.text("prompt")?;
    let reading = params.object("reading")?.map(tool::reading).transpose()?;
    params.end()?;
    let slot = client.state.begin(own, session, reading, client.server.limits())?;
    let call = slot.call()?;
    Ok(Work::through(async move {
        let step = Ending(Arc::clone(&slot));
        AsRef::as_ref(&*slot.session).wait().await;
        let told = match prompt {
            None => Value::Null,
            Some(text) => {
                let turn = call.unbegun()?;
                answer::told(&turn.prompt(&slot.session.cwd, &text).await, answer::prompted)
            }
        };
        drop(step);
        Ok(json!({ "turn_id": slot.id, "prompt": told }).into())
    }))
}

/// `Turn::standing`.
pub(super) fn standing(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.turn(&params.required("turn_id")?)?;
    params.end()?;
    let call = slot.call()?;
    Ok(Work::cancellable(async move {
        let turn = call.turn().await?;
        let section = turn.standing().await;
        let parts = section.parts.iter().map(|(part, tokens)| json!({ "part": part, "tokens": tokens }));
        let (epoch, parts) = (turn.epoch(), parts.collect::<Value>());
        Ok(json!({ "text": section.text, "tokens": section.tokens, "parts": parts, "counts": section.counts, "epoch": epoch }).into())
    }))
}

/// `Turn::subagent_stop`.
pub(super) fn subagent_stop(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.turn(&params.required("turn_id")?)?;
    let words = params.text("words")?;
    params.end()?;
    let call = slot.call()?;
    Ok(Work::through(async move {
        let told = call.turn().await?.subagent_stop(&slot.session.cwd, words.as_deref()).await;
        Ok(answer::told(&told, answer::stopped).into())
    }))
}

/// `Turn::stop`, unless it is not wanted; and `Turn::end`, unless a hook sends the agent on.
pub(super) fn end(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.turn(&params.required("turn_id")?)?;
    let words = params.text("words")?;
    let stop = params.flag("stop")?.unwrap_or(true);
    params.end()?;
    slot.begin_to_end()?;
    let client = Arc::clone(client);
    Ok(Work::through(async move {
        let turn = slot.quiet().await.ok_or(WireError::Internal)?;
        let mut result = json!({ "outcome": "ends", "refusal": null, "hooks": [] });
        if stop {
            let told = turn.stop(&slot.session.cwd, words.as_deref()).await;
            result = answer::told(&told, answer::stopped);
            // A session that was closed meanwhile takes its turns along.
            if matches!(told.outcome, Stopped::GoesOn(_)) && client.state.is_open(&slot.session) {
                slot.goes_on();
                return Ok(result.into());
            }
        }
        drop(turn);
        let failed = taken(&client, &slot).await;
        if let Some(result) = result.as_object_mut() {
            result.insert("failed".to_owned(), failed);
        }
        Ok(result.into())
    }))
}

/// Ends a turn whose client has no more to say, once its calls have ended.
pub(super) async fn finish(client: &Client, slot: &Arc<TurnSlot>) {
    match slot.begin_to_end() {
        Ok(()) => {
            drop(slot.quiet().await);
            taken(client, slot).await;
        }
        Err(_) => slot.end().await,
    }
}

async fn taken(client: &Client, slot: &Arc<TurnSlot>) -> Value {
    client.state.forget_turn(slot);
    let failed = match slot.take() {
        Some(turn) => answer::failed(&turn.end().await),
        None => json!([]),
    };
    slot.has_ended();
    failed
}
