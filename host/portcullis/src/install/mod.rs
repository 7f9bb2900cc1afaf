//! An agent's hook entry: written, found, removed and tried out.
//!
//! Files that the agent and its user write to as well are changed as little as can
//! be: comments, order and the entries of others stay. A file that cannot be
//! understood is left alone.

mod canary;
mod command;
mod document;
mod error;
mod event;
mod file;
mod server;
mod site;
mod switch;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub use canary::Trial;
pub use command::SEAL;
pub use error::InstallError;

use crate::agent::Agent;
use crate::hook::Event;
use document::Lists;
pub(crate) use file::Snapshot;
use site::{Form, Site};

/// Whose sessions the entry is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Every session of the user.
    User,
    /// The sessions in one project.
    Project,
}

/// An entry to write, find or remove.
#[derive(Debug, Clone)]
pub struct Installation {
    /// The agent.
    pub agent: Agent,
    /// Whose sessions.
    pub scope: Scope,
    /// The absolute path of `portcullis`, as the entry will name it.
    pub program: PathBuf,
    /// The user's home directory.
    pub home: PathBuf,
    /// The project's root.
    pub project: PathBuf,
    /// The environment: `CLAUDE_CONFIG_DIR`, `CODEX_HOME`, `COPILOT_HOME`,
    /// `CRUSH_GLOBAL_CONFIG` and `XDG_CONFIG_HOME` put files elsewhere.
    pub variables: BTreeMap<String, String>,
    /// The events that the entry asks for, beside the one before a call and the end of
    /// an answer, which it always asks for. What the agent cannot be asked for is left
    /// out.
    pub events: BTreeSet<Event>,
}

/// How things stand with one file of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// The file.
    pub path: PathBuf,
    /// What is in it.
    pub state: State,
}

/// What a file holds of ours.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing, or the file is not there.
    Absent,
    /// An entry of ours that is not the one which would be written now: of another
    /// version, or of a program in another place.
    Outdated,
    /// The entry that would be written now.
    Current,
}

/// What would change. Nothing has been written yet.
#[derive(Debug)]
pub struct Plan {
    changes: Vec<Change>,
}

/// The change of one file.
#[derive(Debug)]
pub struct Change {
    before: Snapshot,
    after: Option<String>,
    executable: bool,
    /// What is to go with the file, when nothing else is in it.
    directory: Option<PathBuf>,
}

impl Change {
    const fn new(before: Snapshot, after: Option<String>) -> Self {
        Self { before, after, executable: false, directory: None }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.before.path()
    }

    /// What it holds now; nothing when it is not there.
    #[must_use]
    pub fn before(&self) -> Option<&str> {
        self.before.text()
    }

    /// What it is to hold; nothing when it is to go.
    #[must_use]
    pub fn after(&self) -> Option<&str> {
        self.after.as_deref()
    }
}

impl Plan {
    /// The files that would change; none when all is as it should be.
    #[must_use]
    pub fn changes(&self) -> &[Change] {
        &self.changes
    }

    /// Writes the changes, each file whole or not at all.
    ///
    /// # Errors
    /// When a file cannot be written, or has changed since it was read: that is
    /// [`InstallError::Changed`], and the plan has to be made again.
    pub fn apply(self) -> Result<(), InstallError> {
        for change in self.changes {
            change.before.replace(change.after.as_deref(), change.executable)?;
            if let (None, Some(directory)) = (&change.after, &change.directory) {
                file::remove_empty(change.path(), directory);
            }
        }
        Ok(())
    }
}

impl Installation {
    /// Whether an entry of this agent can ask for `event`.
    #[must_use]
    pub fn can_ask_for(agent: Agent, event: Event) -> bool {
        event == Event::PreToolUse || event::of(agent).iter().any(|(own, _)| *own == event)
    }

    /// The names, in the agent's words, of what the entry asks for behind a call.
    fn others(&self) -> impl Iterator<Item = (Event, &'static str)> {
        let chosen = |event: &Event| *event == Event::Stop || self.events.contains(event);
        let named = event::of(self.agent).iter().filter(move |(event, _)| chosen(event));
        named.flat_map(|(event, names)| names.iter().map(|name| (*event, *name)))
    }

