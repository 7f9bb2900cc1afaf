//! All commands of all directories: who wins a name, and why the others do not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_runtime::Digest;
use serde::Serialize;

use super::document::{COMMAND_FILE_MAX, CommandDocument};
use super::root::{CommandOrigin, CommandPlaces, CommandRoot, RootTrust};
use crate::beneath::{self, EntryKind};

/// The most commands of one directory.
pub const COMMANDS_MAX: usize = 1000;
/// The most entries that one directory is looked through for.
const ENTRIES_MAX: usize = 10_000;

/// Whether a command can be used, and why it cannot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "state")]
pub enum CommandState {
    /// It can.
    Usable,
    /// Another one of its name comes first.
    Shadowed {
        /// The file of that one.
        by: PathBuf,
    },
    /// Its project is not trusted with it as it is, so nobody has looked at it.
    Untrusted,
    /// It is no command.
    Skipped {
        /// Why.
        why: String,
    },
}

impl CommandState {
    /// The stable word.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Usable => "usable",
            Self::Shadowed { .. } => "shadowed",
            Self::Untrusted => "untrusted",
            Self::Skipped { .. } => "skipped",
        }
    }
}

/// One command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// What is typed, without the slash.
    pub name: String,
    /// Whose it is.
    pub origin: CommandOrigin,
    /// Its file.
    pub file: PathBuf,
    /// Whether it can be used.
    pub state: CommandState,
    /// Of the file's bytes; none when they cannot be read.
    pub digest: Option<Digest>,
    /// What the file says; none when it is no command, or not trusted.
    pub document: Option<Arc<CommandDocument>>,
}

/// Every command, by name; of one name the one that wins first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommandCatalog {
    commands: Vec<Command>,
    /// What is wrong with places, each in a sentence.
    pub problems: Vec<String>,
    /// The directories that were looked at, or would be if they were there.
    pub(super) places: Vec<PathBuf>,
}

impl CommandCatalog {
    /// What is there now. Reads each file, and follows no link in a project.
    #[must_use]
    pub fn look(places: &CommandPlaces) -> Self {
        Self::of(places.roots())
    }

    /// What the project brings, read as if it were trusted: for whoever shows a person what
    /// trust would bring, and for nobody else.
    #[must_use]
    pub fn waiting(places: &CommandPlaces) -> Self {
        Self::of(places.shown())
    }

    fn of(roots: Vec<CommandRoot>) -> Self {
        let mut catalog = Self::default();
        for root in roots {
            let mut look = Look { root: &root, found: Vec::new(), entries: 0, catalog: &mut catalog };
            look.directory("", &mut Vec::new());
            let found = look.found;
            catalog.commands.extend(found);
        }
        // Sorting keeps the order of roots within one name.
        catalog.commands.sort_by(|one, other| one.name.cmp(&other.name));
        let mut winners: BTreeMap<String, PathBuf> = BTreeMap::new();
        for own in catalog.commands.iter_mut().filter(|own| own.state == CommandState::Usable) {
            match winners.get(&own.name) {
                Some(by) => own.state = CommandState::Shadowed { by: by.clone() },
                None => drop(winners.insert(own.name.clone(), own.file.clone())),
            }
        }
        catalog.problems.sort();
        catalog.problems.dedup();
        catalog
    }

    /// Every command, also those that cannot be used.
    #[must_use]
    pub fn all(&self) -> &[Command] {
        &self.commands
    }

    /// Those that can be used, each name once.
    pub fn usable(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter().filter(|own| own.state == CommandState::Usable)
    }

    /// The one that is typed so.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&Command> {
        self.usable().find(|own| own.name == name)
    }
}

/// A look through one directory.
struct Look<'a> {
    root: &'a CommandRoot,
    found: Vec<Command>,
    entries: usize,
    catalog: &'a mut CommandCatalog,
}

