//! The thread that moves the engine's epoch, by which every guest is stopped.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use wasmtime::EngineWeak;

/// How often a running guest looks at its deadline.
const TICK: Duration = Duration::from_millis(10);

/// The ticker goes on for this many ticks after the last call, so that a steady
/// stream of calls never has to wake it.
const IDLE_TICKS: u32 = 100;

#[derive(Debug)]
struct Shared {
    running: AtomicUsize,
    idle: AtomicU32,
    parked: AtomicBool,
    stop: AtomicBool,
}

/// Ticks while calls run, and sleeps when the host is idle. It has a thread of
/// its own, because one on an async executor would stall with it.
#[derive(Debug)]
pub(crate) struct Ticker {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
    handle: thread::Thread,
}

/// Ticks in a ticker's place, from a thread that watches something else as well: in a
/// process that judges one call, starting a second one costs more than it does.
#[derive(Clone, Default)]
pub struct Pulse(Arc<OnceLock<EngineWeak>>);

impl Pulse {
    /// How often it has to beat. While it does not, no guest is stopped.
    pub const PERIOD: Duration = TICK;

    /// Beats once. Does nothing before a runtime was made with it.
    pub fn beat(&self) {
        if let Some(engine) = self.0.get().and_then(EngineWeak::upgrade) {
            engine.increment_epoch();
        }
    }

    /// False when it beats for another engine already.
    pub(crate) fn follow(&self, engine: EngineWeak) -> bool {
        self.0.set(engine).is_ok()
    }
}

impl fmt::Debug for Pulse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pulse").field(&self.0.get().is_some()).finish()
    }
}

/// Keeps the ticker going while a call runs.
#[derive(Debug)]
pub(crate) struct Running<'a>(&'a Shared);

impl Ticker {
    pub(crate) fn start(engine: EngineWeak) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            running: AtomicUsize::new(0),
            idle: AtomicU32::new(0),
            parked: AtomicBool::new(false),
            stop: AtomicBool::new(false),
        });
        let seen = Arc::clone(&shared);
        let thread =
            thread::Builder::new().name("portcullis-tick".to_owned()).spawn(move || tick(&seen, &engine))?;
        let handle = thread.thread().clone();
        Ok(Self { shared, thread: Mutex::new(Some(thread)), handle })
    }

    /// Makes sure that the epoch moves until the answer is dropped.
    pub(crate) fn run(&self) -> Running<'_> {
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        if self.shared.parked.load(Ordering::SeqCst) {
            self.handle.unpark();
        }
        Running(&self.shared)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::SeqCst);
        self.handle.unpark();
        let thread = self.thread.lock().map(|mut thread| thread.take()).unwrap_or_default();
        if let Some(thread) = thread {
            // The thread ends by itself within a tick; a panic in it has already
            // been reported by the panic hook.
            let _ = thread.join();
        }
    }
}

fn tick(shared: &Shared, engine: &EngineWeak) {
    while !shared.stop.load(Ordering::SeqCst) {
        if shared.running.load(Ordering::SeqCst) > 0 {
            shared.idle.store(0, Ordering::Relaxed);
        } else if shared.idle.fetch_add(1, Ordering::Relaxed) >= IDLE_TICKS {
            shared.parked.store(true, Ordering::SeqCst);
            // A call that began before `parked` was set is seen here; one that
            // begins after it unparks this thread.
            while shared.running.load(Ordering::SeqCst) == 0 && !shared.stop.load(Ordering::SeqCst) {
                thread::park();
            }
            shared.parked.store(false, Ordering::SeqCst);
            shared.idle.store(0, Ordering::Relaxed);
        }
        thread::park_timeout(TICK);
        let Some(engine) = engine.upgrade() else { return };
        engine.increment_epoch();
    }
}
