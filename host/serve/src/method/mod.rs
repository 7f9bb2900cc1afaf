//! What can be asked. Each method is one of the library's, and differs from it in nothing.

mod call;
mod command;
mod session;
mod tool;
mod turn;

use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};

use crate::error::WireError;
use crate::note::Note;
use crate::parameter::Parameters;
use crate::server::Server;
use crate::state::State;

/// Every method behind the handshake.
pub(crate) const NAMES: [&str; 17] = [
    "session/open",
    "session/compact",
    "session/close",
    "turn/begin",
    "turn/standing",
    "turn/subagentStop",
    "turn/end",
    "beforeToolCall",
    "afterToolCall",
    "tools/list",
    "tools/find",
    "tools/call",
    "commands/list",
    "commands/expand",
    "skills/list",
    "skills/load",
    "registry/report",
];

/// One client, and what it has opened.
#[derive(Debug)]
pub(crate) struct Client {
    pub(crate) server: Server,
    pub(crate) state: State,
}

/// What a request comes to.
#[derive(Debug)]
pub(crate) struct Reply {
    pub(crate) result: Value,
    /// The call that it lets pass.
    pub(crate) allows: Option<Note>,
}

impl From<Value> for Reply {
    fn from(result: Value) -> Self {
        Self { result, allows: None }
    }
}

/// A request that was understood, and is to be done.
pub(crate) struct Work {
    pub(crate) future: Pin<Box<dyn Future<Output = Result<Reply, WireError>> + Send>>,
    /// What opens and ends something goes through to its end.
    pub(crate) can_cancel: bool,
}

impl Work {
    fn through(future: impl Future<Output = Result<Reply, WireError>> + Send + 'static) -> Self {
        Self { future: Box::pin(future), can_cancel: false }
    }

    fn cancellable(future: impl Future<Output = Result<Reply, WireError>> + Send + 'static) -> Self {
        Self { future: Box::pin(future), can_cancel: true }
    }
}

/// Understands a request. What follows from the order of requests is decided here; the
/// work is done later, beside that of others.
pub(crate) fn begin(
    client: &Arc<Client>,
    method: &str,
    params: Map<String, Value>,
) -> Result<Work, WireError> {
    let params = Parameters::new(params);
    match method {
        "session/open" => session::open(client, params),
        "session/compact" => session::compact(client, params),
        "session/close" => session::close(client, params),
        "turn/begin" => turn::begin(client, params),
        "turn/standing" => turn::standing(client, params),
        "turn/subagentStop" => turn::subagent_stop(client, params),
        "turn/end" => turn::end(client, params),
        "beforeToolCall" => call::before(client, params),
        "afterToolCall" => call::after(client, params),
        "tools/list" => tool::list(client, params),
        "tools/find" => tool::find(client, params),
        "tools/call" => tool::call(client, params),
        "commands/list" => command::list(client, params),
        "commands/expand" => command::expand(client, params),
        "skills/list" => command::skills(client, params),
        "skills/load" => command::load(client, params),
        "registry/report" => registry_report(client, params),
        _ => Err(unknown(method)),
    }
}

/// `Host::capabilities`.
fn registry_report(client: &Arc<Client>, params: Parameters) -> Result<Work, WireError> {
    params.end()?;
    let client = Arc::clone(client);
    Ok(Work::cancellable(async move {
        let report = serde_json::to_value(client.server.host().capabilities());
        report.map(Reply::from).map_err(|_| WireError::Internal)
    }))
}

fn unknown(method: &str) -> WireError {
    let near = NAMES.iter().map(|name| (strsim::osa_distance(name, method), name));
    let near = near.filter(|(distance, _)| *distance <= 3).min();
    let near = near.map(|(_, name)| format!("; did you mean `{name}`?")).unwrap_or_default();
    WireError::UnknownMethod { method: method.to_owned(), near }
}

/// What the ledger is told of the request when it has no result: nothing, unless it is a
/// call that is not to run then.
pub(crate) fn note(client: &Client, method: &str, params: &Map<String, Value>) -> Option<Note> {
    let turn = |id: &str| client.state.turn(id).ok();
    let text = |field: &str| params.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
    matches!(method, "beforeToolCall" | "tools/find" | "tools/call").then(|| Note {
        session: turn(&text("turn_id")).map(|turn| turn.session.session.id().to_owned()),
        call: text("id"),
        tool: text("tool"),
    })
}

impl Client {
    pub(crate) fn new(server: Server) -> Self {
        Self { server, state: State::default() }
    }

    /// Ends what is open, the last session first. Each turn and each session is given its
    /// time.
    pub(crate) async fn end(&self) {
        for session in self.state.sessions() {
            session::end_within(self, &session, self.server.limits().close).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_method_that_there_is_not_is_told_with_the_near_one() {
        let said = unknown("beforeToolcall").to_string();
        assert_eq!(said, "there is no method `beforeToolcall`; did you mean `beforeToolCall`?");
        assert_eq!(unknown("batch/plan").to_string(), "there is no method `batch/plan`");
    }
}
