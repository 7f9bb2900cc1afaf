//! How well the places of a library are watched. Pure: what a file system says is handed in.

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use portcullis_model::extension::{Coverage, LibraryRoot};

use super::super::excluded::{FILES, is_hidden};

/// What of a place is watched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// A directory and all below it.
    Tree,
    /// The files that lie in a directory.
    Directory,
    /// One file, through the directory that it lies in: editors save by renaming.
    File,
}

/// Tells a directory from another one that was made at its path.
pub(super) type Identity = (u64, Option<SystemTime>);

/// One place.
#[derive(Debug, Clone)]
pub(super) struct Watched {
    pub(super) path: PathBuf,
    pub(super) reach: Reach,
    /// Somebody named it, so it is told of when it is not there.
    pub(super) expected: bool,
    /// Told of in the list of roots.
    pub(super) is_root: bool,
    pub(super) coverage: Coverage,
    /// The directory that is watched now.
    pub(super) identity: Option<Identity>,
}

impl Watched {
    pub(super) fn new(path: PathBuf, reach: Reach, watch: bool) -> Self {
        let coverage = if watch { absent() } else { Coverage::Off };
        Self { path, reach, expected: true, is_root: true, coverage, identity: None }
    }

    /// The directory that the file system is asked to tell of.
    pub(super) fn directory(&self) -> &Path {
        match self.reach {
            Reach::Tree | Reach::Directory => &self.path,
            Reach::File => self.path.parent().unwrap_or(&self.path),
        }
    }

    /// Whether a change of `path` may change what is served of this place.
    fn concerns(&self, path: &Path) -> bool {
        if self.coverage == Coverage::Off {
            return false;
        }
        match self.reach {
            Reach::File => path == self.path,
            Reach::Directory => {
                path == self.path || (path.parent() == Some(&self.path) && !is_unseen(path.file_name()))
            }
            Reach::Tree => path
                .strip_prefix(&self.path)
                .is_ok_and(|inside| !inside.components().any(|part| is_unseen(Some(part.as_os_str())))),
        }
    }
}

fn is_unseen(name: Option<&std::ffi::OsStr>) -> bool {
    let name = name.map(std::ffi::OsStr::to_string_lossy).unwrap_or_default();
    // What excludes files changes what is served, although its own name is hidden.
    is_hidden(&name) && !FILES.contains(&&*name)
}

pub(super) fn absent() -> Coverage {
    Coverage::Degraded("it is not there".to_owned())
}

/// All places of a library.
#[derive(Debug, Clone, Default)]
pub(super) struct Places(pub(super) Vec<Watched>);

impl Places {
    /// What is told of them. A place that nobody named and that is not there is none.
    pub(super) fn roots(&self) -> Vec<LibraryRoot> {
        let told = self.0.iter().filter(|place| {
            place.is_root && (place.expected || place.coverage != absent() || place.identity.is_some())
        });
        let root = |place: &Watched| LibraryRoot {
            path: place.path.display().to_string(),
            coverage: place.coverage.clone(),
        };
        told.map(root).collect()
    }

    /// Whether a change of one of `paths` may change what is served.
    pub(super) fn concern(&self, paths: &[PathBuf]) -> bool {
        paths.iter().any(|path| self.0.iter().any(|place| place.concerns(path)))
    }

    /// The file system failed. Without a path it may be any of them that is not told of.
    pub(super) fn failed(&mut self, paths: &[PathBuf], why: &str) {
        for place in self.0.iter_mut().filter(|place| place.coverage != Coverage::Off) {
            let directory = place.directory();
            if paths.is_empty() || paths.iter().any(|path| path.starts_with(directory)) {
                place.coverage = Coverage::Degraded(why.to_owned());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use portcullis_model::extension::Coverage;

    use super::{Places, Reach, Watched, absent};

    fn places() -> Places {
        let mut all = vec![
            Watched::new("/a".into(), Reach::Tree, true),
            Watched::new("/b".into(), Reach::Tree, true),
            Watched::new("/off".into(), Reach::Tree, false),
            Watched::new("/p".into(), Reach::Directory, true),
            Watched::new("/f/AGENTS.md".into(), Reach::File, true),
        ];
        for place in all.iter_mut().filter(|place| place.coverage != Coverage::Off) {
            place.coverage = Coverage::Watching;
        }
        Places(all)
    }

    fn states(places: &Places) -> Vec<&'static str> {
        let word = |coverage: &Coverage| match coverage {
            Coverage::Watching => "watching",
            Coverage::Degraded(_) => "degraded",
            Coverage::Off => "off",
        };
        places.0.iter().map(|place| word(&place.coverage)).collect()
    }

    #[test]
    fn an_error_with_a_path_degrades_the_roots_that_hold_it_and_one_without_all_of_them() {
        let mut one = places();
        one.failed(&["/a/x/y".into()], "no more watches");
        assert_eq!(states(&one), ["degraded", "watching", "off", "watching", "watching"]);
        one.failed(&["/elsewhere".into()], "x");
        assert_eq!(states(&one), ["degraded", "watching", "off", "watching", "watching"]);
        one.failed(&["/f".into()], "x");
        assert_eq!(states(&one)[4], "degraded");
        let mut all = places();
        all.failed(&[], "the queue is gone");
        assert_eq!(states(&all), ["degraded", "degraded", "off", "degraded", "degraded"]);
    }

    #[test]
    fn what_is_hidden_or_nobody_serves_concerns_nothing() {
        let places = places();
        let concern = |path: &str| places.concern(&[PathBuf::from(path)]);
        for path in ["/a", "/a/x/SKILL.md", "/a/.gitignore", "/a/x/.ignore", "/p/x.md", "/p", "/f/AGENTS.md"]
        {
            assert!(concern(path), "{path}");
        }
        for path in [
            "/a/.venv/x",
            "/a/x/.SKILL.md.swp",
            "/a/node_modules/x",
            "/off/x",
            "/p/deeper/x.md",
            "/p/.x.md",
            "/f/other.md",
            "/ab/x",
        ] {
            assert!(!concern(path), "{path}");
        }
    }

    #[test]
    fn a_place_that_nobody_named_is_told_of_when_it_is_there() {
        let mut place = Watched::new("/a".into(), Reach::Tree, true);
        assert_eq!(Places(vec![place.clone()]).roots()[0].coverage, absent());
        place.expected = false;
        assert_eq!(Places(vec![place.clone()]).roots(), []);
        place.coverage = Coverage::Watching;
        assert_eq!(Places(vec![place]).roots().len(), 1);
    }
}
