//! One call of a server's tool: found, sent, and sent anew where that does no harm.

use std::sync::Arc;
use std::time::Instant;

use portcullis_model::extension::ToolResult;
use serde_json::Value;

use super::answer;
use super::catalogue::{Catalogue, Tool, meant, near};
use super::error::ServerError;
use super::pool::Pool;
use super::slot::{Slot, Used};

/// How often a call is sent anew when its server ends.
const RETRIES: u32 = 3;

impl Pool {
    /// Runs the tool that `name` means.
    pub(super) async fn call(
        self: &Arc<Self>,
        slot: &Arc<Slot>,
        name: &str,
        arguments: &Value,
    ) -> Result<ToolResult, ServerError> {
        let time = slot.settings.time();
        let called = tokio::time::timeout(time, self.called(slot, name, arguments)).await;
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
        let tool = self.tool(slot, name).await?;
        let mut tries = 0_u32;
        loop {
            let attempt = async {
                let used = self.client(slot).await?;
                self.sent(slot, &used, &tool, arguments, start).await
            };
            let error = match attempt.await {
                Ok(result) => return Ok(result),
                Err(error) => error,
            };
            let harmless = tool.repeatable || !error.may_have_run;
            // A server that does not even start has its own pause.
            let again = error.is_end && harmless && tries < RETRIES;
            if !again {
                if error.is_end && tries > 0 {
                    slot.state().failed(&error, &self.bounds);
                    slot.tell();
                }
                return Err(error);
            }
            tries = tries.saturating_add(1);
            tokio::time::sleep(self.bounds.pause(tries)).await;
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
        let left = slot.settings.time().saturating_sub(start.elapsed());
        let answer = used.client().call(&tool.entry.name, arguments, left).await;
        answer.map_err(|error| {
            let error = ServerError::from(error);
            if error.is_end {
                used.lost();
            }
            error
        })
    }

    /// The tool that `name` means, as its server describes it.
    async fn tool(self: &Arc<Self>, slot: &Arc<Slot>, name: &str) -> Result<Tool, ServerError> {
        let known = slot.state().catalogue.clone();
        let found = known.as_ref().and_then(|known| meant(&known.tools, name).cloned());
        let (catalogue, tool) = match (known, found) {
            (Some(known), Some(tool)) => (known, tool),
            _ => {
                let learned = self.learned(slot).await?;
                let tool = meant(&learned.tools, name).cloned();
                let near = || near(name, learned.tools.iter().map(|own| own.entry.name.as_str()));
                let tool = tool.ok_or_else(|| ServerError::no_such_tool(name, &near()))?;
                (learned, tool)
            }
        };
        self.refuses(&catalogue, &tool).map_or(Ok(tool), Err)
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
