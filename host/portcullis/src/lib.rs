//! The gate between an AI agent and its tools.
//!
//! An agent loop opens a [`Host`], a [`Session`] for each conversation and a
//! [`Turn`] for each of its turns, and asks [`Turn::judge`] before it runs a tool.
//! The answer is a [`Permit`] or a [`Refusal`](portcullis_model::judgement::Refusal).
//! Every way in which a guard can fail to answer is a refusal.
//!
//! `docs/guides/agent-loop.md` has the whole of a loop, and what to know of it.

mod admission;
pub mod agent;
mod beneath;
mod broker;
pub mod command;
pub mod config;
mod error;
mod extend;
pub mod extension;
mod follow;
mod frontmatter;
mod gate;
pub mod hook;
mod host;
pub mod install;
pub mod ledger;
mod lift;
mod local;
mod moment;
mod plugin;
mod policy;
mod protect;
mod record;
pub mod registry;
pub mod rule;
mod rules;
mod schedule;
mod schema;
mod servers;
mod session;
pub mod skill;
pub mod surface;
pub mod tool;
pub mod trust;
mod turn;
mod typed;
mod world;

pub use admission::{Part as SectionPart, Section};
pub use broker::ServerRow;
pub use config::{ConfigError, read_config};
pub use error::{HostError, RunError};
pub use extend::Gauges;
pub use follow::ConfigReport;
pub use gate::{Explanation, Judgement, Part, Permit, Understood};
pub use host::{Host, HostOptions, OwnFiles};
pub use lift::{LIFT_MAX, Lift, Lifts};
pub use local::LocalPlaces;
pub use moment::{Noted, Prompted, Ran, Started, Stopped, Told};
pub use plugin::{BUNDLED, Bundled, Inspection, Origin, PluginRow, PluginState, Report};
pub use policy::{
    Approval, ApprovalRequest, Approver, DirectWrites, DirectWritesError, PolicyError, SkillChannel,
};
pub use portcullis_model as model;
pub use portcullis_runtime as runtime;
pub use schedule::{BatchPlan, CLAIM_WAIT, PlannedCall, ShownClaim, Within};
pub use servers::NoSuchServer;
pub use session::Session;
pub use turn::{Called, EndReport, Hold, TOOL_TIME, TextError, ToolError, Turn, TurnCapabilities};
pub use world::{CapabilityReport, Count, Failing, Health};

/// The guide's example, compiled and run as a test.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/agent-loop.md")]
struct AgentLoop;

/// That of the guide on commands.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/commands.md")]
struct Commands;

/// That of the guide on skills.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/skills.md")]
struct Skills;
