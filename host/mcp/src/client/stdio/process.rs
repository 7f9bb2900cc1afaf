//! The only place of this crate that starts a process.
//!
//! A server often is a launcher: `npx` starts a shell, that starts `node`, and a signal to
//! the first one leaves the last. So each server gets a process group of its own, which is
//! ended as a whole. The group's first member is no part of the server but its keeper: a
//! shell that reads a pipe whose other end this process holds, and that ends the group when
//! the pipe breaks. So a server does not outlive whoever started it, however that one
//! ended; and as long as the keeper was not waited for, the group's number cannot become
//! somebody else's.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use crate::client::error::Failure;
use crate::client::program::Program;

const SHELL: &str = "/bin/sh";

/// It stays when the group is asked to end, so that the group keeps its number.
const KEEP: &str = "trap '' TERM HUP INT; read -r line; kill -KILL 0";

/// A server and its keeper.
#[derive(Debug)]
pub(super) struct Running {
    server: Child,
    keeper: Child,
}

/// How the server is talked to.
#[derive(Debug)]
pub(super) struct Pipes {
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    pub(super) stderr: ChildStderr,
}

/// The server's group, as long as there is one.
#[derive(Debug)]
pub(super) struct Group(Mutex<Option<Pid>>);

impl Group {
    /// Asks all of it to end.
    pub(super) fn ask(&self) {
        self.send(Signal::TERM);
    }

    /// Ends all of it.
    pub(super) fn kill(&self) {
        self.send(Signal::KILL);
    }

    fn send(&self, signal: Signal) {
        let group = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(pid) = *group {
            // All of it may have ended by itself.
            let _ = kill_process_group(pid, signal);
        }
    }

    fn end(&self) {
        self.kill();
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }
}

/// Starts the server.
pub(super) fn start(program: &Program) -> Result<(Running, Pipes, Group), Failure> {
    let failed = |what: String, error: &io::Error| Failure::Start { program: what, why: error.to_string() };
    let mut keeper = keeper().map_err(|error| failed(SHELL.to_owned(), &error))?;
    let pid = Pid::from_child(&keeper);
    #[allow(clippy::disallowed_methods, reason = "this is the one place")]
    let mut command = Command::new(&program.path);
    command.args(&program.arguments).env_clear().envs(&program.variables).current_dir(&program.directory);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.process_group(pid.as_raw_nonzero().get());
    let started = command.spawn().and_then(|mut server| {
        let pipes = (server.stdin.take(), server.stdout.take(), server.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("its pipes could not be had"));
        };
        Ok((server, Pipes { stdin, stdout, stderr }))
    });
    match started {
        Ok((server, pipes)) => Ok((Running { server, keeper }, pipes, Group(Mutex::new(Some(pid))))),
        Err(error) => {
            let _ = kill_process_group(pid, Signal::KILL);
            drop(keeper.wait());
            Err(failed(program.name(), &error))
        }
    }
}

fn keeper() -> io::Result<Child> {
    #[allow(clippy::disallowed_methods, reason = "this is the one place")]
    let mut command = Command::new(SHELL);
    command.args(["-c", KEEP]).env_clear().current_dir("/").process_group(0);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn()
}

impl Running {
    /// Waits until the server has ended by itself or was ended, and ends whatever it has
    /// left behind. How it ended.
    pub(super) fn wait(mut self, group: &Group) -> String {
        // It is not reaped before nobody can send a signal any more.
        let _ =
            waitid(WaitId::Pid(Pid::from_child(&self.server)), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT);
        group.end();
        let status = self.server.wait();
        drop(self.keeper.wait());
        status.map_or_else(|error| error.to_string(), |status| status.to_string())
    }
}
