//! Which directory a workspace is: its path, and what tells it from another directory
//! that was put there later. No file of the workspace has a say in it.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use super::error::TrustError;

/// A directory, by its path from the root of the file system without links, its number
/// and the moment when it was made. The device is not in it: many systems number their
/// devices anew at each start, and the moment of making tells more.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Identity {
    pub(super) path: PathBuf,
    pub(super) inode: u64,
    /// In nanoseconds since 1970; none where the file system does not know it.
    pub(super) born: Option<u64>,
}

impl Identity {
    pub(super) fn of(root: &Path) -> Result<Self, TrustError> {
        let failed = |what: String| TrustError::Root { path: root.to_owned(), what };
        let path = fs::canonicalize(root).map_err(|error| failed(error.to_string()))?;
        if path.to_str().is_none() {
            return Err(failed("its path is not UTF-8".to_owned()));
        }
        let meta = fs::metadata(&path).map_err(|error| failed(error.to_string()))?;
        if !meta.is_dir() {
            return Err(failed("it is no directory".to_owned()));
        }
        let born = meta.created().ok().and_then(|born| born.duration_since(UNIX_EPOCH).ok());
        let born = born.and_then(|born| u64::try_from(born.as_nanos()).ok());
        Ok(Self { path, inode: meta.ino(), born })
    }
}
