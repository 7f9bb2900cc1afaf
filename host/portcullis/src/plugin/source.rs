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

    /// Every file, in the order in which plugins act: the user's, the named ones,
    /// the project's; each directory by name. The project comes last, so that no
    /// file of its takes the name of a plugin that the operator stands behind.
    pub(crate) fn files(&self) -> (Vec<Origin>, Vec<Unreadable>) {
        let mut unreadable = Vec::new();
        let mut all = |directory: &Option<PathBuf>| {
            let Some(directory) = directory else { return Vec::new() };
            list(directory).unwrap_or_else(|error| {
                if error.kind() != io::ErrorKind::NotFound {
                    unreadable.push(Unreadable { directory: directory.clone(), error: error.to_string() });
                }
                Vec::new()
            })
        };
        let (user, project) = (all(&self.user), all(&self.project));
        let files = user.into_iter().map(Origin::User);
        let files = files.chain(self.named.iter().cloned().map(Origin::Named));
        (files.chain(project.into_iter().map(Origin::Project)).collect(), unreadable)
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
    /// The file's number, and the moment of the last change of anything about it.
    node: (u64, i64, i64),
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
        let node = {
            use std::os::unix::fs::MetadataExt as _;
            (meta.ino(), meta.ctime(), meta.ctime_nsec())
        };
        #[cfg(not(unix))]
        let node = (0, 0, 0);
        Self { modified: meta.modified().ok(), size: meta.len(), node }
    }
}

/// Reads a component file, up to the limit.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    use io::Read as _;
    let plain = |meta: Metadata| {
        let what = io::Error::new(io::ErrorKind::InvalidInput, "it is not a plain file");
        if meta.is_file() { Ok(()) } else { Err(what) }
    };
    // Opening a pipe would wait for somebody who writes into it.
    plain(fs::metadata(path)?)?;
    let file = fs::File::open(path)?;
    plain(file.metadata()?)?;
    let mut bytes = Vec::new();
    // One byte over, so that the loader sees that it is too big.
    file.take(COMPONENT_MAX as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
