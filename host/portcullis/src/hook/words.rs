//! The words of a hook's no.

use portcullis_model::fault::FaultKind;
use portcullis_model::judgement::{Refusal, RefusedBy, RefuserKind};

use super::Event;
use super::run::Blocked;

/// What a message begins with that sends an agent on at the end of its answer.
pub(crate) const STOP_TAG: &str = "[stop-hook]";

impl Blocked {
    /// The no, in the words of its event.
    pub(crate) fn refusal(&self) -> Refusal {
        let Self { hook, reason, fault, event, .. } = self;
        let (code, reason) = match fault {
            None => ("hook/block".to_owned(), format!("{}: {reason}", opening(*event, hook))),
            Some(kind) => (format!("fault/{kind}"), self.fault_text(*kind)),
        };
        let reason = match event {
            Event::SubagentStop | Event::Stop => format!("{STOP_TAG} {reason}"),
            Event::SessionStart
            | Event::PromptSubmit
            | Event::PreToolUse
            | Event::PostToolUse
            | Event::PreCompact
            | Event::SessionEnd => reason,
        };
        Refusal { by: by(hook), code, fault: *fault, reason }
    }

    fn fault_text(&self, kind: FaultKind) -> String {
        let Self { hook, reason, event, .. } = self;
        format!(
            "{}, because {} failed to {} ({kind}: {reason}). This is a fault and not a decision: {}. {}",
            blocked(*event),
            subject(hook),
            task(*event),
            finding(*event),
            self.way_out(),
        )
    }

    fn way_out(&self) -> String {
        match &self.plugin {
            None => "Ask the user to mend the hook; `failure_mode = \"open\"` in its `[[hooks]]` would let things go \
                     on when it fails."
                .to_owned(),
            Some(plugin) => format!(
                "Ask the user to look at `portcullis plugin inspect {plugin}`; the plugin can be given more room with \
                 `hook_ms` under `[plugin.{plugin}.limits]`, replaced, or left out of `[plugins] enabled`."
            ),
        }
    }

    /// Why every call of a session is refused that this hook did not let begin.
    pub(crate) fn session_refusal(&self) -> Refusal {
        let Self { hook, reason, fault, .. } = self;
        let code = fault.map_or_else(|| "hook/session".to_owned(), |kind| format!("fault/{kind}"));
        let what = match fault {
            None => format!("Blocked, because the hook `{hook}` did not let this session begin: {reason}."),
            Some(kind) => format!(
                "Blocked, because the hook `{hook}` failed when this session began ({kind}: {reason}). This is a fault \
                 and not a decision: the call was not found to be wrong."
            ),
        };
        let reason = format!(
            "{what} Every tool call of this session is refused. Ask the user to mend that and to start the session \
             anew, which asks the hook again; a hook that is taken out of the user's configuration no longer counts. \
             `portcullis hooks list` shows it."
        );
        Refusal { by: by(hook), code, fault: *fault, reason }
    }
}

/// Why every call of a session is refused whose beginning nobody can look up.
pub(crate) fn forgotten_session(why: &str) -> Refusal {
    let fault = FaultKind::Resource;
    Refusal {
        by: RefusedBy { kind: RefuserKind::Standing, name: "session".to_owned() },
        code: format!("fault/{fault}"),
        fault: Some(fault),
        reason: format!(
            "Blocked, because nobody can tell whether a hook let this session begin: {why}. This is a fault and not a \
             decision: the call was not found to be wrong. Ask the user to look at the directory `store` in the state \
             directory that `portcullis doctor` names, or to start a new session."
        ),
    }
}

fn by(hook: &str) -> RefusedBy {
    RefusedBy { kind: RefuserKind::Hook, name: hook.to_owned() }
}

fn subject(hook: &str) -> String {
    format!("the hook `{hook}`")
}

fn opening(event: Event, hook: &str) -> String {
    match event {
        Event::PreToolUse => format!("Blocked by the hook `{hook}`"),
        Event::PromptSubmit => format!("The prompt was not handed on, by the hook `{hook}`"),
        Event::SessionStart => format!("Every tool call of this session is refused, by the hook `{hook}`"),
        Event::PostToolUse | Event::Stop | Event::SubagentStop | Event::PreCompact | Event::SessionEnd => {
            format!("The hook `{hook}` objects")
        }
    }
}

const fn blocked(event: Event) -> &'static str {
    match event {
        Event::PreToolUse => "Blocked",
        Event::PromptSubmit => "The prompt was not handed on",
        Event::SessionStart => "Every tool call of this session is refused",
        Event::PostToolUse => "The result of this call was not looked at",
        Event::Stop | Event::SubagentStop => "The answer was not looked at",
        Event::PreCompact | Event::SessionEnd => "An objection is told",
    }
}

const fn task(event: Event) -> &'static str {
    match event {
        Event::PreToolUse => "judge this call",
        Event::PromptSubmit => "judge it",
        Event::SessionStart => "judge it",
        Event::PostToolUse | Event::Stop | Event::SubagentStop => "judge it",
        Event::PreCompact | Event::SessionEnd => "answer",
    }
}

const fn finding(event: Event) -> &'static str {
    match event {
        Event::PreToolUse => "the call was not found to be wrong",
        Event::PostToolUse => "the call has run, and its result stands",
        Event::PromptSubmit
        | Event::SessionStart
        | Event::Stop
        | Event::SubagentStop
        | Event::PreCompact
        | Event::SessionEnd => "nothing was found to be wrong",
    }
}
