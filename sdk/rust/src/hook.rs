//! Follows the agent's life.

use core::cell::OnceCell;

use crate::bindings::hook::exports::portcullis::hook::hook as wire;
use crate::bindings::host::event::Occurrence as Handle;
use crate::{Call, Error, Plugin, plugin::Adapter};

/// A plugin that follows the agent's life.
pub trait Hook: Plugin {
    /// The events that [`Hook::on_event`] is called for; none unless said.
    fn subscriptions() -> Vec<Subscription> {
        Vec::new()
    }

    /// Answers one event.
    ///
    /// # Errors
    ///
    /// When the hook cannot answer, which blocks.
    fn on_event(_occurrence: &Occurrence<'_>) -> Result<Decision, Error> {
        Ok(Decision::NoOpinion)
    }

    /// Runs once when a turn has really ended.
    ///
    /// # Errors
    ///
    /// An error is reported and changes nothing.
    fn after_turn(_session_id: &str) -> Result<(), Error> {
        Ok(())
    }
}

/// One event that a hook wants to hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    event: String,
    matching: Option<String>,
}

impl Subscription {
    /// Every occurrence of an event, such as `pre-tool-use`.
    #[must_use]
    pub fn to(event: impl Into<String>) -> Self {
        Self { event: event.into(), matching: None }
    }

    /// Only those that a rule such as `bash(git push *)` matches.
    #[must_use]
    pub fn matching(mut self, rule: impl Into<String>) -> Self {
        self.matching = Some(rule.into());
        self
    }
}

/// What a hook answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Neither for nor against.
    NoOpinion,
    /// No objection. Grants nothing.
    Approve,
    /// Against, with the reason.
    Block(String),
}

/// A moment in the agent's life.
#[derive(Debug, Default)]
pub struct Occurrence<'host> {
    handle: Option<&'host Handle>,
    pub(crate) name: OnceCell<String>,
    pub(crate) session_id: OnceCell<String>,
    pub(crate) cwd: OnceCell<String>,
    pub(crate) text: OnceCell<Option<String>>,
    pub(crate) call: OnceCell<Option<Call<'host>>>,
}

impl<'host> Occurrence<'host> {
    /// `session-start`, `prompt-submit`, `pre-tool-use`, `post-tool-use`,
    /// `subagent-stop`, `stop`, `pre-compact` or `session-end`.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.get_or_init(|| self.handle.map(Handle::name).unwrap_or_default())
    }

    /// The agent's session.
    #[must_use]
    pub fn session_id(&self) -> &str {
        self.session_id.get_or_init(|| self.handle.map(Handle::session_id).unwrap_or_default())
    }

    /// Absolute path of the agent's directory.
    #[must_use]
    pub fn cwd(&self) -> &str {
        self.cwd.get_or_init(|| self.handle.map(Handle::cwd).unwrap_or_default())
    }

    /// The tool call, at events that have one.
    #[must_use]
    pub fn call(&self) -> Option<&Call<'host>> {
        self.call.get_or_init(|| self.handle.and_then(Handle::call).map(Call::from)).as_ref()
    }

    /// The tool's output, the prompt, or the final answer, as the event has it.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        self.text.get_or_init(|| self.handle.and_then(Handle::text)).as_deref()
    }
}

impl<'host> From<&'host Handle> for Occurrence<'host> {
    fn from(occurrence: &'host Handle) -> Self {
        Self { handle: Some(occurrence), ..Self::default() }
    }
}

impl<P: Hook> wire::Guest for Adapter<P> {
    fn subscriptions() -> Vec<wire::Subscription> {
        let export = |Subscription { event, matching }| wire::Subscription { event, matching };
        P::subscriptions().into_iter().map(export).collect()
    }

    fn on_event(occurrence: &Handle) -> Result<wire::Decision, String> {
        match P::on_event(&Occurrence::from(occurrence)) {
            Ok(Decision::NoOpinion) => Ok(wire::Decision::NoOpinion),
            Ok(Decision::Approve) => Ok(wire::Decision::Approve),
            Ok(Decision::Block(reason)) => Ok(wire::Decision::Block(reason)),
            Err(error) => Err(error.into_text()),
        }
    }

    fn after_turn(session_id: String) -> Result<(), String> {
        P::after_turn(&session_id).map_err(Error::into_text)
    }
}
