//! Texts by their digest, for as long as somebody may ask for them.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Mutex, PoisonError};

use portcullis_runtime::Digest;

/// Texts by their digest. What an epoch that somebody holds refers to stays; of the rest
/// as much as there is room for, the last used first.
#[derive(Debug)]
pub struct ContentStore {
    bytes_max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    texts: HashMap<String, Stored>,
    bytes: usize,
    uses: u64,
}

#[derive(Debug)]
struct Stored {
    text: Arc<str>,
    last_use: u64,
}

impl ContentStore {
    /// With room for `bytes_max` bytes that nobody refers to.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max, state: Mutex::default() }
    }

    /// Keeps `text`, and says by which digest it is found.
    pub fn put(&self, text: &str) -> String {
        let digest = Digest::of(text.as_bytes()).to_string();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.uses += 1;
        let last_use = state.uses;
        match state.texts.get_mut(&digest) {
            Some(stored) => stored.last_use = last_use,
            None => {
                state.bytes += text.len();
                state.texts.insert(digest.clone(), Stored { text: text.into(), last_use });
            }
        }
        digest
    }

    /// The text of this digest, if it is still there.
    #[must_use]
    pub fn get(&self, digest: &str) -> Option<Arc<str>> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.uses += 1;
        let last_use = state.uses;
        let stored = state.texts.get_mut(digest)?;
        stored.last_use = last_use;
        Some(Arc::clone(&stored.text))
    }

    /// Forgets what is too much, but nothing of `referenced`.
    pub fn sweep(&self, referenced: &BTreeSet<String>) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut spare: Vec<_> = state
            .texts
            .iter()
            .filter(|(digest, _)| !referenced.contains(*digest))
            .map(|(digest, stored)| (stored.last_use, stored.text.len(), digest.clone()))
            .collect();
        let mut unreferenced: usize = spare.iter().map(|(_, bytes, _)| bytes).sum();
        spare.sort_unstable();
        for (_, bytes, digest) in spare {
            if unreferenced <= self.bytes_max {
                break;
            }
            state.texts.remove(&digest);
            state.bytes -= bytes;
            unreferenced -= bytes;
        }
    }

    /// How many bytes it holds.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).bytes
    }
}
