//! Work with a deadline: an answer on every path, whatever the work does.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

/// How the work ended.
#[derive(Debug)]
pub(crate) enum Ended<R> {
    /// With an answer.
    Answered(R),
    /// With a panic.
    Panicked,
    /// Not within its time.
    Late,
    /// It could not be started.
    NotStarted(std::io::Error),
}

/// Makes exit code 2 of an abort, which is how a process ends whose memory runs
/// out or whose stack overflows. Most agents run the call when their hook ends in
/// any other way.
#[derive(Debug, Clone)]
pub(crate) struct Shield(Arc<AtomicBool>);

impl Shield {
    pub(crate) fn raise() -> Self {
        let raised = Arc::new(AtomicBool::new(true));
        #[cfg(unix)]
        {
            use signal_hook::consts::{SIGABRT, SIGXFSZ};
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
    }
}

/// The exit code that refuses in every agent that looks at it.
const ABORTED: u8 = 2;

/// Runs `work` on a thread of its own, for at most `time`. Work that is late goes
/// on until the process ends, and its answer is not waited for.
pub(crate) fn within<R: Send + 'static>(
    time: Duration,
    work: impl FnOnce() -> R + Send + 'static,
) -> Ended<R> {
    let (done, wait) = mpsc::channel();
    let started = thread::Builder::new().name("portcullis-work".to_owned()).spawn(move || {
        // Whoever waits may have given up.
        drop(done.send(catch_unwind(AssertUnwindSafe(work))));
    });
    if let Err(error) = started {
        return Ended::NotStarted(error);
    }
    match wait.recv_timeout(time) {
        Ok(Ok(answer)) => Ended::Answered(answer),
        Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Ended::Panicked,
        Err(RecvTimeoutError::Timeout) => Ended::Late,
    }
}
