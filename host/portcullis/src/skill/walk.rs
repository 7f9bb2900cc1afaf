//! A directory of skills, looked through. What did not change since the last look is not
//! opened again: one question for each directory and each `SKILL.md` is all that it costs.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use portcullis_runtime::Digest;

use super::document::{SKILL_FILE, SKILL_FILE_MAX, SkillDocument};
use super::excluded::{self, Excluded, is_hidden};
use super::folder::{Child, Folder, SkillFile, below};
use super::problem::{Problem, ScanCode};
use super::root::{Links, SkillRoot};
use crate::beneath::{self, EntryKind, Stamp};

/// How much is looked at, at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanLimits {
    /// How deep directories may be. Default: 16.
    pub depth: usize,
    /// How many directories. Default: 100,000.
    pub directories: usize,
    /// How many skills. Default: 50,000.
    pub skills: usize,
    /// How long. Default: 30 s.
    pub time: Duration,
}

impl Default for ScanLimits {
    fn default() -> Self {
        Self { depth: 16, directories: 100_000, skills: 50_000, time: Duration::from_secs(30) }
    }
}

/// One look at one root.
pub(super) struct Walk<'r> {
    root: &'r SkillRoot,
    limits: ScanLimits,
    start: Instant,
    /// The time of day.
    now: i64,
    skills: usize,
    visited: HashSet<(u64, u64)>,
    excluded: Excluded,
    /// What ended the look before its end.
    pub(super) cut: Option<Problem>,
    /// Something is not as it was.
    pub(super) changed: bool,
    pub(super) work: Work,
}

/// What a look cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// How many directories were looked at.
    pub directories: usize,
    /// How many of them were listed.
    pub listed: usize,
    /// How many files were read.
    pub read: usize,
}

/// Where the walk is.
#[derive(Clone)]
struct At {
    base: Arc<Path>,
    inside: String,
    path: PathBuf,
    slug: String,
    depth: usize,
    /// The rules above changed, so that every list has to be made anew.
    anew: bool,
}

impl<'r> Walk<'r> {
    pub(super) fn new(root: &'r SkillRoot, limits: ScanLimits, now: i64) -> Self {
        Self {
            root,
            limits,
            start: Instant::now(),
            now,
            skills: 0,
            visited: HashSet::new(),
            excluded: Excluded::default(),
            cut: None,
            changed: false,
            work: Work::default(),
        }
    }

    /// Where a look begins.
    fn start(&self) -> At {
        At {
            base: self.root.base.as_path().into(),
            inside: self.root.inside.clone(),
            path: self.root.path(),
            slug: String::new(),
            depth: 0,
            anew: false,
        }
    }

