//! Sessions.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use portcullis::DirectWrites;
use serde_json::json;
use tokio::time::timeout;

use super::{Client, Work, turn};
use crate::answer;
use crate::error::WireError;
use crate::parameter::{Parameters, wrong};
use crate::state::{Ending, SessionSlot};

/// `Host::session`, with the paths that it may write, and `Session::start`.
pub(super) fn open(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let name = params.name("session_id")?;
    let cwd = directory(&mut params)?.ok_or_else(|| wrong("cwd", "is missing"))?;
    let writes = params.texts("direct_writes")?;
    params.end()?;
    let writes = writes.map(|patterns| DirectWrites::new(Path::new(&cwd), &patterns)).transpose();
    let writes = writes.map_err(|error| wrong("direct_writes", error.to_string()))?;
    let host = client.server.host();
    let slot = client.state.open(name, cwd, client.server.limits(), |name| {
        let session = host.session(name);
        match writes {
            Some(writes) => session.with_direct_writes(writes),
            None => session,
        }
    })?;
    Ok(Work::through(async move {
        // Its turns wait for the hooks' answer.
        let _ending = Ending(Arc::clone(&slot));
        let told = slot.session.start(&slot.cwd).await;
        let mut result = answer::told(&told, answer::started);
        if let Some(result) = result.as_object_mut() {
            result.insert("session_id".to_owned(), json!(slot.session.id()));
        }
        Ok(result.into())
    }))
}

/// `Session::compact`.
pub(super) fn compact(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.session(&params.required("session_id")?)?;
    params.end()?;
    Ok(Work::through(async move {
        let told = slot.session.compact(&slot.cwd).await;
        Ok(answer::told(&told, answer::noted).into())
    }))
}

/// The end of every turn of it, and `Session::end`.
pub(super) fn close(client: &Arc<Client>, mut params: Parameters) -> Result<Work, WireError> {
    let slot = client.state.session(&params.required("session_id")?)?;
    params.end()?;
    // What comes behind this in the same breath has no session any more.
    client.state.forget_session(&slot);
    let client = Arc::clone(client);
    Ok(Work::through(async move {
        for turn in client.state.turns_of(&slot) {
            turn::finish(&client, &turn).await;
        }
        let told = slot.session.end(&slot.cwd).await;
        Ok(answer::told(&told, answer::noted).into())
    }))
}

/// The same for a client that has gone: each turn, and the session, has `time` to end.
pub(super) async fn end_within(client: &Client, slot: &Arc<SessionSlot>, time: Duration) {
    for turn in client.state.turns_of(slot) {
        // Whoever was ending it was given up.
        turn.goes_on();
        if timeout(time, turn::finish(client, &turn)).await.is_err() {
            tracing::warn!("a turn of the session `{}` did not end in time", slot.session.id());
        }
    }
    client.state.forget_session(slot);
    if timeout(time, slot.session.end(&slot.cwd)).await.is_err() {
        tracing::warn!("the session `{}` did not end in time", slot.session.id());
    }
}

fn directory(params: &mut Parameters) -> Result<Option<String>, WireError> {
    let cwd = params.text("cwd")?;
    match cwd.as_deref().map(Path::new) {
        Some(path) if !path.is_absolute() => Err(wrong("cwd", "is not an absolute path")),
        Some(_) | None => Ok(cwd),
    }
}
