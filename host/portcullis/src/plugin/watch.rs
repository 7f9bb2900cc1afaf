//! Keeps the active plugins true while the host runs, without a restart.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, RwLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};

use crate::plugin::{Loader, Pass, PluginSet, QUIET};

/// Everything is looked at this often, whatever the file system tells.
const TICK: Duration = Duration::from_secs(5);
/// A file that is still being written is looked at this often.
const SETTLING: Duration = Duration::from_millis(100);
/// A burst of events is one change.
const BURST: Duration = Duration::from_millis(20);

/// Where the active plugins are read from.
pub(crate) type Current = Arc<RwLock<Arc<PluginSet>>>;

/// The thread that watches. Dropping it ends the thread.
#[derive(Debug)]
pub(crate) struct Watch {
    wake: Sender<Wake>,
    thread: Mutex<Option<JoinHandle<()>>>,
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
    pub(crate) fn start(loader: Loader, current: Current) -> std::io::Result<Self> {
        let (wake, woken) = mpsc::channel();
        let executor = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let hints = wake.clone();
        let thread = thread::Builder::new().name("portcullis-watch".to_owned()).spawn(move || {
            let mut watcher = Directories::new(hints);
            let mut loader = loader;
            let mut pause = TICK;
            loop {
                watcher.follow(loader.sources().directories().map(std::path::Path::to_path_buf));
                let mut waiting = Vec::new();
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
                let Pass { set, settling } = executor.block_on(loader.pass());
                *current.write().unwrap_or_else(std::sync::PoisonError::into_inner) = Arc::new(set);
                pause = if settling { SETTLING.min(QUIET) } else { TICK };
                for done in waiting {
                    // Whoever asked may have gone.
                    let _ = done.send(());
                }
            }
        })?;
        Ok(Self { wake, thread: Mutex::new(Some(thread)) })
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

impl Drop for Watch {
    fn drop(&mut self) {
        // A thread that has ended needs no word.
        let _ = self.wake.send(Wake::Stop);
        let thread = self.thread.lock().map(|mut thread| thread.take()).unwrap_or_default();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }
}

/// The directories that the file system is asked to tell of. Where it cannot
/// tell, the tick finds out.
struct Directories {
    watcher: Option<RecommendedWatcher>,
    followed: BTreeSet<PathBuf>,
}

impl Directories {
    fn new(hints: Sender<Wake>) -> Self {
        let watcher = notify::recommended_watcher(move |_| {
            // The thread that listens ends only with the host.
            let _ = hints.send(Wake::Hint);
        });
        let watcher = watcher
            .inspect_err(|e| {
                tracing::warn!("changes of plugins are seen every {} s only: {e}", TICK.as_secs())
            })
            .ok();
        Self { watcher, followed: BTreeSet::new() }
    }

    /// Follows `directories`. One that came or went since is taken up again.
    fn follow(&mut self, directories: impl Iterator<Item = PathBuf>) {
        let Some(watcher) = &mut self.watcher else { return };
        for directory in directories {
            if !directory.is_dir() {
                self.followed.remove(&directory);
            } else if !self.followed.contains(&directory)
                && watcher.watch(&directory, RecursiveMode::NonRecursive).is_ok()
            {
                self.followed.insert(directory);
            }
        }
    }
}
