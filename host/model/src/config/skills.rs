//! Where skills and commands come from.

use std::path::PathBuf;

use serde::Deserialize;

/// `[skills]`: where skills come from, beside the user's and the project's own directory.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SkillsConfig {
    /// The directories that other agents read too.
    pub compat: bool,
    /// More directories, which win.
    pub roots: Vec<PathBuf>,
    /// Links to directories are followed in the user's directories.
    pub follow_links: bool,
    /// The skills that are meant, by path; empty: every one.
    pub include: Vec<String>,
    /// The skills that are not meant, whatever is included.
    pub ignore: Vec<String>,
}

impl Default for SkillsConfig {
    fn default() -> Self {
        Self { compat: true, roots: Vec::new(), follow_links: false, include: Vec::new(), ignore: Vec::new() }
    }
}

/// `[commands]`: where commands come from, beside the user's and the project's own
/// directory and those of plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CommandsConfig {
    /// The directories that other agents read too.
    pub compat: bool,
}

impl Default for CommandsConfig {
    fn default() -> Self {
        Self { compat: true }
    }
}
