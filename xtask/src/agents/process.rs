//! Programs that always end: each has a deadline, and what it leaves behind in
//! its process group is ended with it, by id.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// A program in a process group of its own, which ends when this is dropped.
pub(crate) struct Group {
    child: Child,
    pid: Pid,
}

impl Group {
    /// Starts `command`.
    pub(crate) fn start(command: &mut Command) -> Result<Self> {
        let child = command
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {:?}", command.get_program()))?;
        let pid = Pid::from_child(&child);
        Ok(Self { child, pid })
    }

    /// The first line of its standard output, which must be a pipe.
    pub(crate) fn first_line(&mut self, limit: Duration) -> Result<String> {
        let stdout = self.child.stdout.take().context("standard output is no pipe")?;
        let (send, receive) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            let read = BufReader::new(stdout).read_line(&mut line).map(|_| line);
            let _ = send.send(read);
        });
        Ok(receive.recv_timeout(limit).context("it said nothing in time")??.trim_end().to_owned())
    }

    /// Waits for the program's end, and ends it at the deadline. None is a
    /// program that had to be ended.
    pub(crate) fn wait(mut self, limit: Duration) -> Result<Option<ExitStatus>> {
        let (pid, (send, receive)) = (self.pid, mpsc::channel());
        thread::spawn(move || {
            // Seen but not reaped, so that the id stays ours until the group is gone.
            let seen = waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
            // Nobody waits any more when the deadline has passed.
            let _ = send.send(seen);
        });
        match receive.recv_timeout(limit) {
            Ok(seen) => drop(seen?),
            Err(_) => return Ok(None),
        }
        let _ = kill_process_group(self.pid, Signal::KILL);
        Ok(Some(self.child.wait()?))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // None until it is reaped: only then may the id belong to someone else.
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = kill_process_group(self.pid, Signal::KILL);
            let _ = self.child.wait();
        }
    }
}

/// Runs `command` to its end, and fails unless it succeeds. Its output goes to
/// our standard error.
pub(crate) fn run(command: &mut Command, limit: Duration) -> Result<()> {
    command.stdin(Stdio::null()).stdout(std::io::stderr());
    match Group::start(command)?.wait(limit)? {
        Some(status) if status.success() => Ok(()),
        Some(status) => bail!("{:?} failed: {status}", command.get_program()),
        None => bail!("{:?} took longer than {} s", command.get_program(), limit.as_secs()),
    }
}
