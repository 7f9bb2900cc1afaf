//! What is recorded of the components that are committed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

const HEADER: &str = "\
# Written by `cargo xtask plugins`; `cargo xtask plugins --check` builds every
# component again with this toolchain and compares bytes.
";

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    /// What the guests in Rust were built with, as `rustc --version` prints it.
    toolchain: String,
    #[serde(default)]
    component: BTreeMap<String, Built>,
}

/// One component.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Built {
    /// SHA-256 of the component.
    pub(super) component: String,
    /// SHA-256 over the files that it was built from.
    pub(super) sources: String,
    /// What it was built with, when that is not the manifest's toolchain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) toolchain: Option<String>,
}

impl Manifest {
    pub(super) fn new(toolchain: &str) -> Self {
        Self { toolchain: toolchain.to_owned(), component: BTreeMap::new() }
    }

    pub(super) fn read(dist: &Path) -> anyhow::Result<Self> {
        let file = dist.join("manifest.toml");
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is malformed", file.display()))
    }

    pub(super) fn write(&self, dist: &Path) -> anyhow::Result<()> {
        Ok(fs::write(dist.join("manifest.toml"), format!("{HEADER}{}", toml::to_string(self)?))?)
    }

    pub(super) fn add(&mut self, name: &str, built: Built) {
        self.component.insert(name.to_owned(), built);
    }

    pub(super) fn get(&self, name: &str) -> anyhow::Result<&Built> {
        self.component.get(name).with_context(|| format!("the manifest says nothing of `{name}`"))
    }

    pub(super) fn has_only(&self, names: &[&str]) -> bool {
        self.component.len() == names.len() && names.iter().all(|name| self.component.contains_key(*name))
    }

    /// What `name` was built with.
    pub(super) fn toolchain(&self, name: &str) -> anyhow::Result<&str> {
        Ok(self.get(name)?.toolchain.as_deref().unwrap_or(&self.toolchain))
    }
}

/// The SHA-256 of some bytes, in hexadecimal.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
