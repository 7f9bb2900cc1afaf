//! Commands that a person types, and skills.

use std::sync::Arc;

use portcullis::TextError;
use portcullis::command::mentions;
use portcullis::model::capability::CapabilityKind;
use serde_json::{Value, json};

use super::{Client, Work};
use crate::error::WireError;
use crate::parameter::Parameters;

/// `Turn::commands`.
pub(super) fn list(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.turn(&params.required("turn_id")?)?;
    params.end()?;
    let call = slot.call()?;
    Ok(Work::cancellable(async move {
        let commands = call.turn().await?.commands();
        let rows = commands.iter().map(|own| {
            let (name, description, arguments) = (&own.name, &own.description, &own.arguments);
            json!({ "name": name, "description": description, "arguments": arguments, "from": own.from })
        });
        Ok(json!({ "commands": rows.collect::<Value>() }).into())
    }))
}

/// `Turn::expand`.
pub(super) fn expand(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.turn(&params.required("turn_id")?)?;
    let name = params.required("name")?;
    let arguments = params.text("arguments")?.unwrap_or_default();
    params.end()?;
    let call = slot.call()?;
    Ok(Work::cancellable(async move {
        let turn = call.turn().await?;
        let mut answer = text(turn.expand(&name, &arguments, &slot.session.cwd).await);
        let pointed = answer.get("text").and_then(Value::as_str).map(mentions).unwrap_or_default();
        if let Some(answer) = answer.as_object_mut() {
            answer.insert("mentions".to_owned(), json!(pointed));
        }
        Ok(answer.into())
    }))
}

/// The skills among `Turn::capabilities`.
pub(super) fn skills(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.turn(&params.required("turn_id")?)?;
    params.end()?;
    let call = slot.call()?;
    Ok(Work::cancellable(async move {
        let all = call.turn().await?.capabilities().descriptors;
        let skills = all.iter().filter(|own| own.id.kind == CapabilityKind::Skill);
        let rows = skills.map(|own| {
            let said = &own.declaration;
            json!({ "name": own.id.name, "description": said.description, "serves": said.serves })
        });
        Ok(json!({ "skills": rows.collect::<Value>() }).into())
    }))
}

/// `Turn::skill`.
pub(super) fn load(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.turn(&params.required("turn_id")?)?;
    let name = params.required("name")?;
    params.end()?;
    let call = slot.call()?;
    Ok(Work::cancellable(async move { Ok(text(call.turn().await?.skill(&name).await).into()) }))
}

/// A text, or why there is none.
fn text(answer: Result<String, TextError>) -> Value {
    match answer {
        Ok(text) => json!({ "text": text, "error": null }),
        Err(error) => {
            json!({ "text": null, "error": { "code": error.code(), "message": error.to_string() } })
        }
    }
}
