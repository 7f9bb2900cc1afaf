//! What compiles the guests of a set, whatever they are written in.

use std::path::{Path, PathBuf};

use anyhow::bail;

use super::c::{self, Clang};
use super::toolchain::{self, Toolchain};
use super::{Language, Set};

/// A toolchain for one language.
#[derive(Debug)]
pub(super) enum Compiler {
    Rust(Toolchain),
    C(Clang),
}

impl Compiler {
    /// The first one that is here.
    pub(super) fn any(language: Language) -> anyhow::Result<Self> {
        match Self::available(language).into_iter().next() {
            Some(compiler) => Ok(compiler),
            None => bail!("nothing here compiles {language:?} for WebAssembly\n{}", remedy(language)),
        }
    }

    /// The one of this version.
    pub(super) fn of_version(language: Language, version: &str) -> anyhow::Result<Self> {
        let available = Self::available(language);
        let found: Vec<_> = available.iter().map(|compiler| compiler.version().to_owned()).collect();
        match available.into_iter().find(|compiler| compiler.version() == version) {
            Some(compiler) => Ok(compiler),
            None if found.is_empty() => bail!(
                "cannot compare: the committed components were built with `{version}`, and nothing here compiles \
                 {language:?} for WebAssembly\n{}",
                remedy(language)
            ),
            None => bail!(
                "cannot compare: the committed components were built with `{version}`, and here there is only `{}`\n\
                 hint: install that version, or build them anew with `cargo xtask plugins` and commit the result",
                found.join("`, `")
            ),
        }
    }

    fn available(language: Language) -> Vec<Self> {
        match language {
            Language::Rust => Toolchain::available().into_iter().map(Self::Rust).collect(),
            Language::C => Clang::available().into_iter().map(Self::C).collect(),
        }
    }

    /// As the toolchain itself prints it.
    pub(super) fn version(&self) -> &str {
        match self {
            Self::Rust(toolchain) => toolchain.version(),
            Self::C(clang) => clang.version(),
        }
    }

    /// Builds every guest of a set into `target`; answers their modules, in order.
    pub(super) fn modules(&self, root: &Path, set: &Set, target: &Path) -> anyhow::Result<Vec<PathBuf>> {
        match self {
            Self::Rust(toolchain) => {
                let packages: Vec<_> = set.guests.iter().map(|guest| guest.package).collect();
                let modules = toolchain.build(root, &root.join(set.workspace), target, &packages)?;
                let module = |package: &&str| modules.join(format!("{}.wasm", package.replace('-', "_")));
                Ok(packages.iter().map(module).collect())
            }
            Self::C(clang) => {
                set.guests.iter().map(|guest| clang.build(root, &root.join(guest.folder), target)).collect()
            }
        }
    }

    /// What no component may hold.
    pub(super) fn machine_paths(&self, root: &Path) -> Vec<String> {
        let mut paths: Vec<String> = ["home", "root", "Users"].map(|folder| format!("/{folder}/")).into();
        paths.extend(["registry/src/".to_owned(), root.to_string_lossy().into_owned()]);
        match self {
            Self::Rust(toolchain) => paths.extend(toolchain.machine_paths()),
            Self::C(_) => paths.push("/usr/lib/llvm".to_owned()),
        }
        paths
    }
}

fn remedy(language: Language) -> &'static str {
    match language {
        Language::Rust => toolchain::REMEDY,
        Language::C => c::REMEDY,
    }
}
