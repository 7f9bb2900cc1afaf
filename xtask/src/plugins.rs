//! `cargo xtask plugins` builds every component that the repository ships or
//! tests with. `--check` builds them again into a temporary directory and
//! compares bytes with what is committed; `--check --sources` needs no toolchain
//! and only compares what they were built from.

mod c;
mod compiler;
mod lift;
mod manifest;
pub(crate) mod shim;
mod toolchain;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

use crate::process;
use compiler::Compiler;
use manifest::{Built, Manifest, sha256};

/// Guests that are built together, and where their components are kept.
struct Set {
    language: Language,
    /// Of cargo; for C, where the sources are.
    workspace: &'static str,
    dist: &'static str,
    guests: &'static [Guest],
}

/// What guests are written in.
#[derive(Debug, Clone, Copy)]
enum Language {
    Rust,
    C,
}

/// One component.
struct Guest {
    name: &'static str,
    /// Its cargo package.
    package: &'static str,
    /// Its folder.
    folder: &'static str,
    /// Built with the SDK, and not with the bare contract.
    sdk: bool,
}

const fn plugin(name: &'static str, package: &'static str, folder: &'static str) -> Guest {
    Guest { name, package, folder, sdk: true }
}

const SETS: [Set; 4] = [
    Set {
        language: Language::Rust,
        workspace: "plugins",
        dist: "plugins/dist",
        guests: &[
            plugin("guard", "portcullis-plugin-guard", "plugins/guard"),
            plugin("time", "portcullis-plugin-time", "plugins/time"),
            plugin("bell", "portcullis-plugin-bell", "plugins/bell"),
            plugin("no-secrets", "portcullis-plugin-no-secrets", "plugins/no-secrets"),
        ],
    },
    Set {
        language: Language::Rust,
        workspace: "tests/guests/every-kind",
        dist: "tests/guests/dist",
        guests: &[plugin("every-kind", "every-kind", "tests/guests/every-kind")],
    },
    Set {
        language: Language::Rust,
        workspace: "tests/guests/plain-guard",
        dist: "tests/guests/dist",
        guests: &[Guest {
            name: "plain-guard",
            package: "plain-guard",
            folder: "tests/guests/plain-guard",
            sdk: false,
        }],
    },
    Set {
        language: Language::C,
        workspace: "tests/guests/c-guard",
        dist: "tests/guests/dist",
        guests: &[Guest { name: "c-guard", package: "c-guard", folder: "tests/guests/c-guard", sdk: false }],
    },
];

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    let root = root()?;
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        [] => build(&root),
        ["--check"] => check(&root),
        ["--check", "--sources"] => check_sources(&root),
        other => bail!("plugins takes `--check` or `--check --sources`: `{}`", other.join(" ")),
    }
}

/// The repository's folder.
fn root() -> anyhow::Result<PathBuf> {
    let parent = Path::new(env!("CARGO_MANIFEST_DIR")).parent();
    Ok(parent.context("xtask lies in the repository")?.to_owned())
}

fn build(root: &Path) -> anyhow::Result<()> {
    let rust = Compiler::any(Language::Rust)?;
    let c = Compiler::any(Language::C)?;
    let target = root.join("plugins/target");
    let mut manifests = BTreeMap::new();
    for set in &SETS {
        let (compiler, toolchain) = match set.language {
            Language::Rust => (&rust, None),
            Language::C => (&c, Some(c.version().to_owned())),
        };
        process::say(&format!("{}: building with {}", set.workspace, compiler.version()));
        let components = components(root, set, compiler, &target)?;
        let dist = root.join(set.dist);
        fs::create_dir_all(&dist)?;
        let manifest = manifests.entry(set.dist).or_insert_with(|| Manifest::new(rust.version()));
        for (guest, component) in set.guests.iter().zip(&components) {
            fs::write(dist.join(format!("{}.wasm", guest.name)), component)?;
            process::say(&format!("{}: {}", guest.name, lift::summary(component)?));
            let (component, sources) = (sha256(component), sources(root, set, guest)?);
            manifest.add(guest.name, Built { component, sources, toolchain: toolchain.clone() });
        }
    }
    manifests.iter().try_for_each(|(dist, manifest)| manifest.write(&root.join(dist)))
}

