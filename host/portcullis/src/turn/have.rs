//! What a turn has besides tools: skills, by their names, and a list of all.

use std::collections::BTreeMap;

use portcullis_model::capability::{Capability, CapabilityKind};
use portcullis_model::extension::ExtensionError;
use portcullis_model::fault::Fault;
use portcullis_model::name::PluginName;
use serde::Serialize;

use super::Turn;
use crate::extension::within;
use crate::registry::Unusable;

/// What a turn may use, decided when it began: nothing that it is about changes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TurnCapabilities {
    /// The epoch that it is bound to.
    pub epoch: u64,
    /// Everything that can be used, by kind and name, as a prompt or a ledger tells it.
    pub descriptors: Vec<Capability>,
    /// The names of the tools.
    pub tools: Vec<String>,
    /// The tools of servers that may be called without their server's name, and whose they
    /// are.
    pub servers_of_tools: BTreeMap<String, String>,
}

/// Why there is no text of a skill or a command.
#[derive(Debug, thiserror::Error)]
pub enum TextError {
    /// It is not there, or not permitted.
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// Whoever brings it cannot be asked.
    #[error(transparent)]
    Extension(#[from] ExtensionError),
    /// The plugin misbehaved.
    #[error("the command of the {plugin} plugin failed: {fault}")]
    Fault {
        /// The plugin.
        plugin: PluginName,
        /// What happened.
        fault: Fault,
    },
    /// The command does not want these arguments, or cannot do it now.
    #[error("the command `{name}` cannot be used so: {reason}")]
    Refused {
        /// The command.
        name: String,
        /// What it says.
        reason: String,
    },
}

impl TextError {
    /// A stable word.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::Unusable(unusable) => unusable.code(),
            Self::Extension(error) => error.code(),
            Self::Fault { fault, .. } => fault.kind.as_str(),
            Self::Refused { .. } => "refused",
        }
    }
}

impl Turn {
    /// Everything that the turn may use.
    #[must_use]
    pub fn capabilities(&self) -> TurnCapabilities {
        TurnCapabilities {
            epoch: self.epoch(),
            descriptors: self.admitted.all().into_iter().cloned().collect(),
            tools: self.admitted.tools().into_iter().map(|tool| tool.name).collect(),
            servers_of_tools: self.admitted.bare_names(),
        }
    }

    /// The text of the skill `name`, when it was there as the turn began and is permitted
    /// now.
    ///
    /// # Errors
    /// Why there is none.
    pub async fn skill(&self, name: &str) -> Result<String, TextError> {
        self.admitted.usable(CapabilityKind::Skill, name)?;
        for bound in self.admitted.bound() {
            let skill = bound.listed.known().skills.iter().find(|skill| skill.name == name);
            let (Some(skill), Some(role)) = (skill, bound.extension.skills()) else { continue };
            let extension = &*bound.extension;
            let text = within(extension, role.read(&skill.uri)).await?;
            return text.ok_or_else(|| {
                let unknown = ExtensionError::Unknown {
                    extension: extension.name().to_owned(),
                    what: "skill",
                    name: name.to_owned(),
                };
                unknown.into()
            });
        }
        Err(self.admitted.unknown(CapabilityKind::Skill, name).into())
    }
}
