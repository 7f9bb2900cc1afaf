//! Tools that plugins and extensions bring.

use std::collections::BTreeSet;
use std::sync::Arc;

use portcullis::model::call::ToolCall;
use portcullis::model::capability::Domain;
use portcullis::model::fault::FaultKind;
use portcullis::model::input::Input;
use portcullis::model::judgement::Verdict;
use portcullis::surface::{FIND_TOOLS, Reading, Surface};
use portcullis::{Called, RunError};
use serde_json::{Value, json};

use super::call::read;
use super::{Client, Work};
use crate::answer;
use crate::error::WireError;
use crate::parameter::{Parameters, wrong};
use crate::state::TurnCall;

/// `Turn::surface`.
pub(super) fn list(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.turn(&params.required("turn_id")?)?;
    let defers = params.flag("provider_defers")?.unwrap_or(false);
    params.end()?;
    let call = slot.call()?;
    Ok(Work::cancellable(async move {
        let surface = call.turn().await?.surface();
        Ok(shown(&surface, defers).into())
    }))
}

/// What a turn is about.
pub(super) fn reading(mut params: Parameters) -> Result<Reading, WireError> {
    let needs = params.texts("needs")?.unwrap_or_default();
    let cards = params.texts("cards")?.unwrap_or_default();
    params.end()?;
    Ok(Reading { needs: needs.into_iter().map(Domain::from).collect(), cards: BTreeSet::from_iter(cards) })
}

/// The tools as the next request has them.
fn shown(surface: &Surface, provider_defers: bool) -> Value {
    let deferred: Vec<_> = surface.deferred().map(|tool| &tool.name).collect();
    json!({
        "definitions": surface.definitions(provider_defers),
        "deferred": deferred,
        "catalogue": surface.catalogue(),
        "misreads": surface.misreads(),
    })
}

/// `Turn::call` of `find_tools`, and the tools as they are shown then.
pub(super) fn find(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.turn(&params.required("turn_id")?)?;
    let query = params.required("query")?;
    let id = params.text("id")?.unwrap_or_default();
    let defers = params.flag("provider_defers")?.unwrap_or(false);
    params.end()?;
    let input =
        Input::from_value(json!({ "query": query })).map_err(|error| wrong("query", error.to_string()))?;
    let (cwd, session_id) = (slot.session.cwd.clone(), slot.session.session.id().to_owned());
    let asked = ToolCall { id, tool: FIND_TOOLS.to_owned(), input, cwd, session_id };
    let call = slot.call()?;
    let client = Arc::clone(client);
    Ok(Work::cancellable(async move {
        let mut result = called(&client, &call, asked).await?;
        let surface = call.turn().await?.surface();
        if let Some(result) = result.as_object_mut() {
            result.insert("tools".to_owned(), shown(&surface, defers));
        }
        Ok(result.into())
    }))
}

/// `Turn::run`, with a permit of this turn; or `Turn::call`, which judges before it.
pub(super) fn call(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.turn(&params.required("turn_id")?)?;
    if let Some(name) = params.name("permit")? {
        params.end()?;
        let call = slot.call()?;
        // Whatever becomes of this request, the name works no second time.
        let permit = client.state.redeem(&slot.id, &name)?;
        return Ok(Work::cancellable(async move {
            let ran = call.turn().await?.run(permit).await;
            Ok(match ran {
                Ok(Ok(output)) => json!({ "output": answer::output(&output), "error": null }),
                Ok(Err(own)) => json!({ "output": failed(&own), "error": null }),
                Err(error) => not_run(&error),
            }
            .into())
        }));
    }
    let asked = read(&mut params, &slot)?;
    params.end()?;
    let call = slot.call()?;
    let client = Arc::clone(client);
    Ok(Work::cancellable(async move { Ok(called(&client, &call, asked).await?.into()) }))
}

/// A tool that fails is a result, which the model reads.
fn failed(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "is_error": true })
}

fn not_run(error: &RunError) -> Value {
    json!({ "output": failed(&error.to_string()), "error": { "code": error.code(), "refusal": null } })
}

async fn called(client: &Client, call: &TurnCall, asked: ToolCall) -> Result<Value, WireError> {
    let (id, tool) = (asked.id.clone(), asked.tool.clone());
    let called = call.turn().await?.call(asked).await;
    tell(client, call, (&id, &tool), &called);
    let error = called
        .error
        .as_ref()
        .map(|error| json!({ "code": error.code, "refusal": error.refusal.as_ref().map(answer::refusal) }));
    Ok(json!({ "output": answer::output(&called.output), "error": error }))
}

/// Tells whoever wants to hear of it how the call was judged, if it was.
fn tell(client: &Client, call: &TurnCall, (id, tool): (&str, &str), called: &Called) {
    let refusal = called.error.as_ref().and_then(|error| error.refusal.as_ref());
    let code = called.error.as_ref().map(|error| error.code.as_str());
    // What failed while it ran was allowed; what nobody brings was not judged at all.
    let ran = code.is_none_or(|code| {
        code == "unavailable" || FaultKind::ALL.iter().any(|fault| fault.as_str() == code)
    });
    if refusal.is_none() && !ran {
        return;
    }
    client.server.tell(|| {
        let verdict = if refusal.is_some() { Verdict::Block } else { Verdict::Allow };
        let mut told = refusal.map_or_else(
            || json!({ "by": null, "code": null, "fault": null, "reason": null }),
            answer::refusal,
        );
        if let Some(told) = told.as_object_mut() {
            let slot = call.slot();
            told.insert("id".to_owned(), json!(id));
            told.insert("verdict".to_owned(), json!(verdict));
            told.insert("session_id".to_owned(), json!(slot.session.session.id()));
            told.insert("turn_id".to_owned(), json!(slot.id));
            told.insert("tool".to_owned(), json!(tool));
        }
        told
    });
}