/// Builds and lifts every guest of a set. The sets share `target`, and so one
/// build of the standard library.
fn components(root: &Path, set: &Set, compiler: &Compiler, target: &Path) -> anyhow::Result<Vec<Vec<u8>>> {
    let modules = compiler.modules(root, set, target)?;
    let lift = |(guest, file): (&Guest, &PathBuf)| {
        let module = fs::read(file).with_context(|| format!("cannot read {}", file.display()))?;
        let component = lift::lift(&module).with_context(|| format!("cannot lift `{}`", guest.name))?;
        lift::ensure_portable(&component, &compiler.machine_paths(root))
            .with_context(|| format!("`{}` cannot be shipped", guest.name))?;
        Ok(component)
    };
    set.guests.iter().zip(&modules).map(lift).collect()
}

fn check_sources(root: &Path) -> anyhow::Result<()> {
    for set in &SETS {
        let manifest = Manifest::read(&root.join(set.dist))?;
        let here = SETS.iter().filter(|other| other.dist == set.dist);
        let names: Vec<_> = here.flat_map(|set| set.guests).map(|guest| guest.name).collect();
        ensure!(
            manifest.has_only(&names),
            "{}/manifest.toml does not list these guests: {}\nhint: run `cargo xtask plugins` and commit the result",
            set.dist,
            names.join(", ")
        );
        for guest in set.guests {
            let built = manifest.get(guest.name)?;
            let file = root.join(set.dist).join(format!("{}.wasm", guest.name));
            let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            ensure!(
                sha256(&bytes) == built.component,
                "{}/{}.wasm is not the component that its manifest names\nhint: run `cargo xtask plugins`",
                set.dist,
                guest.name
            );
            ensure!(
                sources(root, set, guest)? == built.sources,
                "the sources of `{}` changed since {}/{}.wasm was built\n\
                 hint: run `cargo xtask plugins` and commit the result",
                guest.name,
                set.dist,
                guest.name
            );
        }
    }
    Ok(())
}

fn check(root: &Path) -> anyhow::Result<()> {
    check_sources(root)?;
    let scratch = tempfile::tempdir()?;
    for set in &SETS {
        let dist = root.join(set.dist);
        let recorded = Manifest::read(&dist)?;
        let first = set.guests.first().context("a set has a guest")?;
        let compiler = Compiler::of_version(set.language, recorded.toolchain(first.name)?)?;
        let components = components(root, set, &compiler, scratch.path())?;
        for (guest, component) in set.guests.iter().zip(&components) {
            let committed = fs::read(dist.join(format!("{}.wasm", guest.name)))?;
            ensure!(
                *component == committed,
                "{}/{}.wasm cannot be built again from its sources: {} bytes committed, {} built, \
                 first difference at byte {}",
                set.dist,
                guest.name,
                committed.len(),
                component.len(),
                committed.iter().zip(component).take_while(|(a, b)| a == b).count()
            );
            process::say(&format!("{}: the same bytes", guest.name));
        }
    }
    Ok(())
}

/// The digest of everything that a guest is built from.
fn sources(root: &Path, set: &Set, guest: &Guest) -> anyhow::Result<String> {
    let mut files = Vec::new();
    if let Language::Rust = set.language {
        for folder in [set.workspace, guest.folder] {
            collect(&root.join(folder).join("Cargo.toml"), &mut files)?;
        }
        collect(&root.join(set.workspace).join("Cargo.lock"), &mut files)?;
    }
    collect(&root.join(guest.folder).join("src"), &mut files)?;
    if guest.sdk {
        collect(&root.join("sdk/rust/Cargo.toml"), &mut files)?;
        collect(&root.join("sdk/rust/src"), &mut files)?;
    }
    let mut contract = Vec::new();
    collect(&root.join("wit"), &mut contract)?;
    files.extend(contract.into_iter().filter(|file| file.extension().is_some_and(|kind| kind == "wit")));
    files.sort();
    files.dedup();
    let mut text = Vec::new();
    for file in files {
        let name = file.strip_prefix(root)?.to_string_lossy().replace('\\', "/");
        let bytes = fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
        text.extend_from_slice(format!("{name} {}\n", sha256(&bytes)).as_bytes());
    }
    Ok(sha256(&text))
}

/// Every file at or below a path.
fn collect(path: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if path.is_dir() {
        for entry in fs::read_dir(path)? {
            collect(&entry?.path(), files)?;
        }
    } else {
        files.push(path.to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{check_sources, root};

    #[test]
    fn every_committed_component_was_built_from_the_sources_beside_it() {
        check_sources(&root().unwrap()).unwrap();
    }
}
