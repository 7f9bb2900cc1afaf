//! The bytes of files, kept for as long as their stamps say that they are the same.

use std::collections::HashMap;
use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use jiff::Timestamp;
use portcullis_model::extension::{FileFacts, LibraryFile};
use portcullis_runtime::Digest;

use crate::beneath::{self, Stamp};

/// What was read before.
#[derive(Debug, Default)]
pub(super) struct Held {
    files: HashMap<PathBuf, HeldFile>,
    /// How many files the last look has read.
    pub(super) reads: usize,
}

#[derive(Debug)]
struct HeldFile {
    stamp: Stamp,
    /// When it was read, in seconds since 1970.
    seen: i64,
    file: LibraryFile,
    used: bool,
}

/// Where a file is: `inside`, below `base`, without a link on the way.
pub(super) struct Spot<'s> {
    pub(super) base: &'s Path,
    pub(super) inside: &'s str,
}

impl Held {
    /// A look begins.
    pub(super) fn begin(&mut self) {
        self.reads = 0;
        self.files.values_mut().for_each(|held| held.used = false);
    }

    /// A look is over: what it did not ask for is forgotten.
    pub(super) fn end(&mut self) {
        self.files.retain(|_, held| held.used);
    }

    /// The file at `spot`, which has `stamp` at `now`. It is opened only when it may be
    /// another one than before.
    pub(super) fn file(
        &mut self,
        spot: &Spot<'_>,
        stamp: Stamp,
        now: i64,
        most: usize,
    ) -> io::Result<LibraryFile> {
        let path = beneath::joined(spot.base, spot.inside);
        if let Some(held) = self.files.get_mut(&path)
            && (held.used || (held.stamp == stamp && stamp.was_settled(held.seen)))
        {
            held.used = true;
            return Ok(held.file.clone());
        }
        self.reads += 1;
        let (bytes, meta) = beneath::read_with_meta(spot.base, spot.inside, most)?;
        if bytes.len() > most {
            return Err(io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("it has more than {most} bytes"),
            ));
        }
        let facts = facts(&meta, bytes.len());
        let digest = format!("sha256:{}", Digest::of(&bytes));
        let file = LibraryFile { bytes: bytes.into(), digest, facts };
        let held = HeldFile { stamp: Stamp::of(&meta), seen: now, file: file.clone(), used: true };
        self.files.insert(path, held);
        Ok(file)
    }
}

/// What a file system says of a file of which `size` bytes were read.
pub(super) fn facts(meta: &Metadata, size: usize) -> FileFacts {
    FileFacts {
        size: size as u64,
        modified: meta.modified().ok().and_then(time),
        created: meta.created().ok().and_then(time),
    }
}

/// To the second: nobody reads more of it.
fn time(time: SystemTime) -> Option<String> {
    let time = Timestamp::try_from(time).ok()?;
    Timestamp::from_second(time.as_second()).ok().map(|time| time.to_string())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Held, Spot};
    use crate::beneath::Stamp;

    #[test]
    fn a_file_whose_stamp_did_not_move_is_not_opened_again() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a");
        fs::write(&path, "one").unwrap();
        let stamp = Stamp::of(&fs::symlink_metadata(&path).unwrap());
        let spot = Spot { base: home.path(), inside: "a" };
        let later = portcullis_runtime::clock::utc().as_second() + 10;
        let mut held = Held::default();
        let look = |held: &mut Held, now| {
            held.begin();
            let file = held.file(&spot, stamp, now, 100).unwrap();
            held.end();
            (file, held.reads)
        };
        let (first, reads) = look(&mut held, later);
        assert_eq!((&*first.bytes, reads), (&b"one"[..], 1));
        assert_eq!(first.digest, "sha256:7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed");
        let (again, reads) = look(&mut held, later);
        assert!(std::sync::Arc::ptr_eq(&first.bytes, &again.bytes) && reads == 0);
        assert!(first.facts.modified.as_deref().is_some_and(|time| time.ends_with('Z') && time.len() == 20));
    }

    #[test]
    fn a_young_stamp_says_nothing_and_too_much_is_not_kept() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("a");
        fs::write(&path, "one").unwrap();
        let stamp = Stamp::of(&fs::symlink_metadata(&path).unwrap());
        let spot = Spot { base: home.path(), inside: "a" };
        let now = portcullis_runtime::clock::utc().as_second();
        let mut held = Held::default();
        held.begin();
        held.file(&spot, stamp, now, 100).unwrap();
        held.end();
        fs::write(&path, "two").unwrap();
        held.begin();
        let file = held.file(&spot, stamp, now, 100).unwrap();
        assert_eq!((&*file.bytes, held.reads), (&b"two"[..], 1));
        held.begin();
        assert!(held.file(&spot, stamp, now, 2).is_err());
        held.begin();
        held.end();
        assert!(held.files.is_empty());
    }
}
