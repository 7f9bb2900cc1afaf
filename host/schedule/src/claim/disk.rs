//! What a file system has to say of a path.

use std::fmt;

/// A file, whatever its names: its device and its number there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// The device.
    pub device: u64,
    /// The file's number on it.
    pub inode: u64,
}

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing is there yet.
    Nothing,
    /// A file with this one name.
    File,
    /// A file that has other names as well (hard links).
    Shared(FileId),
    /// A directory, or something of which nobody knows what it holds.
    Directory,
}

/// A path, looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Look {
    /// The same path with every link followed; what is not there is kept as it is written.
    pub real: String,
    /// What it leads to.
    pub found: Found,
    /// Names there are the same whatever their case.
    pub folds_case: bool,
}

/// Who knows a file system. What it says is of the moment when it was asked.
pub trait Disk: fmt::Debug + Sync {
    /// Looks at an absolute path, whose `..` leave where links lead.
    ///
    /// None when nobody can say where it leads: whoever claims it then claims everything.
    fn look(&self, path: &str) -> Option<Look>;
}
