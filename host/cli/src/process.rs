//! Work with a deadline: an answer on every path, whatever the work does.

#[cfg(unix)]
mod crash;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use portcullis::runtime::Pulse;

use crate::exit::Exit;

/// How the work ended.
#[derive(Debug)]
pub(crate) enum Ended<R> {
    /// With an answer.
    Answered(R),
    /// With a panic.
    Panicked,
    /// Nobody could watch over its time, so it was not begun.
    NotStarted(std::io::Error),
}

/// Makes exit code 2 of an abort, which is how a process ends whose memory runs out, and
/// of a crash, which is how one ends whose stack overflows. Most agents run the call
/// when their hook ends in any other way.
#[derive(Debug, Clone)]
pub(crate) struct Shield(Arc<AtomicBool>);

impl Shield {
    pub(crate) fn raise() -> Self {
        let raised = Arc::new(AtomicBool::new(true));
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGABRT, SIGXFSZ};
            if let Err(error) = crash::refuse() {
                tracing::warn!("a crash of this process would not count as a refusal: {error}");
            }
            let status = i32::from(ABORTED);
            let set = signal_hook::flag::register_conditional_shutdown(SIGABRT, status, Arc::clone(&raised));
            if let Err(error) = set {
                tracing::warn!("an abort of this process would not count as a refusal: {error}");
            }
            // A file that may not grow is an error of the write then, and not the end.
            drop(signal_hook::flag::register(SIGXFSZ, Arc::default()));
        }
        Self(raised)
    }

    /// From here on nothing depends on how this process ends.
    pub(crate) fn lower(&self) {
        self.0.store(false, Ordering::SeqCst);
        #[cfg(unix)]
        crash::let_be();
    }
}

/// The exit code that refuses in every agent that looks at it.
const ABORTED: u8 = 2;

/// Runs `work` here, for at most `time`. When it is late, `late` answers in its
/// place, on the thread that has watched, and the process ends with the exit code
/// that it gives. Work that comes too late for its own answer never returns. Until then
/// `pulse` beats.
pub(crate) fn within<R>(
    time: Duration,
    pulse: Pulse,
    late: impl FnOnce() -> Exit + Send + 'static,
    work: impl FnOnce() -> R,
) -> Ended<R> {
    let answered = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&answered);
    let watch = thread::Builder::new().name("portcullis-watch".to_owned()).spawn(move || {
        let start = Instant::now();
        while let Some(left) = time.checked_sub(start.elapsed()).filter(|left| !left.is_zero()) {
            thread::park_timeout(left.min(Pulse::PERIOD));
            pulse.beat();
        }
        if !seen.swap(true, Ordering::SeqCst) {
            // Without an answer of its own it is a refusal.
            end(catch_unwind(AssertUnwindSafe(late)).unwrap_or(Exit::Refused));
        }
    });
    if let Err(error) = watch {
        return Ended::NotStarted(error);
    }
    let ended = catch_unwind(AssertUnwindSafe(work));
    while answered.swap(true, Ordering::SeqCst) {
        // The one who watched is answering, and ends the process.
        thread::park();
    }
    ended.map_or(Ended::Panicked, Ended::Answered)
}

/// Ends the process now. What it holds goes back to the system faster than it could
/// be taken apart, and another thread may still be using it.
pub(crate) fn end(exit: Exit) -> ! {
    #[cfg(unix)]
    signal_hook::low_level::exit(i32::from(exit.code()));
    #[cfg(not(unix))]
    std::process::exit(i32::from(exit.code()));
}
