//! What the host knows of plugins, for people and programs.

use std::path::{Path, PathBuf};

use portcullis_model::config::GrantConfig;
use portcullis_model::limits::Limits;
use portcullis_runtime::{Digest, Kind};

/// Where a plugin came from, which decides what it may do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// It came with the host.
    Bundled,
    /// The operator named this file, in the configuration or on the command line.
    Named(PathBuf),
    /// The operator put this file into the user's plugin directory.
    User(PathBuf),
    /// This file came with the project.
    Project(PathBuf),
}

impl Origin {
    /// True when the operator stands behind it.
    #[must_use]
    pub const fn is_trusted(&self) -> bool {
        !matches!(self, Self::Project(_))
    }

    /// The word for tables.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Bundled => "bundled",
            Self::Named(_) => "named",
            Self::User(_) => "user",
            Self::Project(_) => "project",
        }
    }

    /// Its file, unless it is embedded.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Bundled => None,
            Self::Named(path) | Self::User(path) | Self::Project(path) => Some(path),
        }
    }
}

/// How a plugin stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PluginState {
    /// It acts.
    Active,
    /// It acts as its last good version; its file is broken.
    Stale(String),
    /// Its file is gone, and it acts on, because it is required.
    Kept,
    /// It is there and not turned on.
    Inactive,
    /// Another plugin of the same name comes first.
    Shadowed,
    /// It cannot be used. Every call is refused, unless it is advisory.
    Broken {
        /// Why.
        reason: String,
        /// A stable word for that.
        code: String,
        /// The operator set `failure_mode = "open"`.
        advisory: bool,
    },
    /// Its file is still being written.
    Settling,
    /// The configuration names it, and there is no such plugin.
    Unresolved,
}

impl PluginState {
    /// The word for tables.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Stale(_) => "stale",
            Self::Kept => "kept",
            Self::Inactive => "inactive",
            Self::Shadowed => "shadowed",
            Self::Broken { advisory: false, .. } => "broken",
            Self::Broken { advisory: true, .. } => "broken (advisory)",
            Self::Settling => "settling",
            Self::Unresolved => "unresolved",
        }
    }

    /// Why it is not simply active; none when there is nothing to add.
    #[must_use]
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Stale(reason) | Self::Broken { reason, .. } => Some(reason),
            Self::Kept => Some("its file is gone; it is required, so it acts on"),
            Self::Shadowed => Some("another plugin of the same name comes first"),
            Self::Settling => Some("its file is still being written"),
            Self::Unresolved => Some("no plugin has this name"),
            Self::Active | Self::Inactive => None,
        }
    }
}

/// One plugin, found or merely named.
#[derive(Debug, Clone)]
pub struct PluginRow {
    /// Its name, or its file's when it never said one.
    pub name: String,
    /// How it stands.
    pub state: PluginState,
    /// Where it came from; none for a name that nothing has.
    pub origin: Option<Origin>,
    /// Its own version.
    pub version: Option<String>,
    /// What it is.
    pub kinds: Vec<Kind>,
    /// The tools that it brings.
    pub tools: Vec<String>,
    /// The digest of its component.
    pub digest: Option<Digest>,
    /// What its author or its operator should know.
    pub warnings: Vec<String>,
}

/// Every plugin that the host knows of.
#[derive(Debug, Clone, Default)]
pub struct Report {
    /// The active ones first, in the order in which they act.
    pub rows: Vec<PluginRow>,
    /// Why every call is refused, if it is.
    pub standing: Vec<String>,
    /// The names that those refusals give, in the same order.
    pub refusing: Vec<String>,
}

/// All that is known of one live plugin.
#[derive(Debug, Clone)]
pub struct Inspection {
    /// Its row in the report.
    pub row: PluginRow,
    /// One line of its own.
    pub description: String,
    /// What the model is told about it.
    pub appendix: Option<String>,
    /// The domains that it serves.
    pub serves: Vec<String>,
    /// The interfaces that it wishes for.
    pub imports: Vec<String>,
    /// What it may use.
    pub limits: Limits,
    /// What it may reach.
    pub grant: GrantConfig,
}
