//! What a session has seen of files, so that it overwrites nothing that it has not seen.

use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use portcullis_model::call::{Effect, EffectKind};
use sha2::{Digest as _, Sha256};

use crate::protect::resolve;

/// How many files of a session are remembered. The one that was seen first is forgotten
/// first, and is not checked then.
const FILES_MAX: usize = 4096;

/// Up to this size, in bytes, the content of a file counts; above it, size and time do.
const CONTENT_MAX: u64 = 4 << 20;

/// How many files of one call are looked at. Those behind are neither remembered nor checked.
const FILES_PER_CALL_MAX: usize = 256;

/// What a file was.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Print {
    /// It was not there.
    Missing,
    /// The digest of its content.
    Content([u8; 32]),
    /// Its size, and when it was changed.
    Large(u64, Option<std::time::SystemTime>),
    /// No file, or one that cannot be read.
    Unknown,
}

impl Print {
    fn of(path: &str) -> Self {
        match Self::taken(path) {
            Ok(print) => print,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Self::Missing,
            Err(_) => Self::Unknown,
        }
    }

    fn taken(path: &str) -> io::Result<Self> {
        // A pipe would keep whoever opens it waiting.
        let metadata = fs::metadata(path)?;
        if !metadata.is_file() {
            return Ok(Self::Unknown);
        }
        if metadata.len() > CONTENT_MAX {
            return Ok(Self::Large(metadata.len(), metadata.modified().ok()));
        }
        let (mut digest, mut left) = (Sha256::new(), CONTENT_MAX);
        let mut file = File::open(path)?;
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = file.read(&mut buffer)?;
            let Some(bytes) = buffer.get(..read).filter(|bytes| !bytes.is_empty()) else { break };
            digest.update(bytes);
            left = left.saturating_sub(bytes.len() as u64);
            if left == 0 {
                return Ok(Self::Large(metadata.len(), metadata.modified().ok()));
            }
        }
        Ok(Self::Content(digest.finalize().into()))
    }
}

/// What a session has seen of files. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    inner: Arc<Mutex<Prints>>,
}

#[derive(Debug, Default)]
struct Prints {
    prints: BTreeMap<String, Print>,
    /// Their paths, the first one first.
    order: VecDeque<String>,
}

/// What was looked at for one call, while nobody of ours could change it.
#[derive(Debug)]
pub(crate) struct Glance {
    seen: Seen,
    reads: Vec<(String, Print)>,
    writes: Vec<String>,
}

impl Seen {
    /// Glances at the files of a call that is about to run: those that it reads, as they are
    /// now. The path of a file that it would write, when that is not what this session has
    /// seen of it.
    ///
    /// # Errors
    /// The first such path.
    pub(crate) fn look(&self, effects: &[Effect]) -> Result<Glance, String> {
        let mut look = Glance { seen: self.clone(), reads: Vec::new(), writes: Vec::new() };
        let of_files = effects.iter().filter(|effect| {
            matches!(effect.kind, EffectKind::Read | EffectKind::Write | EffectKind::Delete)
        });
        for effect in of_files.take(FILES_PER_CALL_MAX) {
            // However it is spelt, and whatever link leads there.
            let real = resolve(Path::new(&effect.target));
            let path = real.and_then(|real| real.to_str().map(str::to_owned));
            let path = path.unwrap_or_else(|| effect.target.clone());
            match effect.kind {
                EffectKind::Read => {
                    let print = Print::of(&path);
                    look.reads.push((path, print));
                }
                EffectKind::Write | EffectKind::Delete => {
                    let known = self.with(|prints| prints.prints.get(&path).cloned());
                    if known.is_some_and(|known| known != Print::of(&path)) {
                        return Err(effect.target.clone());
                    }
                    look.writes.push(path);
                }
                EffectKind::Run | EffectKind::Fetch | EffectKind::Mcp | EffectKind::Opaque => {}
            }
        }
        Ok(look)
    }

    fn with<T>(&self, work: impl FnOnce(&mut Prints) -> T) -> T {
        work(&mut self.inner.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Glance {
    /// The call has run: the session knows what it has read and what it has written. A call
    /// that was broken off tells nothing, and what it has half written has not been seen.
    pub(crate) fn done(self) {
        let written = self.writes.into_iter().map(|path| {
            let print = Print::of(&path);
            (path, print)
        });
        let all: Vec<_> = self.reads.into_iter().chain(written).collect();
        self.seen.with(|own| {
            for (path, print) in all {
                if own.prints.insert(path.clone(), print).is_none() {
                    own.order.push_back(path);
                }
            }
            while own.order.len() > FILES_MAX {
                let oldest = own.order.pop_front();
                oldest.and_then(|oldest| own.prints.remove(&oldest));
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use portcullis_model::call::{Effect, EffectKind};

    use super::{CONTENT_MAX, FILES_MAX, FILES_PER_CALL_MAX, Seen};

    #[test]
    fn what_a_session_has_not_seen_it_does_not_overwrite() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a").to_str().unwrap().to_owned();
        let reads = [Effect::new(EffectKind::Read, &path)];
        let writes = [Effect::new(EffectKind::Write, &path)];
        let (mine, others) = (Seen::default(), Seen::default());
        // Whoever has not read it may write it.
        fs::write(&path, "one").unwrap();
        drop(mine.look(&writes).unwrap());
        mine.look(&reads).unwrap().done();
        others.look(&reads).unwrap().done();
        let own = mine.look(&writes).unwrap();
        fs::write(&path, "two").unwrap();
        own.done();
        assert_eq!(others.look(&writes).unwrap_err(), path);
        // What it wrote itself it has seen.
        let again = mine.look(&writes).unwrap();
        fs::write(&path, "half").unwrap();
        // Broken off: nobody has seen what is there now.
        drop(again);
        assert_eq!(mine.look(&writes).unwrap_err(), path);
        mine.look(&reads).unwrap().done();
        drop(mine.look(&writes).unwrap());
        // The same bytes are the same, whoever wrote them, and one that went away is not.
        fs::write(&path, "half").unwrap();
        drop(mine.look(&writes).unwrap());
        fs::remove_file(&path).unwrap();
        assert_eq!(mine.look(&[Effect::new(EffectKind::Delete, &path)]).unwrap_err(), path);
    }

    #[test]
    fn large_files_and_many_files_are_bounded() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("large").to_str().unwrap().to_owned();
        let file = fs::File::create(&path).unwrap();
        file.set_len(CONTENT_MAX + 1).unwrap();
        let effect = |kind| [Effect::new(kind, &path)];
        let seen = Seen::default();
        seen.look(&effect(EffectKind::Read)).unwrap().done();
        drop(seen.look(&effect(EffectKind::Write)).unwrap());
        file.set_len(CONTENT_MAX + 2).unwrap();
        assert_eq!(seen.look(&effect(EffectKind::Write)).unwrap_err(), path);
        let gone: Vec<_> =
            (0..=FILES_MAX).map(|n| Effect::new(EffectKind::Read, format!("/gone/{n}"))).collect();
        gone.chunks(FILES_PER_CALL_MAX).for_each(|some| seen.look(some).unwrap().done());
        drop(seen.look(&effect(EffectKind::Write)).unwrap());
        assert_eq!(seen.with(|own| (own.prints.len(), own.order.len())), (FILES_MAX, FILES_MAX));
    }
}
