//! The clients, installed from their npm packages below the target directory.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::client::Client;

/// The oldest Node.js that every client runs on, and what to install if the
/// system's is older.
const NODE_MIN: u32 = 22;
const NODE: &str = "24";

const INSTALL_LIMIT: Duration = Duration::from_secs(1200);

/// Where the clients are.
pub(crate) struct Installed {
    modules: PathBuf,
    /// The search path with a Node.js that is new enough in front.
    pub(crate) path: OsString,
}

impl Installed {
    /// The program of this name.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        self.modules.join(".bin").join(name)
    }

    /// The version of a package that is there.
    pub(crate) fn version(&self, package: &str) -> String {
        version(&self.modules, package).unwrap_or_default()
    }
}

/// Installs what is not there yet.
pub(crate) fn ensure(folder: &Path, latest: bool) -> Result<Installed> {
    let (modules, path) = node(folder)?;
    let mut wanted: Vec<String> = Client::ALL
        .into_iter()
        .filter(|client| latest || version(&modules, client.package()).as_deref() != Some(client.last_seen()))
        .map(|client| format!("{}@{}", client.package(), if latest { "latest" } else { client.last_seen() }))
        .collect();
    wanted.dedup();
    if !wanted.is_empty() {
        npm(folder, &path, &wanted)?;
    }
    Ok(Installed { modules, path })
}

/// Installs these versions of these packages where they are not there yet.
pub(crate) fn packages(folder: &Path, wanted: &[(&str, &str)]) -> Result<Installed> {
    let (modules, path) = node(folder)?;
    let missing = wanted.iter().filter(|(name, wanted)| version(&modules, name).as_deref() != Some(*wanted));
    let missing: Vec<String> = missing.map(|(name, wanted)| format!("{name}@{wanted}")).collect();
    if !missing.is_empty() {
        npm(folder, &path, &missing)?;
    }
    Ok(Installed { modules, path })
}

/// Where packages go, and a search path with a Node.js that is new enough.
fn node(folder: &Path) -> Result<(PathBuf, OsString)> {
    std::fs::create_dir_all(folder)?;
    let manifest = folder.join("package.json");
    if !manifest.exists() {
        std::fs::write(manifest, "{\"private\": true}\n")?;
    }
    let modules = folder.join("node_modules");
    let mut path = std::env::var_os("PATH").unwrap_or_default();

    if node_version().is_none_or(|version| version < NODE_MIN) {
        let package = format!("node-{}-{}", platform(), arch());
        if version(&modules, &package).is_none() {
            npm(folder, &path, &[format!("{package}@{NODE}")])?;
        }
        path = std::env::join_paths(
            std::iter::once(modules.join(package).join("bin")).chain(std::env::split_paths(&path)),
        )?;
    }
    Ok((modules, path))
}

fn npm(folder: &Path, path: &OsString, packages: &[String]) -> Result<()> {
    eprintln!("installing below {}: {}", folder.display(), packages.join(" "));
    let mut command = Command::new("npm");
    command.args(["install", "--no-fund", "--no-audit", "--loglevel=error"]).args(packages);
    command.current_dir(folder).env("PATH", path);
    crate::agents::process::run(&mut command, INSTALL_LIMIT).context("npm could not install the packages")
}

fn version(modules: &Path, package: &str) -> Option<String> {
    let text = std::fs::read_to_string(modules.join(package).join("package.json")).ok()?;
    let manifest: Value = serde_json::from_str(&text).ok()?;
    manifest.get("version")?.as_str().map(str::to_owned)
}

/// The major version of the system's Node.js.
fn node_version() -> Option<u32> {
    let output = Command::new("node").arg("--version").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    text.trim().trim_start_matches('v').split('.').next()?.parse().ok()
}

fn platform() -> &'static str {
    if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS }
}

fn arch() -> &'static str {
    match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    }
}
