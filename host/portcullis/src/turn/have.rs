//! What a turn has besides tools: skills and commands, by their names, and a list of all.

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_model::capability::{Capability, CapabilityKind};
use portcullis_model::extension::{CommandEntry, CommandRank, ExtensionError};
use portcullis_model::fault::Fault;
use portcullis_model::name::PluginName;
use portcullis_runtime::{InvocationView, Kind};
use serde::Serialize;

use super::Turn;
use crate::command::{CommandDocument, Dialect};
use crate::extension::within;
use crate::frontmatter;
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
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unusable(unusable) => unusable.code(),
            Self::Extension(_) => "unavailable",
            Self::Fault { fault, .. } => fault.kind.as_str(),
            Self::Refused { .. } => "refused",
        }
    }
}

/// A command that somebody typed.
#[derive(Debug)]
struct Typed {
    name: String,
    arguments: String,
    session: String,
    cwd: String,
}

impl InvocationView for Typed {
    fn name(&self) -> &str {
        &self.name
    }

    fn arguments(&self) -> &str {
        &self.arguments
    }

    fn session_id(&self) -> &str {
        &self.session
    }

    fn cwd(&self) -> &str {
        &self.cwd
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

    /// The prompt that the command `name` stands for, when it was there as the turn began
    /// and is permitted now. `skill:NAME` is the text of a skill, whose placeholders are
    /// those of [`Dialect::Claude`].
    ///
    /// It is written down; a host that cannot write goes on without.
    ///
    /// # Errors
    /// Why there is none. Nothing is written down then.
    pub async fn expand(&self, name: &str, arguments: &str, cwd: &str) -> Result<String, TextError> {
        let text = match name.strip_prefix(SKILL) {
            Some(skill) => self.skill_as_command(skill, name, arguments).await?,
            None => self.command(name, arguments, cwd).await?,
        };
        self.session.host().recorder().expanded(self.session.id(), name, &text).await;
        Ok(text)
    }

    async fn skill_as_command(&self, skill: &str, name: &str, arguments: &str) -> Result<String, TextError> {
        let text = self.skill(skill).await?;
        let refused = |reason: String| TextError::Refused { name: name.to_owned(), reason };
        let body = frontmatter::body(&text);
        // A text without fields is one all the same, from whoever brings it.
        let body = if body.is_empty() { &text } else { body };
        let document = CommandDocument::read(body.as_bytes(), Dialect::Claude);
        let document = document.map_err(|error| refused(error.to_string()))?;
        document.expand(name, arguments).map_err(|error| refused(error.to_string()))
    }

    /// Those who have the name are asked in the order in which a list names them, until one
    /// of them knows it.
    async fn command(&self, name: &str, arguments: &str, cwd: &str) -> Result<String, TextError> {
        self.admitted.usable(CapabilityKind::Command, name)?;
        for rank in [CommandRank::First, CommandRank::Last] {
            if rank == CommandRank::Last
                && let Some(expanded) = self.of_plugin(name, arguments, cwd).await
            {
                return expanded;
            }
            for bound in self.admitted.bound() {
                let has = |own: &CommandEntry| own.name == name && own.rank == rank;
                let (true, Some(role)) =
                    (bound.listed.known().commands.iter().any(has), bound.extension.commands())
                else {
                    continue;
                };
                match within(&*bound.extension, role.resolve(name, arguments)).await {
                    Err(ExtensionError::Unknown { .. }) => {}
                    Ok(text) => return Ok(text),
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Err(self.admitted.unknown(CapabilityKind::Command, name).into())
    }

    /// What the plugin that has the command makes of it; none when no plugin has it.
    async fn of_plugin(&self, name: &str, arguments: &str, cwd: &str) -> Option<Result<String, TextError>> {
        let mut acting = self.admitted.plugins().plugins().filter(|plugin| plugin.acts_as(Kind::Command));
        let plugin = acting.find(|plugin| plugin.commands.iter().any(|command| command.name == name))?;
        let typed = Typed {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            session: self.session.id().to_owned(),
            cwd: cwd.to_owned(),
        };
        Some(match plugin.guest.expand(Arc::new(typed)).await {
            Err(fault) => Err(TextError::Fault { plugin: plugin.info.name.clone(), fault }),
            Ok(expanded) => {
                expanded.map_err(|reason| TextError::Refused { name: name.to_owned(), reason })
            }
        })
    }
}

/// What stands before the name of a skill that is typed as a command.
const SKILL: &str = "skill:";
