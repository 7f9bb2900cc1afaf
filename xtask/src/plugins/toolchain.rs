//! The two ways to compile for WebAssembly, and how to build the same bytes
//! wherever the repository lies.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::shim;
use crate::process;

const TARGET: &str = "wasm32-unknown-unknown";

/// See the SDK's `layout`: a small stack, and memory that an ordinary call never
/// has to grow.
const LAYOUT: [&str; 2] = ["-Clink-arg=-zstack-size=32768", "-Clink-arg=--initial-memory=262144"];

pub(super) const REMEDY: &str = "\
hint: either give rustup's toolchain the target:
        rustup target add wasm32-unknown-unknown
      or install Debian's Rust with its sources and linker:
        apt-get install rustc-web cargo-web rust-web-src lld-19";

/// A compiler that has, or can build, a standard library for the target.
#[derive(Debug)]
pub(super) struct Toolchain {
    version: String,
    cargo: PathBuf,
    rustc: PathBuf,
    sysroot: PathBuf,
    /// The linker, when the standard library is built along.
    from_source: Option<&'static str>,
}

impl Toolchain {
    /// Rustup's when it has the target, then Debian's.
    pub(super) fn available() -> Vec<Self> {
        [Self::rustup(), Self::debian()].into_iter().flatten().collect()
    }

    fn rustup() -> Option<Self> {
        let rustc = process::which("rustc")?;
        let cargo = process::which("cargo")?;
        let sysroot = PathBuf::from(process::output(&rustc, &["--print", "sysroot"]).ok()?);
        let has_target = sysroot.join("lib/rustlib").join(TARGET).join("lib").is_dir();
        let version = process::output(&rustc, &["--version"]).ok()?;
        has_target.then_some(Self { version, cargo, rustc, sysroot, from_source: None })
    }

    fn debian() -> Option<Self> {
        let (rustc, cargo) = (PathBuf::from("/usr/bin/rustc"), PathBuf::from("/usr/bin/cargo"));
        let linker = ["wasm-ld-19", "wasm-ld"].into_iter().find(|linker| process::which(linker).is_some())?;
        if !cargo.is_file() {
            return None;
        }
        let sysroot = PathBuf::from(process::output(&rustc, &["--print", "sysroot"]).ok()?);
        let has_source = sysroot.join("lib/rustlib/src/rust/library/Cargo.lock").is_file();
        let version = process::output(&rustc, &["--version"]).ok()?;
        has_source.then_some(Self { version, cargo, rustc, sysroot, from_source: Some(linker) })
    }

    /// As `rustc --version` prints it.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Builds packages of a workspace into `target`; answers the folder of their
    /// modules.
    pub(super) fn build(
        &self,
        root: &Path,
        workspace: &Path,
        target: &Path,
        packages: &[&str],
    ) -> anyhow::Result<PathBuf> {
        let base = vec![("RUSTC".to_owned(), self.rustc.clone().into_os_string())];
        // Before the sources of dependencies are there, their folders cannot be named.
        process::run(&self.cargo, &["fetch", "--locked", "--quiet"], workspace, &base)?;

        let mut environment = base;
        environment.push(("CARGO_TARGET_DIR".to_owned(), target.as_os_str().to_owned()));
        environment.push(("CARGO_ENCODED_RUSTFLAGS".to_owned(), self.flags(root)?));
        environment.push(("RUSTC_WRAPPER".to_owned(), std::env::current_exe()?.into_os_string()));
        environment.push((shim::VARIABLE.to_owned(), root.as_os_str().to_owned()));
        let mut args = vec!["build", "--release", "--locked", "--quiet", "--target", TARGET];
        if let Some(linker) = self.from_source {
            args.push("-Zbuild-std=std,panic_abort");
            environment.push(("RUSTC_BOOTSTRAP".to_owned(), "1".into()));
            environment.push(("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER".to_owned(), linker.into()));
        }
        for package in packages {
            args.extend(["--package", package]);
        }
        process::run(&self.cargo, &args, workspace, &environment)?;
        Ok(target.join(TARGET).join("release"))
    }

    fn flags(&self, root: &Path) -> anyhow::Result<OsString> {
        let mut flags: Vec<OsString> = LAYOUT.iter().map(OsString::from).collect();
        let mut remap = |from: &Path, to: &str| {
            let mut flag = OsString::from("--remap-path-prefix=");
            flag.push(from);
            flag.push("=");
            flag.push(to);
            flags.push(flag);
        };
        // A later flag wins over an earlier one, so the more particular come last.
        remap(&cargo_home()?, "/cargo");
        for registry in registries()? {
            remap(&registry, "/registry");
        }
        remap(&self.sysroot.join("lib/rustlib/src/rust"), "/rust");
        remap(root, "/portcullis");
        Ok(flags.join(&OsString::from("\u{1f}")))
    }

    /// Where this compiler's own sources and those of dependencies lie.
    pub(super) fn machine_paths(&self) -> Vec<String> {
        let library = self.sysroot.join("lib/rustlib");
        [Some(library), cargo_home().ok()]
            .into_iter()
            .flatten()
            .map(|path| path.to_string_lossy().into_owned())
            .collect()
    }
}

fn cargo_home() -> anyhow::Result<PathBuf> {
    if let Some(home) = process::variable("CARGO_HOME") {
        return Ok(home.into());
    }
    let home = process::variable("HOME").or_else(|| process::variable("USERPROFILE"));
    Ok(PathBuf::from(home.context("neither `CARGO_HOME` nor `HOME` is set")?).join(".cargo"))
}

/// The folders below which cargo keeps the sources of dependencies: one for each
/// registry, named after its host.
fn registries() -> anyhow::Result<Vec<PathBuf>> {
    let sources = cargo_home()?.join("registry/src");
    let entries = match fs::read_dir(&sources) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", sources.display())),
    };
    entries.map(|entry| Ok(entry?.path())).collect()
}
