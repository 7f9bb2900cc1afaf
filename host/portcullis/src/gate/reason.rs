//! The words of a refusal. A decision and a fault read differently, and a fault
//! names the guard, what happened and the way out.

use portcullis_model::fault::{Fault, FaultKind};
use portcullis_model::judgement::{Refusal, RefusedBy, RefuserKind};
use portcullis_runtime::GuardRefusal;

use crate::plugin::{Plugin, Standing};
use crate::protect::{Code, Objection};
use crate::registry::Unusable;

/// A guard's own no.
pub(super) fn refusal(guard: &Plugin, refusal: GuardRefusal) -> Refusal {
    let name = &guard.info.name;
    let code = if refusal.code.is_empty() { name.to_string() } else { format!("{name}/{}", refusal.code) };
    // The words of a component that came with the workspace are the workspace's
    // words. The model is told that somebody objects, and the user can see what.
    let reason = if guard.is_trusted() {
        format!("Blocked by the {name} plugin: {}", refusal.reason)
    } else {
        tracing::info!(plugin = %name, "an untrusted guard of the project refused: {}", refusal.reason);
        "Blocked by a guard that came with this project. Ask the user; `portcullis check -v` shows the guard's own \
         words."
            .to_owned()
    };
    Refusal { by: by_guard(guard), code, fault: None, reason }
}

/// A guard that gave no verdict.
pub(super) fn fault(guard: &Plugin, fault: &Fault) -> Refusal {
    let name = &guard.info.name;
    tracing::warn!(plugin = %name, fault = %fault.kind, "a guard gave no verdict: {}", fault.detail);
    // The name and the error of a component that came with the workspace are its
    // own words as well.
    let reason = if guard.is_trusted() {
        format!(
            "Blocked, because the {name} plugin failed to judge this call ({fault}). This is a fault and not a \
             decision: the call was not found to be wrong. Ask the user to look at `portcullis plugin inspect \
             {name}`; the plugin can be given more room under `[plugin.{name}.limits]`, replaced, or left out of \
             `[plugins] enabled`."
        )
    } else {
        format!(
            "Blocked, because a guard that came with this project failed to judge this call ({}). This is a fault \
             and not a decision: the call was not found to be wrong. Ask the user to look at `portcullis plugin \
             list`, and to mend or remove the guard.",
            fault.kind
        )
    };
    Refusal { by: by_guard(guard), code: format!("fault/{}", fault.kind), fault: Some(fault.kind), reason }
}

/// The tool of a project's plugin that is not trusted any more.
pub(super) fn withdrawn(tool: &str) -> Refusal {
    Refusal {
        by: RefusedBy { kind: RefuserKind::Policy, name: "trust".to_owned() },
        code: "trust/withdrawn".to_owned(),
        fault: None,
        reason: format!(
            "Blocked, because the plugin of this project that brings the tool `{tool}` is not trusted any more. Ask \
             the user to look at `portcullis trust status`."
        ),
    }
}

fn by_guard(guard: &Plugin) -> RefusedBy {
    RefusedBy { kind: RefuserKind::Guard, name: guard.info.name.to_string() }
}

/// The host itself gave no verdict.
pub(super) fn host(tool: &str, fault: &Fault) -> Refusal {
    tracing::error!(tool, fault = %fault.kind, "the host gave no verdict: {}", fault.detail);
    Refusal {
        by: RefusedBy { kind: RefuserKind::Input, name: tool.to_owned() },
        code: format!("fault/{}", fault.kind),
        fault: Some(fault.kind),
        reason: format!(
            "Blocked, because Portcullis failed to judge this call ({fault}). This is a fault and not a decision: \
             the call was not found to be wrong. Write it in another way or in smaller parts, or ask the user to run \
             it and to report what failed."
        ),
    }
}

/// A script that is larger than what is looked into.
pub(super) fn too_big_a_script(tool: &str) -> Refusal {
    Refusal {
        by: RefusedBy { kind: RefuserKind::Input, name: tool.to_owned() },
        code: format!("fault/{}", FaultKind::TooBig),
        fault: Some(FaultKind::TooBig),
        reason: "Blocked, because the script has more commands, words or levels of nesting than are looked into \
                 (100,000 pipelines, 1,000,000 words, 64 levels, 10,000 changed files). This is a fault and not a \
                 decision: the script was not found to be wrong. Run it in smaller parts, or ask the user to run it."
            .to_owned(),
    }
}

