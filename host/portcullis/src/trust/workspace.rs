//! One project that is trusted: which directory, and which bytes of it.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use portcullis_model::product;
use portcullis_runtime::Digest;
use serde::{Deserialize, Serialize};

use super::identity::Identity;

/// A file of a project that was looked at.
#[derive(Debug, Clone)]
pub struct Covered {
    /// Where it is, from the project's root.
    pub path: String,
    /// The digest of the bytes that were looked at.
    pub digest: Digest,
    /// The bytes, for a program: it runs as it was looked at, wherever the project
    /// goes from there.
    pub program: Option<Vec<u8>>,
}

/// A project that is trusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workspace {
    /// Its directory.
    pub root: PathBuf,
    pub(super) inode: u64,
    pub(super) born: Option<u64>,
    /// Since when, in seconds since 1970.
    pub since: i64,
    /// The digest of each file that was looked at, by its path from the root.
    pub files: BTreeMap<String, String>,
    /// Where the programs are kept that were looked at.
    #[serde(skip)]
    pub(super) programs: PathBuf,
}

impl Workspace {
    /// Was `file` looked at, with these very bytes?
    #[must_use]
    pub fn covers(&self, file: &str, digest: &str) -> bool {
        self.files.get(file).is_some_and(|seen| seen == digest)
    }

    /// The kept copy of a program that was looked at.
    #[must_use]
    pub fn program(&self, file: &str) -> Option<PathBuf> {
        Some(kept(&self.programs, self.files.get(file)?, file))
    }

    /// One that was looked at, with a digest for each file.
    #[cfg(test)]
    pub(crate) fn for_tests(root: &str, files: &[(&str, &str)]) -> Self {
        let files = files.iter().map(|(file, digest)| ((*file).to_owned(), (*digest).to_owned())).collect();
        Self { root: root.into(), inode: 0, born: None, since: 0, files, programs: "/kept".into() }
    }

    pub(super) fn is(&self, identity: &Identity) -> bool {
        (&self.root, self.inode, self.born) == (&identity.path, identity.inode, identity.born)
    }
}

/// Where a program with this digest is kept. It keeps its own name, by which people
/// know it.
pub(super) fn kept(programs: &Path, digest: &str, file: &str) -> PathBuf {
    let name = Path::new(file).file_name().unwrap_or_default();
    programs.join(digest).join(name)
}

/// The root of the project whose file or directory `path` is: where `.portcullis` is.
#[must_use]
pub fn root_of(path: &Path) -> Option<&Path> {
    let own = path.ancestors().find(|at| at.file_name().is_some_and(|name| name == product::PROJECT_DIR));
    own.and_then(Path::parent)
}

/// The root of the project that `start` lies in: the nearest directory with files of this
/// program, or else with one of `others`. The user's home is none.
pub(crate) fn project_of(start: &Path, home: Option<&Path>, others: &[&str]) -> Option<PathBuf> {
    let nearest = |marks: &[&str]| {
        let is_project = |dir: &&Path| marks.iter().any(|mark| dir.join(mark).is_dir());
        let dirs = start.ancestors().filter(|dir| home != Some(*dir));
        dirs.into_iter().find(is_project).map(Path::to_path_buf)
    };
    nearest(&[product::PROJECT_DIR]).or_else(|| nearest(others))
}

/// The path of `file` from `root`, when it is below it as it is written.
pub(crate) fn below(root: &Path, file: &Path) -> Option<String> {
    let rest = file.strip_prefix(root).ok()?;
    let plain = rest.components().all(|part| matches!(part, Component::Normal(_)));
    (plain && !rest.as_os_str().is_empty()).then(|| rest.to_str().map(str::to_owned))?
}
