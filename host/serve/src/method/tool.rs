//! Tools that plugins bring.

use std::sync::Arc;

use portcullis::{Permit, RunError};
use serde_json::{Value, json};

use super::call::{judged, read};
use super::{Client, Work};
use crate::answer;
use crate::error::WireError;
use crate::parameter::Parameters;
use crate::state::TurnCall;

/// `Turn::run`, with a permit of this turn; or `Turn::judge` before it.
pub(super) fn call(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.turn(&params.required("turn_id")?)?;
    if let Some(name) = params.name("permit")? {
        params.end()?;
        let call = slot.call()?;
        // Whatever becomes of this request, the name works no second time.
        let permit = client.state.redeem(&slot.id, &name)?;
        return Ok(Work::cancellable(async move {
            let output = run(&call, permit).await?;
            Ok(json!({ "judgement": null, "output": output }).into())
        }));
    }
    let asked = read(&mut params, &slot)?;
    params.end()?;
    let call = slot.call()?;
    let client = Arc::clone(client);
    Ok(Work::cancellable(async move {
        let judgement = judged(&client, &call, asked).await?;
        let told = answer::judgement(&judgement);
        let output = match judgement.outcome {
            Ok(permit) => run(&call, permit).await?,
            Err(_) => Value::Null,
        };
        Ok(json!({ "judgement": told, "output": output }).into())
    }))
}

/// A tool that fails is a result, which the model reads.
async fn run(call: &TurnCall, permit: Permit) -> Result<Value, WireError> {
    let failed = |text: String| json!({ "content": [{ "type": "text", "text": text }], "is_error": true });
    match call.turn().await?.run(permit).await {
        Ok(Ok(output)) => Ok(answer::output(&output)),
        Ok(Err(text)) => Ok(failed(text)),
        Err(RunError::NotAPluginTool(tool)) => Err(WireError::NotAPluginTool(tool)),
        Err(error @ RunError::Fault { .. }) => {
            let RunError::Fault { fault, .. } = &error else { return Err(WireError::Internal) };
            let mut told = failed(error.to_string());
            if let Some(told) = told.as_object_mut() {
                told.insert("fault".to_owned(), json!(fault.kind));
            }
            Ok(told)
        }
    }
}
