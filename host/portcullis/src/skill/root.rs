//! Where skills come from, and who wins a name.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_model::config::SkillsConfig;
use portcullis_model::product;
use serde::Serialize;

use super::glob::Selection;
use crate::beneath;
use crate::trust::{TrustStore, Warrant, Workspace, project_of};

/// Whose skills a directory holds. An earlier one wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SkillOrigin {
    /// Named on the command line or in the configuration.
    Named,
    /// The project's own.
    Project,
    /// The user's own.
    User,
    /// What the project brings for any agent.
    ProjectAgents,
    /// What it brings for Claude Code.
    ProjectClaude,
    /// What the user has for any agent.
    UserAgents,
    /// What the user has for Claude Code.
    UserClaude,
}

impl SkillOrigin {
    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Named => "named",
            Self::Project => "project",
            Self::User => "user",
            Self::ProjectAgents => "project-agents",
            Self::ProjectClaude => "project-claude",
            Self::UserAgents => "user-agents",
            Self::UserClaude => "user-claude",
        }
    }
}

impl fmt::Display for SkillOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What is done with a link to a directory. A link to a file is never followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Links {
    /// It is told of, and not followed.
    #[default]
    Never,
    /// It is followed, each directory once. For directories of the user's own, where
    /// people link to skills that they keep elsewhere.
    Directories,
}

/// One directory of skills.
#[derive(Debug, Clone)]
pub struct SkillRoot {
    /// What no link is followed below: the directory itself, or the project that it is in.
    pub base: PathBuf,
    /// Where the directory is below that; empty when it is that.
    pub inside: String,
    /// Whose it is.
    pub origin: SkillOrigin,
    /// Which of its skills are meant.
    pub selection: Selection,
    /// What is done with links.
    pub links: Links,
    /// Somebody asked for it, so it is told of when it is not there.
    pub expected: bool,
    /// For a project's directory: what is trusted of the project.
    pub trust: Option<SkillTrust>,
}

impl SkillRoot {
    /// All of `path`.
    #[must_use]
    pub fn new(path: PathBuf, origin: SkillOrigin) -> Self {
        let (inside, selection) = (String::new(), Selection::default());
        Self { base: path, inside, origin, selection, links: Links::Never, expected: false, trust: None }
    }

    /// The directory.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        beneath::joined(&self.base, &self.inside)
    }
}

/// What is trusted of a project's skills: each by the bytes of its `SKILL.md`.
#[derive(Debug, Clone)]
pub struct SkillTrust(Option<Arc<Warrant>>);

impl SkillTrust {
    /// As `store` says of the project at `root`; without a store nothing is trusted.
    #[must_use]
    pub fn new(store: Option<TrustStore>, root: &Path) -> Self {
        Self(store.map(|store| Arc::new(Warrant::new(store, root.to_owned()))))
    }

    /// What is trusted now; another value when it is no longer the same.
    pub(super) fn now(&self) -> Option<Arc<Workspace>> {
        self.0.as_ref()?.now()
    }

    pub(super) fn covers(&self, file: &Path, digest: &str) -> bool {
        self.0.as_ref().is_some_and(|warrant| warrant.covers(file, digest))
    }
}

/// The directories in which a project and a user keep skills.
#[derive(Debug, Clone, Default)]
pub struct SkillPlaces {
    /// The project's root.
    pub project: Option<PathBuf>,
    /// The user's own skills.
    pub user: Option<PathBuf>,
    /// The user's home.
    pub home: Option<PathBuf>,
    /// The directories for other agents too.
    pub compatible: bool,
    /// Which projects are trusted.
    pub trust: Option<TrustStore>,
}

/// A directory that other agents read too, and whose it is in a project and in a home.
const COMPATIBLE: [(&str, SkillOrigin, SkillOrigin); 2] = [
    (".agents/skills", SkillOrigin::ProjectAgents, SkillOrigin::UserAgents),
    (".claude/skills", SkillOrigin::ProjectClaude, SkillOrigin::UserClaude),
];

impl SkillPlaces {
    /// The roots, those that win first.
    #[must_use]
    pub fn roots(&self) -> Vec<SkillRoot> {
        let of_project = |inside: String, origin, project: &Path| SkillRoot {
            inside,
            trust: Some(SkillTrust::new(self.trust.clone(), project)),
            ..SkillRoot::new(project.to_owned(), origin)
        };
        // A project that is the user's home brings nothing of its own.
        let project = self.project.as_deref().filter(|project| self.home.as_deref() != Some(project));
        let mut roots = Vec::new();
        if let Some(project) = project {
            let own = format!("{}/skills", product::PROJECT_DIR);
            roots.push(of_project(own, SkillOrigin::Project, project));
        }
        roots.extend(self.user.iter().map(|user| SkillRoot::new(user.clone(), SkillOrigin::User)));
        if self.compatible {
            if let Some(project) = project {
                roots.extend(
                    COMPATIBLE
                        .iter()
                        .map(|(path, origin, _)| of_project((*path).to_owned(), *origin, project)),
                );
            }
            if let Some(home) = &self.home {
                roots.extend(
                    COMPATIBLE.iter().map(|(path, _, origin)| SkillRoot::new(home.join(path), *origin)),
                );
            }
        }
        roots
    }

