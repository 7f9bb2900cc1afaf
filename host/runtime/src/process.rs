//! The only place of this crate that starts a process: the compile helper.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// How a run of the helper ended.
pub(crate) enum Ended {
    /// By itself, with status 0: its standard output.
    Done(Vec<u8>),
    /// By itself, with another status or by a signal: what it said.
    Failed(String),
    /// It was stopped when its time was over.
    TimedOut,
}

/// Bytes kept of what the helper says on standard error.
const SAID_MAX: u64 = 4 << 10;

/// Runs `program` with `input` on its standard input, an empty environment and a
/// process group of its own, and ends it after `time`.
pub(crate) fn run<A: AsRef<std::ffi::OsStr>>(
    program: &Path,
    arguments: &[A],
    input: &[u8],
    time: Duration,
    output_max: u64,
) -> std::io::Result<Ended> {
    #[allow(clippy::disallowed_methods, reason = "this is the one place")]
    let mut command = Command::new(program);
    command.args(arguments).env_clear().current_dir("/");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut child = command.spawn()?;
    let (Some(mut stdin), Some(stdout), Some(stderr)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Ok(Ended::Failed("its pipes could not be had".to_owned()));
    };
    let pid = Pid::from_child(&child);
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
        // A helper that ends without reading breaks the pipe; its status says more.
        thread::Builder::new()
            .spawn_scoped(scope, move || drop(stdin.write_all(input)))
            .inspect_err(|_| kill(pid))?;
        let said = thread::Builder::new()
            .spawn_scoped(scope, move || {
                let mut said = Vec::new();
                drop(stderr.take(SAID_MAX).read_to_end(&mut said));
                said
            })
            .inspect_err(|_| kill(pid))?;
        let mut output = Vec::new();
        let read = stdout.take(output_max).read_to_end(&mut output);
        // Its number is kept until nobody can send a signal to it any more.
        let ended = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        drop(done);
        let late = watchdog.join().unwrap_or(true);
        ended?;
        Ok::<_, std::io::Error>((late, read.map(|_| output), said.join().unwrap_or_default()))
    });
    let status = child.wait()?;
    let (late, output, said) = outcome?;
    Ok(if late {
        Ended::TimedOut
    } else if status.success() {
        Ended::Done(output?)
    } else if said.is_empty() {
        Ended::Failed(status.to_string())
    } else {
        Ended::Failed(String::from_utf8_lossy(&said).trim().to_owned())
    })
}

/// Ends the helper and whatever it started.
fn kill(pid: Pid) {
    // It may have ended by itself, and has not been reaped yet.
    let _ = kill_process_group(pid, Signal::KILL);
}