impl Look<'_> {
    /// Looks at the directory at `below` within the root, whose name has these parts.
    fn directory(&mut self, below: &str, parts: &mut Vec<String>) {
        let inside = join(&self.root.inside, below);
        let path = beneath::joined(&self.root.base, &inside);
        let listed = beneath::list(&self.root.base, &inside);
        self.catalog.places.push(path.clone());
        let Ok((entries, odd)) = listed else {
            // Most places are not there, and need not be.
            if path.is_dir() {
                self.catalog
                    .problems
                    .push(format!("`{}` cannot be listed, or a link leads to it", path.display()));
            }
            return;
        };
        if odd > 0 {
            self.catalog.problems.push(format!("`{}` has {odd} names that are not UTF-8", path.display()));
        }
        let (depth, between) = self.root.depth();
        for (name, kind) in entries {
            self.entries += 1;
            if self.entries > ENTRIES_MAX || self.found.len() >= COMMANDS_MAX {
                let (root, most) = (self.root.path(), COMMANDS_MAX);
                self.catalog.problems.push(format!(
                    "`{}` has more than {most} commands; the rest is left out",
                    root.display()
                ));
                return;
            }
            if name.starts_with('.') {
                continue;
            }
            let own = join(below, &name);
            if kind == EntryKind::Directory {
                if parts.len() < depth {
                    parts.push(name);
                    self.directory(&own, parts);
                    parts.pop();
                }
                continue;
            }
            let Some(stem) = name.strip_suffix(self.root.end()) else { continue };
            parts.push(stem.to_owned());
            let command = self.command(&own, parts, between, kind);
            self.found.push(command);
            parts.pop();
        }
    }

    fn command(&self, below: &str, parts: &[String], between: &str, kind: EntryKind) -> Command {
        let inside = join(&self.root.inside, below);
        let file = beneath::joined(&self.root.base, &inside);
        let new = |state, digest, document| Command {
            name: parts.join(between),
            origin: self.root.origin.clone(),
            file: file.clone(),
            state,
            digest,
            document,
        };
        let skipped = |why: String| new(CommandState::Skipped { why }, None, None);
        if let Some(odd) = parts.iter().find(|part| !self.is_name(part)) {
            return skipped(format!("`{odd}` is no name: use ASCII letters, digits, `-` and `_`"));
        }
        let bytes = match self.bytes(&inside, &file, kind) {
            Ok(bytes) => bytes,
            Err(why) => return skipped(why),
        };
        let digest = Digest::of(&bytes);
        if let RootTrust::Project(warrant) = &self.root.trust {
            let is_trusted = warrant.as_ref().is_some_and(|own| own.covers(&file, &digest.to_string()));
            if !is_trusted {
                return new(CommandState::Untrusted, Some(digest), None);
            }
        }
        match CommandDocument::read(&bytes, self.root.dialect) {
            Ok(document) => new(CommandState::Usable, Some(digest), Some(Arc::new(document))),
            Err(error) => Command { digest: Some(digest), ..skipped(error.to_string()) },
        }
    }

    /// Other agents take dots and letters of every language too.
    fn is_name(&self, part: &str) -> bool {
        let own = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let others = |c: char| own(c) || c.is_alphanumeric() || c == '.';
        !part.is_empty()
            && part.len() <= NAME_MAX
            && part.chars().all(|c| if self.root.depth().0 == 0 { own(c) } else { others(c) })
    }

    fn bytes(&self, inside: &str, file: &Path, kind: EntryKind) -> Result<Vec<u8>, String> {
        const LINK: &str =
            "a link leads to it, and a project's links are not followed; put the file itself there";
        let base = &self.root.base;
        let read = match (kind, &self.root.trust) {
            (EntryKind::Link, RootTrust::Project(_) | RootTrust::Shown) => return Err(LINK.to_owned()),
            (EntryKind::Link, RootTrust::User) => std::fs::canonicalize(file).and_then(|real| {
                let name = real.file_name().and_then(|name| name.to_str()).unwrap_or_default();
                beneath::read_file(real.parent().unwrap_or(base), name, COMMAND_FILE_MAX)
            }),
            (EntryKind::File | EntryKind::Directory | EntryKind::Other, _) => {
                beneath::read_file(base, inside, COMMAND_FILE_MAX)
            }
        };
        read.map(|(bytes, _)| bytes).map_err(|error| format!("it cannot be read: {error}"))
    }
}

/// The most bytes of one part of a name.
const NAME_MAX: usize = 64;

fn join(inside: &str, name: &str) -> String {
    match (inside, name) {
        ("", name) => name.to_owned(),
        (inside, "") => inside.to_owned(),
        (inside, name) => format!("{inside}/{name}"),
    }
}
