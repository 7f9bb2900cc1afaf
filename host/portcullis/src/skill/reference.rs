//! Files that a skill shares with others: `references` in its frontmatter.
//!
//! A skill may name files beside it, within the directory that its root lies in, and
//! nothing hidden there. Whatever else it names is as if it were not there: the host
//! reads for it what no guard is asked about.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::path::{Component, Path, PathBuf};

use super::catalog::Skill;
use crate::beneath;

/// The most bytes of one.
pub const REFERENCE_MAX: usize = 1 << 20;

/// A file that a skill declares.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// As the skill writes it.
    pub declared: String,
    /// The file itself, or why there is none.
    pub file: Result<PathBuf, String>,
    /// Where the skill's own copy of it is, below the skill: for a file outside of it that
    /// it reaches by a relative path without a link, behind a directory `references`.
    pub copy: Option<String>,
}

/// What `skill` declares, in its order.
#[must_use]
pub fn references(skill: &Skill) -> Vec<Reference> {
    References::default().of(skill)
}

/// The shared files of many skills. Each is looked at once, however many skills name it.
#[derive(Debug, Default)]
pub(super) struct References {
    found: HashMap<PathBuf, Result<PathBuf, String>>,
    metas: HashMap<PathBuf, Option<Metadata>>,
}

impl References {
    /// What `skill` declares, in its order.
    pub(super) fn of(&mut self, skill: &Skill) -> Vec<Reference> {
        let Some(document) = &skill.document else { return Vec::new() };
        let Some(area) = area(skill) else { return Vec::new() };
        let Ok(directory) = fs::canonicalize(&skill.directory) else { return Vec::new() };
        let one = |declared: &String| {
            let file = self.find(&directory, declared).and_then(|file| within(&area, &file).map(|_| file));
            let copy = file.as_ref().ok().and_then(|file| copy(&directory, declared, file));
            Reference { declared: declared.clone(), file, copy }
        };
        document.fields.references.iter().map(one).collect()
    }

    /// What the file system says of a file that was found.
    pub(super) fn meta(&mut self, file: &Path) -> Option<&Metadata> {
        if !self.metas.contains_key(file) {
            self.metas.insert(file.to_owned(), fs::symlink_metadata(file).ok());
        }
        self.metas.get(file)?.as_ref()
    }

    /// How many files were looked at.
    #[cfg(test)]
    pub(super) fn looks(&self) -> usize {
        self.metas.len()
    }

    /// The file itself. `directory` has no links in it, so going up from there is what it
    /// looks like, and skills side by side come to one path.
    fn find(&mut self, directory: &Path, declared: &str) -> Result<PathBuf, String> {
        let rest = declared.trim_start_matches("../");
        let goes_up_later = rest.split('/').any(|part| part == "..");
        let path = directory.join(declared);
        let path = if goes_up_later { path } else { plainly(&path).unwrap_or(path) };
        if let Some(found) = self.found.get(&path) {
            return found.clone();
        }
        let found =
            fs::canonicalize(&path).map_err(|_| "there is no such file".to_owned()).and_then(|file| {
                let is_file = self.meta(&file).is_some_and(Metadata::is_file);
                if is_file { Ok(file) } else { Err("it is no file".to_owned()) }
            });
        self.found.insert(path, found.clone());
        found
    }
}

/// The directory that the shared files of `skill` lie below, and where `file` is there.
pub(super) fn place_of(skill: &Skill, file: &Path) -> Option<(PathBuf, String)> {
    let area = area(skill)?;
    let inside = within(&area, file).ok()?;
    Some((area, inside))
}

/// The bytes of a file that `skill` declares; `file` is one of those in [`references`].
///
/// # Errors
/// When the skill does not declare it, or it cannot be read.
pub fn read_reference(skill: &Skill, file: &Path) -> Result<Vec<u8>, String> {
    let declares = references(skill).iter().any(|own| own.file.as_deref() == Ok(file));
    let area = area(skill).filter(|_| declares).ok_or_else(|| "the skill does not declare it".to_owned())?;
    let inside = within(&area, file)?;
    let (bytes, _) = beneath::read_file(&area, &inside, REFERENCE_MAX)
        .map_err(|error| format!("it cannot be read: {}", error.kind()))?;
    if bytes.len() > REFERENCE_MAX {
        return Err(format!("it has more than {REFERENCE_MAX} bytes"));
    }
    Ok(bytes)
}

/// What a skill may name files of.
fn area(skill: &Skill) -> Option<PathBuf> {
    let root = fs::canonicalize(&skill.root).ok()?;
    root.parent().map(Path::to_path_buf)
}

/// The path of `file` below `area`, when nothing on it is hidden.
fn within(area: &Path, file: &Path) -> Result<String, String> {
    const OUTSIDE: &str = "it lies outside of what a skill may name";
    let inside = file.strip_prefix(area).map_err(|_| OUTSIDE.to_owned())?;
    let inside = inside.to_str().ok_or_else(|| "its path is not UTF-8".to_owned())?;
    if inside.split('/').any(|part| part.starts_with('.')) {
        return Err("it is hidden".to_owned());
    }
    Ok(inside.to_owned())
}

fn copy(directory: &Path, declared: &str, file: &Path) -> Option<String> {
    let is_relative = !Path::new(declared).is_absolute();
    let without_links = plainly(&directory.join(declared)).is_some_and(|plain| plain == file);
    if !is_relative || !without_links || file.starts_with(directory) {
        return None;
    }
    let parts: Vec<&str> = declared.split('/').collect();
    let at = parts.iter().position(|part| *part == "references")?;
    let rest = parts.get(at + 1..)?;
    let is_plain = !rest.is_empty() && rest.iter().all(|part| !matches!(*part, "" | "." | ".."));
    is_plain.then(|| format!("references/{}", rest.join("/")))
}

/// The path with its `..` taken out as if there were no links.
fn plainly(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            Component::CurDir => {}
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => plain.push(part),
        }
    }
    Some(plain)
}
