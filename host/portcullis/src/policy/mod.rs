//! What the operator permits: asked last, about calls that no guard and no hook
//! objects to.
//!
//! A denied call is refused in every mode, a call that needs consent is put to the
//! [`Approver`], and without one it is refused. What a project's file adds is the
//! project's words, which no model hears.

mod approve;
mod channel;
mod direct;
mod place;
mod reason;
#[cfg(test)]
mod tests;

use portcullis_model::call::{Effect, EffectKind};
use portcullis_model::capability::CapabilityKind;
use portcullis_model::config::{Config, Mode, PermissionsConfig};
use portcullis_model::judgement::Refusal;

pub use approve::{Approval, ApprovalRequest, Approver};
pub(crate) use approve::{Question, ask};
pub(crate) use channel::Channel;
pub use channel::SkillChannel;
pub use direct::{DirectWrites, DirectWritesError};
pub(crate) use place::Place;

use crate::rule::{Rule, Subject};

/// What is in the configuration and cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{key}` holds what is none: {reason}")]
pub struct PolicyError {
    /// The key.
    pub key: &'static str,
    /// What is wrong.
    pub reason: String,
}

/// What the operator permits.
#[derive(Debug, Default)]
pub(crate) struct Policy {
    mode: Option<Mode>,
    allow: Vec<Rule>,
    ask: Vec<Ruled>,
    deny: Vec<Ruled>,
}

#[derive(Debug)]
struct Ruled {
    rule: Rule,
    by_project: bool,
}

/// What the policy makes of one call.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Opinion {
    /// It may run.
    Pass,
    /// It may run when the user consents; this is the refusal when nobody is asked.
    Ask(Refusal),
    /// It must not run.
    Refuse(Refusal),
}

/// What is known of a call besides what it does.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Standing<'a> {
    /// Where it runs.
    pub(crate) place: Place<'a>,
    /// The tool's own plugin says that the user need not be asked.
    pub(crate) auto_approved: bool,
    /// The tool is a plugin's, and the plugin can change nothing outside itself.
    pub(crate) harmless: bool,
}

impl Policy {
    pub(crate) fn new(config: &Config) -> Result<Self, PolicyError> {
        let PermissionsConfig { mode, allow, ask, deny, ask_by_project, deny_by_project } =
            &config.permissions;
        let both = |key, own: &[String], projects: &[String]| {
            let own = rules(key, own)?.into_iter().map(|rule| Ruled { rule, by_project: false });
            let projects = rules(key, projects)?.into_iter().map(|rule| Ruled { rule, by_project: true });
            Ok(own.chain(projects).collect())
        };
        Ok(Self {
            mode: *mode,
            allow: rules("permissions.allow", allow)?,
            ask: both("permissions.ask", ask, ask_by_project)?,
            deny: both("permissions.deny", deny, deny_by_project)?,
        })
    }

    /// Nothing is refused and nothing needs consent, whatever the call.
    pub(crate) fn says_nothing(&self) -> bool {
        self.ask.is_empty() && self.deny.is_empty() && matches!(self.mode, None | Some(Mode::Yolo))
    }

    /// The rule that denies every call of the tool or of the server `name`, as far as it
    /// may be shown; none when some calls may pass.
    pub(crate) fn denies_wholly(&self, kind: CapabilityKind, name: &str) -> Option<&str> {
        let probe = match kind {
            CapabilityKind::Tool => name.to_owned(),
            CapabilityKind::Server => format!("mcp:{name}/any"),
            // Rules are about calls.
            CapabilityKind::Skill | CapabilityKind::Hook | CapabilityKind::Command => return None,
        };
        let denied = self.deny.iter().find(|own| own.rule.means_every_call_of(&probe))?;
        Some(denied.shown().unwrap_or("a rule of this project"))
    }

    /// What is to become of `call`. The disk is asked where its paths lead.
    pub(crate) fn opinion(&self, call: &Subject<'_>, standing: &Standing<'_>) -> Opinion {
        if self.says_nothing() {
            return Opinion::Pass;
        }
        let effects = place::with_targets_of_links(call.effects);
        let everywhere = Subject { effects: &effects, ..*call };
        if let Some(denied) = self.deny.iter().find(|own| own.rule.touches(&everywhere)) {
            return Opinion::Refuse(reason::denied(denied.shown()));
        }
        if let (Some(Mode::ReadOnly), Some(effect)) = (self.mode, more_than_reading(call, standing)) {
            return Opinion::Refuse(reason::read_only(effect));
        }
        if let Some(asked) = self.ask.iter().find(|own| own.rule.touches(&everywhere)) {
            return Opinion::Ask(reason::asked(asked.shown()));
        }
        if standing.auto_approved || Rule::cover(&self.allow, &everywhere) {
            return Opinion::Pass;
        }
        match self.mode {
            None | Some(Mode::Yolo) => Opinion::Pass,
            Some(mode) => match effects.iter().find(|effect| !passes(mode, effect, standing)) {
                None => Opinion::Pass,
                Some(effect) => Opinion::Ask(reason::by_mode(mode, effect)),
            },
        }
    }
}

impl Ruled {
    /// The rule, as far as a model may hear it.
    fn shown(&self) -> Option<&str> {
        (!self.by_project).then(|| self.rule.text())
    }
}

/// Whether `mode` lets this pass without consent.
fn passes(mode: Mode, effect: &Effect, standing: &Standing<'_>) -> bool {
    match effect.kind {
        EffectKind::Read => standing.place.holds(&effect.target),
        EffectKind::Write | EffectKind::Delete => {
            mode == Mode::AcceptEdits && standing.place.holds_plainly(&effect.target)
        }
        EffectKind::Run | EffectKind::Fetch | EffectKind::Mcp | EffectKind::Opaque => false,
    }
}

/// The first effect that is more than reading.
fn more_than_reading<'e>(call: &Subject<'e>, standing: &Standing<'_>) -> Option<&'e Effect> {
    if standing.harmless {
        return None;
    }
    call.effects.iter().find(|effect| effect.kind != EffectKind::Read)
}

fn rules(key: &'static str, texts: &[String]) -> Result<Vec<Rule>, PolicyError> {
    let rule =
        |text: &String| text.parse::<Rule>().map_err(|error| PolicyError { key, reason: error.to_string() });
    texts.iter().map(rule).collect()
}
