//! Where the words of a call are relative to.

use std::path::{Path, PathBuf};

use super::rule::names;
use super::word::Named;
use crate::tool::Directory;

/// As many directories of one script as are remembered.
const DIRECTORIES_MAX: usize = 16;

/// Stands for a directory that only the shell knows.
const SOMEWHERE: &str = "/\u{fffc}";

/// The directory of a call, and those that its script goes to.
#[derive(Debug)]
pub(super) struct Site {
    directories: Vec<String>,
}

/// One reading of a path.
#[derive(Debug)]
pub(super) struct Candidate {
    /// Joined and folded as text.
    pub(super) lexical: String,
    /// As it is written, for the disk.
    pub(super) raw: PathBuf,
}

impl Site {
    pub(super) fn new(cwd: &str) -> Self {
        Self { directories: vec![cwd.to_owned()] }
    }

    /// The call's own directory.
    pub(super) fn own(&self) -> &str {
        self.directories.first().map_or("/", String::as_str)
    }

    /// The directory that the script is in now.
    pub(super) fn here(&self) -> &str {
        self.directories.last().map_or("/", String::as_str)
    }

    /// The script goes to another directory. Where it comes back from it nobody
    /// knows, so every directory counts from then on.
    pub(super) fn enter(&mut self, named: &Named) {
        let text = if named.somewhere { format!("{SOMEWHERE}{}", named.text) } else { named.text.clone() };
        let joined = Directory::new(self.here()).and_then(|here| here.join(&text));
        if let Ok(directory) = joined
            && self.directories.len() < DIRECTORIES_MAX
        {
            self.directories.push(directory.text());
        }
    }

    /// Every place that `named` can be.
    pub(super) fn candidates(&self, named: &Named) -> Vec<Candidate> {
        if named.somewhere {
            let text = format!("{SOMEWHERE}{}", named.text);
            return vec![Candidate { lexical: text.clone(), raw: text.into() }];
        }
        let absolute = Path::new(&named.text).is_absolute();
        let directories = self.directories.iter().take(if absolute { 1 } else { DIRECTORIES_MAX });
        directories
            .filter_map(|directory| {
                let lexical = Directory::new(directory).and_then(|at| at.join(&named.text)).ok()?.text();
                Some(Candidate { lexical, raw: Path::new(directory).join(&named.text) })
            })
            .collect()
    }

    /// Is `directory` one of the script's, or above one?
    pub(super) fn is_beside(&self, directory: &[&str]) -> bool {
        self.directories.iter().any(|own| is_above(directory, own))
    }
}

/// Is `directory` at `path` or above it?
pub(super) fn is_above(directory: &[&str], path: &str) -> bool {
    let mut own = names(path);
    directory.iter().all(|name| own.next().is_some_and(|own| own.eq_ignore_ascii_case(name)))
}