/// Something that keeps every call from running until it is mended.
pub(super) fn standing(standing: &Standing) -> Refusal {
    Refusal {
        by: RefusedBy { kind: RefuserKind::Standing, name: standing.name.clone() },
        code: standing.code.clone(),
        fault: Some(FaultKind::Load),
        reason: format!(
            "Blocked, because {}. Every tool call is refused until that is mended. Ask the user to run `portcullis \
             plugin list`, and {}.",
            standing.what, standing.way_out
        ),
    }
}

/// Arguments that are not what the tool wants.
pub(super) fn schema(tool: &str, wrong: &str) -> Refusal {
    let shown: String = tool.chars().take(100).collect();
    Refusal {
        by: RefusedBy { kind: RefuserKind::Schema, name: shown.clone() },
        code: "schema/mismatch".to_owned(),
        fault: None,
        reason: format!(
            "The tool `{shown}` was not run, because its arguments do not fit its schema: {wrong}. Call it again \
             with arguments that do."
        ),
    }
}

/// A tool that was there when the turn began, and is not permitted now.
pub(super) fn unusable(tool: &str, unusable: &Unusable) -> Refusal {
    let shown: String = tool.chars().take(100).collect();
    Refusal {
        by: RefusedBy { kind: RefuserKind::Standing, name: shown },
        code: match unusable {
            Unusable::Retired { .. } => "capability/retired",
            Unusable::Unknown { .. } | Unusable::KindMismatch { .. } | Unusable::NotUsable { .. } => {
                "capability/not-usable"
            }
        }
        .to_owned(),
        fault: None,
        reason: format!("Blocked, because {unusable}. Go on without it, and tell the user if it is needed."),
    }
}

/// A tool that came after the turn began.
pub(super) fn next_turn(tool: &str) -> Refusal {
    let shown: String = tool.chars().take(100).collect();
    Refusal {
        by: RefusedBy { kind: RefuserKind::Standing, name: shown.clone() },
        code: "capability/next-turn".to_owned(),
        fault: None,
        reason: format!(
            "Blocked, because the tool `{shown}` came after this turn began. It can be called from the next turn on."
        ),
    }
}

/// Nothing can be written down, and the operator requires that everything is.
pub(crate) fn no_ledger(failed: &str) -> Refusal {
    Refusal {
        by: RefusedBy { kind: RefuserKind::Standing, name: "ledger".to_owned() },
        code: format!("fault/{}", FaultKind::Resource),
        fault: Some(FaultKind::Resource),
        reason: format!(
            "Blocked, because the ledger of Portcullis cannot be written: {failed}. This is a fault and not a decision: \
             the call was not found to be wrong. The user requires the ledger, so every tool call is refused until that \
             is mended. Ask the user to look at the directory that `portcullis ledger verify` names and at the room on \
             its disk, or to take `required = true` out of `[audit]` in their own configuration file."
        ),
    }
}

/// A call that would change what Portcullis stands on. The path or the command is
/// the model's own; where it leads is not told.
pub(super) fn own(objection: Objection) -> Refusal {
    let Objection { code, named, what } = objection;
    let shown: String = named.chars().take(200).collect();
    let does = if code == Code::Command {
        format!("`{shown}` would change or end {what}")
    } else {
        format!("this call would change `{shown}`, which belongs to {what}")
    };
    Refusal {
        by: RefusedBy { kind: RefuserKind::Path, name: shown },
        code: code.as_str().to_owned(),
        fault: None,
        reason: format!(
            "Blocked, because {does}. No agent may do that, whatever the change is; reading is allowed. Tell the user \
             what you want changed, so that they can do it themselves, and go on without it. The user can switch this \
             off with `own_files = false` under `[protect]` in their own configuration file."
        ),
    }
}

/// A tool that nobody knows, while a guard is required.
pub(super) fn unknown_tool(tool: &str) -> Refusal {
    let shown: String = tool.chars().take(100).collect();
    Refusal {
        by: RefusedBy { kind: RefuserKind::Input, name: shown.clone() },
        code: "input/unknown-tool".to_owned(),
        fault: Some(FaultKind::BadInput),
        reason: format!(
            "Blocked, because the tool `{shown}` is not known, so that no guard can tell what it does, and the user \
             requires a guard. The user can vouch for it with `[tools] known = [\"{shown}\"]`."
        ),
    }
}
