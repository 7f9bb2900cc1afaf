//! Looking for skills, again and again.

use std::path::PathBuf;
use std::sync::Arc;

use portcullis_runtime::clock;

use super::catalog::{Catalog, Holding};
use super::folder::Folder;
use super::root::SkillRoot;
use super::walk::{ScanLimits, Walk, Work};
use crate::trust::Workspace;

/// Looks for skills. What it saw is remembered, so that another look costs little and an
/// unchanged world gives the very same catalogue.
#[derive(Debug)]
pub struct Scanner {
    roots: Vec<Seen>,
    limits: ScanLimits,
    last: Option<Arc<Catalog>>,
    work: Work,
}

#[derive(Debug)]
struct Seen {
    root: SkillRoot,
    folder: Folder,
    trusted: Option<Arc<Workspace>>,
}

impl Scanner {
    /// For these roots, those that win first. Nothing is read before the first look.
    #[must_use]
    pub fn new(roots: Vec<SkillRoot>, limits: ScanLimits) -> Self {
        let seen = |root| Seen { root, folder: Folder::default(), trusted: None };
        Self { roots: roots.into_iter().map(seen).collect(), limits, last: None, work: Work::default() }
    }

    /// The skills that there are now. When nothing changed it is the catalogue of before.
    pub fn look(&mut self) -> Arc<Catalog> {
        self.look_at(clock::utc().as_second())
    }

    /// The directories that the last look went through, the roots first, whether they are
    /// there or not.
    #[must_use]
    pub fn directories(&self) -> Vec<PathBuf> {
        let mut all: Vec<_> = self.roots.iter().map(|seen| seen.root.path()).collect();
        for Seen { root, folder, .. } in &self.roots {
            folder.directories(&root.path(), &mut all);
        }
        all
    }

    /// What the last look cost.
    #[must_use]
    pub const fn work(&self) -> Work {
        self.work
    }

    /// A look at this time of day.
    pub(super) fn look_at(&mut self, now: i64) -> Arc<Catalog> {
        self.work = Work::default();
        let (mut changed, mut cuts) = (false, Vec::new());
        for Seen { root, folder, trusted } in &mut self.roots {
            let mut walk = Walk::new(root, self.limits, now);
            let trust = root.trust.as_ref().and_then(super::root::SkillTrust::now);
            walk.look(folder);
            let is_same = match (&trust, &*trusted) {
                (Some(now), Some(before)) => Arc::ptr_eq(now, before),
                (None, None) => true,
                (Some(_), None) | (None, Some(_)) => false,
            };
            if !is_same {
                walk.trust_again(folder);
                *trusted = trust;
            }
            changed |= walk.changed || !is_same;
            self.work.directories += walk.work.directories;
            self.work.listed += walk.work.listed;
            self.work.read += walk.work.read;
            cuts.extend(walk.cut);
        }
        if let Some(last) = self.last.as_ref().filter(|last| !changed && last.is_whole == cuts.is_empty()) {
            return Arc::clone(last);
        }
        let is_whole = cuts.is_empty();
        let mut problems = cuts;
        let mut holdings = Vec::new();
        for Seen { root, folder, .. } in &self.roots {
            let mut found = Vec::new();
            folder.collect(root, &mut found, &mut problems);
            found.retain(|found| root.selection.means(&found.slug));
            holdings.push(Holding {
                origin: root.origin,
                path: root.path(),
                base: root.base.clone(),
                inside: root.inside.clone(),
                found,
            });
        }
        let catalog = Arc::new(Catalog::new(holdings, problems, is_whole));
        self.last = Some(Arc::clone(&catalog));
        catalog
    }
}
