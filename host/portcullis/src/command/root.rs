//! Where commands come from, and who wins a name.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_model::product;
use serde::{Serialize, Serializer};

use super::dialect::Dialect;
use crate::trust::{TrustStore, Warrant, project_of};

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
    /// What no link is followed below, in a project.
    pub(super) base: PathBuf,
    pub(super) inside: String,
    pub(super) origin: CommandOrigin,
    pub(super) dialect: Dialect,
    pub(super) trust: RootTrust,
}

/// Who looked at the files of a directory.
#[derive(Debug, Clone)]
pub(super) enum RootTrust {
    /// They are the user's own, and so is where their links lead.
    User,
    /// They are a project's, and are trusted as this says.
    Project(Option<Arc<Warrant>>),
    /// They are a project's, and are shown to somebody who decides about them.
    Shown,
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
    /// The root of the project that `start` lies in: the nearest directory with files of
    /// this program, or else with commands for other agents. The user's home is none.
    #[must_use]
    pub fn project_of(start: &Path, home: Option<&Path>) -> Option<PathBuf> {
        project_of(start, home, &COMPATIBLE.map(|(mark, ..)| mark))
    }

    /// The directories, those that win first.
    pub(super) fn roots(&self) -> Vec<CommandRoot> {
        let own = |base: &Path, inside: &str, origin, dialect| CommandRoot {
            base: base.to_owned(),
            inside: inside.to_owned(),
            origin,
            dialect,
            trust: RootTrust::User,
        };
        let (first, last) = self.of_project();
        let mut roots = first;
        if let Some(plugins) = &self.plugins {
            roots.extend(directories(plugins, "").into_iter().map(|name| {
                let inside = format!("{name}/commands");
                own(plugins, &inside, CommandOrigin::Plugin(name), Dialect::Own)
            }));
        }
        roots.extend(self.user.as_deref().map(|user| own(user, "", CommandOrigin::User, Dialect::Own)));
        roots.extend(last);
        if let Some(home) = self.home.as_deref().filter(|_| self.compatible) {
            roots.extend(COMPATIBLE.map(|(_, inside, dialect)| {
                own(&home.join(inside), "", CommandOrigin::UserFor(dialect), dialect)
            }));
        }
        roots
    }

    /// Those of the project: its own, and those for other agents. A project that is the
    /// user's home brings nothing.
    fn of_project(&self) -> (Vec<CommandRoot>, Vec<CommandRoot>) {
        let Some(project) = self.project.as_deref().filter(|project| self.home.as_deref() != Some(project))
        else {
            return (Vec::new(), Vec::new());
        };
        let warrant = self.trust.clone().map(|store| Arc::new(Warrant::new(store, project.to_owned())));
        let own = |inside: String, origin, dialect| CommandRoot {
            base: project.to_owned(),
            inside,
            origin,
            dialect,
            trust: RootTrust::Project(warrant.clone()),
        };
        let plugins = format!("{}/plugins", product::PROJECT_DIR);
        let of_itself =
            own(format!("{}/commands", product::PROJECT_DIR), CommandOrigin::Project, Dialect::Own);
        let of_plugins = directories(project, &plugins)
            .into_iter()
            .map(|name| own(format!("{plugins}/{name}/commands"), CommandOrigin::Plugin(name), Dialect::Own));
        let for_others = COMPATIBLE.iter().filter(|_| self.compatible).map(|(inside, _, dialect)| {
            own((*inside).to_owned(), CommandOrigin::ProjectFor(*dialect), *dialect)
        });
        (std::iter::once(of_itself).chain(of_plugins).collect(), for_others.collect())
    }

    /// Those of the project, for somebody who decides about them.
    pub(super) fn shown(&self) -> Vec<CommandRoot> {
        let (first, last) = self.of_project();
        let shown = |root| CommandRoot { trust: RootTrust::Shown, ..root };
        first.into_iter().chain(last).map(shown).collect()
    }
}

/// The names of the directories there.
fn directories(base: &Path, inside: &str) -> Vec<String> {
    let Ok((entries, _)) = crate::beneath::list(base, inside) else { return Vec::new() };
    let is_directory = |kind: &crate::beneath::EntryKind| *kind == crate::beneath::EntryKind::Directory;
    entries
        .into_iter()
        .filter(|(_, kind)| is_directory(kind))
        .map(|(name, _)| name)
        .take(PLUGINS_MAX)
        .collect()
}
