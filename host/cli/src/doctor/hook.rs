//! Hooks, and who asks them.

use std::collections::BTreeSet;
use std::path::Path;

use portcullis::agent::Agent;
use portcullis::hook::{Event, HookRow};
use portcullis::install::Installation;
use portcullis::model::config::FailureMode;

use super::Finding;
use crate::printer;

/// A script hook. Of those that fail open only the ones before calls are worth a warning:
/// whoever is asked there is asked for a reason.
pub(super) fn hook(hook: &HookRow) -> Finding {
    let subject = format!("hook {}", printer::plain(&hook.name));
    let program = hook.program.as_deref().and_then(|program| cannot_start(program));
    match (hook.failure_mode, program) {
        (FailureMode::Closed, Some(why)) => {
            Finding::fail(subject, format!("it fails whenever it is asked: {why}"), "mend its `command`")
        }
        (FailureMode::Open, Some(why)) => {
            Finding::warn(subject, format!("it is never asked: {why}"), "mend its `command`")
        }
        (FailureMode::Closed, None) => Finding::ok(subject, "asked; its failure blocks"),
        (FailureMode::Open, None) if hook.event == Event::PreToolUse => Finding::warn(
            subject,
            "calls go on when it fails",
            "`failure_mode = \"closed\"` in its `[[hooks]]` refuses them",
        ),
        (FailureMode::Open, None) => Finding::ok(subject, "asked; its failure is told and blocks nothing"),
    }
}

/// Why this program cannot be started, if that shows.
fn cannot_start(program: &Path) -> Option<&'static str> {
    use std::os::unix::fs::PermissionsExt as _;
    match std::fs::metadata(program) {
        Err(_) => Some("its program is not there"),
        Ok(meta) if !meta.is_file() => Some("its program is no file"),
        Ok(meta) if meta.permissions().mode() & 0o111 == 0 => Some("its program is not executable"),
        Ok(_) => None,
    }
}

/// The hooks that listen to what this agent's entry does not tell of, and never can.
pub(super) fn unheard(agent: Agent, subject: &str, hooks: &[HookRow]) -> Vec<Finding> {
    let events: BTreeSet<_> = hooks.iter().map(|hook| hook.event).collect();
    let deaf = events.into_iter().filter(|event| !Installation::can_ask_for(agent, *event));
    deaf.map(|event| {
        let text = format!("hooks listen to `{event}`, and no entry of {agent} tells of it");
        Finding::warn(subject, text, "rely on another event, such as `pre-tool-use`")
    })
    .collect()
}
