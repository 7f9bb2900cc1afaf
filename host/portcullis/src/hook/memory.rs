//! What is remembered of a session from one event to the next: that a hook did not let
//! it begin, and how often its answer was sent on. In memory, and on disk for a process
//! that ends after one event.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use portcullis_model::fault::FaultKind;
use portcullis_model::name::PluginName;
use portcullis_runtime::Digest;
use serde::{Deserialize, Serialize};

use super::Event;
use super::run::Blocked;

/// What is remembered of sessions. Of most there is nothing.
#[derive(Debug)]
pub(crate) struct Memory {
    dir: Option<PathBuf>,
    held: Mutex<HashMap<String, Remembered>>,
    /// Another process was told how the session began.
    begins_elsewhere: bool,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Remembered {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refused: Option<Refused>,
    #[serde(default)]
    stop: Rounds,
    #[serde(default)]
    subagent_stop: Rounds,
}

/// The hook that did not let the session begin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    hook: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    plugin: Option<PluginName>,
    reason: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fault: Option<FaultKind>,
}

/// How an answer was ended so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rounds {
    /// How often it was about to end.
    pub(crate) stops: u32,
    /// A hook that failed has sent it on already.
    pub(crate) failed: bool,
}

impl Memory {
    pub(crate) fn new(dir: Option<PathBuf>, begins_elsewhere: bool) -> Self {
        Self { dir, held: Mutex::default(), begins_elsewhere }
    }

    /// Remembers who did not let the session begin, or that nobody minds.
    ///
    /// # Errors
    /// When it cannot be kept for the next process.
    pub(crate) fn begin(&self, session: &str, blocked: Option<&Blocked>) -> Result<(), String> {
        let refused = blocked.map(|blocked| Refused {
            hook: blocked.hook.clone(),
            plugin: blocked.plugin.clone(),
            reason: blocked.reason.clone(),
            fault: blocked.fault,
        });
        // What cannot be read is replaced: the hooks have just been asked.
        let old = self.read(session).unwrap_or_default();
        self.write(session, &Remembered { refused, ..old })
    }

    /// Who did not let the session begin, if anybody.
    ///
    /// # Errors
    /// When nobody can tell, which must not be taken for no.
    pub(crate) fn refused(&self, session: &str) -> Result<Option<Blocked>, String> {
        if self.dir.is_none() && self.begins_elsewhere {
            return Err("there is no place where that is remembered; HOME tells where one is".to_owned());
        }
        Ok(self.read(session)?.refused.map(|refused| Blocked {
            hook: refused.hook,
            plugin: refused.plugin,
            event: Event::SessionStart,
            reason: refused.reason,
            fault: refused.fault,
        }))
    }

    /// How this session's answer was ended so far. Who cannot tell says never.
    pub(crate) fn rounds(&self, session: &str, event: Event) -> Rounds {
        let mut held = self.read(session).unwrap_or_default();
        *held.rounds(event)
    }

    /// Remembers that.
    ///
    /// # Errors
    /// When it cannot be kept for the next process.
    pub(crate) fn set_rounds(&self, session: &str, event: Event, rounds: Rounds) -> Result<(), String> {
        let old = self.read(session)?;
        let mut new = old.clone();
        *new.rounds(event) = rounds;
        if new == old { Ok(()) } else { self.write(session, &new) }
    }

    /// Forgets the session.
    pub(crate) fn forget(&self, session: &str) {
        if let Err(why) = self.write(session, &Remembered::default()) {
            tracing::warn!("what is remembered of an ended session stays: {why}");
        }
    }

    fn held(&self) -> MutexGuard<'_, HashMap<String, Remembered>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, session: &str) -> Option<PathBuf> {
        // The session's id is the agent's word, and may be anything. No plugin's values
        // are in a file that ends like this one.
        let session = Digest::of(session.as_bytes());
        self.dir.as_ref().map(|dir| dir.join(format!("{session}.session")))
    }

    fn read(&self, session: &str) -> Result<Remembered, String> {
        let Some(file) = self.file(session) else {
            return Ok(self.held().get(session).cloned().unwrap_or_default());
        };
        let bytes = match fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Remembered::default()),
            Err(error) => return Err(format!("what is remembered of it cannot be read ({})", error.kind())),
        };
        serde_json::from_slice(&bytes).map_err(|_| "what is remembered of it is damaged".to_owned())
    }

    fn write(&self, session: &str, new: &Remembered) -> Result<(), String> {
        let nothing = *new == Remembered::default();
        let Some(file) = self.file(session) else {
            if nothing {
                self.held().remove(session);
            } else {
                self.held().insert(session.to_owned(), new.clone());
            }
            return Ok(());
        };
        let done = if nothing {
            fs::remove_file(&file)
                .or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
        } else {
            replace(&file, new)
        };
        done.map_err(|error| format!("it cannot be written ({})", error.kind()))
    }
}

impl Remembered {
    fn rounds(&mut self, event: Event) -> &mut Rounds {
        if event == Event::SubagentStop { &mut self.subagent_stop } else { &mut self.stop }
    }
}

fn replace(file: &Path, new: &Remembered) -> io::Result<()> {
    if let Some(dir) = file.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    let temporary = file.with_extension(format!("session.{}.tmp", std::process::id()));
    let mut open = fs::OpenOptions::new();
    open.write(true).create(true).truncate(true).mode(0o600);
    open.open(&temporary)?.write_all(&serde_json::to_vec(new)?)?;
    fs::rename(&temporary, file)
}
