//! Where commands come from, and who wins a name.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_model::product;
use serde::{Serialize, Serializer};

use super::dialect::Dialect;
use crate::trust::{TrustStore, Warrant};

/// Whose command it is. An earlier one wins a name.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum CommandOrigin {
    /// The project's own.
    Project,
    /// A plugin's: a directory `plugins/NAME/commands`, of the project or of the user.
    Plugin(String),
    /// The user's own.
    User,
    /// What the project has for another agent.
    ProjectFor(Dialect),
    /// What the user has for another agent.
    UserFor(Dialect),
}

impl CommandOrigin {
    /// It comes before what components bring.
    pub(crate) fn is_before_components(&self) -> bool {
        matches!(self, Self::Project | Self::Plugin(_))
    }
}

impl fmt::Display for CommandOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project => f.write_str("project"),
            Self::Plugin(name) => write!(f, "plugin:{name}"),
            Self::User => f.write_str("user"),
            Self::ProjectFor(dialect) => write!(f, "project-{dialect}"),
            Self::UserFor(dialect) => write!(f, "user-{dialect}"),
        }
    }
}

impl Serialize for CommandOrigin {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One directory of commands.
#[derive(Debug, Clone)]
pub(super) struct CommandRoot {
    /// What no link is followed below; none: links to files are followed, for they are
    /// the user's own.
    pub(super) base: PathBuf,
    pub(super) inside: String,
    pub(super) origin: CommandOrigin,
    pub(super) dialect: Dialect,
    /// For a project's directory: what is trusted of the project.
    pub(super) warrant: Option<Option<Arc<Warrant>>>,
}

impl CommandRoot {
    pub(super) fn path(&self) -> PathBuf {
        crate::beneath::joined(&self.base, &self.inside)
    }

    /// How deep commands lie, and what stands between the parts of a name.
    pub(super) const fn depth(&self) -> (usize, &'static str) {
        match self.dialect {
            Dialect::Own => (0, ""),
            Dialect::Claude | Dialect::Gemini => (DEPTH_MAX, ":"),
            Dialect::OpenCode => (DEPTH_MAX, "/"),
        }
    }

    /// How the file of a command ends.
    pub(super) const fn end(&self) -> &'static str {
        match self.dialect {
            Dialect::Own | Dialect::Claude | Dialect::OpenCode => ".md",
            Dialect::Gemini => ".toml",
        }
    }
}

/// How deep directories of commands for other agents may be.
const DEPTH_MAX: usize = 4;

/// Where a project and a user keep commands. Default: nowhere.
#[derive(Debug, Clone, Default)]
pub struct CommandPlaces {
    /// The project's root.
    pub project: Option<PathBuf>,
    /// The user's own commands.
    pub user: Option<PathBuf>,
    /// The user's plugins: each may have a directory `commands`.
    pub plugins: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The directories for other agents too.
    pub compatible: bool,
    /// Which projects are trusted.
    pub trust: Option<TrustStore>,
}

/// A directory that other agents read, in a project and in a home, and by whose rules.
const COMPATIBLE: [(&str, &str, Dialect); 4] = [
    (".claude/commands", ".claude/commands", Dialect::Claude),
    (".opencode/command", ".config/opencode/command", Dialect::OpenCode),
    (".opencode/commands", ".config/opencode/commands", Dialect::OpenCode),
    (".gemini/commands", ".gemini/commands", Dialect::Gemini),
];

/// The most plugins with commands.
const PLUGINS_MAX: usize = 200;

impl CommandPlaces {
    /// The directories, those that win first.
    pub(super) fn roots(&self) -> Vec<CommandRoot> {
        // A project that is the user's home brings nothing of its own.
        let project = self.project.as_deref().filter(|project| self.home.as_deref() != Some(project));
        let warrant = project.map(|project| {
            self.trust.clone().map(|store| Arc::new(Warrant::new(store, project.to_owned())))
        });
        let own = |base: &Path, inside: &str, origin, dialect, warrant: &Option<_>| CommandRoot {
            base: base.to_owned(),
            inside: inside.to_owned(),
            origin,
            dialect,
            warrant: warrant.clone(),
        };
        let mut roots = Vec::new();
        if let Some(project) = project {
            let (dir, plugins) = (format!("{}/commands", product::PROJECT_DIR), format!("{}/plugins", product::PROJECT_DIR));
            roots.push(own(project, &dir, CommandOrigin::Project, Dialect::Own, &warrant));
            for name in directories(project, &plugins) {
                let inside = format!("{plugins}/{name}/commands");
                roots.push(own(project, &inside, CommandOrigin::Plugin(name), Dialect::Own, &warrant));
            }
        }
        if let Some(plugins) = &self.plugins {
            for name in directories(plugins, "") {
                let inside = format!("{name}/commands");
                roots.push(own(plugins, &inside, CommandOrigin::Plugin(name), Dialect::Own, &None));
            }
        }
        if let Some(user) = &self.user {
            roots.push(own(user, "", CommandOrigin::User, Dialect::Own, &None));
        }
        if self.compatible {
            for (inside, _, dialect) in COMPATIBLE {
                roots.extend(project.map(|project| {
                    own(project, inside, CommandOrigin::ProjectFor(dialect), dialect, &warrant)
                }));
            }
            for (_, inside, dialect) in COMPATIBLE {
                roots.extend(self.home.as_deref().map(|home| {
                    own(&home.join(inside), "", CommandOrigin::UserFor(dialect), dialect, &None)
                }));
            }
        }
        roots
    }
}

/// The names of the directories there.
fn directories(base: &Path, inside: &str) -> Vec<String> {
    let Ok((entries, _)) = crate::beneath::list(base, inside) else { return Vec::new() };
    let is_directory = |kind: &crate::beneath::EntryKind| *kind == crate::beneath::EntryKind::Directory;
    entries.into_iter().filter(|(_, kind)| is_directory(kind)).map(|(name, _)| name).take(PLUGINS_MAX).collect()
}
