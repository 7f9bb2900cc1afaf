//! The files of one skill: its directory with all that is in it, a nested skill included.

use std::fs::{self, File};
use std::io::{self, Read as _};

use rustix::fs::{Access, access};
use serde::Serialize;

use super::catalog::Skill;
use super::excluded::{self, Excluded};
use crate::beneath::{self, EntryKind, Stamp};

/// The most files that a skill may have before a host may refuse it.
pub const BUNDLE_FILES_MAX: usize = 512;
/// The most bytes that they may have together.
pub const BUNDLE_BYTES_MAX: u64 = 16 << 20;
/// How deep its directories are looked through.
const DEPTH_MAX: usize = 16;
/// The most directories that are looked through.
const DIRECTORIES_MAX: usize = 4096;

/// One file of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BundleFile {
    /// Its path below the skill's directory.
    pub path: String,
    /// How many bytes it has.
    pub bytes: u64,
    #[serde(skip)]
    pub(super) stamp: Stamp,
}

/// The files of a skill.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Bundle {
    /// By path. No link, nothing hidden, nothing that is excluded.
    pub files: Vec<BundleFile>,
    /// What is there and left out, with the reason.
    pub left_out: Vec<(String, String)>,
    /// What keeps other hosts from taking the skill, if something does.
    pub excess: Option<String>,
}

/// Why a file of a skill cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum BundleError {
    /// The path names no file of the skill.
    #[error("the skill `{slug}` has no file `{path}`: {reason}")]
    NoFile {
        /// The skill.
        slug: String,
        /// The path, as it was asked for.
        path: String,
        /// Why not.
        reason: String,
    },
    /// Its directory cannot be looked through.
    #[error("the files of the skill `{slug}` cannot be listed: {source}")]
    List {
        /// The skill.
        slug: String,
        /// Why.
        source: io::Error,
    },
}

impl Bundle {
    /// The files of `skill`. Only names and sizes are looked at; no file is opened.
    ///
    /// # Errors
    /// When the directory cannot be listed.
    pub fn of(skill: &Skill) -> Result<Self, BundleError> {
        let excluded = excluded_at(skill);
        let mut looking = Looking { skill, excluded, bundle: Self::default(), bytes: 0, directories: 0 };
        let looked = looking.directory("", 0);
        looked.map_err(|source| BundleError::List { slug: skill.slug.clone(), source })?;
        let Looking { mut bundle, bytes, .. } = looking;
        bundle.files.sort_by(|one, other| one.path.cmp(&other.path));
        if bundle.files.len() > BUNDLE_FILES_MAX {
            bundle.excess = Some(format!("it has more than {BUNDLE_FILES_MAX} files"));
        } else if bytes > BUNDLE_BYTES_MAX {
            bundle.excess = Some(format!("its files have more than {BUNDLE_BYTES_MAX} bytes"));
        }
        Ok(bundle)
    }

    /// The bytes of the file at `path` of `skill`. A path that leads out of the skill, by
    /// whatever means, names none.
    ///
    /// # Errors
    /// When it names no file of the skill, or the file cannot be read.
    pub fn read(skill: &Skill, path: &str) -> Result<Vec<u8>, BundleError> {
        let none = |reason: String| no_file(skill, path, reason);
        let most = usize::try_from(BUNDLE_BYTES_MAX).unwrap_or(usize::MAX);
        let mut bytes = Vec::new();
        let file = open(skill, path).map_err(none)?;
        file.take(BUNDLE_BYTES_MAX + 1).read_to_end(&mut bytes).map_err(|error| none(told(&error)))?;
        if bytes.len() > most {
            return Err(none(format!("it has more than {most} bytes")));
        }
        Ok(bytes)
    }

    /// Whether `path` names a file of `skill`.
    #[must_use]
    pub fn has(skill: &Skill, path: &str) -> bool {
        open(skill, path).is_ok()
    }
}

fn no_file(skill: &Skill, path: &str, reason: String) -> BundleError {
    BundleError::NoFile { slug: skill.slug.clone(), path: path.chars().take(200).collect(), reason }
}

