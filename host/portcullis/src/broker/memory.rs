//! What is known of servers from one process to the next: which generation each one is,
//! what it offers, and how each of its tools looked when it was first seen.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use portcullis_mcp::client::Era;
use portcullis_model::extension::SkillEntry;
use serde::{Deserialize, Serialize};

use super::catalogue::Tool;
use super::prompt::Prompt;

/// Bytes of the file of one server.
const FILE_MAX: u64 = 64 << 20;

/// Answers that are kept; older ones go.
const KEPT_MAX: usize = 50;

/// What is known of one server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Remembered {
    /// Its generation.
    pub(super) era: Option<Era>,
    /// Its tools; none when nobody has asked.
    pub(super) tools: Option<Vec<Tool>>,
    /// Its skills.
    pub(super) skills: Vec<SkillEntry>,
    /// Its prompts.
    pub(super) prompts: Vec<Prompt>,
    /// Each tool's digest when it was first seen.
    pub(super) pins: BTreeMap<String, String>,
}

/// What was found of a server.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Found {
    /// Nothing: it is new.
    Nothing,
    /// This.
    Known(Box<Remembered>),
    /// Something that cannot be read, so nobody knows how its tools looked.
    Unreadable,
}

/// A directory of files, one for each server, and of answers that were too long.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory(Option<PathBuf>);

impl Memory {
    /// In this directory; without one nothing is kept.
    pub(crate) const fn new(dir: Option<PathBuf>) -> Self {
        Self(dir)
    }

    pub(super) fn read(&self, digest: &str) -> Found {
        let Some(file) = self.file(digest) else { return Found::Nothing };
        let read = fs::metadata(&file).and_then(|found| {
            if !found.is_file() || found.len() > FILE_MAX {
                return Err(io::Error::other("it is no file, or too long"));
            }
            fs::read(&file)
        });
        match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Found::Nothing,
            Err(error) => unreadable(&file, &error.to_string()),
            Ok(bytes) => match serde_json::from_slice(&bytes) {
                Ok(known) => Found::Known(Box::new(known)),
                Err(error) => unreadable(&file, &error.to_string()),
            },
        }
    }

    pub(super) fn write(&self, digest: &str, known: &Remembered) {
        let Some(file) = self.file(digest) else { return };
        let written = serde_json::to_vec(known).map_err(io::Error::other);
        let written = written.and_then(|bytes| replace(&file, &bytes));
        if let Err(error) = written {
            tracing::warn!("what is known of a server cannot be kept in {}: {error}", file.display());
        }
    }

    /// Forgets one server. True when something was known of it.
    pub(super) fn forget(&self, digest: &str) -> bool {
        self.file(digest).is_some_and(|file| fs::remove_file(file).is_ok())
    }

    /// Keeps an answer; where it is.
    pub(super) fn keep(&self, bytes: &[u8], extension: &str) -> Option<PathBuf> {
        let dir = self.0.as_ref()?.join("answers");
        let kept = fs::create_dir_all(&dir).and_then(|()| {
            drop_old(&dir);
            // Only its owner can read what this makes.
            let mut file = tempfile::Builder::new().suffix(&format!(".{extension}")).tempfile_in(&dir)?;
            file.write_all(bytes)?;
            file.into_temp_path().keep().map_err(io::Error::other)
        });
        kept.inspect_err(|error| tracing::warn!("an answer of a server is not kept: {error}")).ok()
    }

    fn file(&self, digest: &str) -> Option<PathBuf> {
        Some(self.0.as_ref()?.join(format!("{digest}.json")))
    }
}

fn unreadable(file: &Path, why: &str) -> Found {
    tracing::warn!("what is known of a server cannot be read from {}: {why}", file.display());
    Found::Unreadable
}

fn replace(file: &Path, bytes: &[u8]) -> io::Result<()> {
    let dir = file.parent().unwrap_or(Path::new("/"));
    fs::create_dir_all(dir)?;
    let mut new = tempfile::NamedTempFile::new_in(dir)?;
    new.write_all(bytes)?;
    new.persist(file)?;
    Ok(())
}

/// Leaves room for one more.
fn drop_old(dir: &Path) {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let mut kept: Vec<(SystemTime, PathBuf)> =
        entries.filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path()))).collect();
    kept.sort();
    for (_, file) in kept.iter().rev().skip(KEPT_MAX.saturating_sub(1)) {
        drop(fs::remove_file(file));
    }
}

#[cfg(test)]
mod tests {
    use super::{Found, KEPT_MAX, Memory, Remembered};

    #[test]
    fn what_is_known_is_there_for_the_next_process_until_it_is_forgotten() {
        let there = tempfile::tempdir().unwrap();
        let memory = Memory::new(Some(there.path().join("servers")));
        assert_eq!(memory.read("aa"), Found::Nothing);
        let known = Remembered { era: Some(portcullis_mcp::client::Era::Legacy), ..Remembered::default() };
        memory.write("aa", &known);
        assert_eq!(memory.read("aa"), Found::Known(Box::new(known)));
        assert!(memory.forget("aa") && !memory.forget("aa"));
        std::fs::write(there.path().join("servers/aa.json"), "{").unwrap();
        assert_eq!(memory.read("aa"), Found::Unreadable);
    }

    #[test]
    fn not_every_answer_is_kept_for_ever() {
        let there = tempfile::tempdir().unwrap();
        let memory = Memory::new(Some(there.path().to_owned()));
        let files: Vec<_> = (0..KEPT_MAX + 10).map(|_| memory.keep(b"x", "txt").unwrap()).collect();
        assert!(files.last().unwrap().exists());
        assert_eq!(std::fs::read_dir(there.path().join("answers")).unwrap().count(), KEPT_MAX);
    }
}
