//! One payload, read; and the answer to it.

use portcullis_model::call::ToolCall;
use portcullis_model::judgement::{JudgementWire, Verdict};

use super::answer::{HookAnswer, needs_the_user};
use super::dialect::Dialect;
use super::error::HookInputError;
use super::event::{Ending, HookEvent, Moment};
use super::fields::Fields;
use super::objection::{self, Objection};

/// What an agent said to its hook.
#[derive(Debug, Clone)]
pub struct HookRequest {
    /// What is about to happen, or has happened.
    pub event: HookEvent,
    /// The agent's session.
    pub session_id: String,
    /// Absolute path of the directory that the agent, or the call, runs in.
    pub cwd: String,
    /// The event, in the agent's words.
    name: String,
    cut_short: bool,
    dialect: &'static Dialect,
}

impl HookRequest {
    pub(super) fn read(dialect: &'static Dialect, fields: &mut Fields) -> Result<Self, HookInputError> {
        let names = &dialect.names;
        let name = (dialect.event)(names, fields)?;
        let session_id = fields.text(names.session)?;
        let cwd = (dialect.cwd)(names, fields)?;
        let call = |fields: &mut Fields| {
            let call = (dialect.call)(names, fields, &name)?;
            Ok(Box::new(ToolCall {
                id: call.id,
                tool: call.tool,
                input: call.input,
                cwd: cwd.clone(),
                session_id: session_id.clone(),
            }))
        };
        let ending = |fields: &Fields| Ending {
            words: fields.words(&[names.words]).filter(|words| !words.is_empty()),
            again: (dialect.again)(fields),
        };
        let event = match dialect.moment(&name) {
            Some(Moment::PreToolUse) => HookEvent::PreToolUse(call(fields)?),
            Some(Moment::PostToolUse) => HookEvent::PostToolUse {
                failed: (dialect.failed)(fields),
                output: fields.words(names.output).unwrap_or_default(),
                call: call(fields)?,
            },
            Some(Moment::PostToolUseFailure) => HookEvent::PostToolUse {
                failed: true,
                output: fields.words(names.output).unwrap_or_default(),
                call: call(fields)?,
            },
            Some(Moment::PromptSubmit) => HookEvent::PromptSubmit { prompt: fields.any_text(names.prompt)? },
            Some(Moment::SessionStart) => HookEvent::SessionStart,
            Some(Moment::SubagentStop) => HookEvent::SubagentStop(ending(fields)),
            Some(Moment::Stop) => HookEvent::Stop(ending(fields)),
            Some(Moment::PreCompact) => HookEvent::PreCompact,
            Some(Moment::SessionEnd) => HookEvent::SessionEnd,
            None => HookEvent::Other(name.clone()),
        };
        let ends = matches!(event, HookEvent::Stop(_) | HookEvent::SubagentStop(_));
        let cut_short = ends && (dialect.cut_short)(fields);
        Ok(Self { event, session_id, cwd, name, cut_short, dialect })
    }

    /// A judgement, said as this agent understands it.
    ///
    /// An allowed call is answered with no opinion, so that the agent's own
    /// permission rules still count. Where an agent cannot be made to ask its
    /// user, `ask` blocks.
    #[must_use]
    pub fn answer(&self, judgement: &JudgementWire) -> HookAnswer {
        let reason = judgement.reason.as_deref().unwrap_or_default();
        match (judgement.verdict, self.dialect.ask) {
            (Verdict::Allow, _) => self.no_objection(),
            (Verdict::Ask, Some(ask)) => ask(reason),
            (Verdict::Ask, None) => (self.dialect.block)(&needs_the_user(reason)),
            (Verdict::Block, _) => (self.dialect.block)(reason),
        }
    }

    /// A hook's no at an event that is not before a call, said as this agent understands
    /// it. Where no such thing counts, the reason is told, and all goes on.
    #[must_use]
    pub fn objection(&self, reason: &str) -> HookAnswer {
        match self.says(reason) {
            Some(Objection::Counts(answer)) => answer,
            // What an agent wants to read besides is what it gets when nobody minds.
            Some(Objection::Told(answer)) if answer.stdout.is_empty() => {
                HookAnswer { stdout: self.no_objection().stdout, ..answer }
            }
            Some(Objection::Told(answer)) => answer,
            None => (self.dialect.block)(reason),
        }
    }

    /// Whether that would count.
    #[must_use]
    pub fn heeds_objection(&self) -> bool {
        !matches!(self.says("no"), Some(Objection::Told(_)))
    }

    fn says(&self, reason: &str) -> Option<Objection> {
        let moment = self.dialect.moment(&self.name).filter(|moment| *moment != Moment::PreToolUse)?;
        if self.cut_short {
            return Some(objection::aside(self.no_objection(), reason));
        }
        Some((self.dialect.objects)(moment, &self.name, reason))
    }

    /// Nothing to say: the answer to an allowed call, and to every event that nobody
    /// minds.
    #[must_use]
    pub fn no_objection(&self) -> HookAnswer {
        (self.dialect.pass)(&self.event)
    }
}
