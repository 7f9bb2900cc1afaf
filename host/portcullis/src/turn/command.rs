//! The commands of a turn: what a person may type, and what a model is asked then.

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_model::capability::CapabilityKind;
use portcullis_model::extension::{CommandEntry, CommandRank, ExtensionError};
use portcullis_runtime::{InvocationView, Kind};

use super::Turn;
use super::have::TextError;
use crate::command::{CommandDocument, Dialect};
use crate::extension::within;
use crate::frontmatter;

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
    /// What a person may type, by name: one list for completion, a palette and help. A
    /// skill is there as `skill:NAME`.
    #[must_use]
    pub fn commands(&self) -> Vec<CommandEntry> {
        let of_extensions = |rank: CommandRank| {
            self.admitted.bound().iter().flat_map(move |bound| {
                let own = bound.listed.known().commands.iter().filter(move |own| own.rank == rank);
                own.map(|own| {
                    let named = Some(&own.from).filter(|from| !from.is_empty());
                    let from = named.map_or_else(|| bound.extension.name().to_owned(), Clone::clone);
                    CommandEntry { from, ..own.clone() }
                })
            })
        };
        let acting = self.admitted.plugins().plugins().filter(|plugin| plugin.acts_as(Kind::Command));
        let of_plugins = acting.flat_map(|plugin| {
            plugin.commands.iter().map(|own| CommandEntry {
                arguments: own.argument_hint.clone().unwrap_or_default(),
                from: format!("plugin:{}", plugin.info.name),
                ..CommandEntry::new(own.name.clone(), own.description.clone())
            })
        });
        let mut all = BTreeMap::new();
        for own in of_extensions(CommandRank::First).chain(of_plugins).chain(of_extensions(CommandRank::Last))
        {
            if self.admitted.usable(CapabilityKind::Command, &own.name).is_ok() {
                all.entry(own.name.clone()).or_insert(own);
            }
        }
        for skill in self.admitted.all().into_iter().filter(|own| own.id.kind == CapabilityKind::Skill) {
            let name = format!("{SKILL}{}", skill.id.name);
            let entry = CommandEntry::new(name.clone(), skill.declaration.description.clone());
            all.entry(name).or_insert(CommandEntry { from: "skill".to_owned(), ..entry });
        }
        all.into_values().collect()
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
            Ok(expanded) => expanded.map_err(|reason| TextError::Refused { name: name.to_owned(), reason }),
        })
    }
}

/// What stands before the name of a skill that is typed as a command.
const SKILL: &str = "skill:";
