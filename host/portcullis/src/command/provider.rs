//! The commands on this machine, as an extension brings them.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use portcullis_model::extension::{
    Answer, CommandEntry, CommandProvider, CommandRank, Extension, ExtensionError,
};

use super::catalog::{Command, CommandCatalog};
use super::root::CommandPlaces;
use crate::extension::off_the_executor;

/// The id of the extension that brings them.
pub const LOCAL_COMMANDS: &str = "commands";

/// The commands on this machine. Nothing is read before somebody asks.
#[derive(Debug)]
pub struct LocalCommands {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    places: Mutex<CommandPlaces>,
    seen: Mutex<Option<Arc<CommandCatalog>>>,
}

impl LocalCommands {
    /// Those in `places`.
    #[must_use]
    pub fn new(places: CommandPlaces) -> Self {
        Self { inner: Arc::new(Inner { places: Mutex::new(places), seen: Mutex::default() }) }
    }

    /// Looks now.
    #[must_use]
    pub fn look(&self) -> Arc<CommandCatalog> {
        self.inner.look()
    }

    /// Looks in other places from now on, those for other agents included or not.
    pub fn include_other_agents(&self, compatible: bool) {
        lock(&self.inner.places).compatible = compatible;
    }
}

impl Inner {
    fn look(&self) -> Arc<CommandCatalog> {
        let places = lock(&self.places).clone();
        let catalog = CommandCatalog::look(&places);
        let mut seen = lock(&self.seen);
        match seen.as_ref().filter(|seen| ***seen == catalog) {
            Some(same) => Arc::clone(same),
            None => Arc::clone(seen.insert(Arc::new(catalog))),
        }
    }

    /// What was seen last, or is seen now.
    fn seen(&self) -> Arc<CommandCatalog> {
        let seen = lock(&self.seen).clone();
        seen.unwrap_or_else(|| self.look())
    }

    fn resolve(&self, name: &str, arguments: &str) -> Result<String, ExtensionError> {
        let catalog = self.seen();
        let document = catalog.get(name).and_then(|own| own.document.as_ref());
        let document = document.ok_or_else(|| ExtensionError::Unknown {
            extension: LOCAL_COMMANDS.to_owned(),
            what: "command",
            name: name.to_owned(),
        })?;
        document.expand(name, arguments).map_err(|error| ExtensionError::Answer {
            extension: LOCAL_COMMANDS.to_owned(),
            reason: error.to_string(),
        })
    }
}

impl Extension for LocalCommands {
    fn name(&self) -> &str {
        LOCAL_COMMANDS
    }

    fn commands(&self) -> Option<&dyn CommandProvider> {
        Some(self)
    }

    fn places(&self) -> Vec<PathBuf> {
        let seen = lock(&self.inner.seen).clone();
        seen.map(|seen| seen.places.clone()).unwrap_or_default()
    }
}

impl CommandProvider for LocalCommands {
    fn list(&self) -> Answer<'_, Vec<CommandEntry>> {
        let inner = Arc::clone(&self.inner);
        off_the_executor(LOCAL_COMMANDS, move || Ok(inner.look().usable().filter_map(entry).collect()))
    }

    fn resolve<'a>(&'a self, name: &'a str, arguments: &'a str) -> Answer<'a, String> {
        let (inner, name, arguments) = (Arc::clone(&self.inner), name.to_owned(), arguments.to_owned());
        off_the_executor(LOCAL_COMMANDS, move || inner.resolve(&name, &arguments))
    }
}

fn entry(command: &Command) -> Option<CommandEntry> {
    let document = command.document.as_ref()?;
    let rank = if command.origin.is_before_components() { CommandRank::First } else { CommandRank::Last };
    Some(CommandEntry {
        name: command.name.clone(),
        description: document.description.clone(),
        arguments: document.argument_hint.clone(),
        from: command.origin.to_string(),
        digest: command.digest.map(|digest| digest.to_string()),
        rank,
    })
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
