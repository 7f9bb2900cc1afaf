//! From directories of `.wasm` to running plugins: found, loaded, ordered, kept
//! true while the host runs, and never silently fewer than they were.

mod bundled;
mod load;
mod loader;
mod report;
mod set;
mod source;
mod store;
mod watch;

use portcullis_runtime::{Guest, Kind, PluginInfo, ToolDefinition};

use crate::hook::ComponentHook;

pub use bundled::{BUNDLED, Bundled};
pub(crate) use load::Maker;
pub(crate) use loader::{Loader, Pass};
pub use report::{Inspection, Origin, PluginRow, PluginState, Report};
pub(crate) use set::{PluginSet, Standing};
pub(crate) use source::Sources;
pub(crate) use store::SmallStore;
pub(crate) use watch::Watch;

/// A plugin that is loaded, linked, and has said who it is.
#[derive(Debug)]
pub(crate) struct Plugin {
    pub(crate) info: PluginInfo,
    pub(crate) guest: Guest,
    pub(crate) origin: Origin,
    pub(crate) tools: Vec<ToolDefinition>,
    /// What it follows, when it is a hook that may act.
    pub(crate) hook: Option<ComponentHook>,
    /// What its author or its operator should know, and what stops nothing.
    pub(crate) warnings: Vec<String>,
}

impl Plugin {
    /// True when it is of `kind`, and may act as one. What came with a project
    /// acts as a guard at once, because a guard can only refuse; everything else
    /// waits for trust.
    pub(crate) fn acts_as(&self, kind: Kind) -> bool {
        self.guest.contract().is(kind) && (self.origin.is_trusted() || kind == Kind::Guard)
    }
}
