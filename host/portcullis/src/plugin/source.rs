//! Where plugins are looked for, and what is found there.

use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use portcullis_model::limits::COMPONENT_MAX;

use crate::plugin::Origin;

/// Where plugins are looked for.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sources {
    /// The user's plugin directory.
    pub(crate) user: Option<PathBuf>,
    /// The project's plugin directory.
    pub(crate) project: Option<PathBuf>,
    /// Files named on the command line.
    pub(crate) named: Vec<PathBuf>,
}

impl Sources {
    /// The directories that can be watched.
    pub(crate) fn directories(&self) -> impl Iterator<Item = &Path> {
        self.user.iter().chain(&self.project).map(PathBuf::as_path)
    }

    /// Every file, in the order in which plugins act: the user's, the project's,
    /// the named ones; each directory by name.
    pub(crate) fn files(&self) -> (Vec<Origin>, Vec<Unreadable>) {
        let mut files = Vec::new();
        let mut unreadable = Vec::new();
        let directories: [(&Option<PathBuf>, fn(PathBuf) -> Origin); 2] =
            [(&self.user, Origin::User), (&self.project, Origin::Project)];
        for (directory, origin) in directories {
            let Some(directory) = directory else { continue };
            match list(directory) {
                Ok(found) => files.extend(found.into_iter().map(origin)),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => {
                    unreadable.push(Unreadable { directory: directory.clone(), error: error.to_string() })
                }
            }
        }
        files.extend(self.named.iter().cloned().map(Origin::Named));
        (files, unreadable)
    }
}

/// A plugin directory that is there and cannot be listed.
#[derive(Debug, Clone)]
pub(crate) struct Unreadable {
    pub(crate) directory: PathBuf,
    pub(crate) error: String,
}

fn list(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        // A name that begins with a dot is an editor's or a copy's own file.
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden && path.extension().is_some_and(|extension| extension == "wasm") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// Tells two states of a file apart without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fingerprint {
    modified: Option<SystemTime>,
    size: u64,
    inode: u64,
}

impl Fingerprint {
    pub(crate) fn of(path: &Path) -> io::Result<Self> {
        Ok(Self::from(&fs::metadata(path)?))
    }

    /// How long ago the file was changed. None when that lies in the future.
    pub(crate) fn age(&self) -> Option<Duration> {
        self.modified.and_then(|modified| modified.elapsed().ok())
    }
}

impl From<&Metadata> for Fingerprint {
    fn from(meta: &Metadata) -> Self {
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(meta);
        #[cfg(not(unix))]
        let inode = 0;
        Self { modified: meta.modified().ok(), size: meta.len(), inode }
    }
}

/// Reads a component file, up to the limit.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    use io::Read as _;
    let file = fs::File::open(path)?;
    if !file.metadata()?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file"));
    }
    let mut bytes = Vec::new();
    // One byte over, so that the loader sees that it is too big.
    file.take(COMPONENT_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
