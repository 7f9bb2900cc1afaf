//! Keeps the active plugins true while the host runs, without a restart.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Waker};
use std::thread;
use std::time::{Duration, SystemTime};

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::plugin::{Loader, Pass, PluginSet};

/// Everything is looked at this often, whatever the file system tells.
const TICK: Duration = Duration::from_secs(5);
/// A file that is still being written is looked at this often.
const SETTLING: Duration = Duration::from_millis(100);
/// A burst of events is one change.
const BURST: Duration = Duration::from_millis(20);

/// What is followed together with the plugins, on the same thread.
pub(crate) trait Beside: Send + 'static {
    /// The directories in which a change may matter.
    fn directories(&self) -> Vec<PathBuf>;
    /// Looks at it, before the plugins are looked at. True when it has to look again soon.
    fn look(&mut self, loader: &mut Loader) -> bool;
    /// Has whoever is beside the files asked what there is, and waits for nobody: a guard
    /// that changed must not.
    fn ask(&mut self);
    /// True when somebody has told of a change since the last time; `context` is woken by
    /// the next one.
    fn is_told(&self, context: &mut Context<'_>) -> bool;
    /// Takes every set of plugins that was found.
    fn found(&mut self, set: PluginSet);
    /// A look is over: what went wrong, and why the next change may be seen late.
    fn looked(&self, failed: Option<String>, late: Option<String>);
}

/// The thread that watches. Dropping this ends it, after the pass that it is in:
/// a pass may be waiting for the compile helper, and nobody should wait for that.
#[derive(Debug)]
pub(crate) struct Watch {
    wake: Sender<Wake>,
}

/// Wakes the thread when an extension has news.
struct News(Mutex<Sender<Wake>>);

impl std::task::Wake for News {
    fn wake(self: Arc<Self>) {
        // The thread that listens ends only with the host.
        let _ = self.0.lock().unwrap_or_else(PoisonError::into_inner).send(Wake::Hint);
    }
}

#[derive(Debug)]
enum Wake {
    /// Something may have changed.
    Hint,
    /// Look now, and say when the result serves.
    Now(Sender<()>),
    Stop,
}

impl Watch {
    /// Follows what `loader` looks at, and what is beside it.
    pub(crate) fn start(loader: Loader, mut beside: impl Beside) -> std::io::Result<Self> {
        let (wake, woken) = mpsc::channel();
        let executor = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let hints = wake.clone();
        let news = Waker::from(Arc::new(News(Mutex::new(wake.clone()))));
        let mut watcher = Directories::new(hints);
        // Whoever started this may change a file at once.
        watcher.follow(directories(&loader, &beside));
        thread::Builder::new().name("portcullis-watch".to_owned()).spawn(move || {
            let mut loader = loader;
            let mut pause = TICK;
            loop {
                watcher.follow(directories(&loader, &beside));
                let mut waiting = Vec::new();
                if beside.is_told(&mut Context::from_waker(&news)) {
                    pause = BURST;
                }
                match woken.recv_timeout(pause) {
                    Ok(Wake::Stop) | Err(RecvTimeoutError::Disconnected) => return,
                    Ok(Wake::Now(done)) => waiting.push(done),
                    Ok(Wake::Hint) => thread::park_timeout(BURST),
                    Err(RecvTimeoutError::Timeout) => {}
                }
                for more in woken.try_iter() {
                    match more {
                        Wake::Stop => return,
                        Wake::Now(done) => waiting.push(done),
                        Wake::Hint => {}
                    }
                }
                // A pass that fails inside must not end the watch: nobody would see it end.
                let pass = catch_unwind(AssertUnwindSafe(|| {
                    let soon = beside.look(&mut loader);
                    let Pass { set, settling } = executor.block_on(loader.pass());
                    let failed = set.unlisted();
                    beside.found(set);
                    beside.ask();
                    (soon || settling, failed)
                }));
                let late = watcher.late.clone();
                let failed = match &pass {
                    Ok((_, failed)) => failed.clone(),
                    Err(_) => Some("looking at the plugins failed inside".to_owned()),
                };
                beside.looked(failed, late);
                pause = match pass {
                    Ok((soon, _)) => {
                        if soon {
                            SETTLING
                        } else {
                            TICK
                        }
                    }
                    Err(_) => {
                        tracing::error!("looking at the plugins failed inside; the last state serves on");
                        TICK
                    }
                };
                for done in waiting {
                    // Whoever asked may have gone.
                    let _ = done.send(());
                }
            }
        })?;
        Ok(Self { wake })
    }

    /// Looks at everything now, and waits until the result serves.
    pub(crate) fn refresh(&self) {
        let (done, wait) = mpsc::channel();
        if self.wake.send(Wake::Now(done)).is_ok() {
            // The thread ends only with the host.
            let _ = wait.recv();
        }
    }
}

