//! What the disk says of a path: where its links lead, and what is there.

use std::collections::{BTreeSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::name::{is_pattern, meets};

/// As many links as Linux follows in one path.
const LINKS_MAX: usize = 40;

/// How many entries of a directory are read to know what is not there.
const LISTED_MAX: usize = 512;

/// How many entries of directories are looked at for one question.
const ENTRIES_MAX: usize = 2000;

/// The file that an absolute path names, with every link followed, those that
/// lead nowhere among them, because a write through one makes the file that it
/// names. What is not there is kept as it is written.
///
/// `None` for a path that is not absolute on this machine, and for links that
/// never end: nothing can be written through those.
pub(crate) fn resolve(path: &Path) -> Option<PathBuf> {
    resolve_again(path, &mut Seen::default())
}

/// What was seen to be there and to be no link, for questions that are asked together.
/// There are few.
#[derive(Debug, Default)]
pub(super) struct Seen(Vec<OsString>);

impl Seen {
    fn holds(&self, path: &Path) -> bool {
        self.0.iter().any(|seen| seen == path.as_os_str())
    }
}

/// The same, without looking again at what was `seen`.
pub(super) fn resolve_again(path: &Path, seen: &mut Seen) -> Option<PathBuf> {
    if !path.is_absolute() {
        return None;
    }
    let mut todo: VecDeque<OsString> = parts(path).collect();
    let mut done = PathBuf::from("/");
    let (mut links, mut there) = (0_usize, true);
    while let Some(part) = todo.pop_front() {
        if part == ".." {
            done.pop();
            // Where it leads is looked at again.
            there = true;
            continue;
        }
        done.push(&part);
        if !there || part.to_str().is_some_and(is_pattern) || seen.holds(&done) {
            continue;
        }
        match fs::read_link(&done) {
            Ok(target) => {
                links = links.saturating_add(1);
                if links > LINKS_MAX {
                    return None;
                }
                done.pop();
                if target.is_absolute() {
                    done = PathBuf::from("/");
                }
                for part in parts(&target).collect::<Vec<_>>().into_iter().rev() {
                    todo.push_front(part);
                }
            }
            Err(error) => {
                there = error.kind() != ErrorKind::NotFound;
                if error.kind() == ErrorKind::InvalidInput {
                    seen.0.push(done.clone().into_os_string());
                }
            }
        }
    }
    Some(done)
}

/// What a directory holds, asked once for many names of which most are not there.
#[derive(Debug)]
pub(super) struct Listing(Option<BTreeSet<String>>);

impl Listing {
    /// A directory with more entries is not worth reading, and one that cannot be read says
    /// nothing. Neither does one whose names are not all ASCII: there may be a rule
    /// by which one of them is what it does not look like.
    pub(super) fn of(directory: &Path) -> Self {
        let Ok(entries) = fs::read_dir(directory) else { return Self(None) };
        let mut names = BTreeSet::new();
        for entry in entries {
            let name = entry.ok().and_then(|entry| entry.file_name().into_string().ok());
            let Some(mut name) = name.filter(|name| name.is_ascii() && names.len() < LISTED_MAX) else {
                return Self(None);
            };
            name.make_ascii_lowercase();
            names.insert(name);
        }
        Self(Some(names))
    }

    /// False when `name` is not there, in whatever case.
    pub(super) fn may_hold(&self, name: &str) -> bool {
        is_pattern(name)
            || self.0.as_ref().is_none_or(|names| names.contains(name.to_ascii_lowercase().as_str()))
    }
}

fn parts(path: &Path) -> impl Iterator<Item = OsString> + '_ {
    path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some(OsString::from("..")),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    })
}

/// Is anything at `names` below `base`, whose name, or the name of something below
/// it, meets one of `wanted`? A `*` among the names is any name.
pub(super) fn holds(base: &Path, names: &[String], tree: bool, wanted: Option<&[String]>) -> bool {
    look(base, names, tree, wanted, &mut ENTRIES_MAX.clone())
}