    /// What has to change so that the entry is there.
    ///
    /// # Errors
    /// When the program's path cannot stand in a command, or a file cannot be read
    /// or understood, or is somebody else's.
    pub fn plan(&self) -> Result<Plan, InstallError> {
        let mut changes = Vec::new();
        for site in site::of(self)? {
            let before = Snapshot::read(site.path())?;
            match site {
                Site::Shared { lists, .. } => {
                    if let Some(after) = document::with(&before, &lists)? {
                        changes.push(Change::new(before, Some(after)));
                    }
                }
                Site::Own { text, form, .. } => {
                    if before.text().is_some_and(|held| !command::is_ours(held)) {
                        return Err(InstallError::Foreign { path: before.path().to_owned() });
                    }
                    let executable = form == Form::Script;
                    if before.text() != Some(&text) || (executable && !before.executable()) {
                        changes.push(Change { executable, ..Change::new(before, Some(text)) });
                    }
                }
            }
        }
        // Files of ours for events that are no longer wanted.
        let kept: Vec<_> = changes.iter().map(|change| change.path().to_owned()).collect();
        let wanted = site::of(self)?;
        let needless = self.with_every_event().plan_removal()?.changes.into_iter().filter(|change| {
            !kept.iter().any(|path| path == change.path())
                && !wanted.iter().any(|site| site.path() == change.path())
        });
        changes.extend(needless);
        Ok(Plan { changes })
    }

    /// The same with everything that the agent can be asked for.
    #[must_use]
    pub fn with_every_event(&self) -> Self {
        Self { events: Event::ALL.into(), ..self.clone() }
    }

    /// What has to change so that no entry of ours is left. A document goes as a whole
    /// when it would hold nothing but what an entry of ours put there.
    ///
    /// # Errors
    /// When a file cannot be read or understood.
    pub fn plan_removal(&self) -> Result<Plan, InstallError> {
        let mut changes = Vec::new();
        for site in site::of(&self.with_every_event())? {
            let before = Snapshot::read(site.path())?;
            match site {
                Site::Shared { lists, .. } => {
                    let none = Lists { entries: Vec::new(), ..lists };
                    if let Some(after) = document::with(&before, &none)? {
                        let goes = document::is_bare(&after, &none) && !before.is_link();
                        changes.push(Change::new(before, (!goes).then_some(after)));
                    }
                }
                Site::Own { directory, .. } => {
                    if before.text().is_some_and(command::is_ours) {
                        changes.push(Change { directory, ..Change::new(before, None) });
                    }
                }
            }
        }
        Ok(Plan { changes })
    }

    /// How things stand, file by file.
    ///
    /// # Errors
    /// When a file cannot be read or understood.
    pub fn standing(&self) -> Result<Vec<Standing>, InstallError> {
        let mut standings = Vec::new();
        for site in site::of(self)? {
            let held = Snapshot::read(site.path())?;
            let (state, needless) = match &site {
                Site::Shared { lists, .. } => (document::state(&held, lists)?, lists.entries.is_empty()),
                Site::Own { text, form, .. } => {
                    let state = match held.text() {
                        Some(there) if there == text && (*form != Form::Script || held.executable()) => {
                            State::Current
                        }
                        Some(there) if command::is_ours(there) => State::Outdated,
                        Some(_) | None => State::Absent,
                    };
                    (state, false)
                }
            };
            // An entry of ours would do nothing there, and there is none.
            if needless && state == State::Absent {
                continue;
            }
            standings.push(Standing { path: held.path().to_owned(), state });
        }
        Ok(standings)
    }

    /// What keeps the agent from running any hook, if something in its own files does.
    ///
    /// # Errors
    /// When a file cannot be read or understood.
    pub fn switched_off(&self) -> Result<Option<String>, InstallError> {
        switch::switched_off(self)
    }

    /// The shell command of the entry that is there now, by which the agent asks
    /// before a call; none when there is none, or when the agent starts no command.
    ///
    /// # Errors
    /// When a file cannot be read or understood.
    pub fn installed_command(&self) -> Result<Option<String>, InstallError> {
        for site in site::of(self)? {
            let held = Snapshot::read(site.path())?;
            let ours = held.text().filter(|text| command::is_ours(text));
            let command = match &site {
                Site::Shared { lists, .. } => document::command(&held, lists)?,
                Site::Own { form: Form::Commands, .. } => ours.and_then(document::command_in),
                Site::Own { form: Form::Script, .. } => ours.map(|_| command::starting(held.path())),
                Site::Own { form: Form::Plugin, .. } => None,
            };
            if command.is_some() {
                return Ok(command);
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests;
