//! A library as clients see it: what is derived from it once, and looked up often.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use portcullis_model::extension::{Library, LibraryFile};
use rmcp::model::sha256_digest;

use super::address::{self, SKILL_SCHEME};
use super::manner::Manner;

/// One library, with what is derived from it.
#[derive(Debug, Default)]
pub(super) struct View {
    pub(super) library: Arc<Library>,
    manner: Manner,
    /// The addresses of the files that a host may read.
    served: BTreeSet<String>,
    /// What lies directly in each directory, by address.
    directories: BTreeMap<String, BTreeSet<String>>,
    /// The canonical path of each shared file, by each of its addresses.
    references: BTreeMap<String, String>,
    /// The slug of each skill that a host is shown, by the address of its `SKILL.md`.
    skills: BTreeMap<String, String>,
}

impl View {
    pub(super) fn new(library: Arc<Library>, manner: Manner) -> Self {
        let mut view = Self { library: Arc::clone(&library), manner, ..Self::default() };
        for skill in library.served() {
            view.skills.insert(skill.uri.clone(), skill.slug.clone());
            view.served.extend(skill.files.iter().cloned());
        }
        for file in &view.served {
            let mut child = file.clone();
            while let Some(parent) = address::parent(&child) {
                let known = view.directories.entry(parent.clone()).or_default();
                if !known.insert(child) {
                    break;
                }
                child = parent;
            }
        }
        for path in library.references.keys() {
            view.references.insert(view.reference_uri(path), path.clone());
            if manner.shows_paths {
                view.references.insert(path.clone(), path.clone());
            }
        }
        view
    }

    /// The file at an address that a host may read, with the address as it is listed. An
    /// address that is encoded in another way names the same file.
    pub(super) fn file(&self, uri: &str) -> Option<(&str, &LibraryFile)> {
        let listed = match self.served.get(uri) {
            Some(listed) => listed,
            None => self.served.get(&address::normal(uri)?)?,
        };
        Some((listed, self.library.files.get(listed)?))
    }

    /// What lies directly in the directory at an address.
    pub(super) fn directory(&self, uri: &str) -> Option<&BTreeSet<String>> {
        match self.directories.get(uri) {
            Some(children) => Some(children),
            None => self.directories.get(&address::normal(uri)?),
        }
    }

    pub(super) fn is_directory(&self, uri: &str) -> bool {
        self.directories.contains_key(uri)
    }

    /// The slug of the skill whose `SKILL.md` is at an address, when a host is shown it.
    pub(super) fn slug(&self, uri: &str) -> Option<&str> {
        self.skills.get(uri).map(String::as_str)
    }

    /// The path of the shared file at an address; only a declared one has any.
    pub(super) fn reference(&self, address: &str) -> Option<&str> {
        self.references.get(address).map(String::as_str)
    }

    /// The address of a shared file as a resource.
    pub(super) fn reference_uri(&self, path: &str) -> String {
        if self.manner.shows_paths {
            address::file_uri(path)
        } else {
            let digest = sha256_digest(path.as_bytes());
            let short = digest.get(7..23).unwrap_or_default();
            address::own(&format!("references/{short}"))
        }
    }

    /// What a tool calls a shared file: its path, or its address where paths are withheld.
    pub(super) fn reference_path(&self, path: &str) -> String {
        if self.manner.shows_paths { path.to_owned() } else { self.reference_uri(path) }
    }

    /// Whether a client may subscribe to what is at an address.
    pub(super) fn has(&self, uri: &str) -> bool {
        self.served.contains(uri)
            || uri == address::index()
            || (!uri.starts_with(SKILL_SCHEME) && self.references.contains_key(uri))
            || address::prompt_name(uri).is_some_and(|name| self.library.prompt(name).is_some())
    }
}
