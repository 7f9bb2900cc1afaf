//! The words of the policy's refusals.

use portcullis_model::call::{Effect, EffectKind};
use portcullis_model::config::Mode;
use portcullis_model::fault::FaultKind;
use portcullis_model::judgement::{Refusal, RefusedBy, RefuserKind};

/// As much of a path or a command as is told.
const SHOWN_MAX: usize = 200;

fn refusal(kind: RefuserKind, name: &str, code: &str, reason: String) -> Refusal {
    Refusal { by: RefusedBy { kind, name: name.to_owned() }, code: code.to_owned(), fault: None, reason }
}

fn policy(name: &str, code: &str, reason: String) -> Refusal {
    refusal(RefuserKind::Policy, name, code, reason)
}

fn cut(text: &str) -> String {
    text.chars().take(SHOWN_MAX).collect()
}

/// What an effect is, in a sentence.
fn does(effect: &Effect) -> String {
    let target = cut(&effect.target);
    match effect.kind {
        EffectKind::Run => format!("runs `{target}`"),
        EffectKind::Read => format!("reads `{target}`"),
        EffectKind::Write => format!("writes `{target}`"),
        EffectKind::Delete => format!("deletes `{target}`"),
        EffectKind::Fetch => format!("fetches `{target}`"),
        EffectKind::Mcp => format!("calls `{target}` of an MCP server"),
        EffectKind::Opaque => format!("calls `{target}`, of which nobody knows what it does"),
    }
}

/// A rule of `deny`; without its text when that is a project's.
pub(super) fn denied(rule: Option<&str>) -> Refusal {
    let what = match rule {
        Some(rule) => format!("the user's permissions deny `{}`", cut(rule)),
        None => "the configuration of this project denies it".to_owned(),
    };
    policy(
        rule.unwrap_or("project"),
        "policy/deny",
        format!(
            "Blocked, because {what}. Do not look for another way to do it: tell the user what you wanted to do."
        ),
    )
}

/// The mode, for a call that does more than read.
pub(super) fn read_only(effect: &Effect) -> Refusal {
    policy(
        Mode::ReadOnly.as_str(),
        "policy/read-only",
        format!(
            "Blocked, because this call {}, and nothing but reading files is permitted in the mode `read-only`. The \
             user can choose another `mode` under `[permissions]`.",
            does(effect)
        ),
    )
}

/// A rule of `ask`; without its text when that is a project's.
pub(super) fn asked(rule: Option<&str>) -> Refusal {
    let what = match rule {
        Some(rule) => format!("the user's permissions want to be asked about `{}`", cut(rule)),
        None => "the configuration of this project wants the user to be asked".to_owned(),
    };
    needs_consent(rule.unwrap_or("project"), &what)
}

/// The mode, for a call that no rule names.
pub(super) fn by_mode(mode: Mode, effect: &Effect) -> Refusal {
    needs_consent(mode.as_str(), &format!("this call {}, and the mode is `{}`", does(effect), mode.as_str()))
}

fn needs_consent(name: &str, what: &str) -> Refusal {
    policy(
        name,
        "policy/ask",
        format!("This needs the user's consent: {what}. Without it the call must not run."),
    )
}

/// Somebody said no.
pub(super) fn not_granted(words: Option<&str>) -> Refusal {
    let words = words.map(|words| format!(": {}", words.trim().trim_end_matches('.'))).unwrap_or_default();
    policy(
        "user",
        "policy/refused",
        format!(
            "Blocked, because consent was asked for and not given{words}. Do not look for another way to do it."
        ),
    )
}

/// Nobody said anything.
pub(super) fn no_answer(fault: FaultKind, what: &str) -> Refusal {
    Refusal {
        by: RefusedBy { kind: RefuserKind::Policy, name: "user".to_owned() },
        code: format!("fault/{fault}"),
        fault: Some(fault),
        reason: format!(
            "Blocked, because this call needs the user's consent, and {what}. This is a fault and not a decision: the \
             call was not found to be wrong. Ask the user, and try again when they are there."
        ),
    }
}

/// A tool that is not there on this channel.
pub(super) fn no_such_tool(tool: &str) -> Refusal {
    let tool = cut(tool);
    policy(
        &tool,
        "policy/channel",
        format!(
            "Blocked, because the tool `{tool}` is not available here. Go on without it; the user can change that \
             under `[channels.tools]`."
        ),
    )
}

/// An MCP server that is not there on this channel.
pub(super) fn no_such_server(server: &str) -> Refusal {
    let server = cut(server);
    let what = if server == "?" {
        "the call does not tell its MCP server, and only some are available here".to_owned()
    } else {
        format!("the MCP server `{server}` is not available here")
    };
    policy(
        &server,
        "policy/channel",
        format!(
            "Blocked, because {what}. Go on without it; the user can change that under `[channels.servers]`."
        ),
    )
}

/// A write outside the paths of this run.
pub(super) fn not_a_direct_write(effect: &Effect, permitted: &str) -> Refusal {
    let only = if permitted.is_empty() {
        "no file may be written in this run".to_owned()
    } else {
        format!("only {permitted} may be written in this run")
    };
    refusal(
        RefuserKind::Path,
        &cut(&effect.target),
        "path/direct-write",
        format!("Blocked, because this call {}, and {only}. Keep to that, or tell the user.", does(effect)),
    )
}