    /// Looks at the root, which looked like `folder` before.
    pub(super) fn look(&mut self, folder: &mut Folder) {
        let at = self.start();
        if let Err(error) = self.folder(folder, at.clone()) {
            let is_absent = matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory);
            let was_there = folder.stamp.is_some() || !folder.children.is_empty();
            let before = std::mem::take(&mut folder.problems);
            *folder = Folder::default();
            if fs::metadata(&at.path).is_ok_and(|meta| meta.is_dir()) && is_absent {
                folder.problems.push(Problem {
                    path: at.path.clone(),
                    code: ScanCode::LinkNotFollowed,
                    message: "a link leads to it, and a project's links are not followed".to_owned(),
                    remedy: "put the directory itself there".to_owned(),
                });
            } else if !is_absent || self.root.expected {
                folder.problems.push(absent(&at.path, &error));
            }
            self.changed |= was_there || before != folder.problems;
        }
    }

    fn folder(&mut self, folder: &mut Folder, at: At) -> io::Result<()> {
        // The root may be reached by a link.
        let meta = if at.depth == 0 { fs::metadata(&at.path)? } else { fs::symlink_metadata(&at.path)? };
        if !meta.is_dir() {
            return Err(io::ErrorKind::NotADirectory.into());
        }
        let stamp = Stamp::of(&meta);
        self.work.directories += 1;
        // Only links can lead to one directory twice.
        if self.root.links != Links::Never && !self.visited.insert((stamp.device, stamp.inode)) {
            self.changed |= folder.stamp.is_some();
            *folder = Folder::default();
            return Ok(());
        }
        let is_old = folder.stamp == Some(stamp) && stamp.was_settled(folder.seen);
        let anew = at.anew || folder.has_other_rules(&at.path);
        if !is_old || anew {
            let before = folder.outline();
            self.list(folder, &at)?;
            self.changed |= folder.stamp.is_none() || before != folder.outline();
            folder.stamp = Some(stamp);
            folder.seen = self.now;
        }
        let outer = self.excluded.enter(&folder.rules);
        let looked = self.inside(folder, &at, anew);
        self.excluded.leave(outer);
        looked
    }

    fn inside(&mut self, folder: &mut Folder, at: &At, anew: bool) -> io::Result<()> {
        if let Some(skill) = &mut folder.skill {
            self.skills += 1;
            let inside = below(&at.inside, skill.misnamed.as_deref().unwrap_or(SKILL_FILE));
            self.skill(skill, at, &inside);
        }
        let mut gone = Vec::new();
        for (name, child) in &mut folder.children {
            if !self.may_go_on(at) {
                break;
            }
            let path = at.path.join(name);
            let child_at = At {
                base: child.base.clone().unwrap_or_else(|| Arc::clone(&at.base)),
                inside: if child.base.is_some() { String::new() } else { below(&at.inside, name) },
                path: child.base.as_deref().map_or(path, Path::to_path_buf),
                slug: below(&at.slug, name),
                depth: at.depth + 1,
                anew,
            };
            let path = child_at.path.clone();
            if let Err(error) = self.folder(&mut child.folder, child_at) {
                // It went away since the list was made, or cannot be listed.
                self.changed |= child.folder.stamp.is_some();
                child.folder = Folder::default();
                if error.kind() == io::ErrorKind::NotFound {
                    gone.push(name.clone());
                } else {
                    child.folder.problems.push(absent(&path, &error));
                }
            }
        }
        for name in gone {
            folder.children.remove(&name);
        }
        Ok(())
    }

    fn may_go_on(&mut self, at: &At) -> bool {
        let over = if at.depth >= self.limits.depth {
            Some((ScanCode::TooDeep, format!("directories are more than {} deep", self.limits.depth)))
        } else if self.work.directories >= self.limits.directories {
            Some((ScanCode::TooMany, format!("there are more than {} directories", self.limits.directories)))
        } else if self.skills >= self.limits.skills {
            Some((ScanCode::TooMany, format!("there are more than {} skills", self.limits.skills)))
        } else if self.start.elapsed() >= self.limits.time {
            Some((ScanCode::TooSlow, format!("looking took more than {} s", self.limits.time.as_secs())))
        } else {
            None
        };
        let Some((code, message)) = over else { return true };
        self.cut.get_or_insert_with(|| Problem {
            path: at.path.clone(),
            code,
            message: format!("{message}, so what lies below it or behind it is not listed"),
            remedy: "keep what is no skill elsewhere, or name it in a file `.ignore`".to_owned(),
        });
        false
    }

    /// Lists the directory.
    fn list(&mut self, folder: &mut Folder, at: &At) -> io::Result<()> {
        self.work.listed += 1;
        let (entries, odd) = beneath::list(&at.base, &at.inside)?;
        folder.problems.clear();
        if odd > 0 {
            folder.problems.push(Problem {
                path: at.path.clone(),
                code: ScanCode::NameNotUtf8,
                message: format!("{odd} of its entries have names that are not UTF-8, and are not looked at"),
                remedy: "rename them".to_owned(),
            });
        }
        let brings = |name: &&&'static str| {
            entries.iter().any(|(entry, kind)| entry == **name && *kind == EntryKind::File)
        };
        let names: Vec<&'static str> = excluded::FILES.iter().filter(brings).copied().collect();
        let stamp = |name: &str| fs::symlink_metadata(at.path.join(name)).ok().map(|meta| Stamp::of(&meta));
        folder.excluded = names.iter().filter_map(|name| Some((*name, stamp(name)?, self.now))).collect();
        folder.rules = excluded::rules(&at.base, &at.inside, &names);
        let outer = self.excluded.enter(&folder.rules);
        let mut before = std::mem::take(&mut folder.children);
        let mut skill = None;
        for (name, kind) in entries {
            if is_hidden(&name) {
                continue;
            }
            let path = at.path.join(&name);
            match kind {
                EntryKind::Directory if !self.excluded.has(&path, true) => {
                    let child = before.remove(&name).filter(|child| child.base.is_none());
                    let child = child.unwrap_or(Child { folder: Folder::default(), base: None });
                    folder.children.insert(name, child);
                }
                EntryKind::Link if !self.excluded.has(&path, false) => {
                    if let Some(base) = self.link(&path, &name, &mut folder.problems) {
                        let child = before.remove(&name);
                        let child = child.filter(|child| child.base.as_deref() == Some(&*base));
                        let child = child.unwrap_or(Child { folder: Folder::default(), base: Some(base) });
                        folder.children.insert(name, child);
                    }
                }
                EntryKind::File if name == SKILL_FILE && !self.excluded.has(&path, false) => {
                    skill = Some(None);
                }
                EntryKind::File if is_misnamed(&name) && skill.is_none() => skill = Some(Some(name)),
                EntryKind::Directory | EntryKind::Link | EntryKind::File | EntryKind::Other => {}
            }
        }
        self.excluded.leave(outer);
        folder.skill = match skill {
            Some(_) if at.depth == 0 => {
                folder.problems.push(Problem {
                    path: at.path.join(SKILL_FILE),
                    code: ScanCode::RootIsSkill,
                    message: "a skill is known by its directory below this one".to_owned(),
                    remedy: "put it into a directory of its own".to_owned(),
                });
                None
            }
            Some(misnamed) => {
                let known = folder.skill.take().filter(|known| known.misnamed == misnamed);
                Some(known.unwrap_or(SkillFile { misnamed, ..SkillFile::default() }))
            }
            None => None,
        };
        Ok(())
    }

    /// The directory that a link leads to, when it is followed.
    fn link(&self, path: &Path, name: &str, problems: &mut Vec<Problem>) -> Option<Arc<Path>> {
        let target = fs::canonicalize(path);
        let is_directory = target.as_ref().is_ok_and(|target| target.is_dir());
        let (code, message, remedy) = match &target {
            Ok(target) if is_directory && self.root.links == Links::Directories => {
                return Some(target.as_path().into());
            }
            // A link to some other file of a bundle is told of by whoever looks at the bundle.
            Ok(_) if !is_directory && name != SKILL_FILE => return None,
            Ok(_) => (
                ScanCode::LinkNotFollowed,
                "it is a link, and is not followed".to_owned(),
                "put the directory or the file itself here",
            ),
            Err(error) => {
                (ScanCode::LinkDangling, format!("it is a link that leads nowhere: {error}"), "remove it")
            }
        };
        problems.push(Problem { path: path.to_owned(), code, message, remedy: remedy.to_owned() });
        None
    }

    /// Looks at a `SKILL.md`, and reads it when it is another one.
    fn skill(&mut self, skill: &mut SkillFile, at: &At, inside: &str) {
        let path = at.path.join(skill.misnamed.as_deref().unwrap_or(SKILL_FILE));
        let stamp = fs::symlink_metadata(&path).ok().map(|meta| Stamp::of(&meta));
        let is_settled = stamp.zip(skill.seen).is_some_and(|(stamp, seen)| stamp.was_settled(seen));
        if stamp == skill.stamp && is_settled {
            return;
        }
        let is_first = skill.seen.is_none();
        let before = (skill.digest, skill.document.take());
        skill.seen = Some(self.now);
        if skill.misnamed.is_some() {
            skill.stamp = stamp;
            skill.document = before.1.or_else(|| Some(Arc::new(misnamed(inside))));
            self.changed |= is_first;
            return;
        }
        self.work.read += 1;
        match beneath::read_file(&at.base, inside, SKILL_FILE_MAX) {
            Ok((bytes, stamp)) => {
                skill.stamp = Some(stamp);
                skill.digest = Some(Digest::of(&bytes));
                let same = before.0.is_some() && before.0 == skill.digest;
                skill.document = match before.1 {
                    Some(document) if same => Some(document),
                    Some(_) | None => self.may_read(&path, skill.digest).then(|| parsed(&bytes, at)),
                };
                self.changed |= is_first || !same;
            }
            Err(error) => {
                skill.stamp = stamp;
                skill.digest = None;
                let unread = Arc::new(SkillDocument::unreadable(&error));
                let same = before.1.as_ref().is_some_and(|document| document.findings == unread.findings);
                skill.document = Some(unread);
                self.changed |= !same;
            }
        }
    }

    /// Nothing of a project is interpreted that the project is not trusted with.
    fn may_read(&self, path: &Path, digest: Option<Digest>) -> bool {
        let Some(trust) = &self.root.trust else { return true };
        digest.is_some_and(|digest| trust.covers(path, &digest.to_string()))
    }

    /// Goes by what is trusted now: what is no longer is forgotten, what is now is read.
    pub(super) fn trust_again(&self, folder: &mut Folder) {
        let at = self.start();
        self.trust_below(folder, &at);
    }

    fn trust_below(&self, folder: &mut Folder, at: &At) {
        if let Some(skill) = folder.skill.as_mut().filter(|skill| skill.misnamed.is_none()) {
            let path = at.path.join(SKILL_FILE);
            let may = self.may_read(&path, skill.digest);
            if !may && skill.digest.is_some() {
                skill.document = None;
            } else if may && skill.document.is_none() {
                let read = beneath::read_file(&at.base, &below(&at.inside, SKILL_FILE), SKILL_FILE_MAX);
                let read = read.ok().filter(|(bytes, _)| Some(Digest::of(bytes)) == skill.digest);
                skill.document = read.map(|(bytes, _)| parsed(&bytes, at));
            }
        }
        for (name, child) in &mut folder.children {
            // A project's links are never followed, so the base is the same all the way.
            let inside = below(&at.inside, name);
            let child_at = At { inside, path: at.path.join(name), slug: below(&at.slug, name), ..at.clone() };
            self.trust_below(&mut child.folder, &child_at);
        }
    }
}

fn parsed(bytes: &[u8], at: &At) -> Arc<SkillDocument> {
    let directory = at.slug.rsplit('/').next();
    Arc::new(SkillDocument::read(bytes, directory).without_frontmatter())
}

fn misnamed(inside: &str) -> SkillDocument {
    let name = inside.rsplit('/').next().unwrap_or_default();
    SkillDocument::misnamed(name)
}

fn absent(path: &Path, error: &io::Error) -> Problem {
    let (code, message) = if error.kind() == io::ErrorKind::NotFound {
        (ScanCode::RootMissing, "there is no such directory".to_owned())
    } else {
        (ScanCode::DirectoryUnreadable, format!("the directory cannot be listed: {error}"))
    };
    let remedy = "make it, mend its permissions, or name another one".to_owned();
    Problem { path: path.to_owned(), code, message, remedy }
}

fn is_misnamed(name: &str) -> bool {
    name != SKILL_FILE && name.eq_ignore_ascii_case(SKILL_FILE)
}
