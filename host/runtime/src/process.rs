//! The only place of this crate that starts a process.

use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// A program to run to its end, in a process group of its own.
#[derive(Debug)]
pub struct Process<'a> {
    /// The program, by its absolute path.
    pub program: &'a Path,
    /// What it is told.
    pub arguments: Vec<&'a OsStr>,
    /// Where it runs.
    pub directory: &'a Path,
    /// Its whole environment.
    pub variables: Vec<(&'a str, &'a str)>,
    /// Its standard input. One that it does not read is no error.
    pub input: &'a [u8],
    /// When it and everything that it started is ended.
    pub time: Duration,
    /// The most bytes of its standard output that are kept; what comes behind them
    /// is an error.
    pub output_max: u64,
}

/// Ends a program that is running, from another thread.
#[derive(Debug, Default)]
pub struct Cancel {
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    cancelled: bool,
    /// Its number, from its start until it is reaped: only then may the number
    /// belong to somebody else.
    running: Option<Pid>,
}

impl Cancel {
    /// Ends the program and everything that it started, now or as soon as it starts.
    pub fn cancel(&self) {
        let mut state = self.state();
        state.cancelled = true;
        if let Some(pid) = state.running {
            kill(pid);
        }
    }

    fn started(&self, pid: Pid) {
        let mut state = self.state();
        state.running = Some(pid);
        if state.cancelled {
            kill(pid);
        }
    }

    fn reaped(&self) {
        self.state().running = None;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a program ended, and what it said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ended {
    /// Its exit code; none when a signal ended it.
    pub code: Option<i32>,
    /// The same in words.
    pub status: String,
    /// It was ended because its time was over.
    pub late: bool,
    /// Its standard output.
    pub stdout: Vec<u8>,
    /// The beginning of its standard error, 4 KiB at most.
    pub stderr: Vec<u8>,
}

impl Ended {
    /// What it said on standard error, or else how it ended.
    #[must_use]
    pub fn complaint(&self) -> String {
        let said = String::from_utf8_lossy(&self.stderr);
        if said.trim().is_empty() { self.status.clone() } else { said.trim().to_owned() }
    }
}

/// Bytes kept of what a program says on standard error.
const SAID_MAX: u64 = 4 << 10;
/// Bytes that are read and dropped behind them, before the pipe is closed.
const DRAINED_MAX: u64 = 16 << 20;

impl Process<'_> {
    /// Runs it.
    ///
    /// # Errors
    /// When it cannot be started or waited for, or says more than it may.
    pub fn run(self) -> io::Result<Ended> {
        self.run_until(&Cancel::default())
    }

    /// Runs it until its end or until it is cancelled.
    ///
    /// # Errors
    /// When it cannot be started or waited for, or says more than it may.
    pub fn run_until(self, cancel: &Cancel) -> io::Result<Ended> {
        #[allow(clippy::disallowed_methods, reason = "this is the one place")]
        let mut command = Command::new(self.program);
        command.args(&self.arguments).env_clear().envs(self.variables).current_dir(self.directory);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn()?;
        let (Some(mut stdin), Some(stdout), Some(mut stderr)) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(io::Error::other("its pipes could not be had"));
        };
        let pid = Pid::from_child(&child);
        cancel.started(pid);
        let (input, time, output_max) = (self.input, self.time, self.output_max);
        let outcome = thread::scope(|scope| {
            let (done, wait) = mpsc::channel::<()>();
            let watchdog = thread::Builder::new().spawn_scoped(scope, move || {
                let late = wait.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
                if late {
                    kill(pid);
                }
                late
            });
            let watchdog = watchdog.inspect_err(|_| kill(pid))?;
            // One that ends without reading breaks the pipe; its status says more.
            thread::Builder::new()
                .spawn_scoped(scope, move || drop(stdin.write_all(input)))
                .inspect_err(|_| kill(pid))?;
            let said = thread::Builder::new()
                .spawn_scoped(scope, move || {
                    let mut said = Vec::new();
                    drop(stderr.by_ref().take(SAID_MAX).read_to_end(&mut said));
                    // More is read as well, so that who says a lot goes on; not for ever.
                    drop(io::copy(&mut stderr.take(DRAINED_MAX), &mut io::sink()));
                    said
                })
                .inspect_err(|_| kill(pid))?;
            let mut output = Vec::new();
            let read = stdout.take(output_max + 1).read_to_end(&mut output);
            // Its number is kept until nobody can send a signal to it any more.
            let ended = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            drop(done);
            let late = watchdog.join().unwrap_or(true);
            ended?;
            Ok::<_, io::Error>((late, read.map(|_| output), said.join().unwrap_or_default()))
        });
        cancel.reaped();
        let status = child.wait()?;
        let (late, stdout, stderr) = outcome?;
        let stdout = stdout?;
        if stdout.len() as u64 > output_max {
            return Err(io::Error::other(format!("it said more than {output_max} bytes")));
        }
        Ok(Ended { code: status.code(), status: status.to_string(), late, stdout, stderr })
    }
}

/// Ends the process and whatever it started.
fn kill(pid: Pid) {
    // It may have ended by itself, and has not been reaped yet.
    let _ = kill_process_group(pid, Signal::KILL);
}
