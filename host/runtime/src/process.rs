//! The only place of this crate that starts a process: the compile helper.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

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
    thread::scope(|scope| {
        // A helper that ends without reading breaks the pipe; its status says more.
        scope.spawn(move || drop(stdin.write_all(input)));
        let said = scope.spawn(move || {
            let mut said = Vec::new();
            drop(stderr.take(SAID_MAX).read_to_end(&mut said));
            said
        });
        let (done, wait) = mpsc::channel();
        scope.spawn(move || {
            let mut output = Vec::new();
            let read = stdout.take(output_max).read_to_end(&mut output).map(|_| output);
            drop(done.send(read));
        });
        let output = wait.recv_timeout(time);
        if output.is_err() {
            child.kill()?;
        }
        let status = child.wait()?;
        let said = said.join().unwrap_or_default();
        Ok(match output {
            Err(_) => Ended::TimedOut,
            Ok(output) if status.success() => Ended::Done(output?),
            Ok(_) if said.is_empty() => Ended::Failed(status.to_string()),
            Ok(_) => Ended::Failed(String::from_utf8_lossy(&said).trim().to_owned()),
        })
    })
}
