//! `cargo xtask wit` writes `wit/released.lock`; `--check` fails when the text
//! of a released package changed. See `wit/VERSIONING.md`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};
use sha2::{Digest, Sha256};

use crate::process;

const HEADER: &str = "\
# The released packages of the contract: name, and SHA-256 of the text.
# A text below never changes again; see VERSIONING.md. Checked by `cargo xtask wit --check`.
";

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let wit = Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit");
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => release(&wit),
        ["--check"] => check(&wit),
        other => bail!("wit takes `--check` or nothing: `{}`", other.join(" ")),
    }
}

/// Adds packages that the lock does not have. A package that it has is left alone.
fn release(wit: &Path) -> anyhow::Result<()> {
    let mut lock = read_lock(wit)?;
    for (package, digest) in packages(wit)? {
        lock.entry(package).or_insert(digest);
    }
    let lines: String = lock.iter().map(|(package, digest)| format!("{package} {digest}\n")).collect();
    fs::write(wit.join("released.lock"), format!("{HEADER}{lines}"))?;
    check(wit)
}

/// Fails when a released text changed or vanished, or a text is in no lock.
pub(crate) fn check(wit: &Path) -> anyhow::Result<()> {
    let (lock, packages) = (read_lock(wit)?, packages(wit)?);
    for (package, digest) in &lock {
        match packages.get(package) {
            None => {
                bail!("`{package}` is released and its text is gone\nhint: put it back; old plugins need it")
            }
            Some(found) => ensure!(
                found == digest,
                "the text of `{package}` is released and has changed\n\
                 hint: put it back, and make the change in a new version; see wit/VERSIONING.md"
            ),
        }
    }
    for package in packages.keys() {
        ensure!(
            lock.contains_key(package),
            "`{package}` is not in wit/released.lock\nhint: run `cargo xtask wit` when it is to be released"
        );
    }
    process::say(&format!("{} released packages, none changed", lock.len()));
    Ok(())
}

/// Every package below `wit`, with the digest of its files' text.
fn packages(wit: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let mut folders = vec![wit.to_owned()];
    for entry in fs::read_dir(wit.join("deps"))? {
        folders.push(entry?.path());
    }
    let mut packages = BTreeMap::new();
    for folder in folders {
        let mut files: Vec<PathBuf> = Vec::new();
        for entry in fs::read_dir(&folder)? {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "wit") {
                files.push(path);
            }
        }
        files.sort();
        let mut text = String::new();
        for file in &files {
            let part = fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
            text.push_str(&part.replace("\r\n", "\n"));
        }
        let name = text
            .lines()
            .find_map(|line| line.strip_prefix("package ")?.strip_suffix(';'))
            .with_context(|| format!("no package in {}", folder.display()))?;
        packages.insert(name.to_owned(), sha256(&text));
    }
    Ok(packages)
}

fn read_lock(wit: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let file = wit.join("released.lock");
    let text = match fs::read_to_string(&file) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", file.display())),
    };
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let (package, digest) =
                line.split_once(' ').with_context(|| format!("a line of the lock: `{line}`"))?;
            Ok((package.to_owned(), digest.to_owned()))
        })
        .collect()
}

fn sha256(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{check, release};

    fn contract(text: &str) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("deps/host@0.1.0")).unwrap();
        fs::write(dir.path().join("world.wit"), "package a:plugin@0.1.0;\n").unwrap();
        write_host(dir.path(), text);
        dir
    }

    fn write_host(wit: &Path, text: &str) {
        fs::write(wit.join("deps/host@0.1.0/host.wit"), format!("package a:host@0.1.0;\n{text}\n")).unwrap();
    }

    #[test]
    fn a_released_text_that_changes_is_an_error_that_names_it() {
        let wit = contract("interface a {}");
        release(wit.path()).unwrap();
        check(wit.path()).unwrap();
        write_host(wit.path(), "interface b {}");
        let error = check(wit.path()).unwrap_err().to_string();
        assert!(error.contains("`a:host@0.1.0` is released and has changed"), "{error}");
        // Releasing again does not paper over it.
        assert!(release(wit.path()).is_err());
    }

    #[test]
    fn a_released_text_that_vanishes_is_an_error() {
        let wit = contract("interface a {}");
        release(wit.path()).unwrap();
        fs::remove_dir_all(wit.path().join("deps/host@0.1.0")).unwrap();
        assert!(check(wit.path()).unwrap_err().to_string().contains("is gone"));
    }

    #[test]
    fn a_text_in_no_lock_is_an_error() {
        let wit = contract("interface a {}");
        assert!(check(wit.path()).unwrap_err().to_string().contains("not in wit/released.lock"));
    }

    #[test]
    fn the_contract_of_this_repository_is_as_it_was_released() {
        check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../wit")).unwrap();
    }
}