/// Everything in which a change may matter.
fn directories(loader: &Loader, beside: &impl Beside) -> impl Iterator<Item = PathBuf> {
    let own: Vec<_> = loader.sources().directories().map(Path::to_path_buf).collect();
    own.into_iter().chain(beside.directories())
}

impl Drop for Watch {
    fn drop(&mut self) {
        // A thread that has ended needs no word.
        let _ = self.wake.send(Wake::Stop);
    }
}

/// The directories that the file system is asked to tell of. Where it cannot
/// tell, the tick finds out.
struct Directories {
    watcher: Option<RecommendedWatcher>,
    /// Which directory each path led to when it was taken up.
    followed: BTreeMap<PathBuf, Identity>,
    /// Why the file system does not tell of all changes.
    late: Option<String>,
}

/// Tells a directory from another one that was made at its path.
type Identity = (u64, Option<SystemTime>);

fn identity(directory: &Path) -> Option<Identity> {
    let meta = std::fs::metadata(directory).ok().filter(std::fs::Metadata::is_dir)?;
    #[cfg(unix)]
    let inode = std::os::unix::fs::MetadataExt::ino(&meta);
    #[cfg(not(unix))]
    let inode = 0;
    Some((inode, meta.created().ok()))
}

/// False for what our own look at a file or a directory stirs up.
fn is_change(event: &notify::Result<notify::Event>) -> bool {
    let written = EventKind::Access(AccessKind::Close(AccessMode::Write));
    event.as_ref().map_or(true, |event| !event.kind.is_access() || event.kind == written)
}

impl Directories {
    fn new(hints: Sender<Wake>) -> Self {
        let watcher = notify::recommended_watcher(move |event| {
            if is_change(&event) {
                // The thread that listens ends only with the host.
                let _ = hints.send(Wake::Hint);
            }
        });
        let late = watcher.as_ref().err().map(|error| {
            let why = format!("changes of plugins are seen every {} s only: {error}", TICK.as_secs());
            tracing::warn!("{why}");
            why
        });
        Self { watcher: watcher.ok(), followed: BTreeMap::new(), late }
    }

    /// Follows `directories`, and no others. One that came or went since is taken up again.
    fn follow(&mut self, directories: impl Iterator<Item = PathBuf>) {
        let Some(watcher) = &mut self.watcher else { return };
        let mut late = None;
        // Where there is none yet, whoever holds it tells when it comes.
        let there = |directory: PathBuf| match directory.parent() {
            Some(parent) if !directory.is_dir() => parent.to_owned(),
            Some(_) | None => directory,
        };
        let directories: BTreeSet<_> = directories.map(there).collect();
        let left: Vec<_> = self.followed.keys().filter(|own| !directories.contains(*own)).cloned().collect();
        for directory in left {
            self.followed.remove(&directory);
            // It may be gone, and its watch with it.
            let _ = watcher.unwatch(&directory);
        }
        for directory in directories {
            let now = identity(&directory);
            if now.is_some() && self.followed.get(&directory) == now.as_ref() {
                continue;
            }
            if self.followed.remove(&directory).is_some() {
                // The watch went with its directory, or stays with one that was moved away.
                let _ = watcher.unwatch(&directory);
            }
            let Some(now) = now else { continue };
            match watcher.watch(&directory, RecursiveMode::NonRecursive) {
                Ok(()) => drop(self.followed.insert(directory, now)),
                Err(error) => {
                    late = Some(format!(
                        "changes in `{}` are seen every {} s only: {error}",
                        directory.display(),
                        TICK.as_secs()
                    ));
                }
            }
        }
        self.late = late;
    }
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, AccessMode, CreateKind, ModifyKind, RemoveKind};
    use notify::{Event, EventKind};

    use super::is_change;

    #[test]
    fn our_own_look_at_a_directory_is_no_change() {
        for kind in [AccessKind::Open(AccessMode::Any), AccessKind::Read, AccessKind::Close(AccessMode::Read)]
        {
            assert!(!is_change(&Ok(Event::new(EventKind::Access(kind)))), "{kind:?}");
        }
        for kind in [
            EventKind::Any,
            EventKind::Other,
            EventKind::Create(CreateKind::Any),
            EventKind::Modify(ModifyKind::Any),
            EventKind::Remove(RemoveKind::Any),
            EventKind::Access(AccessKind::Close(AccessMode::Write)),
        ] {
            assert!(is_change(&Ok(Event::new(kind))), "{kind:?}");
        }
        assert!(is_change(&Err(notify::Error::generic("a queue that overflowed"))));
    }
}