    /// The root of the project that `start` lies in: the nearest directory with files of
    /// this program, or else with skills for other agents. The user's home is none.
    #[must_use]
    pub fn project_of(start: &Path, home: Option<&Path>) -> Option<PathBuf> {
        project_of(start, home, &COMPATIBLE.map(|(mark, ..)| mark))
    }

    /// The roots as the configuration says.
    ///
    /// # Errors
    /// When a name in it is none.
    pub fn configured(&self, config: &SkillsConfig) -> Result<Vec<SkillRoot>, String> {
        let selection = Selection::new(&config.include, &config.ignore)?;
        let own = Self { compatible: config.compat, ..self.clone() };
        let links = if config.follow_links { Links::Directories } else { Links::Never };
        let named = config
            .roots
            .iter()
            .map(|path| SkillRoot { expected: true, ..SkillRoot::new(path.clone(), SkillOrigin::Named) });
        let roots = named.chain(own.roots()).map(|root| SkillRoot {
            selection: selection.clone(),
            links: if root.trust.is_some() { Links::Never } else { links },
            ..root
        });
        Ok(roots.collect())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use portcullis_model::config::SkillsConfig;

    use super::{Links, SkillPlaces};

    #[test]
    fn the_projects_own_come_first_and_those_for_other_agents_last() {
        let places = SkillPlaces {
            project: Some("/p".into()),
            user: Some("/data/skills".into()),
            home: Some("/home/u".into()),
            compatible: true,
            trust: None,
        };
        let said = |places: &SkillPlaces| {
            let roots = places.roots();
            assert!(roots.iter().all(|root| root.trust.is_some() == (root.base.as_os_str() == "/p")));
            roots.iter().map(|root| format!("{} {}", root.origin, root.path().display())).collect::<Vec<_>>()
        };
        let all = [
            "project /p/.portcullis/skills",
            "user /data/skills",
            "project-agents /p/.agents/skills",
            "project-claude /p/.claude/skills",
            "user-agents /home/u/.agents/skills",
            "user-claude /home/u/.claude/skills",
        ];
        assert_eq!(said(&places), all);
        let own = SkillPlaces { compatible: false, ..places.clone() };
        assert_eq!(said(&own), all[..2]);
        let at_home = SkillPlaces { project: Some("/home/u".into()), ..places };
        assert_eq!(said(&at_home), [all[1], all[4], all[5]]);
    }

    #[test]
    fn a_project_is_where_its_skills_are_and_never_the_home() {
        let home = tempfile::tempdir().unwrap();
        let project = home.path().join("p");
        fs::create_dir_all(home.path().join(".claude/skills")).unwrap();
        fs::create_dir_all(project.join("src")).unwrap();
        let find = || SkillPlaces::project_of(&project.join("src"), Some(home.path()));
        assert_eq!(find(), None);
        fs::create_dir_all(project.join(".agents/skills")).unwrap();
        assert_eq!(find(), Some(project.clone()));
        let outer = home.path().join("p/src");
        fs::create_dir_all(outer.join(".claude/skills")).unwrap();
        fs::create_dir_all(project.join(".portcullis")).unwrap();
        assert_eq!(find(), Some(project.clone()), "where its own files are, whatever lies nearer");
    }

    #[test]
    fn the_configuration_adds_roots_and_says_which_skills_are_meant() {
        let places = SkillPlaces {
            project: Some("/p".into()),
            user: Some("/data/skills".into()),
            home: Some("/home/u".into()),
            ..SkillPlaces::default()
        };
        let config = SkillsConfig {
            roots: vec!["/more".into()],
            follow_links: true,
            include: vec!["git-*".to_owned()],
            ..SkillsConfig::default()
        };
        let roots = places.configured(&config).unwrap();
        assert_eq!(roots.len(), 7);
        assert!(roots[0].expected && roots[0].path().as_os_str() == "/more");
        assert!(roots.iter().all(|root| root.selection.means("git-a") && !root.selection.means("b")));
        assert!(roots.iter().all(|root| (root.links == Links::Never) == root.trust.is_some()));
        let without = SkillsConfig { compat: false, ..SkillsConfig::default() };
        assert_eq!(places.configured(&without).unwrap().len(), 2);
        let wrong = SkillsConfig { ignore: vec![String::new()], ..SkillsConfig::default() };
        assert!(places.configured(&wrong).is_err());
    }
}
