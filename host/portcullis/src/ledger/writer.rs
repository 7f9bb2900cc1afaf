//! One line behind the other, by whichever process holds the lock.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use portcullis_model::config::AuditConfig;
use portcullis_runtime::clock;

use super::chain::{self, Link, Stamp};
use super::entry::{Entry, Prepared};
use super::error::LedgerError;
use super::files::{Files, Lock};
use super::redact::Redactor;
use super::tail;

/// How long a writer waits for the others.
pub const LOCK_WAIT: Duration = Duration::from_secs(2);

/// Where a ledger is and how it is written.
#[derive(Debug, Clone)]
pub struct LedgerOptions {
    /// Its directory. Made with mode 0700.
    pub dir: PathBuf,
    /// Which agent its entries are about, when that is known.
    pub agent: Option<String>,
    /// How long a writer waits for the others.
    pub lock_wait: Duration,
}

impl LedgerOptions {
    /// A ledger in `dir`, of no agent, with [`LOCK_WAIT`].
    #[must_use]
    pub fn new(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into(), agent: None, lock_wait: LOCK_WAIT }
    }
}

/// What was decided, for those who come later. Any number of processes may write
/// one at the same time. Holds no file open.
#[derive(Debug)]
pub struct Ledger {
    files: Files,
    agent: Option<String>,
    lock_wait: Duration,
    max_bytes: AtomicU64,
    keep: AtomicUsize,
    redactor: Redactor,
}

/// Held by the one who writes.
struct Writer<'a> {
    ledger: &'a Ledger,
    file: File,
    len: u64,
    link: Link,
    /// What has to stand before the next entry.
    repair: Option<Prepared>,
    is_open: bool,
}

impl Ledger {
    /// A ledger with these options. Looks at nothing yet. The values of variables of
    /// `env` whose names say that they are secret never get into it.
    #[must_use]
    pub fn new(options: LedgerOptions, audit: AuditConfig, env: &BTreeMap<String, String>) -> Self {
        Self {
            files: Files::new(options.dir),
            agent: options.agent,
            lock_wait: options.lock_wait,
            max_bytes: AtomicU64::new(audit.max_bytes.bytes()),
            keep: AtomicUsize::new(audit.keep.get()),
            redactor: Redactor::new(env),
        }
    }

    /// Keeps files as `audit` says from the next entry on.
    pub(crate) fn keep_as(&self, audit: AuditConfig) {
        self.max_bytes.store(audit.max_bytes.bytes(), Ordering::Relaxed);
        self.keep.store(audit.keep.get(), Ordering::Relaxed);
    }

    /// Writes `entry`, without its secrets. Waits for other writers as long as the
    /// options say. The answer is the entry's number.
    ///
    /// # Errors
    /// When it is not written. Nothing of it is left then.
    pub fn append(&self, entry: Entry) -> Result<u64, LedgerError> {
        self.wait_and_write(&self.prepare(entry))
    }

    /// Fails when an entry could not be written now, as far as that can be seen
    /// without writing one: the directory and the file can be opened, and the disk
    /// has room.
    ///
    /// # Errors
    /// When an entry could not be written.
    pub fn check(&self) -> Result<(), LedgerError> {
        self.files.prepare()?;
        let file = self.files.open_current()?;
        let path = self.files.current();
        let full = match rustix::fs::fstatvfs(&file) {
            // Some file systems count nothing.
            Ok(stat) => stat.f_blocks > 0 && stat.f_bavail == 0,
            Err(error) => return Err(LedgerError::Write { path, source: error.into() }),
        };
        if full {
            let source = std::io::Error::from(std::io::ErrorKind::StorageFull);
            return Err(LedgerError::Write { path, source });
        }
        Ok(())
    }

    /// The line's own part of `entry`.
    pub(crate) fn prepare(&self, mut entry: Entry) -> Prepared {
        entry.agent = entry.agent.or_else(|| self.agent.clone());
        entry.prepare(&self.redactor)
    }

    /// The same as [`Ledger::append`] for a writer that does not wait. None when
    /// another process is writing.
    pub(crate) fn try_write(&self, entry: &Prepared) -> Result<Option<u64>, LedgerError> {
        self.files.prepare()?;
        let Some(_lock) = self.files.lock_alone(Duration::ZERO)? else { return Ok(None) };
        self.write_locked(entry).map(Some)
    }

