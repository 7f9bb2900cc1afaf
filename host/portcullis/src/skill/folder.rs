//! What a look at a directory of skills remembers of it.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_runtime::Digest;

use super::document::SkillDocument;
use super::excluded::Rules;
use super::problem::Problem;
use super::root::SkillRoot;
use crate::beneath::Stamp;

/// A directory, as it was seen last.
#[derive(Debug, Default)]
pub(super) struct Folder {
    pub(super) stamp: Option<Stamp>,
    pub(super) seen: i64,
    pub(super) excluded: Vec<(&'static str, Stamp, i64)>,
    pub(super) rules: Rules,
    pub(super) children: BTreeMap<String, Child>,
    pub(super) skill: Option<SkillFile>,
    pub(super) problems: Vec<Problem>,
}

/// A directory within another, which a link may have led to.
#[derive(Debug)]
pub(super) struct Child {
    pub(super) folder: Folder,
    /// Where the link led.
    pub(super) base: Option<Arc<Path>>,
}

/// A `SKILL.md`, as it was seen last.
#[derive(Debug, Default)]
pub(super) struct SkillFile {
    pub(super) stamp: Option<Stamp>,
    pub(super) seen: Option<i64>,
    /// What the file is called, when it is not called [`SKILL_FILE`].
    pub(super) misnamed: Option<String>,
    pub(super) digest: Option<Digest>,
    /// None: its project is not trusted with it, so nobody has looked.
    pub(super) document: Option<Arc<SkillDocument>>,
}

/// One directory with a `SKILL.md`.
#[derive(Debug, Clone)]
pub(super) struct Found {
    /// Its path below the root.
    pub(super) slug: String,
    /// What no link is followed below.
    pub(super) base: Arc<Path>,
    /// Where the directory is below that.
    pub(super) inside: String,
    /// The device and the number of the directory.
    pub(super) identity: Option<(u64, u64)>,
    pub(super) digest: Option<Digest>,
    pub(super) document: Option<Arc<SkillDocument>>,
    /// Another name of the file.
    pub(super) misnamed: Option<String>,
}

impl Folder {
    /// Whether the files that exclude something may be other ones. A file that came or
    /// went shows in the stamp of the directory.
    pub(super) fn has_other_rules(&self, path: &Path) -> bool {
        let stamp = |name: &str| fs::symlink_metadata(path.join(name)).ok().map(|meta| Stamp::of(&meta));
        let mut files = self.excluded.iter();
        files.any(|(name, before, seen)| stamp(name) != Some(*before) || !before.was_settled(*seen))
    }

    /// What a list of it comes to.
    pub(super) fn outline(&self) -> (Vec<String>, Option<Option<String>>, Vec<Problem>) {
        let skill = self.skill.as_ref().map(|skill| skill.misnamed.clone());
        (self.children.keys().cloned().collect(), skill, self.problems.clone())
    }

    /// Everything in it: what was found, and what is wrong.
    pub(super) fn collect(&self, root: &SkillRoot, found: &mut Vec<Found>, problems: &mut Vec<Problem>) {
        let base: Arc<Path> = root.base.as_path().into();
        self.collect_below(&base, &root.inside, "", found, problems);
    }

    /// Every directory below `path`, which is this one's.
    pub(super) fn directories(&self, path: &Path, all: &mut Vec<PathBuf>) {
        for (name, child) in &self.children {
            let own = child.base.as_deref().map_or_else(|| path.join(name), Path::to_path_buf);
            child.folder.directories(&own, all);
            all.push(own);
        }
    }

    fn collect_below(
        &self,
        base: &Arc<Path>,
        inside: &str,
        slug: &str,
        found: &mut Vec<Found>,
        problems: &mut Vec<Problem>,
    ) {
        problems.extend(self.problems.iter().cloned());
        if let Some(skill) = &self.skill {
            found.push(Found {
                slug: slug.to_owned(),
                base: Arc::clone(base),
                inside: inside.to_owned(),
                identity: self.stamp.map(|stamp| (stamp.device, stamp.inode)),
                digest: skill.digest,
                document: skill.document.clone(),
                misnamed: skill.misnamed.clone(),
            });
        }
        for (name, child) in &self.children {
            let (base, inside) = match &child.base {
                Some(own) => (own, String::new()),
                None => (base, below(inside, name)),
            };
            child.folder.collect_below(base, &inside, &below(slug, name), found, problems);
        }
    }
}

/// The path of `name` below `inside`.
pub(super) fn below(inside: &str, name: &str) -> String {
    if inside.is_empty() { name.to_owned() } else { format!("{inside}/{name}") }
}
