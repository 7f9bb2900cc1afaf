//! What was written, read back.

use std::io::{self, BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_model::judgement::RefusedBy;
use serde::Deserialize;

use super::error::LedgerError;
use super::files::Files;

/// How long a reader waits for writers before it reads on without the lock.
const LOCK_WAIT: Duration = Duration::from_secs(2);

/// One line of a ledger. A line of a later version is read as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Record {
    /// The version of the schema.
    pub v: u32,
    /// Its number.
    pub seq: u64,
    /// When it was written: RFC 3339 in UTC, with microseconds.
    pub time: String,
    /// Which process wrote it.
    pub pid: u32,
    /// The word of an [`EntryKind`](super::EntryKind).
    pub kind: String,
    /// Which agent.
    #[serde(default)]
    pub agent: Option<String>,
    /// The agent's session.
    #[serde(default)]
    pub session: Option<String>,
    /// The agent's id for the call.
    #[serde(default)]
    pub call: Option<String>,
    /// The tool as the agent spells it.
    #[serde(default)]
    pub tool: Option<String>,
    /// The tool's canonical name.
    #[serde(default)]
    pub canonical: Option<String>,
    /// What the call does.
    #[serde(default)]
    pub effects: Vec<String>,
    /// `allow`, `ask` or `block`.
    #[serde(default)]
    pub verdict: Option<String>,
    /// Who refused.
    #[serde(default)]
    pub by: Option<RefusedBy>,
    /// The stable word of the refusal.
    #[serde(default)]
    pub code: Option<String>,
    /// The failure's class.
    #[serde(default)]
    pub fault: Option<String>,
    /// What the model was told, or what happened.
    #[serde(default)]
    pub reason: Option<String>,
    /// How long the judgement took, in microseconds.
    #[serde(default)]
    pub micros: Option<u64>,
    /// Which set of plugins judged.
    #[serde(default)]
    pub epoch: Option<String>,
}

/// The files of a ledger as they were at one moment. Writers go on meanwhile.
#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) files: Vec<Part>,
}

/// One file, up to where it ended.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) name: String,
    pub(super) is_current: bool,
    path: PathBuf,
    reader: io::Take<BufReader<std::fs::File>>,
}

impl Snapshot {
    /// The files in `dir`, the oldest first. None are there when nothing was written.
    pub(super) fn take(dir: &Path) -> Result<Self, LedgerError> {
        let files = Files::new(dir.to_owned());
        match std::fs::metadata(dir) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self { files: Vec::new() }),
            Err(source) => return Err(LedgerError::Directory { path: dir.to_owned(), source }),
            Ok(_) => {}
        }
        // No line is half-written and no file is on its way to another name then.
        let _lock = files.lock_shared(LOCK_WAIT)?;
        let mut parts = Vec::new();
        let current = files.current();
        for path in files.set_aside()?.into_iter().chain([current.clone()]) {
            let file = match Files::open_to_read(&path) {
                Ok(file) => file,
                Err(LedgerError::Open { source, .. }) if source.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            let meta = file.metadata();
            let len = meta.map_err(|source| LedgerError::Read { path: path.clone(), source })?.len();
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let reader = BufReader::with_capacity(64 << 10, file).take(len);
            parts.push(Part { name, is_current: path == current, path, reader });
        }
        Ok(Self { files: parts })
    }
}

impl Part {
    /// The next line with its end, which the last one may lack. None at the end.
    pub(super) fn line(&mut self, line: &mut Vec<u8>) -> Result<bool, LedgerError> {
        line.clear();
        let read = self.reader.read_until(b'\n', line);
        Ok(read.map_err(|source| LedgerError::Read { path: self.path.clone(), source })? > 0)
    }
}

/// Shows every entry of the ledger in `dir` to `each`, the oldest first, with its
/// line. What is no entry is passed over: [`verify`](super::verify) tells of it.
///
/// # Errors
/// When a file cannot be read.
pub fn read(dir: &Path, mut each: impl FnMut(&str, Record)) -> Result<(), LedgerError> {
    let mut line = Vec::new();
    for mut part in Snapshot::take(dir)?.files {
        while part.line(&mut line)? {
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            if let Ok(text) = std::str::from_utf8(text)
                && let Ok(record) = serde_json::from_str(text)
            {
                each(text, record);
            }
        }
    }
    Ok(())
}
