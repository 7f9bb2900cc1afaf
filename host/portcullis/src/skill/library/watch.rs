//! Watching the places of a library, on a thread of its own.

use std::fs;
use std::path::Path;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;
use std::time::{Duration, Instant};

use notify::event::{AccessKind, AccessMode, EventKind};
use notify::{RecommendedWatcher, RecursiveMode, Watcher as _};
use portcullis_model::extension::{Change, ChangeKind, Changes, Coverage, ExtensionError, LibraryRoot};

use super::super::provider::LOCAL_SKILLS;
use super::coverage::{Identity, Places, Reach, Watched, absent};

/// A burst of changes ends with this much quiet.
pub const QUIET: Duration = Duration::from_millis(500);
/// Whoever writes without a pause does not keep the rest from being seen for longer.
const BURST_MAX: Duration = Duration::from_secs(5);
/// A place that is not there is looked for this often.
const TICK: Duration = Duration::from_secs(5);

/// The thread that watches. Dropping this ends it.
#[derive(Debug)]
pub(super) struct Watch {
    shared: Arc<Shared>,
    wake: Sender<Message>,
}

#[derive(Debug, Default)]
struct Shared {
    places: Mutex<Places>,
    told: Mutex<Told>,
}

#[derive(Debug, Default)]
struct Told {
    /// How often something may have changed.
    count: u64,
    wakers: Vec<Waker>,
}

#[derive(Debug)]
enum Message {
    Event(notify::Result<notify::Event>),
    /// The places are other ones.
    Follow,
    Stop,
}

impl Shared {
    fn tell(&self) {
        let mut told = lock(&self.told);
        told.count += 1;
        told.wakers.drain(..).for_each(Waker::wake);
    }
}

/// Says that nobody watches any more when the thread ends, whatever ended it.
struct Ended(Arc<Shared>);

impl Drop for Ended {
    fn drop(&mut self) {
        lock(&self.0.places).failed(&[], "the watch has ended");
    }
}

impl Watch {
    /// Watches `places`. A burst of changes is told of once, when it was quiet for `quiet`.
    pub(super) fn start(places: Places, quiet: Duration) -> Self {
        let (wake, woken) = mpsc::channel();
        let shared = Arc::new(Shared { places: Mutex::new(places), told: Mutex::default() });
        let events = wake.clone();
        let watcher = notify::recommended_watcher(move |event| {
            // The thread that listens ends only with the watch.
            let _ = events.send(Message::Event(event));
        });
        let watch = Self { shared: Arc::clone(&shared), wake };
        match watcher {
            Ok(mut watcher) => {
                // What is there from the beginning is covered before the first look.
                follow(&mut watcher, &mut lock(&shared.places));
                let work = move || {
                    let ended = Ended(shared);
                    run(&ended.0, watcher, &woken, quiet);
                };
                let started = thread::Builder::new().name("portcullis-skills".to_owned()).spawn(work);
                if let Err(error) = started {
                    lock(&watch.shared.places).failed(&[], &format!("nobody can watch: {error}"));
                }
            }
            Err(error) => lock(&shared.places).failed(&[], &error.to_string()),
        }
        watch
    }

    pub(super) fn roots(&self) -> Vec<LibraryRoot> {
        lock(&self.shared.places).roots()
    }

    pub(super) fn changes(&self) -> Box<dyn Changes> {
        let count = lock(&self.shared.told).count;
        Box::new(News { shared: Arc::clone(&self.shared), count })
    }