fn look(base: &Path, names: &[String], tree: bool, wanted: Option<&[String]>, left: &mut usize) -> bool {
    let Some((name, rest)) = names.split_first() else {
        let own = base.file_name().and_then(OsStr::to_str);
        return match wanted {
            None => fs::symlink_metadata(base).is_ok(),
            Some(wanted) if own.is_some_and(|own| wanted.iter().any(|wanted| meets_loosely(wanted, own))) => {
                fs::symlink_metadata(base).is_ok()
            }
            Some(wanted) if tree => {
                entries(base, left).iter().any(|entry| look(&base.join(entry), &[], true, Some(wanted), left))
            }
            Some(_) => false,
        };
    };
    if !is_pattern(name) {
        return look(&base.join(name), rest, tree, wanted, left);
    }
    entries(base, left)
        .iter()
        .filter(|entry| entry.to_str().is_some_and(|entry| meets(name, entry)))
        .any(|entry| look(&base.join(entry), rest, tree, wanted, left))
}

/// `find -name` takes a leading dot with a wildcard, unlike a shell.
fn meets_loosely(wanted: &str, own: &str) -> bool {
    meets(wanted.trim_start_matches('.'), own.trim_start_matches('.')) || meets(wanted, own)
}

fn entries(directory: &Path, left: &mut usize) -> Vec<OsString> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let names: Vec<_> = entries.filter_map(Result::ok).map(|entry| entry.file_name()).take(*left).collect();
    *left = left.saturating_sub(names.len());
    names
}

#[cfg(all(test, unix))]
mod tests {
    use super::{LISTED_MAX, Listing, Seen, holds, resolve, resolve_again};
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_are_followed_where_they_lead_and_where_nothing_is() {
        let dir = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(dir.path()).unwrap();
        fs::create_dir_all(base.join("real/deep")).unwrap();
        symlink(base.join("real/deep"), base.join("link")).unwrap();
        symlink("real/new.json", base.join("dangling")).unwrap();
        symlink("circle", base.join("circle")).unwrap();
        let of = |path: &str| resolve(&base.join(path));
        assert_eq!(of("link/x/y"), Some(base.join("real/deep/x/y")));
        assert_eq!(of("link/../x"), Some(base.join("real/x")), "`..` leaves where the link leads");
        assert_eq!(of("dangling"), Some(base.join("real/new.json")));
        assert_eq!(of("gone/../link/a"), Some(base.join("real/deep/a")));
        assert_eq!(of("circle"), None);
        assert_eq!(resolve("a/b".as_ref()), None);
        let mut seen = Seen::default();
        for path in ["link/x", "real/deep/x", "link/../x", "gone/../link/a", "dangling", "circle", "link/x"] {
            assert_eq!(resolve_again(&base.join(path), &mut seen), of(path), "{path}");
        }
    }

    #[test]
    fn a_listing_says_no_only_where_the_disk_would() {
        let dir = tempfile::tempdir().unwrap();
        for name in [".claude", "Cursor"] {
            fs::create_dir(dir.path().join(name)).unwrap();
        }
        symlink("nowhere", dir.path().join(".codex")).unwrap();
        let holds = |name| Listing::of(dir.path()).may_hold(name);
        // A file system may not tell cases apart.
        assert!([".claude", "Cursor", "cursor", ".CODEX"].into_iter().all(holds));
        assert!(!holds(".gemini") && holds(".c*"));
        fs::write(dir.path().join("\u{212a}iro"), "").unwrap();
        assert!(holds(".gemini"), "one that could be any other");
        fs::remove_file(dir.path().join("\u{212a}iro")).unwrap();
        for number in 3..LISTED_MAX {
            fs::write(dir.path().join(number.to_string()), "").unwrap();
        }
        assert!(!holds(".gemini"));
        fs::write(dir.path().join("more"), "").unwrap();
        assert!(holds(".gemini") && Listing::of(&dir.path().join("gone")).may_hold("x"));
    }

    #[test]
    fn what_a_directory_holds_is_found_by_names_and_wildcards() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("a/b")).unwrap();
        fs::write(dir.path().join("a/b/x.json"), "").unwrap();
        let has = |names: &[&str], tree, wanted: Option<&str>| {
            let wanted = wanted.map(|wanted| vec![wanted.to_owned()]);
            let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
            holds(dir.path(), &names, tree, wanted.as_deref())
        };
        assert!(has(&["a", "b", "*.json"], false, None) && has(&["a", "*", "x.json"], false, None));
        assert!(!has(&["a", "b", "*.toml"], false, None) && !has(&["a", "c"], false, None));
        assert!(has(&["a"], true, Some("*.json")) && !has(&["a"], true, Some("*.pyc")));
    }
}
