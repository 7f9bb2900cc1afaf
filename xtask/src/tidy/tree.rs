//! The files of the repository, read once for every rule.

use std::fs;
use std::path::Path;

use anyhow::Context;

use super::names::{Name, names};

/// Every file that the rules look at.
#[derive(Default)]
pub(super) struct Tree {
    pub(super) files: Vec<File>,
    pub(super) crates: Vec<Crate>,
}

/// One file.
pub(super) struct File {
    /// From the root, with forward slashes.
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
    /// When it is Rust.
    pub(super) rust: Option<Rust>,
}

/// A Rust file, taken apart.
pub(super) struct Rust {
    pub(super) ast: syn::File,
    /// Everything that it names.
    pub(super) names: Vec<Name>,
}

/// A package of any of our workspaces.
pub(super) struct Crate {
    /// Its folder, such as `host/model`.
    pub(super) dir: String,
    pub(super) name: String,
    pub(super) manifest: toml::Table,
}

impl Tree {
    /// Reads everything below `root` but what git and cargo keep there.
    pub(super) fn read(root: &Path) -> anyhow::Result<Self> {
        let mut found = Vec::new();
        walk(root, String::new(), &mut found)?;
        found.sort();
        let mut files = Vec::new();
        for path in found {
            let bytes = fs::read(root.join(&path)).with_context(|| format!("cannot read {path}"))?;
            files.push((path, bytes));
        }
        Self::new(files)
    }

    /// A tree of these paths and contents.
    pub(super) fn new(files: impl IntoIterator<Item = (String, Vec<u8>)>) -> anyhow::Result<Self> {
        let mut tree = Self::default();
        for (path, bytes) in files {
            let mut rust = None;
            if has_extension(&path, "rs") {
                let text = std::str::from_utf8(&bytes).with_context(|| path.clone())?;
                let ast = syn::parse_file(text).with_context(|| format!("cannot parse {path}"))?;
                rust = Some(Rust { names: names(&ast), ast });
            } else if let Some(dir) = path.strip_suffix("/Cargo.toml") {
                let text = std::str::from_utf8(&bytes).with_context(|| path.clone())?;
                let manifest: toml::Table =
                    toml::from_str(text).with_context(|| format!("cannot parse {path}"))?;
                let name = manifest.get("package").and_then(|package| package.get("name"));
                if let Some(name) = name.and_then(toml::Value::as_str) {
                    tree.crates.push(Crate { dir: dir.to_owned(), name: name.to_owned(), manifest });
                }
            }
            tree.files.push(File { path, bytes, rust });
        }
        Ok(tree)
    }

    /// The Rust files, with their trees.
    pub(super) fn rust(&self) -> impl Iterator<Item = (&File, &Rust)> {
        self.files.iter().filter_map(|file| Some((file, file.rust.as_ref()?)))
    }

    /// The package that a file belongs to: the innermost one.
    pub(super) fn crate_of(&self, path: &str) -> Option<&Crate> {
        let within = |krate: &&Crate| path.strip_prefix(&krate.dir).is_some_and(|rest| rest.starts_with('/'));
        self.crates.iter().filter(within).max_by_key(|krate| krate.dir.len())
    }
}

impl File {
    /// Its text, when it is one.
    pub(super) fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.bytes).ok()
    }

    /// True for what only tests are made of, and for examples and benches.
    pub(super) fn is_aside(&self) -> bool {
        let path = &self.path;
        let folder =
            |name: &str| path.starts_with(&format!("{name}/")) || path.contains(&format!("/{name}/"));
        ["tests", "examples", "benches"].into_iter().any(folder) || path.ends_with("/tests.rs")
    }
}

/// True for `x.EXTENSION`.
pub(super) fn has_extension(path: &str, extension: &str) -> bool {
    Path::new(path).extension().is_some_and(|found| found == extension)
}

fn walk(root: &Path, below: String, found: &mut Vec<String>) -> anyhow::Result<()> {
    for entry in fs::read_dir(root.join(&below))? {
        let entry = entry?;
        let name = entry.file_name().into_string().map_err(|name| anyhow::anyhow!("not text: {name:?}"))?;
        if name == ".git" || name == "target" {
            continue;
        }
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        let kind = entry.file_type()?;
        if kind.is_dir() {
            walk(root, path, found)?;
        } else if kind.is_file() {
            found.push(path);
        }
    }
    Ok(())
}
