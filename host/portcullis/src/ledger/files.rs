//! The directory of a ledger: its files, and the lock that makes one writer of many
//! processes.

use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;

use super::error::LedgerError;

/// The file that is written.
pub(super) const CURRENT: &str = "ledger.jsonl";
const LOCK: &str = "lock";
const ASIDE_START: &str = "ledger-";
const ASIDE_END: &str = ".jsonl";
/// The lock is tried this often at first, and less and less often then.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(16);

/// The directory of a ledger.
#[derive(Debug, Clone)]
pub(super) struct Files {
    dir: PathBuf,
}

/// Held while the ledger is written or listed. Its end gives the lock back, and so
/// does the end of the process.
#[derive(Debug)]
pub(super) struct Lock(#[allow(dead_code, reason = "it is held, and never read")] File);

#[derive(Debug, Clone, Copy)]
enum Mode {
    /// For a writer.
    Alone,
    /// For a reader.
    Shared,
}

impl Files {
    pub(super) const fn new(dir: PathBuf) -> Self {
        Self { dir }
    }

    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    pub(super) fn current(&self) -> PathBuf {
        self.dir.join(CURRENT)
    }

    /// What a file is called that was set aside after the entry `last`.
    pub(super) fn aside(&self, last: u64) -> PathBuf {
        self.dir.join(format!("{ASIDE_START}{last:012}{ASIDE_END}"))
    }

    /// Makes the directory, for its owner alone.
    pub(super) fn prepare(&self) -> Result<(), LedgerError> {
        let failed = |source| LedgerError::Directory { path: self.dir.clone(), source };
        let meta = match fs::metadata(&self.dir) {
            Ok(meta) => meta,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.dir).map_err(failed)?;
                return Ok(());
            }
            Err(error) => return Err(failed(error)),
        };
        if !meta.is_dir() {
            return Err(failed(io::Error::from(io::ErrorKind::NotADirectory)));
        }
        if meta.mode() & 0o077 != 0 {
            fs::set_permissions(&self.dir, Permissions::from_mode(0o700)).map_err(failed)?;
        }
        Ok(())
    }

    /// The files that were set aside, the oldest first.
    pub(super) fn set_aside(&self) -> Result<Vec<PathBuf>, LedgerError> {
        let failed = |source| LedgerError::Directory { path: self.dir.clone(), source };
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let is_aside = name.to_str().is_some_and(|name| {
                let number = name.strip_prefix(ASIDE_START).and_then(|rest| rest.strip_suffix(ASIDE_END));
                number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
            });
            if is_aside {
                found.push(self.dir.join(name));
            }
        }
        found.sort();
        Ok(found)
    }

    /// Makes this the only writer. None when another process still is after `wait`.
    pub(super) fn lock_alone(&self, wait: Duration) -> Result<Option<Lock>, LedgerError> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true);
        self.lock(&options, Mode::Alone, wait)
    }

    /// Keeps writers out. None when one still writes after `wait`, or when there
    /// has never been one.
    pub(super) fn lock_shared(&self, wait: Duration) -> Result<Option<Lock>, LedgerError> {
        let mut options = OpenOptions::new();
        options.read(true);
        match self.lock(&options, Mode::Shared, wait) {
            Err(LedgerError::Open { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            other => other,
        }
    }

    fn lock(&self, options: &OpenOptions, mode: Mode, wait: Duration) -> Result<Option<Lock>, LedgerError> {
        let path = self.dir.join(LOCK);
        let start = Instant::now();
        let mut pause = FIRST_PAUSE;
        loop {
            let file = open(&path, options)?;
            let locked = match mode {
                Mode::Alone => file.try_lock(),
                Mode::Shared => file.try_lock_shared(),
            };
            match locked {
                // Somebody may have removed the file before it was locked; then
                // another process can hold one of the same name.
                Ok(()) if is_at(&file, &path) => return Ok(Some(Lock(file))),
                Ok(()) | Err(TryLockError::WouldBlock) if start.elapsed() >= wait => return Ok(None),
                Ok(()) | Err(TryLockError::WouldBlock) => {
                    thread::park_timeout(pause);
                    pause = (pause * 2).min(LONGEST_PAUSE);
                }
                Err(TryLockError::Error(source)) => return Err(LedgerError::Open { path, source }),
            }
        }
    }

    pub(super) fn busy(&self, wait: Duration) -> LedgerError {
        LedgerError::Busy { path: self.dir.join(LOCK), millis: wait.as_millis() }
    }

    /// Opens the file that is written, and makes it where it is not.
    pub(super) fn open_current(&self) -> Result<File, LedgerError> {
        let mut options = OpenOptions::new();
        options.read(true).append(true).create(true);
        open(&self.current(), &options)
    }

    /// Opens a file to read it.
    pub(super) fn open_to_read(path: &Path) -> Result<File, LedgerError> {
        let mut options = OpenOptions::new();
        options.read(true);
        open(path, &options)
    }
}

/// True when `path` leads to `file`.
fn is_at(file: &File, path: &Path) -> bool {
    let Ok((own, there)) = file.metadata().and_then(|own| Ok((own, fs::symlink_metadata(path)?))) else {
        return false;
    };
    (own.dev(), own.ino()) == (there.dev(), there.ino())
}

/// Opens a plain file of ours: no link is followed, and no pipe is waited for.
fn open(path: &Path, options: &OpenOptions) -> Result<File, LedgerError> {
    const NO_FOLLOW: OFlags = OFlags::NOFOLLOW.union(OFlags::NONBLOCK);
    let mut options = options.clone();
    options.mode(0o600).custom_flags(i32::from_ne_bytes(NO_FOLLOW.bits().to_ne_bytes()));
    let file = options.open(path).map_err(|source| {
        let is_link = fs::symlink_metadata(path).is_ok_and(|meta| !meta.is_file());
        let path = path.to_owned();
        if is_link { LedgerError::NotAFile { path } } else { LedgerError::Open { path, source } }
    })?;
    let meta = file.metadata().map_err(|source| LedgerError::Open { path: path.to_owned(), source })?;
    if meta.is_file() { Ok(file) } else { Err(LedgerError::NotAFile { path: path.to_owned() }) }
}
