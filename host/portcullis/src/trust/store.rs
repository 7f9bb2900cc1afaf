//! Where trust is kept: one file of the user's alone, replaced as a whole.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use portcullis_runtime::{Digest, clock};
use rustix::fs::OFlags;
use serde::{Deserialize, Serialize};
use tempfile::NamedTempFile;

use super::error::TrustError;
use super::identity::Identity;
use super::workspace::{Covered, Workspace, kept};

/// The most bytes of the file.
const FILE_MAX: usize = 1 << 20;
/// The most projects.
const WORKSPACES_MAX: usize = 1_000;
/// The most files of one project.
const FILES_MAX: usize = 512;
/// How long a writer waits for another one.
const LOCK_WAIT: Duration = Duration::from_secs(2);
const PAUSE: Duration = Duration::from_millis(5);
const NO_FOLLOW: i32 = OFlags::NOFOLLOW.union(OFlags::NONBLOCK).bits().cast_signed();

/// Which projects are trusted, and which bytes of them.
#[derive(Debug, Clone)]
pub struct TrustStore {
    file: PathBuf,
    lock: PathBuf,
    programs: PathBuf,
}

/// How a directory stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// Nothing of it is trusted.
    Nothing,
    /// Another directory was trusted, which stood at the same path.
    Replaced(Workspace),
    /// It is the one that was trusted.
    Trusted(Workspace),
}

/// The file. `sum` is the digest of the rest, so that a file that lost a part of
/// itself is known.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    v: u32,
    workspaces: Vec<Workspace>,
    sum: String,
}

const VERSION: u32 = 1;

