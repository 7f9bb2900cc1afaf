//! One script hook, as the configuration defines it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_model::config::{FailureMode, HookConfig};

use super::{HookError, Listening};

/// A program that is asked at one event.
#[derive(Debug, Clone)]
pub struct ScriptHook {
    /// What it listens to.
    pub listening: Listening,
    /// The program, by its absolute path.
    pub program: PathBuf,
    /// What it is told.
    pub arguments: Vec<String>,
    /// How long it may take. Default: 10 s.
    pub time: Duration,
    /// What it means when it fails.
    pub failure_mode: FailureMode,
    /// False: it stays in the file, and is not asked.
    pub enabled: bool,
}

impl ScriptHook {
    /// The hook that `config` defines; `default` is the failure mode of one that does
    /// not say its own. The one reader of definitions: what validates a file and what
    /// runs its hooks both come here.
    ///
    /// # Errors
    /// What is wrong with the definition, and how to mend it.
    pub fn new(config: &HookConfig, default: FailureMode) -> Result<Self, HookError> {
        let wrong = |reason: String, hint: &str| HookError { reason, hint: hint.to_owned() };
        let listening = Listening::read(&config.event, config.rule.as_deref())?;
        let command = config.command.as_str();
        if command.trim().is_empty() || command.contains('\0') {
            let reason = "`command` is empty, or holds a zero byte".to_owned();
            return Err(wrong(reason, "write the absolute path of a program"));
        }
        let (program, arguments) = if config.shell {
            // What follows the line are its `$1` and so on.
            let line = ["-c".to_owned(), command.to_owned(), "hook".to_owned()];
            (PathBuf::from("/bin/sh"), line.into_iter().chain(config.args.iter().cloned()).collect())
        } else {
            if !Path::new(command).is_absolute() {
                let reason = format!("`command` is not an absolute path: `{command}`");
                return Err(wrong(
                    reason,
                    "write it from the root, or `shell = true` for a line that a shell runs",
                ));
            }
            (PathBuf::from(command), config.args.clone())
        };
        Ok(Self {
            listening,
            program,
            arguments,
            time: config.time(),
            failure_mode: config.failure_mode.unwrap_or(default),
            enabled: config.enabled.unwrap_or(true),
        })
    }

    /// The hook, for people: its event and its program's name.
    #[must_use]
    pub fn name(&self) -> String {
        let line = (self.program == Path::new("/bin/sh")).then(|| self.arguments.get(1)).flatten();
        let program = self.program.file_name().unwrap_or(self.program.as_os_str()).to_string_lossy();
        let shown: String = line.map_or(&*program, String::as_str).chars().take(60).collect();
        format!("{} {shown}", self.listening.event)
    }
}
