//! What this crate returns when it cannot do its work.

use std::time::Duration;

use portcullis_model::extension::ExtensionError;
use portcullis_model::fault::{Fault, FaultKind};
use portcullis_model::judgement::Refusal;
use portcullis_model::name::PluginName;
use portcullis_runtime::RuntimeError;
use portcullis_schedule::ClaimRefused;

use crate::extension::RegisterError;
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
    /// `[skills]` names something that cannot be.
    #[error("`[skills]` cannot be used: {0}")]
    Skills(String),
    /// What lies on this machine cannot be offered.
    #[error("the skills and commands on this machine cannot be offered: {0}")]
    Register(#[source] RegisterError),
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
            Self::Skills(_) => "host/skills",
            Self::Register(_) => "host/register",
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
    /// What it claims could never be held.
    #[error(transparent)]
    Claim(#[from] ClaimRefused),
    /// Other calls held what it claims for too long.
    #[error("other calls held what `{tool}` needs for {} s (it claims {claim}); make the call again", time.as_secs())]
    Busy {
        /// The tool.
        tool: String,
        /// What it claims.
        claim: String,
        /// How long it waited.
        time: Duration,
    },
    /// It would overwrite what its session has not seen.
    #[error(
        "`{0}` has changed since it was read in this session, so the call was not run; read it again, and make the change to what is there now"
    )]
    Stale(String),
    /// What happened since it was permitted makes it one that is refused.
    #[error("{}", .0.reason)]
    Refused(Refusal),
    /// The batch was cancelled before it had an answer.
    #[error("the call was cancelled before it had an answer; whether it did anything is not known")]
    Cancelled,
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
            Self::Claim(refused) => refused.code(),
            Self::Busy { .. } => "claim/busy",
            Self::Stale(_) => "claim/stale",
            Self::Refused(_) => "refused",
            Self::Cancelled => "cancelled",
            Self::Extension(error) => error.code(),
            Self::Late { .. } => FaultKind::Timeout.as_str(),
        }
    }
}