impl TrustStore {
    /// What is kept in `directory`, which need not be there.
    #[must_use]
    pub fn new(directory: &Path) -> Self {
        Self {
            file: directory.join("trust.json"),
            lock: directory.join("lock"),
            programs: directory.join("programs"),
        }
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Every project that is trusted.
    ///
    /// # Errors
    /// When the file cannot be read, is not the user's alone, or is damaged.
    pub fn read(&self) -> Result<Vec<Workspace>, TrustError> {
        let failed = |source| TrustError::Read { path: self.file.clone(), source };
        let damaged = |what: String| TrustError::Damaged { path: self.file.clone(), what };
        let file = match OpenOptions::new().read(true).custom_flags(NO_FOLLOW).open(&self.file) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let meta = file.metadata().map_err(failed)?;
        let ours = meta.uid() == rustix::process::geteuid().as_raw();
        if !meta.is_file() || !ours || meta.mode() & 0o077 != 0 {
            return Err(TrustError::NotPrivate { path: self.file.clone() });
        }
        let mut bytes = Vec::new();
        file.take(FILE_MAX as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
        if bytes.len() > FILE_MAX {
            return Err(damaged(format!("it has more than {FILE_MAX} bytes")));
        }
        let stored: Stored = serde_json::from_slice(&bytes).map_err(|error| damaged(error.to_string()))?;
        if stored.v != VERSION {
            return Err(damaged(format!("its version is {}, and this program knows {VERSION}", stored.v)));
        }
        if sum(&stored.workspaces) != stored.sum {
            return Err(damaged("its sum is another one".to_owned()));
        }
        let mut workspaces = stored.workspaces;
        for workspace in &mut workspaces {
            workspace.programs.clone_from(&self.programs);
        }
        Ok(workspaces)
    }

    /// How the project at `root` stands.
    ///
    /// # Errors
    /// As [`TrustStore::read`], and when `root` is no directory.
    pub fn workspace(&self, root: &Path) -> Result<Held, TrustError> {
        let all = self.read()?;
        if all.is_empty() {
            return Ok(Held::Nothing);
        }
        let identity = Identity::of(root)?;
        Ok(match all.into_iter().find(|workspace| workspace.root == identity.path) {
            None => Held::Nothing,
            Some(workspace) if workspace.is(&identity) => Held::Trusted(workspace),
            Some(workspace) => Held::Replaced(workspace),
        })
    }

    /// Trusts `files` of the project at `root`, in the place of whatever was trusted
    /// of it before.
    ///
    /// # Errors
    /// When it cannot be written, or what is there cannot be read: a damaged file is
    /// left as it is.
    pub fn add(&self, root: &Path, files: &[Covered]) -> Result<Workspace, TrustError> {
        if files.len() > FILES_MAX {
            return Err(TrustError::TooMany { what: "files of one project", most: FILES_MAX });
        }
        let Identity { path, inode, born } = Identity::of(root)?;
        let digests = files.iter().map(|file| (file.path.clone(), file.digest.to_string()));
        let workspace = Workspace {
            root: path,
            inode,
            born,
            since: clock::now().seconds,
            files: digests.collect(),
            programs: self.programs.clone(),
        };
        let _lock = self.lock()?;
        let mut all = self.read()?;
        all.retain(|other| other.root != workspace.root);
        if all.len() >= WORKSPACES_MAX {
            return Err(TrustError::TooMany { what: "projects", most: WORKSPACES_MAX });
        }
        // First the programs: a trust without them would be one that fails.
        for file in files {
            if let Some(bytes) = &file.program {
                let path = kept(&self.programs, &file.digest.to_string(), &file.path);
                keep(&path, bytes).map_err(|source| TrustError::Write { path, source })?;
            }
        }
        all.push(workspace.clone());
        self.write(&all)?;
        Ok(workspace)
    }

    /// Trusts nothing of the project at `root` any more. `root` need not be there. The
    /// answer is what was trusted.
    ///
    /// # Errors
    /// As [`TrustStore::add`].
    pub fn remove(&self, root: &Path) -> Result<Option<Workspace>, TrustError> {
        let path = fs::canonicalize(root).unwrap_or_else(|_| root.to_owned());
        let _lock = self.lock()?;
        let mut all = self.read()?;
        let Some(at) = all.iter().position(|workspace| workspace.root == path) else { return Ok(None) };
        let removed = all.remove(at);
        self.write(&all)?;
        self.forget(&all);
        Ok(Some(removed))
    }

    /// Removes the programs that no project needs any more. One that stays does no harm.
    fn forget(&self, all: &[Workspace]) {
        let needed = |digest: &str| all.iter().any(|own| own.files.values().any(|file| file == digest));
        for entry in fs::read_dir(&self.programs).into_iter().flatten().flatten() {
            if entry.file_name().to_str().is_none_or(|digest| !needed(digest))
                && let Err(error) = fs::remove_dir_all(entry.path())
            {
                tracing::warn!("`{}` is not needed and stays: {error}", entry.path().display());
            }
        }
    }

    /// The directory that it is all in.
    #[must_use]
    pub fn directory(&self) -> &Path {
        self.file.parent().unwrap_or(Path::new("/"))
    }

    fn lock(&self) -> Result<File, TrustError> {
        let failed = |source| TrustError::Write { path: self.lock.clone(), source };
        private(self.directory()).map_err(failed)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).mode(0o600).custom_flags(NO_FOLLOW);
        let file = options.open(&self.lock).map_err(failed)?;
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::WouldBlock) if start.elapsed() < LOCK_WAIT => thread::park_timeout(PAUSE),
                Err(TryLockError::WouldBlock) => return Err(TrustError::Busy { path: self.lock.clone() }),
                Err(TryLockError::Error(source)) => return Err(failed(source)),
            }
        }
    }

    fn write(&self, all: &[Workspace]) -> Result<(), TrustError> {
        let failed = |source| TrustError::Write { path: self.file.clone(), source };
        let stored = Stored { v: VERSION, workspaces: all.to_vec(), sum: sum(all) };
        let bytes = serde_json::to_vec(&stored).map_err(|error| failed(error.into()))?;
        if bytes.len() > FILE_MAX {
            return Err(TrustError::TooMany { what: "bytes of names", most: FILE_MAX });
        }
        replace(&self.file, &bytes, 0o600).map_err(failed)
    }
}

fn sum(workspaces: &[Workspace]) -> String {
    // A value of ours without maps whose keys are no texts always has its JSON.
    let text = serde_json::to_string(workspaces).unwrap_or_default();
    Digest::of(format!("{VERSION}\n{text}").as_bytes()).to_string()
}

/// Keeps a program, unless it is kept already.
fn keep(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::read(path).is_ok_and(|kept| kept == bytes) {
        return fs::set_permissions(path, Permissions::from_mode(0o500));
    }
    private(path.parent().unwrap_or(Path::new("/")))?;
    replace(path, bytes, 0o500)
}

/// A reader sees the old file or the new one, after a crash too.
fn replace(path: &Path, bytes: &[u8], mode: u32) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("/"));
    let mut new = NamedTempFile::new_in(folder)?;
    new.write_all(bytes)?;
    fs::set_permissions(new.path(), Permissions::from_mode(mode))?;
    new.as_file().sync_all()?;
    new.persist(path)?;
    File::open(folder)?.sync_all()
}

/// Makes a directory for its owner alone.
fn private(directory: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(directory)?;
    if fs::metadata(directory)?.mode() & 0o077 != 0 {
        fs::set_permissions(directory, Permissions::from_mode(0o700))?;
    }
    Ok(())
}
