//! The trust in one project as it is at this moment: what is withdrawn stops at once, in
//! the middle of a turn too.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::store::{Held, TrustStore};
use super::workspace::{Workspace, below};

/// The trust in one project, which is asked for each time that it matters. What was
/// read is used again until the file or the project's directory is another one.
#[derive(Debug)]
pub(crate) struct Warrant {
    store: TrustStore,
    /// As whoever looks for files writes it.
    root: PathBuf,
    seen: Mutex<Option<(Mark, Option<Arc<Workspace>>)>>,
}

/// Tells two states of the store and of the project's directory apart.
type Mark = (Option<State>, Option<State>);
type State = (u64, u64, u64, i64, i64);

impl Warrant {
    pub(crate) const fn new(store: TrustStore, root: PathBuf) -> Self {
        Self { store, root, seen: Mutex::new(None) }
    }

    /// What is trusted of the project now.
    pub(crate) fn now(&self) -> Option<Arc<Workspace>> {
        let mark = (state(self.store.file(), true), state(&self.root, false));
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((last, held)) = &*seen
            && *last == mark
        {
            return held.clone();
        }
        let held = match self.store.workspace(&self.root) {
            Ok(Held::Trusted(workspace)) => Some(Arc::new(workspace)),
            Ok(Held::Nothing | Held::Replaced(_)) => None,
            Err(error) => {
                tracing::warn!("{error}");
                None
            }
        };
        *seen = Some((mark, held.clone()));
        held
    }

    /// Is `file`, with these very bytes, trusted now?
    pub(crate) fn covers(&self, file: &Path, digest: &str) -> bool {
        below(&self.root, file).is_some_and(|file| self.now().is_some_and(|now| now.covers(&file, digest)))
    }
}

/// The numbers of a file, or of a directory: what is in that may come and go.
fn state(path: &Path, is_file: bool) -> Option<State> {
    let meta = fs::metadata(path).ok()?;
    let times = if is_file { (meta.size(), meta.ctime(), meta.ctime_nsec()) } else { (0, 0, 0) };
    Some((meta.dev(), meta.ino(), times.0, times.1, times.2))
}
