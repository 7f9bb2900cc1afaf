//! Where a call works: which paths are the workspace's own.

use std::path::{Component, Path, PathBuf};

use portcullis_model::call::{Effect, EffectKind};

use crate::protect::resolve;

/// Directories and files below a workspace that tools run or obey: a change to them is
/// more than an edit. Compared without ASCII case.
const OBEYED: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".husky",
    ".vscode",
    ".idea",
    ".devcontainer",
    ".github",
    ".gitlab-ci.yml",
    ".envrc",
    ".mcp.json",
    ".gitmodules",
    ".npmrc",
    ".cargo",
];

/// Where a call works.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The directory that the call runs in.
    pub(crate) cwd: &'a str,
    /// The workspace's root, where the host knows it.
    pub(crate) project: Option<&'a Path>,
    /// The user's home directory.
    pub(crate) home: Option<&'a str>,
}

impl Place<'_> {
    /// Whether `path` leads to a place below the workspace.
    pub(super) fn holds(&self, path: &str) -> bool {
        self.below(path).is_some()
    }

    /// The same, and nothing on the way there is what other tools run or obey.
    pub(super) fn holds_plainly(&self, path: &str) -> bool {
        self.below(path).is_some_and(|below| {
            let names = below.components().filter_map(|component| match component {
                Component::Normal(name) => name.to_str(),
                Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => None,
            });
            !names.into_iter().any(|name| OBEYED.iter().any(|obeyed| obeyed.eq_ignore_ascii_case(name)))
        })
    }

    fn below(&self, path: &str) -> Option<PathBuf> {
        let root = self.root()?;
        resolve(Path::new(path))?.strip_prefix(&root).ok().map(Path::to_owned)
    }

    /// The workspace's root. The whole disk and a home are no workspace: an agent that
    /// works there is asked about everything.
    fn root(&self) -> Option<PathBuf> {
        let cwd = resolve(Path::new(self.cwd))?;
        let project = self.project.and_then(resolve).filter(|project| cwd.starts_with(project));
        let root = project.unwrap_or(cwd);
        let home = self.home.and_then(|home| resolve(Path::new(home)));
        let holds_a_home = home.is_some_and(|home| home.starts_with(&root));
        (root.parent().is_some() && !holds_a_home).then_some(root)
    }
}

/// The effects, and besides each path the one that its links lead to. A rule that means
/// the one means the other.
pub(super) fn with_targets_of_links(effects: &[Effect]) -> Vec<Effect> {
    let mut all = Vec::with_capacity(effects.len());
    for effect in effects {
        let target = match effect.kind {
            EffectKind::Read | EffectKind::Write | EffectKind::Delete => {
                resolve(Path::new(&effect.target)).and_then(|path| path.to_str().map(str::to_owned))
            }
            EffectKind::Run | EffectKind::Fetch | EffectKind::Mcp | EffectKind::Opaque => None,
        };
        all.push(effect.clone());
        if let Some(target) = target.filter(|target| *target != effect.target) {
            all.push(Effect { kind: effect.kind, target });
        }
    }
    all
}
