//! Asking the hooks at one moment, and what became of it.

use std::sync::Arc;

use portcullis_model::config::FailureMode;
use portcullis_model::judgement::Refusal;
use portcullis_model::name::PluginName;

use crate::gate::JudgedCall;
use crate::hook::{self, Asking, Event, Handler, HeardCall, HookRun, Occasion, Outcome};
use crate::host::Host;
use crate::plugin::{Plugin, PluginSet};
use crate::rules::Snapshot;

/// What became of a moment, and which hooks were asked about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Told<T> {
    /// What is to be done now.
    pub outcome: T,
    /// The hooks that were asked, in order. Failures that block nothing are here alone.
    pub runs: Vec<HookRun>,
}

/// How a session begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Started {
    /// Nobody minds.
    Open,
    /// A hook objects: the session is there, and every call of it is refused.
    Refused(Refusal),
}

/// What becomes of a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prompted {
    /// It goes to the model.
    HandedOn,
    /// It does not, and the user is told why.
    Withheld(Refusal),
}

/// What becomes of a result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ran {
    /// It stands as it is.
    Stands,
    /// It stands, and the model reads the reason behind it.
    Annotated(Refusal),
}

/// What becomes of an answer that is at its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Stopped {
    /// It is the last one: call [`Turn::end`](crate::Turn::end).
    Ends,
    /// The agent goes on, with this message, which begins with `[stop-hook]`.
    GoesOn(Refusal),
    /// A hook objects, and the agent has gone on as often as it may: it ends all the same.
    AtTheLimit(Refusal),
}

/// What becomes of an event that no hook can stop everywhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Noted {
    /// Nobody minds.
    Fine,
    /// A hook objects. Before a memory is shortened, whoever can leaves it as it is.
    Objected(Refusal),
}

/// Whom to ask: the plugins as they are now and as they were when the turn began, and
/// the scripts.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Circle<'a> {
    pub(crate) host: &'a Host,
    pub(crate) now: &'a Snapshot,
    pub(crate) bound: Option<&'a PluginSet>,
    pub(crate) session: &'a str,
}

impl<'a> Circle<'a> {
    /// All hooks, in order: those of plugins, then scripts. A plugin that has vanished
    /// since the turn began is asked until it ends.
    fn handlers(self) -> impl Iterator<Item = Handler<'a>> {
        let now = &self.now.plugins;
        let replaced = move |old: &Plugin| now.hooks().any(|(new, _)| new.info.name == old.info.name);
        let gone = self.bound.into_iter().flat_map(PluginSet::hooks);
        let gone = gone.filter(move |(old, _)| !replaced(old));
        let components = now.hooks().chain(gone).map(|(_, hook)| Handler::Component(hook));
        components.chain(self.now.rules.hooks().iter().map(Handler::Script))
    }

    /// Those who listen to `event`, and whom the operator's channels let in.
    fn listeners(self, event: Event) -> impl Iterator<Item = Handler<'a>> {
        let channel = &self.now.rules.channel;
        self.handlers()
            .filter(move |handler| handler.listens_to(event) && channel.has_hook(&handler.name(event)))
    }

    fn anybody_listens_to(self, event: Event) -> bool {
        self.listeners(event).next().is_some()
    }

    /// The first that is asked at `event` and blocks when it fails, by its name.
    pub(crate) fn first_closed(self, event: Event) -> Option<(String, Option<PluginName>)> {
        let closed = self.listeners(event).find(|handler| handler.failure_mode() == FailureMode::Closed)?;
        Some((closed.name(event), closed.plugin().cloned()))
    }

    /// Asks about `event`. Nothing is made ready when nobody listens.
    pub(crate) async fn ask(
        self,
        event: Event,
        cwd: &str,
        call: Option<&Arc<JudgedCall>>,
        text: Option<&str>,
    ) -> Outcome {
        self.asked(event, cwd, call, text, false).await
    }

    /// Asks at the end of an answer. A hook that failed once a turn does not count again.
    pub(crate) async fn ask_unless_failed(
        self,
        event: Event,
        cwd: &str,
        text: Option<&str>,
        failed: bool,
    ) -> Outcome {
        self.asked(event, cwd, None, text, failed).await
    }

    async fn asked(
        self,
        event: Event,
        cwd: &str,
        call: Option<&Arc<JudgedCall>>,
        text: Option<&str>,
        failures_pass: bool,
    ) -> Outcome {
        if !self.anybody_listens_to(event) {
            return Outcome::default();
        }
        let occasion = Occasion {
            event,
            session_id: self.session.to_owned(),
            cwd: cwd.to_owned(),
            call: call.map(|call| HeardCall {
                call: Arc::clone(call) as _,
                home: self.host.home().map(str::to_owned),
            }),
            text: text.map(Arc::from),
        };
        let asking =
            Asking { surroundings: self.host.surroundings(), together: hook::TOGETHER, failures_pass };
        hook::ask_all(self.listeners(event), &occasion, asking).await
    }

    /// Asks, and writes an objection down.
    pub(crate) async fn told(
        self,
        event: Event,
        cwd: &str,
        call: Option<&Arc<JudgedCall>>,
        text: Option<&str>,
    ) -> Told<Option<Refusal>> {
        let Outcome { blocked, runs } = self.ask(event, cwd, call, text).await;
        let refusal = blocked.as_ref().map(hook::Blocked::refusal);
        if let Some(refusal) = &refusal {
            self.write_down(refusal, call).await;
        }
        Told { outcome: refusal, runs }
    }

    pub(crate) async fn write_down(self, refusal: &Refusal, call: Option<&Arc<JudgedCall>>) {
        let (call, report) = (call.map(|call| &**call), &self.now.plugins.report);
        self.host.recorder().objected(refusal, self.session, call, report).await;
    }

    /// Why a call may not run, as far as it is up to hooks.
    pub(crate) async fn refusal_of(self, call: &Arc<JudgedCall>) -> Option<Refusal> {
        if let Some(refusal) = self.session_refusal() {
            return Some(refusal);
        }
        let outcome = self.ask(Event::PreToolUse, call.cwd_text(), Some(call), None).await;
        outcome.blocked.as_ref().map(hook::Blocked::refusal)
    }

    /// Why every call of this session is refused, if a hook did not let it begin. One
    /// that is no longer there has no say any more.
    fn session_refusal(self) -> Option<Refusal> {
        const EVENT: Event = Event::SessionStart;
        if !self.anybody_listens_to(EVENT) {
            return None;
        }
        match self.host.memory().refused(self.session) {
            Err(why) => Some(hook::forgotten_session(&why)),
            Ok(blocked) => {
                let blocked = blocked?;
                let there = self.listeners(EVENT).any(|handler| handler.name(EVENT) == blocked.hook);
                there.then(|| blocked.session_refusal())
            }
        }
    }
}

impl<T> Told<T> {
    pub(crate) fn map<U>(self, change: impl FnOnce(T) -> U) -> Told<U> {
        Told { outcome: change(self.outcome), runs: self.runs }
    }
}