fn open(skill: &Skill, path: &str) -> Result<File, String> {
    is_plain(path)?;
    let file = skill.directory.join(path);
    let mut excluded = excluded_at(skill);
    for (at, _) in path.match_indices('/') {
        let directory = path.get(..at).unwrap_or_default();
        if excluded.has(&skill.directory.join(directory), true) {
            return Err("it is excluded".to_owned());
        }
        let inside = joined(&skill.inside, directory);
        excluded.enter(&excluded::rules(&skill.base, &inside, &excluded::FILES));
    }
    if excluded.has(&file, false) {
        return Err("it is excluded".to_owned());
    }
    beneath::open_file(&skill.base, &joined(&skill.inside, path)).map_err(|error| told(&error))
}

/// Why a file cannot be read, without a word on what else is on the machine.
fn told(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::PermissionDenied {
        "it may not be read".to_owned()
    } else {
        "there is no plain file of that name".to_owned()
    }
}

fn excluded_at(skill: &Skill) -> Excluded {
    Excluded::at(&skill.base, skill.root_inside.as_deref().unwrap_or_default(), &skill.inside)
}

/// A path that stays where it is, whoever reads it.
fn is_plain(path: &str) -> Result<(), &'static str> {
    if path.is_empty() || path.len() > 4096 {
        return Err("the path is empty or too long");
    }
    if path.chars().any(|c| c.is_control() || c == '\\') {
        return Err("the path holds a character that no skill's file has");
    }
    for part in path.split('/') {
        match part {
            "" => return Err("the path is absolute, or has an empty part"),
            "." | ".." => return Err("the path leaves the skill's directory"),
            part if part.starts_with('.') => return Err("what is hidden is not served"),
            part if part.len() == 2 && part.ends_with(':') => return Err("the path names a drive"),
            _ => {}
        }
    }
    Ok(())
}

fn joined(inside: &str, path: &str) -> String {
    match (inside.is_empty(), path.is_empty()) {
        (true, _) => path.to_owned(),
        (false, true) => inside.to_owned(),
        (false, false) => format!("{inside}/{path}"),
    }
}

struct Looking<'s> {
    skill: &'s Skill,
    excluded: Excluded,
    bundle: Bundle,
    bytes: u64,
    directories: usize,
}

impl Looking<'_> {
    fn directory(&mut self, path: &str, depth: usize) -> io::Result<()> {
        self.directories += 1;
        let inside = joined(&self.skill.inside, path);
        let (entries, odd) = beneath::list(&self.skill.base, &inside)?;
        if odd > 0 {
            self.leave_out(path, &format!("{odd} names in it are not UTF-8"));
        }
        // The rules of the skill's own directory hold already.
        let outer = (depth > 0).then(|| {
            let rules = excluded::rules(&self.skill.base, &inside, &excluded::FILES);
            self.excluded.enter(&rules)
        });
        for (name, kind) in entries {
            if self.bundle.files.len() > BUNDLE_FILES_MAX {
                break;
            }
            if name.starts_with('.') {
                continue;
            }
            let own = joined(path, &name);
            let full = self.skill.directory.join(&own);
            if self.excluded.has(&full, kind == EntryKind::Directory) {
                continue;
            }
            match kind {
                EntryKind::Directory if depth >= DEPTH_MAX || self.directories >= DIRECTORIES_MAX => {
                    self.leave_out(&own, "there are too many directories, or they are too deep");
                }
                EntryKind::Directory => {
                    if let Err(error) = self.directory(&own, depth + 1) {
                        self.leave_out(&own, &told(&error));
                    }
                }
                EntryKind::File => self.file(own),
                EntryKind::Link => self.leave_out(&own, "it is a link, and is not followed"),
                EntryKind::Other => self.leave_out(&own, "it is no plain file"),
            }
        }
        if let Some(outer) = outer {
            self.excluded.leave(outer);
        }
        Ok(())
    }

    fn file(&mut self, path: String) {
        let full = self.skill.directory.join(&path);
        let look = || {
            let meta = fs::symlink_metadata(&full)?;
            access(&full, Access::READ_OK)?;
            Ok(meta)
        };
        match look() {
            Ok(meta) if meta.is_file() => {
                self.bytes = self.bytes.saturating_add(meta.len());
                self.bundle.files.push(BundleFile { path, bytes: meta.len(), stamp: Stamp::of(&meta) });
            }
            Ok(_) => self.leave_out(&path, "it is no plain file"),
            Err(error) => self.leave_out(&path, &told(&error)),
        }
    }

    fn leave_out(&mut self, path: &str, why: &str) {
        self.bundle.left_out.push((path.to_owned(), why.to_owned()));
    }
}
