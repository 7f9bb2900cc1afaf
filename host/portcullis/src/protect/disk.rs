//! What the disk says of a path: where its links lead, and what is there.

use std::collections::{HashSet, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::ErrorKind;
use std::path::{Component, Path, PathBuf};

use super::name::{is_pattern, meets};

/// As many links as Linux follows in one path.
const LINKS_MAX: usize = 40;

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
#[derive(Debug, Default)]
pub(super) struct Seen(HashSet<PathBuf>);

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
        if !there || part.to_str().is_some_and(is_pattern) || seen.0.contains(&done) {
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
                    seen.0.insert(done.clone());
                }
            }
        }
    }
    Some(done)
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
    use super::{Seen, holds, resolve, resolve_again};
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