    /// Watches the directories of shared files too: they may lie beside the roots.
    pub(super) fn follow_also(&self, directories: impl Iterator<Item = std::path::PathBuf>) {
        let mut places = lock(&self.shared.places);
        let before = places.0.len();
        let mut wanted: Vec<_> = directories.collect();
        places.0.retain(|place| place.is_root || wanted.contains(&place.path));
        wanted.retain(|path| {
            let is_covered = |place: &Watched| match place.reach {
                Reach::Tree => path.starts_with(&place.path),
                Reach::Directory => *path == place.path,
                Reach::File => false,
            };
            !places.0.iter().any(is_covered)
        });
        for path in wanted {
            let place = Watched { is_root: false, ..Watched::new(path, Reach::Directory, true) };
            places.0.push(place);
        }
        if places.0.len() != before {
            // The thread may have ended, which the coverage says.
            let _ = self.wake.send(Message::Follow);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        // A thread that has ended needs no word.
        let _ = self.wake.send(Message::Stop);
    }
}

fn run(shared: &Shared, mut watcher: RecommendedWatcher, woken: &mpsc::Receiver<Message>, quiet: Duration) {
    let mut burst: Option<Instant> = None;
    loop {
        match woken.recv_timeout(burst.map_or(TICK, |_| quiet)) {
            Ok(Message::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            Ok(Message::Follow) => {
                follow(&mut watcher, &mut lock(&shared.places));
            }
            Ok(Message::Event(event)) => {
                if concerns(&mut lock(&shared.places), event) {
                    burst.get_or_insert_with(Instant::now);
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                let has_moved = follow(&mut watcher, &mut lock(&shared.places));
                if burst.take().is_some() || has_moved {
                    shared.tell();
                }
                continue;
            }
        }
        if burst.is_some_and(|since| since.elapsed() >= BURST_MAX) {
            burst = None;
            follow(&mut watcher, &mut lock(&shared.places));
            shared.tell();
        }
    }
}

/// Whether an event is worth a look.
fn concerns(places: &mut Places, event: notify::Result<notify::Event>) -> bool {
    match event {
        Ok(event) if event.need_rescan() => true,
        Ok(event) => is_change(event.kind) && places.concern(&event.paths),
        Err(error) => {
            places.failed(&error.paths, &error.to_string());
            true
        }
    }
}

/// False for what a look at a file stirs up.
fn is_change(kind: EventKind) -> bool {
    !kind.is_access() || kind == EventKind::Access(AccessKind::Close(AccessMode::Write))
}

/// Takes up every place that is there and is not watched, or is another directory by now.
/// True when one came or went.
fn follow(watcher: &mut RecommendedWatcher, places: &mut Places) -> bool {
    let mut has_moved = false;
    for place in places.0.iter_mut().filter(|place| place.coverage != Coverage::Off) {
        let now = identity(place.directory());
        if now == place.identity {
            continue;
        }
        has_moved = true;
        if place.identity.take().is_some() {
            // The watch went with its directory, or stays with one that was moved away.
            let _ = watcher.unwatch(place.directory());
        }
        if now.is_none() {
            place.coverage = absent();
            continue;
        }
        let mode = match place.reach {
            Reach::Tree => RecursiveMode::Recursive,
            Reach::Directory | Reach::File => RecursiveMode::NonRecursive,
        };
        place.identity = now;
        place.coverage = match watcher.watch(place.directory(), mode) {
            Ok(()) => Coverage::Watching,
            Err(error) => Coverage::Degraded(error.to_string()),
        };
    }
    has_moved
}

fn identity(directory: &Path) -> Option<Identity> {
    let meta = fs::metadata(directory).ok().filter(fs::Metadata::is_dir)?;
    Some((std::os::unix::fs::MetadataExt::ino(&meta), meta.created().ok()))
}

/// Tells of each time that a look is worth it.
struct News {
    shared: Arc<Shared>,
    count: u64,
}

impl Changes for News {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Change, ExtensionError>>> {
        let mut told = lock(&self.shared.told);
        if told.count == self.count {
            told.wakers.retain(|waker| !waker.will_wake(context.waker()));
            told.wakers.push(context.waker().clone());
            return Poll::Pending;
        }
        self.count = told.count;
        Poll::Ready(Some(Ok(Change::of(LOCAL_SKILLS, ChangeKind::Skills))))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
