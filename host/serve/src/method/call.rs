//! Calls that the agent makes by itself.

use std::sync::Arc;

use portcullis::model::call::ToolCall;
use portcullis::model::input::{Input, InputError};
use portcullis::model::limits::INPUT_MAX;
use portcullis::{Judgement, Permit};
use serde_json::{Value, json};

use super::{Client, Reply, Work};
use crate::answer;
use crate::error::WireError;
use crate::note::Note;
use crate::parameter::{Parameters, wrong};
use crate::state::{TurnCall, TurnSlot};

/// The call that these parameters tell of.
pub(super) fn read(params: &mut Parameters, slot: &TurnSlot) -> Result<ToolCall, WireError> {
    let tool = params.required("tool")?;
    let input = params.any("input").ok_or_else(|| wrong("input", "is missing"))?;
    let id = params.text("id")?.unwrap_or_default();
    let cwd = params.text("cwd")?.unwrap_or_else(|| slot.session.cwd.clone());
    let input = Input::from_value(input).map_err(|error| match error {
        InputError::TooBig { size } => WireError::InputTooBig { size, max: INPUT_MAX },
        InputError::NotJson(why) => wrong("input", why),
    })?;
    Ok(ToolCall { id, tool, input, cwd, session_id: slot.session.session.id().to_owned() })
}

/// `Turn::judge`, told to whoever wants to hear of it.
async fn judged(client: &Client, call: &TurnCall, asked: ToolCall) -> Result<Judgement, WireError> {
    let tool = asked.tool.clone();
    let judgement = call.turn().await?.judge(asked).await;
    client.server.tell(|| {
        let mut told = answer::judgement(&judgement);
        if let Some(told) = told.as_object_mut() {
            let slot = call.slot();
            told.insert("session_id".to_owned(), json!(slot.session.session.id()));
            told.insert("turn_id".to_owned(), json!(slot.id));
            told.insert("tool".to_owned(), json!(tool));
        }
        told
    });
    Ok(judgement)
}

/// `Turn::judge`. The permit stays here, under a name that works once.
pub(super) fn before(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.turn(&params.required("turn_id")?)?;
    let asked = read(&mut params, &slot)?;
    params.end()?;
    let call = slot.call()?;
    let client = Arc::clone(client);
    Ok(Work::cancellable(async move {
        let note = Note {
            session: Some(asked.session_id.clone()),
            call: asked.id.clone(),
            tool: asked.tool.clone(),
        };
        let judgement = judged(&client, &call, asked).await?;
        let mut result = answer::judgement(&judgement);
        let mut allows = None;
        let permit = match judgement.outcome {
            Ok(permit) => {
                allows = Some(note);
                kept(&client, &slot, permit)
            }
            Err(_) => Value::Null,
        };
        if let Some(result) = result.as_object_mut() {
            result.insert("permit".to_owned(), permit);
        }
        Ok(Reply { result, allows })
    }))
}

fn kept(client: &Client, slot: &TurnSlot, permit: Permit) -> Value {
    let (tool, digest) = (permit.tool().to_owned(), answer::hex(permit.digest()));
    let id = client.state.keep(&slot.id, permit, client.server.limits());
    json!({ "id": id, "tool": tool, "digest": digest })
}

/// `Turn::ran`.
pub(super) fn after(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.turn(&params.required("turn_id")?)?;
    let asked = read(&mut params, &slot)?;
    let output = params.required("output")?;
    params.end()?;
    let call = slot.call()?;
    Ok(Work::cancellable(async move {
        let told = call.turn().await?.ran(asked, &output).await;
        Ok(answer::told(&told, answer::ran).into())
    }))
}
