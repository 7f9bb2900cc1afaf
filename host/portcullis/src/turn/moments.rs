//! The moments of a turn that are no calls, as hooks are told of them.

use std::sync::Arc;

use portcullis_model::call::ToolCall;
use portcullis_runtime::CallView as _;

use super::{Turn, locked};
use crate::gate::{self, JudgedCall};
use crate::hook::{Event, Rounds};
use crate::moment::{Prompted, Ran, Stopped, Told};

impl Turn {
    /// Asks the hooks at `prompt-submit` about what the user has said, before the model
    /// reads it.
    pub async fn prompt(&self, cwd: &str, text: &str) -> Told<Prompted> {
        for event in [Event::Stop, Event::SubagentStop] {
            // A new turn. Where nothing can be kept, nothing was counted.
            self.keep(event, Rounds::default());
        }
        let now = self.host.snapshot();
        let told = self.circle(&now).told(Event::PromptSubmit, cwd, None, Some(text)).await;
        told.map(|refusal| refusal.map_or(Prompted::HandedOn, Prompted::Withheld))
    }

    /// Asks the hooks at `post-tool-use` about a call that has run, also when it failed;
    /// not about one that was refused. What is told twice, by the call's id, is asked
    /// about once. [`run`](Self::run) does this for the tools that plugins bring.
    pub async fn ran(&self, call: ToolCall, output: &str) -> Told<Ran> {
        let call = gate::ran(call, self.host.home(), self.session.id());
        self.looked_at(&call, output).await
    }

    pub(super) async fn looked_at(&self, call: &Arc<JudgedCall>, output: &str) -> Told<Ran> {
        let id = call.id().to_owned();
        if let Some(known) = locked(&self.told).get(&id).filter(|_| !id.is_empty()) {
            return Told { outcome: known.clone(), runs: Vec::new() };
        }
        let now = self.host.snapshot();
        let circle = self.circle(&now);
        let told = circle.told(Event::PostToolUse, call.cwd_text(), Some(call), Some(output)).await;
        let told = told.map(|refusal| refusal.map_or(Ran::Stands, Ran::Annotated));
        if !id.is_empty() {
            locked(&self.told).insert(id, told.outcome.clone());
        }
        told
    }

    /// Asks the hooks at `stop`, when the agent has said its last words. While one
    /// objects, the agent goes on, up to `hook_defaults.max_turns` times; a hook that
    /// fails does so once a turn. When it ends, call [`end`](Self::end).
    pub async fn stop(&self, cwd: &str, words: Option<&str>) -> Told<Stopped> {
        self.stops(Event::Stop, cwd, words).await
    }

    /// Asks the hooks at `subagent-stop`, when a worker of the agent has said its last
    /// words. As [`stop`](Self::stop), with a count of its own.
    pub async fn subagent_stop(&self, cwd: &str, words: Option<&str>) -> Told<Stopped> {
        self.stops(Event::SubagentStop, cwd, words).await
    }

    async fn stops(&self, event: Event, cwd: &str, words: Option<&str>) -> Told<Stopped> {
        let now = self.host.snapshot();
        let circle = self.circle(&now);
        let mut rounds = self.rounds(event);
        let asked = circle.ask_unless_failed(event, cwd, words, rounds.failed).await;
        rounds.stops = rounds.stops.saturating_add(1);
        let outcome = match &asked.blocked {
            None => Stopped::Ends,
            Some(blocked) => {
                rounds.failed |= blocked.fault.is_some();
                let refusal = blocked.refusal();
                circle.write_down(&refusal, None).await;
                // What cannot be counted has no end, and is not begun.
                if rounds.stops >= now.rules.max_turns || !self.keep(event, rounds) {
                    Stopped::AtTheLimit(refusal)
                } else {
                    Stopped::GoesOn(refusal)
                }
            }
        };
        if !matches!(outcome, Stopped::GoesOn(_)) {
            self.keep(event, Rounds::default());
        }
        Told { outcome, runs: asked.runs }
    }

    fn rounds(&self, event: Event) -> Rounds {
        locked(&self.rounds).get(&event).copied().unwrap_or_default()
    }

    /// Whether it could be kept.
    pub(super) fn keep(&self, event: Event, rounds: Rounds) -> bool {
        locked(&self.rounds).insert(event, rounds);
        if !self.in_parts {
            return true;
        }
        let kept = self.host.memory().set_rounds(self.session.id(), event, rounds);
        if let Err(why) = &kept {
            tracing::error!("how often an agent was sent on cannot be counted: {why}");
        }
        kept.is_ok()
    }
}
