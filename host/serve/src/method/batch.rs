//! The calls of one answer of a model.

use std::sync::Arc;

use serde_json::Value;

use super::{Client, Work};
use crate::error::WireError;
use crate::parameter::{Parameters, wrong};

/// `Turn::plan`, of permits of this turn, which stay as they are.
pub(super) fn plan(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.turn(&params.required("turn_id")?)?;
    let names = params.texts("permits")?.ok_or_else(|| wrong("permits", "is missing"))?;
    params.end()?;
    let max = client.server.limits().permits;
    if names.len() > max {
        return Err(wrong("permits", format!("has more than {max} entries")));
    }
    let call = slot.call()?;
    let client = Arc::clone(client);
    Ok(Work::cancellable(async move {
        let turn = call.turn().await?;
        let plan = client.state.with_permits(&slot.id, &names, |permits| turn.plan(permits))?.await;
        let plan: Value = serde_json::to_value(plan).map_err(|_| WireError::Internal)?;
        Ok(plan.into())
    }))
}
