//! The small values of plugins: in memory, and on disk for a process that ends
//! after one call.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::Duration;

use portcullis_model::limits::STORE_TOTAL_MAX;
use portcullis_runtime::{Digest, Store};

/// Values of a session that nobody asked for are forgotten after this long.
const KEPT: Duration = Duration::from_secs(7 * 24 * 60 * 60);

type Values = BTreeMap<String, String>;

/// The small values of plugins, apart for each plugin and session.
#[derive(Debug, Default)]
pub(crate) struct SmallStore {
    values: Mutex<HashMap<(String, String), Values>>,
    /// One file for each plugin and session.
    dir: Option<PathBuf>,
}

impl SmallStore {
    /// A store that lives as long as the process; in `dir` as well when given.
    pub(crate) fn new(dir: Option<PathBuf>) -> Self {
        if let Some(dir) = &dir {
            forget_old(dir);
        }
        Self { values: Mutex::default(), dir }
    }

    fn file(&self, plugin: &str, session: &str) -> Option<PathBuf> {
        // The session's id is the agent's word, and may be anything.
        let session = Digest::of(session.as_bytes());
        self.dir.as_ref().map(|dir| dir.join(format!("{session}.{plugin}.json")))
    }

    fn with<R>(&self, plugin: &str, session: &str, work: impl FnOnce(&mut Values) -> R) -> R {
        let mut all = self.values.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let values = all.entry((plugin.to_owned(), session.to_owned())).or_default();
        if let Some(kept) = self.file(plugin, session).and_then(|file| read(&file)) {
            // Another process of the same session may have written since.
            *values = kept;
        }
        work(values)
    }

    fn keep(&self, plugin: &str, session: &str, values: &Values) -> Result<(), String> {
        let Some(file) = self.file(plugin, session) else { return Ok(()) };
        write(&file, values).map_err(|e| format!("the value cannot be kept: {e}"))
    }
}

impl Store for SmallStore {
    fn get(&self, plugin: &str, session: &str, key: &str) -> Option<String> {
        self.with(plugin, session, |values| values.get(key).cloned())
    }

    fn set(&self, plugin: &str, session: &str, key: &str, value: &str) -> Result<(), String> {
        self.with(plugin, session, |values| {
            let others: usize =
                values.iter().filter(|(k, _)| *k != key).map(|(k, v)| k.len() + v.len()).sum();
            if others + key.len() + value.len() > STORE_TOTAL_MAX {
                return Err(format!("all values of a plugin in a session may have {STORE_TOTAL_MAX} bytes"));
            }
            values.insert(key.to_owned(), value.to_owned());
            self.keep(plugin, session, values)
        })
    }

    fn remove(&self, plugin: &str, session: &str, key: &str) {
        self.with(plugin, session, |values| {
            values.remove(key);
            if let Err(error) = self.keep(plugin, session, values) {
                tracing::warn!(plugin, "{error}");
            }
        });
    }
}

fn read(file: &Path) -> Option<Values> {
    serde_json::from_slice(&fs::read(file).ok()?)
        .inspect_err(|e| tracing::warn!("a plugin's values cannot be read and are forgotten: {e}"))
        .ok()
}

fn write(file: &Path, values: &Values) -> std::io::Result<()> {
    use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
    if let Some(dir) = file.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
    }
    let text = serde_json::to_vec(values)?;
    let temporary = file.with_extension(format!("{}.tmp", std::process::id()));
    let mut open = fs::OpenOptions::new();
    open.write(true).create(true).truncate(true).mode(0o600);
    std::io::Write::write_all(&mut open.open(&temporary)?, &text)?;
    fs::rename(&temporary, file)
}

fn forget_old(dir: &Path) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        let age = entry.metadata().and_then(|meta| meta.modified()).ok().and_then(|time| time.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) {
            // What cannot be removed now is tried again by the next process.
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{STORE_TOTAL_MAX, SmallStore};
    use portcullis_runtime::Store as _;

    #[test]
    fn values_are_apart_for_each_plugin_and_session() {
        let store = SmallStore::new(None);
        store.set("a", "s1", "k", "1").unwrap();
        assert_eq!(store.get("a", "s1", "k").as_deref(), Some("1"));
        assert_eq!(store.get("b", "s1", "k"), None);
        assert_eq!(store.get("a", "s2", "k"), None);
        store.remove("a", "s1", "k");
        assert_eq!(store.get("a", "s1", "k"), None);
    }

    #[test]
    fn a_store_that_is_full_says_so_and_keeps_what_it_has() {
        let store = SmallStore::new(None);
        let part = "x".repeat(STORE_TOTAL_MAX / 2);
        store.set("a", "s", "1", &part).unwrap();
        assert!(store.set("a", "s", "2", &part).is_err());
        assert_eq!(store.get("a", "s", "1").as_deref(), Some(part.as_str()));
        store.set("a", "s", "1", "small").unwrap();
        store.set("a", "s", "2", &part).unwrap();
    }

    #[test]
    fn values_outlive_the_process_when_there_is_a_directory() {
        let dir = tempfile::tempdir().unwrap();
        let place = || Some(dir.path().join("store"));
        SmallStore::new(place()).set("a", "../s", "k", "1").unwrap();
        assert_eq!(SmallStore::new(place()).get("a", "../s", "k").as_deref(), Some("1"));
        assert_eq!(SmallStore::new(place()).get("a", "s", "k"), None);
    }
}
