//! One call of a server's tool: found, sent, and sent anew where that does no harm.

use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_mcp::client::Failure;
use portcullis_model::extension::ToolResult;
use serde_json::Value;

use super::answer;
use super::catalogue::{Catalogue, Tool, meant, near};
use super::error::ServerError;
use super::pool::Pool;
use super::slot::{Slot, Used};

/// How often a call is sent anew when its server ends.
const RETRIES: u32 = 3;

/// The longest pause before that, whatever `mcp.retry_ms` says: somebody waits for the call.
const RETRY_PAUSE_MAX: Duration = Duration::from_secs(1);

/// How much later a call is given up that waits for something else than its answer.
const OUTER: Duration = Duration::from_secs(1);

impl Pool {
    /// Runs the tool that `name` means.
    pub(super) async fn call(
        self: &Arc<Self>,
        slot: &Arc<Slot>,
        name: &str,
        arguments: &Value,
    ) -> Result<ToolResult, ServerError> {
        let time = slot.settings.time();
        // The client's own deadline comes first, because it knows more.
        let outer = time.saturating_add(OUTER);
        let called = tokio::time::timeout(outer, self.called(slot, name, arguments)).await;
        let called = called.unwrap_or_else(|_| {
            let late = ServerError::late(name, time);
            Err(ServerError { may_have_run: true, ..late })
        });
        let result = called.map_err(|error| {
            if !error.may_have_run || error.code == "server/error" {
                return error;
            }
            let reason = format!("{}; whether `{name}` has run is not known", error.reason);
            ServerError { reason, ..error }
        })?;
        Ok(answer::of_tool(&result, &self.memory))
    }

    async fn called(
        self: &Arc<Self>,
        slot: &Arc<Slot>,
        name: &str,
        arguments: &Value,
    ) -> Result<Value, ServerError> {
        let start = Instant::now();
        let not_run = |error| ServerError { may_have_run: false, ..error };
        let (tool, mut held) = self.tool(slot, name).await.map_err(not_run)?;
        let mut tries = 0_u32;
        loop {
            let running = match held.take() {
                Some(used) => Ok(used),
                None => self.client(slot).await.map_err(not_run),
            };
            let error = match running {
                Ok(used) => match self.sent(slot, &used, &tool, arguments, start).await {
                    Ok(result) => return Ok(result),
                    Err(error) => error,
                },
                // One that does not even start has its own pause.
                Err(error) if tries == 0 => return Err(error),
                Err(error) => error,
            };
            let harmless = tool.repeatable || !error.may_have_run;
            let again = error.is_end && harmless && tries < RETRIES;
            if !again {
                if error.is_end && tries > 0 {
                    slot.state().failed(&error, &self.bounds);
                    slot.tell();
                }
                return Err(error);
            }
            tries = tries.saturating_add(1);
            tokio::time::sleep(self.bounds.pause(tries).min(RETRY_PAUSE_MAX)).await;
            slot.state().backoff = None;
        }
    }

    async fn sent(
        &self,
        slot: &Slot,
        used: &Used,
        tool: &Tool,
        arguments: &Value,
        start: Instant,
    ) -> Result<Value, ServerError> {
        let (name, time) = (&tool.entry.name, slot.settings.time());
        let answer = used.client().call(name, arguments, time.saturating_sub(start.elapsed())).await;
        answer.map_err(|mut error| {
            if matches!(error.failure, Failure::Late { .. }) {
                error.failure = Failure::Late { method: name.clone(), time };
            }
            let error = ServerError::from(error);
            if error.is_end {
                used.lost();
            }
            error
        })
    }

    /// The tool that `name` means, as its server describes it. Where the server had to be
    /// asked, it is kept: nobody else's call takes its place before this one is sent.
    async fn tool(
        self: &Arc<Self>,
        slot: &Arc<Slot>,
        name: &str,
    ) -> Result<(Tool, Option<Used>), ServerError> {
        let known = slot.state().catalogue.clone();
        let of = |catalogue: &Catalogue| meant(&catalogue.tools, name).cloned();
        let (catalogue, tool, held) =
            match known.as_ref().and_then(|known| Some((Arc::clone(known), of(known)?))) {
                Some((known, tool)) => (known, tool, None),
                None => {
                    let held =
                        if self.believed(slot).is_some() { None } else { Some(self.client(slot).await?) };
                    let learned = self.learned(slot).await?;
                    let near = || near(name, learned.tools.iter().map(|own| own.entry.name.as_str()));
                    let tool = of(&learned).ok_or_else(|| ServerError::no_such_tool(name, &near()))?;
                    (learned, tool, held)
                }
            };
        match self.refuses(&catalogue, &tool) {
            Some(refused) => Err(refused),
            None => Ok((tool, held)),
        }
    }

    /// Why the operator does not want a tool of this definition called.
    fn refuses(&self, catalogue: &Catalogue, tool: &Tool) -> Option<ServerError> {
        let name = &tool.entry.name;
        if !catalogue.changed.contains(name) {
            return None;
        }
        if !self.bounds.pin {
            tracing::warn!("the definition of a server's tool `{name}` has changed since it was first seen");
            return None;
        }
        let reason = format!("the definition of `{name}` has changed since it was first seen");
        let remedy = "the user can accept it with `portcullis server forget NAME`";
        Some(ServerError::new("server/changed", reason, remedy))
    }
}
