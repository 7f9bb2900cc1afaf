//! A configuration that was read, and where each of its values was said.

use std::collections::BTreeMap;
use std::path::PathBuf;

use portcullis_model::config::Config;
use portcullis_model::config::key::{ANY, KEYS, Key};
use portcullis_runtime::Digest;
use serde_json::Value;

use super::problem::{Layer, Problem, dotted};
use super::walk::Said;
use crate::ledger::{REDACTED, Redactor};

/// Where a value was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Whose file it is.
    pub layer: Layer,
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// One value that holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The key, with the names of its tables.
    pub key: String,
    /// The value; none where nothing is said and nothing stands for it.
    pub value: Option<Value>,
    /// Who said it. Nobody: it is the default.
    pub origins: Vec<Origin>,
}

impl Setting {
    /// The value for people, without what looks like a secret.
    #[must_use]
    pub fn shown(&self) -> Option<Value> {
        let value = self.value.as_ref()?;
        // Whatever a server's environment holds is nobody's business.
        if let ["mcp", "servers", _, "env", ..] = self.key.split('.').collect::<Vec<_>>().as_slice() {
            return Some(Value::from(REDACTED));
        }
        let text = format!("{}={value}", self.key);
        let clean = Redactor::default().clean(&text, text.len()) == text;
        Some(if clean { value.clone() } else { Value::from(REDACTED) })
    }
}

/// A configuration that was read whole.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// What holds.
    pub config: Config,
    /// What a project's file says and may not, each with the reason.
    pub ignored: Vec<Problem>,
    /// What a project's file says that waits for trust, or that trust allows.
    pub wishes: Vec<Wish>,
    /// The digest of the project's file; none when there is none.
    pub project_digest: Option<Digest>,
    /// The project's file is the one that was trusted.
    pub trusted: bool,
    pub(super) held: BTreeMap<Vec<String>, Held>,
}

/// A value that a file said.
#[derive(Debug, Clone)]
pub(super) struct Held {
    pub(super) value: Value,
    pub(super) origins: Vec<Origin>,
    /// It is about a plugin that the project brings.
    pub(super) of_project: bool,
}

impl Loaded {
    /// Tells one configuration from another: the digest of every value that a file said
    /// and that holds.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let said = self.held.iter().map(|(path, held)| format!("{}={}\n", dotted(path), held.value));
        Digest::of(said.collect::<String>().as_bytes())
    }

    /// No file says anything.
    #[must_use]
    pub fn says_nothing(&self) -> bool {
        self.held.is_empty()
    }

    /// Every value that holds, in the order of the reference; those of a plugin for
    /// each plugin that a file names.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        for key in KEYS.iter().filter(|key| !key.names().any(|name| name == ANY)) {
            self.add(key, key.names().map(str::to_owned).collect(), &mut settings);
        }
        for tables in [&["plugin"][..], &["mcp", "servers"]] {
            let mut names: Vec<&String> = self.held.keys().filter_map(|path| below(path, tables)).collect();
            names.dedup();
            let is_below = |key: &&Key| {
                let mut own = key.names();
                tables.iter().all(|table| own.next() == Some(table)) && own.next() == Some(ANY)
            };
            for name in names {
                for key in KEYS.iter().filter(is_below) {
                    let path =
                        key.names().map(|part| if part == ANY { name.clone() } else { part.to_owned() });
                    self.add(key, path.collect(), &mut settings);
                }
            }
        }
        settings
    }

    fn add(&self, key: &Key, path: Vec<String>, settings: &mut Vec<Setting>) {
        let before = settings.len();
        let held = self.held.range(path.clone()..).take_while(|(held, _)| held.starts_with(&path));
        settings.extend(held.map(|(path, held)| Setting {
            key: dotted(path),
            value: Some(held.value.clone()),
            origins: held.origins.clone(),
        }));
        if settings.len() == before {
            let value = serde_json::from_str(key.default).ok();
            settings.push(Setting { key: dotted(&path), value, origins: Vec::new() });
        }
    }
}

/// The name behind those of `tables`.
fn below<'a>(path: &'a [String], tables: &[&str]) -> Option<&'a String> {
    let is_there = path.iter().map(String::as_str).take(tables.len()).eq(tables.iter().copied());
    path.get(tables.len()).filter(|_| is_there)
}

/// A value that only trust allows.
#[derive(Debug, Clone)]
pub struct Wish {
    /// What is said, and where.
    pub setting: Setting,
    /// The program of a hook, from the root of the project.
    pub program: Option<String>,
}

/// What is told of a value that a project may not say.
pub(super) fn ignored(said: &Said, origin: Origin, why: &str, hint: &str) -> Problem {
    let path: Vec<_> = said.path.iter().take(said.key.names().count()).cloned().collect();
    Problem {
        layer: origin.layer,
        file: origin.file,
        at: Some((said.line, said.column)),
        key: Some(dotted(&path)),
        message: format!("not taken from a project: {why}"),
        hint: Some(hint.to_owned()),
    }
}
