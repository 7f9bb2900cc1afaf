//! Trying an installed entry out, as the agent would.

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, Instant};

use portcullis_runtime::{Ended, Process};

use super::{InstallError, Installation, SEAL};
use crate::agent::HookAnswer;

/// A call that every set of plugins with `guard` in it refuses, and so does
/// self-protection. Nothing runs it.
const DANGEROUS: &str = "rm -rf ~/.config/portcullis";
const HARMLESS: &str = "true";

/// How much longer than the agent is waited for the entry, whose own watch ends before.
const MORE: Duration = Duration::from_secs(5);
const OUTPUT_MAX: u64 = 1 << 20;

/// What came of trying an entry out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// A dangerous call was stopped.
    pub stopped: bool,
    /// A harmless call was let pass.
    pub passed: bool,
    /// How long the dangerous call took.
    pub took: Duration,
    /// Whether the installed command was run. An agent that starts no command has a
    /// plugin of ours, which is not run: the program is asked as it would ask.
    pub through_entry: bool,
    /// What was said to the call that did not end as it should.
    pub said: Option<String>,
}

impl Trial {
    /// The entry does what it is there for.
    #[must_use]
    pub const fn holds(&self) -> bool {
        self.stopped && self.passed
    }
}

impl Installation {
    /// Sends a dangerous and a harmless call through the entry that is installed.
    ///
    /// # Errors
    /// When a file cannot be read or understood, or the shell cannot be started.
    pub fn try_out(&self) -> Result<Trial, InstallError> {
        let command = self.installed_command()?;
        let start = Instant::now();
        let (stopped, no) = self.ask(command.as_deref(), DANGEROUS)?;
        let took = start.elapsed();
        let (answer, yes) = self.ask(command.as_deref(), HARMLESS)?;
        let stopped = self.agent.is_stopped_by(&stopped);
        let passed = self.agent.goes_on_after(&answer);
        let said = if !stopped {
            Some(no)
        } else if passed {
            None
        } else {
            Some(yes)
        };
        Ok(Trial { stopped, passed, took, through_entry: command.is_some(), said })
    }

    /// The agent's answer to one call, and what was said in words.
    fn ask(&self, entry: Option<&str>, call: &str) -> Result<(HookAnswer, String), InstallError> {
        let failed = |source| InstallError::Start { agent: self.agent, source };
        let directory = if self.project.is_dir() { &self.project } else { &self.home };
        let payload = self.agent.canary(call, &directory.to_string_lossy());
        let (program, arguments): (&Path, Vec<&OsStr>) = match entry {
            Some(command) => (Path::new("/bin/sh"), vec!["-c".as_ref(), command.as_ref()]),
            None => (&self.program, vec!["hook".as_ref(), "--agent".as_ref(), self.agent.as_str().as_ref()]),
        };
        let process = Process {
            program,
            arguments,
            directory,
            variables: self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect(),
            input: payload.as_bytes(),
            time: self.agent.timeout() + MORE,
            output_max: OUTPUT_MAX,
        };
        let ended = process.run().map_err(failed)?;
        let words = words(&ended);
        let answer = HookAnswer {
            stdout: String::from_utf8_lossy(&ended.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&ended.stderr).into_owned(),
            // A signal is a code that no agent takes for a block.
            exit_code: ended.code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX),
        };
        Ok((answer, words))
    }
}

fn words(ended: &Ended) -> String {
    let out = String::from_utf8_lossy(&ended.stdout);
    let out = out.trim().trim_end_matches(SEAL).trim();
    let how = if ended.late { "no answer in time".to_owned() } else { ended.complaint() };
    if out.is_empty() { how } else { format!("{out} ({how})") }
}
