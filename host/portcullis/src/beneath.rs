//! Opening what lies below a directory, without ever following a link on the way: a link
//! that somebody puts there between a look and the opening leads nowhere.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, openat, statat};

const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
/// A pipe would not be waited for.
const FILE: OFlags = OFlags::RDONLY.union(OFlags::NOFOLLOW).union(OFlags::NONBLOCK).union(OFlags::CLOEXEC);

/// What tells two states of a file or a directory apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Stamp {
    pub(crate) device: u64,
    pub(crate) inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

/// A file system that tells time in coarse steps does not tell two changes within one
/// step apart, so a stamp says nothing before it is this old, in seconds.
const STEP: i64 = 2;

impl Stamp {
    pub(crate) fn of(meta: &Metadata) -> Self {
        Self {
            device: meta.dev(),
            inode: meta.ino(),
            size: meta.size(),
            modified: (meta.mtime(), meta.mtime_nsec()),
            changed: (meta.ctime(), meta.ctime_nsec()),
        }
    }

    /// What tells two states of a shared file apart, as a text.
    pub(crate) fn state(&self) -> String {
        let Self { device, inode, size, modified, .. } = self;
        format!("{device}:{inode}:{size}:{}.{:09}", modified.0, modified.1)
    }

    /// What had this stamp at `seen` has been like this for so long that a later change
    /// shows.
    pub(crate) fn was_settled(&self, seen: i64) -> bool {
        self.modified.0.max(self.changed.0).saturating_add(STEP) <= seen
    }
}

/// Opens the directory at `inside`, below `base`. `base` itself may be reached by links.
fn open_directory(base: &Path, inside: &str) -> io::Result<OwnedFd> {
    let mut directory = openat(CWD, base, DIRECTORY, Mode::empty())?;
    for part in inside.split('/').filter(|part| !part.is_empty()) {
        directory = openat(&directory, part, DIRECTORY | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(directory)
}

/// Opens the file at `inside`, below `base`.
pub(crate) fn open_file(base: &Path, inside: &str) -> io::Result<File> {
    let (parent, name) = inside.rsplit_once('/').unwrap_or(("", inside));
    let directory = open_directory(base, parent)?;
    let file = File::from(openat(&directory, name, FILE, Mode::empty())?);
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no plain file"))
    }
}

/// The bytes of the file at `inside`, at most one more than `most`, and its stamp from
/// before they were read.
pub(crate) fn read_file(base: &Path, inside: &str, most: usize) -> io::Result<(Vec<u8>, Stamp)> {
    let (bytes, meta) = read_with_meta(base, inside, most)?;
    Ok((bytes, Stamp::of(&meta)))
}

/// As [`read_file`], with all that the file system said of the file.
pub(crate) fn read_with_meta(base: &Path, inside: &str, most: usize) -> io::Result<(Vec<u8>, Metadata)> {
    let file = open_file(base, inside)?;
    let meta = file.metadata()?;
    let mut bytes = Vec::new();
    file.take(most as u64 + 1).read_to_end(&mut bytes)?;
    Ok((bytes, meta))
}

/// What an entry of a directory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum EntryKind {
    Directory,
    File,
    Link,
    Other,
}

/// The entries of the directory at `inside`, by name. Names that are not UTF-8 are left
/// out and counted.
pub(crate) fn list(base: &Path, inside: &str) -> io::Result<(Vec<(String, EntryKind)>, usize)> {
    let mut directory = Dir::new(open_directory(base, inside)?)?;
    let (mut entries, mut odd) = (Vec::new(), 0);
    while let Some(entry) = directory.read() {
        let entry = entry?;
        let Ok(name) = entry.file_name().to_str() else {
            odd += 1;
            continue;
        };
        if matches!(name, "." | "..") {
            continue;
        }
        let mut kind = entry.file_type();
        // Some file systems do not say it in the list.
        if kind == FileType::Unknown {
            let stat = statat(directory.fd()?, name, AtFlags::SYMLINK_NOFOLLOW)?;
            kind = FileType::from_raw_mode(stat.st_mode);
        }
        entries.push((name.to_owned(), kind_of(kind)));
    }
    entries.sort();
    Ok((entries, odd))
}

const fn kind_of(kind: FileType) -> EntryKind {
    match kind {
        FileType::Directory => EntryKind::Directory,
        FileType::RegularFile => EntryKind::File,
        FileType::Symlink => EntryKind::Link,
        FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => EntryKind::Other,
    }
}

/// The path of `inside` below `base`.
pub(crate) fn joined(base: &Path, inside: &str) -> PathBuf {
    if inside.is_empty() { base.to_owned() } else { base.join(inside) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::{EntryKind, list, open_file, read_file};

    #[test]
    fn no_link_is_followed_below_the_base_and_nothing_but_files_is_opened() {
        let home = tempfile::tempdir().unwrap();
        let base = home.path().join("base");
        fs::create_dir_all(base.join("a/b")).unwrap();
        fs::write(base.join("a/b/x"), "x").unwrap();
        fs::write(home.path().join("secret"), "s").unwrap();
        symlink(home.path(), base.join("out")).unwrap();
        symlink("../../secret", base.join("a/link")).unwrap();
        symlink("b/x", base.join("a/inner")).unwrap();
        assert_eq!(read_file(&base, "a/b/x", 10).unwrap().0, b"x");
        for bad in ["out/secret", "a/link", "a/inner", "a/b", "a/b/none", "a/b/x/y", ""] {
            assert!(open_file(&base, bad).is_err(), "{bad}");
        }
        let alias = home.path().join("alias");
        symlink(&base, &alias).unwrap();
        assert!(open_file(&alias, "a/b/x").is_ok(), "the base is the user's own word");
        let (entries, odd) = list(&base, "a").unwrap();
        let kinds: Vec<_> = entries.iter().map(|(name, kind)| (name.as_str(), *kind)).collect();
        let link = EntryKind::Link;
        assert_eq!(kinds, [("b", EntryKind::Directory), ("inner", link), ("link", link)]);
        assert_eq!(odd, 0);
    }
}