    /// The same for one that does.
    pub(crate) fn wait_and_write(&self, entry: &Prepared) -> Result<u64, LedgerError> {
        let _lock = self.lock()?;
        self.write_locked(entry)
    }

    pub(super) const fn files(&self) -> &Files {
        &self.files
    }

    /// Makes this the only writer until the lock is dropped.
    pub(super) fn lock(&self) -> Result<Lock, LedgerError> {
        self.files.prepare()?;
        self.files.lock_alone(self.lock_wait)?.ok_or_else(|| self.files.busy(self.lock_wait))
    }

    /// Writes for whoever holds the lock.
    pub(super) fn write_locked(&self, entry: &Prepared) -> Result<u64, LedgerError> {
        let mut writer = Writer::open(self)?;
        writer.write(entry)?;
        Ok(writer.link.seq)
    }
}

impl<'a> Writer<'a> {
    /// Finds the end of the chain. The lock must be held.
    fn open(ledger: &'a Ledger) -> Result<Self, LedgerError> {
        let files = &ledger.files;
        let failed = |source| LedgerError::Read { path: files.current(), source };
        let file = files.open_current()?;
        let len = file.metadata().map_err(failed)?.len();
        let tail = tail::read(&file, len).map_err(failed)?;
        let link = match tail.link {
            Some(link) => link,
            None => last_set_aside(files)?.unwrap_or_else(Link::genesis),
        };
        let repair = tail.torn.map(Prepared::torn);
        Ok(Self { ledger, file, len, link, repair, is_open: tail.is_open })
    }

    fn write(&mut self, entry: &Prepared) -> Result<(), LedgerError> {
        let stamp = Stamp { time: stamp(clock::utc()), pid: std::process::id() };
        let mut text = if self.is_open { "\n".to_owned() } else { String::new() };
        let mut link = self.link.clone();
        for entry in self.repair.iter().chain([entry]) {
            let (line, next) = chain::line(&link, &stamp, entry)
                .map_err(|error| self.failed(std::io::Error::other(error)))?;
            text.push_str(&line);
            link = next;
        }
        // A file that ends badly gets its end said in the same file.
        let is_clean = self.repair.is_none() && !self.is_open && self.len > 0;
        if is_clean && self.len + text.len() as u64 > self.ledger.max_bytes.load(Ordering::Relaxed) {
            self.rotate()?;
        }
        if let Err(error) = self.file.write_all(text.as_bytes()) {
            // Half a line would only have to be set aside by the next writer.
            if let Err(error) = self.file.set_len(self.len) {
                tracing::warn!("a half-written line stays at the end of the ledger: {error}");
            }
            return Err(self.failed(error));
        }
        self.link = link;
        Ok(())
    }

    /// Sets the file aside under the number of its last entry, and begins a new one.
    fn rotate(&mut self) -> Result<(), LedgerError> {
        let files = &self.ledger.files;
        let aside = files.aside(self.link.seq);
        if aside.exists() {
            tracing::warn!("the ledger grows on, because `{}` is there already", aside.display());
            return Ok(());
        }
        if let Err(error) = fs::rename(files.current(), &aside) {
            tracing::warn!("the ledger grows on, because its file cannot be set aside: {error}");
            return Ok(());
        }
        self.file = files.open_current()?;
        self.len = 0;
        let old = files.set_aside()?;
        for path in old.iter().take(old.len().saturating_sub(self.ledger.keep.load(Ordering::Relaxed))) {
            if let Err(error) = fs::remove_file(path) {
                tracing::warn!("the old file of the ledger `{}` cannot be removed: {error}", path.display());
            }
        }
        Ok(())
    }

    fn failed(&self, source: std::io::Error) -> LedgerError {
        LedgerError::Write { path: self.ledger.files.current(), source }
    }
}

/// The last entry of the file that was set aside last.
fn last_set_aside(files: &Files) -> Result<Option<Link>, LedgerError> {
    let Some(path) = files.set_aside()?.pop() else { return Ok(None) };
    let file = Files::open_to_read(&path)?;
    let tail = file.metadata().and_then(|meta| tail::read(&file, meta.len()));
    Ok(tail.map_err(|source| LedgerError::Read { path, source })?.link)
}

/// A moment as the ledger writes it. Two of them are in order as texts.
#[must_use]
pub fn stamp(moment: Timestamp) -> String {
    format!("{moment:.6}")
}
