//! Which set of plugins was seen last, so that each change is one entry although
//! most processes live for one call.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::chain::hex;
use super::entry::{Entry, EntryKind, PluginEntry};
use super::error::LedgerError;
use super::files::Files;
use super::writer::Ledger;

/// Digits of a digest that tell one set or one place from another.
const DIGITS: usize = 16;
/// The most of a note that is read, in bytes.
const NOTE_MAX: u64 = 1 << 20;

/// Which plugins act, and in which order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Epoch {
    /// The plugins that act, and those that keep calls from running.
    pub(crate) plugins: Vec<PluginEntry>,
    /// By which configuration, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) configured: Option<Configured>,
}

/// One configuration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Configured {
    /// The digest of all that it says.
    pub(crate) digest: String,
    /// What of it nobody should lose by a slip.
    pub(crate) strict: BTreeSet<String>,
}

impl Configured {
    /// What became of `before`, in words.
    fn since(&self, before: &Self) -> String {
        let lost: Vec<_> = before.strict.difference(&self.strict).map(String::as_str).collect();
        let told = if lost.is_empty() { String::new() } else { format!(" It lost {}.", lost.join(", ")) };
        format!("The configuration is another one than before.{told}")
    }
}

impl Epoch {
    /// The beginning of its digest.
    pub(crate) fn id(&self) -> String {
        let mut text = String::new();
        for plugin in &self.plugins {
            let parts =
                [Some(&plugin.name), Some(&plugin.state), plugin.from.as_ref(), plugin.digest.as_ref()];
            for part in parts {
                text.push_str(part.map_or("", String::as_str));
                text.push('\n');
            }
        }
        short(text.as_bytes())
    }

    /// What became of `before`, in words.
    fn since(&self, before: &Self) -> String {
        let named = |set: &Self, name: &str| set.plugins.iter().find(|plugin| plugin.name == name).cloned();
        let came = self.plugins.iter().filter(|plugin| named(before, &plugin.name).is_none());
        let went = before.plugins.iter().filter(|plugin| named(self, &plugin.name).is_none());
        let other = self
            .plugins
            .iter()
            .filter(|plugin| named(before, &plugin.name).is_some_and(|old| old != **plugin));
        let told = came
            .map(|plugin| format!("{} came", plugin.name))
            .chain(went.map(|plugin| format!("{} went", plugin.name)))
            .chain(other.map(|plugin| format!("{} is another one or stands otherwise", plugin.name)));
        let told: Vec<String> = told.collect();
        let told = if told.is_empty() { "they act in another order".to_owned() } else { told.join(", ") };
        format!("Other plugins act than before: {told}.")
    }
}

/// The short form of a digest.
fn short(bytes: &[u8]) -> String {
    hex(bytes).chars().take(DIGITS).collect()
}

impl Ledger {
    /// Writes that other plugins act, unless whoever looked in `place` before saw the
    /// same. The first look is no change. True when an entry was written.
    ///
    /// # Errors
    /// When the entry is not written.
    pub(crate) fn note_plugins(&self, place: &str, epoch: &Epoch) -> Result<bool, LedgerError> {
        let note = self.files().dir().join(format!("epoch-{}", short(place.as_bytes())));
        if seen(&note).is_some_and(|last| last == *epoch) {
            return Ok(false);
        }
        let _lock = self.lock()?;
        let changed = match seen(&note) {
            // Another process was faster.
            Some(last) if last == *epoch => return Ok(false),
            Some(last) => self.write_change(&last, epoch)?,
            None => false,
        };
        // Without it the next process writes the same entry once more, which is no harm.
        if let Err(error) = keep(&note, epoch) {
            tracing::warn!("which plugins act cannot be noted beside the ledger: {error}");
        }
        Ok(changed)
    }
}

impl Ledger {
    /// Writes what differs, the configuration first. True when something did.
    fn write_change(&self, last: &Epoch, now: &Epoch) -> Result<bool, LedgerError> {
        let before = last.configured.as_ref().zip(now.configured.as_ref());
        let config = before.filter(|(before, now)| before != now).map(|(before, now)| Entry {
            config: Some(now.digest.clone()),
            ..Entry::new(EntryKind::Config, now.since(before))
        });
        let plugins = (last.plugins != now.plugins).then(|| Entry {
            epoch: Some(now.id()),
            plugins: now.plugins.clone(),
            ..Entry::new(EntryKind::Plugins, now.since(last))
        });
        let mut changed = false;
        for entry in config.into_iter().chain(plugins) {
            self.write_locked(&self.prepare(entry))?;
            changed = true;
        }
        Ok(changed)
    }
}

fn seen(note: &Path) -> Option<Epoch> {
    let mut text = String::new();
    Files::open_to_read(note).ok()?.take(NOTE_MAX).read_to_string(&mut text).ok()?;
    serde_json::from_str(&text).ok()
}

fn keep(note: &Path, epoch: &Epoch) -> io::Result<()> {
    let temporary: PathBuf = note.with_extension("tmp");
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(&temporary)?.write_all(&serde_json::to_vec(epoch)?)?;
    // A reader sees the old one or the new one, and no half.
    fs::rename(temporary, note)
}
