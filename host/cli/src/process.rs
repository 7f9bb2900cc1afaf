//! Work with a deadline: an answer on every path, whatever the work does.

use std::panic::{AssertUnwindSafe, catch_unwind};
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
