//! What this crate returns when it cannot do its work.

use std::time::Duration;

use portcullis_model::extension::ExtensionError;
use portcullis_model::fault::{Fault, FaultKind};
use portcullis_model::name::PluginName;
use portcullis_runtime::RuntimeError;

use crate::hook::HookError;
use crate::policy::PolicyError;
use crate::registry::Unusable;

/// Why a host cannot open.
#[derive(Debug, thiserror::Error)]
pub enum HostError {
    /// The WebAssembly runtime cannot start.
    #[error(transparent)]
    Runtime(#[from] RuntimeError),
    /// `--no-plugins`, while the user's file forbids it.
    #[error("plugins cannot be turned off: `plugins.locked` is true in the user's configuration")]
    Locked,
    /// A script hook that is not defined as one can be.
    #[error("a hook of the configuration cannot be used: {0}")]
    Hook(#[source] HookError),
    /// A rule or a name of the policy that is none.
    #[error("the configuration's policy cannot be used: {0}")]
    Policy(#[from] PolicyError),
    /// The watch on the plugin directories cannot start.
    #[error("the thread that watches the plugin directories cannot start: {0}")]
    Watch(#[source] std::io::Error),
}

impl HostError {
    /// A stable word.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Runtime(_) => "host/runtime",
            Self::Locked => "host/plugins-locked",
            Self::Hook(_) => "host/hook",
            Self::Policy(_) => "host/policy",
            Self::Watch(_) => "host/watch",
        }
    }
}

/// Why a permitted call of a plugin's tool gave no result.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Nobody brings the tool: the agent runs it itself.
    #[error("no plugin and no extension brings the tool `{0}`")]
    NotAPluginTool(String),
    /// The tool misbehaved.
    #[error("the tool of the {plugin} plugin failed: {fault}")]
    Fault {
        /// The plugin.
        plugin: PluginName,
        /// What happened.
        fault: Fault,
    },
    /// It was taken away since it was permitted.
    #[error(transparent)]
    Unusable(#[from] Unusable),
    /// The extension could not run it.
    #[error(transparent)]
    Extension(#[from] ExtensionError),
    /// The extension did not answer.
    #[error("the tool of `{extension}` did not answer within {} s", time.as_secs())]
    Late {
        /// The extension.
        extension: String,
        /// How long it was waited for.
        time: Duration,
    },
}

impl RunError {
    /// A stable word.
    #[must_use]
    pub fn code(&self) -> &str {
        match self {
            Self::NotAPluginTool(_) => "unknown_capability",
            Self::Fault { fault, .. } => fault.kind.as_str(),
            Self::Unusable(unusable) => unusable.code(),
            Self::Extension(error) => error.code(),
            Self::Late { .. } => FaultKind::Timeout.as_str(),
        }
    }
}
