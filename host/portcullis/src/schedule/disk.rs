//! The file system, as claims ask it.

use std::collections::HashMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use portcullis_schedule::{Disk, Found, Look};

use crate::protect::resolve;

/// How many names a path may have to be looked at name by name, each in what is known of the
/// one before it.
const DEEP: usize = 64;

/// The file systems of this machine. What it has seen of a directory it does not ask again,
/// so it is made anew for each batch.
#[derive(Debug, Default)]
pub(crate) struct Volumes {
    directories: Mutex<HashMap<PathBuf, Option<Directory>>>,
}

#[derive(Debug, Clone)]
struct Directory {
    real: PathBuf,
    folds_case: bool,
}

impl Volumes {
    fn directory(&self, path: &Path) -> Option<Directory> {
        let known = self.known();
        if let Some(directory) = known.get(path) {
            return directory.clone();
        }
        drop(known);
        let found = self.below_its_parent(path);
        self.known().insert(path.to_owned(), found.clone());
        found
    }

    /// A directory that is no link is where its own parent is.
    fn below_its_parent(&self, path: &Path) -> Option<Directory> {
        let plain = match (path.parent(), path.file_name()) {
            (Some(parent), Some(name)) if path.components().take(DEEP + 1).count() <= DEEP => {
                Some(self.directory(parent)?.real.join(name))
            }
            // `..` leaves where links lead.
            _ => None,
        };
        let real =
            match plain.filter(|real| !fs::symlink_metadata(real).is_ok_and(|found| found.is_symlink())) {
                Some(real) => real,
                None => resolve(path)?,
            };
        Some(Directory { folds_case: folds_case(&real), real })
    }

    fn known(&self) -> MutexGuard<'_, HashMap<PathBuf, Option<Directory>>> {
        self.directories.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Disk for Volumes {
    fn look(&self, path: &str) -> Option<Look> {
        let path = Path::new(path);
        let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
            return Some(Look {
                real: path.to_str()?.to_owned(),
                found: Found::Directory,
                folds_case: folds_case(path),
            });
        };
        let Directory { real, folds_case } = self.directory(parent)?;
        let mut real = real.join(name);
        let mut metadata = fs::symlink_metadata(&real);
        if metadata.as_ref().is_ok_and(fs::Metadata::is_symlink) {
            real = resolve(&real)?;
            metadata = fs::symlink_metadata(&real);
        }
        Some(Look { found: found(metadata), real: real.to_str()?.to_owned(), folds_case })
    }
}

/// What is at a path without links. Something that cannot be looked at may hold anything.
fn found(metadata: io::Result<fs::Metadata>) -> Found {
    match metadata {
        Ok(metadata) if metadata.is_file() => file(&metadata),
        Ok(_) => Found::Directory,
        Err(error) if error.kind() == io::ErrorKind::NotFound => Found::Nothing,
        Err(_) => Found::Directory,
    }
}

#[cfg(unix)]
fn file(metadata: &fs::Metadata) -> Found {
    use std::os::unix::fs::MetadataExt as _;

    if metadata.nlink() > 1 {
        return Found::Shared(portcullis_schedule::FileId { device: metadata.dev(), inode: metadata.ino() });
    }
    Found::File
}

/// How many names a file has is not told here.
#[cfg(not(unix))]
fn file(_: &fs::Metadata) -> Found {
    Found::File
}

/// Whether the nearest directory with a letter in its name is found under the other case too.
#[cfg(unix)]
fn folds_case(directory: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;

    for path in directory.ancestors() {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else { continue };
        let other: String = name.chars().map(swapped).collect();
        if other == name {
            continue;
        }
        let Ok(other) = fs::symlink_metadata(path.with_file_name(other)) else {
            // Of what is not there nothing can be learnt, whatever the case.
            if fs::symlink_metadata(path).is_err() {
                continue;
            }
            return false;
        };
        let own = fs::symlink_metadata(path);
        return own.is_ok_and(|own| (own.dev(), own.ino()) == (other.dev(), other.ino()));
    }
    false
}

#[cfg(unix)]
const fn swapped(letter: char) -> char {
    if letter.is_ascii_lowercase() { letter.to_ascii_uppercase() } else { letter.to_ascii_lowercase() }
}

#[cfg(not(unix))]
const fn folds_case(_: &Path) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use portcullis_schedule::{Access, Claim, Disk as _, Found, Place};

    use super::Volumes;

    #[test]
    fn links_and_second_names_are_seen() {
        let dir = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir(base.join("a")).unwrap();
        fs::write(base.join("a/one"), "").unwrap();
        fs::write(base.join("plain"), "").unwrap();
        fs::hard_link(base.join("a/one"), base.join("two")).unwrap();
        symlink("a", base.join("link")).unwrap();
        symlink("gone", base.join("dangling")).unwrap();
        symlink("circle", base.join("circle")).unwrap();
        let text = |name: &str| base.join(name).to_str().unwrap().to_owned();
        let volumes = Volumes::default();
        let look = |name: &str| volumes.look(&text(name)).map(|look| (look.real, look.found));
        assert_eq!(look("plain"), Some((text("plain"), Found::File)));
        assert_eq!(look("a"), Some((text("a"), Found::Directory)));
        assert_eq!(look("link"), Some((text("a"), Found::Directory)));
        assert_eq!(look("link/new/deep"), Some((text("a/new/deep"), Found::Nothing)));
        assert_eq!(look("dangling"), Some((text("gone"), Found::Nothing)));
        assert_eq!(look("link/../x"), Some((text("x"), Found::Nothing)));
        assert_eq!((look("circle"), look("circle/x")), (None, None));
        let deep = format!("{}x", "d/".repeat(3000));
        // It is too long for anybody to look at.
        assert_eq!(look(&deep), Some((text(&deep), Found::Directory)));
        let (one, two) = (look("link/one").unwrap(), look("two").unwrap());
        assert!(matches!(one.1, Found::Shared(_)) && one.1 == two.1);

        let writes = |name: &str| {
            let place = Place { cwd: base.to_str().unwrap(), disk: &volumes };
            Claim::of(Access::Write, place.path(&text(name)).unwrap())
        };
        assert!(writes("link/one").conflict(&writes("two")).is_some());
        assert!(writes("link/x").conflict(&writes("a/x")).is_some());
        assert!(writes("plain").conflict(&writes("a/x")).is_none());
        let dangling = Place { cwd: "/", disk: &volumes }.path(&text("circle"));
        assert!(dangling.is_err(), "nobody can say what it is");
    }

    #[test]
    fn the_case_of_a_name_counts_as_the_volume_has_it() {
        let dir = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(dir.path()).unwrap().join("Folder");
        fs::create_dir(&base).unwrap();
        let folds = base.with_file_name("fOLDER").exists();
        let look = Volumes::default().look(base.join("x").to_str().unwrap()).unwrap();
        assert_eq!(look.folds_case, folds);
    }
}
