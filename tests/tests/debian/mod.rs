//! The shell scripts that Debian's packages brought to this machine: a corpus
//! of honest work that nobody here wrote.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// What dpkg knows of each package: `NAME.list` has its files, one a line, and
/// `NAME.postinst` and the like are scripts themselves.
const INFO: &str = "/var/lib/dpkg/info";
const FOLDERS: &[&str] =
    &["/usr/bin/", "/usr/sbin/", "/usr/lib/", "/usr/share/", "/bin/", "/sbin/", "/lib/", "/etc/init.d/"];
/// Not Debian's, though dpkg knows it.
const OTHERS: &[&str] = &["/usr/lib/google-cloud-sdk/"];

/// Longer ones are archives with a script in front.
const BYTES_MAX: u64 = 256 << 10;
const COUNT_MAX: usize = 4_000;

/// One script.
#[derive(Debug)]
pub(crate) struct Found {
    /// Where it is installed.
    pub(crate) name: String,
    pub(crate) text: String,
}

/// The scripts below `/usr` and `/etc/init.d`, by name.
pub(crate) fn installed() -> Vec<Found> {
    let lists = info(|kind| kind == "list");
    let mut paths = BTreeSet::new();
    for text in lists.iter().filter_map(|list| fs::read_to_string(list).ok()) {
        let below = |folders: &[&str], path: &str| folders.iter().any(|folder| path.starts_with(folder));
        let ours = |path: &&str| below(FOLDERS, path) && !below(OTHERS, path);
        // A folder that is merged into `/usr` has one name here.
        paths.extend(text.lines().filter(ours).filter_map(|path| fs::canonicalize(path).ok()));
    }
    scripts(paths)
}

/// The scripts that install and remove the packages.
pub(crate) fn maintainers() -> Vec<Found> {
    scripts(info(|kind| ["preinst", "postinst", "prerm", "postrm"].iter().any(|name| kind == *name)))
}

fn info(wanted: impl Fn(&OsStr) -> bool) -> BTreeSet<PathBuf> {
    let files = fs::read_dir(INFO).into_iter().flatten().flatten().map(|entry| entry.path());
    files.filter(|file| file.extension().is_some_and(&wanted)).collect()
}

fn scripts(paths: BTreeSet<PathBuf>) -> Vec<Found> {
    paths.iter().filter_map(|path| script(path)).take(COUNT_MAX).collect()
}

fn script(path: &Path) -> Option<Found> {
    let about = fs::metadata(path).ok()?;
    if !about.is_file() || about.len() > BYTES_MAX {
        return None;
    }
    let bytes = fs::read(path).ok()?;
    let first = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let named = path.extension().is_some_and(|kind| kind == "sh");
    let is_script = if first.starts_with(b"#!") { is_shell(first) } else { named && !bytes.contains(&0) };
    is_script.then(|| Found {
        name: path.to_string_lossy().into_owned(),
        text: String::from_utf8_lossy(&bytes).into_owned(),
    })
}

/// `#!/bin/sh -e`, `#!/usr/bin/env bash`, and the like.
fn is_shell(first: &[u8]) -> bool {
    let first = String::from_utf8_lossy(first);
    let mut words = first.trim_start_matches("#!").split_whitespace();
    let base = |word: &str| word.rsplit('/').next().unwrap_or_default().to_owned();
    let program = words.next().map(base).unwrap_or_default();
    let program = if program == "env" { words.next().map(base).unwrap_or_default() } else { program };
    ["sh", "bash", "dash"].contains(&program.as_str())
}
