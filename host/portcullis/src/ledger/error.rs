//! Why the ledger cannot be written or read.

use std::io;
use std::path::PathBuf;

/// Why the ledger cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum LedgerError {
    /// Its directory cannot be made, or others may look into it.
    #[error(
        "the directory of the ledger `{path}` cannot be used: {source}; hint: it is yours alone, with mode 0700"
    )]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Another process holds it for too long.
    #[error("the ledger was held by another process for more than {millis} ms; its lock is `{path}`")]
    Busy {
        /// The lock.
        path: PathBuf,
        /// How long it was waited for.
        millis: u128,
    },
    /// A file of it cannot be opened.
    #[error("the file of the ledger `{path}` cannot be opened: {source}")]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A link, a directory, a device or a pipe stands where a file of it belongs.
    #[error("the file of the ledger `{path}` is no plain file; hint: move it away")]
    NotAFile {
        /// The file.
        path: PathBuf,
    },
    /// A file of it cannot be read.
    #[error("the file of the ledger `{path}` cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file of it cannot be written.
    #[error("the file of the ledger `{path}` cannot be written: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no place for it.
    #[error("there is no place for a ledger; hint: set HOME or XDG_STATE_HOME, and leave out `--isolated`")]
    NoPlace,
}

impl LedgerError {
    /// What failed, in words that a model may read: without the host's paths.
    #[must_use]
    pub fn without_paths(&self) -> String {
        match self {
            Self::Directory { source, .. } => format!("its directory cannot be used: {source}"),
            Self::Busy { millis, .. } => format!("another process held it for more than {millis} ms"),
            Self::Open { source, .. } => format!("its file cannot be opened: {source}"),
            Self::NotAFile { .. } => "its file is no plain file".to_owned(),
            Self::Read { source, .. } => format!("its file cannot be read: {source}"),
            Self::Write { source, .. } => source.to_string(),
            Self::NoPlace => "there is no place for it".to_owned(),
        }
    }
}
