//! From directories of `.wasm` to running plugins: found, loaded, ordered, kept
//! true while the host runs, and never silently fewer than they were.

mod bundled;
mod load;
mod loader;
mod report;
mod set;
mod source;
mod store;
mod tool;
mod watch;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use portcullis_runtime::{CommandDefinition, Guest, Kind, PluginInfo};

use crate::hook::ComponentHook;
use crate::trust::Warrant;

pub use bundled::{BUNDLED, Bundled};
pub(crate) use load::Maker;
pub(crate) use loader::{Loader, Pass};
pub use report::{Inspection, Origin, PluginRow, PluginState, Report};
pub(crate) use set::{PluginSet, Standing};
pub(crate) use source::Sources;
pub(crate) use store::SmallStore;
pub(crate) use tool::{LeftOut, PluginTool};
pub(crate) use watch::{Beside, Watch};

/// A plugin that is loaded, linked, and has said who it is.
#[derive(Debug)]
pub(crate) struct Plugin {
    pub(crate) info: PluginInfo,
    pub(crate) guest: Guest,
    pub(crate) origin: Origin,
    pub(crate) tools: Vec<PluginTool>,
    /// The tools that nobody can call.
    pub(crate) left_out: Vec<LeftOut>,
    pub(crate) commands: Vec<CommandDefinition>,
    /// What it follows, when it is a hook that may act.
    pub(crate) hook: Option<ComponentHook>,
    /// What its author or its operator should know, and what stops nothing.
    pub(crate) warnings: Vec<String>,
    /// For what came with a project and was trusted when it was loaded.
    pub(crate) trusted: Option<Trusted>,
}

/// What a plugin of a project is while the project is trusted.
#[derive(Debug)]
pub(crate) struct Trusted {
    /// Says whether it still is.
    pub(crate) warrant: Arc<Warrant>,
    /// The same plugin without settings and grants, for the moment when it is not.
    pub(crate) bare: Guest,
}

impl Plugin {
    /// Does the user stand behind it at this moment? Trust in a project can be withdrawn
    /// while it runs.
    pub(crate) fn is_trusted(&self) -> bool {
        self.origin.is_trusted()
            || self
                .trusted
                .as_ref()
                .zip(self.origin.path())
                .is_some_and(|(trusted, file)| trusted.warrant.covers(file, &self.guest.digest().to_string()))
    }

    /// True when it is of `kind`, and may act as one. What came with a project
    /// acts as a guard at once, because a guard can only refuse; everything else
    /// waits for trust.
    pub(crate) fn acts_as(&self, kind: Kind) -> bool {
        self.guest.contract().is(kind) && (kind == Kind::Guard || self.is_trusted())
    }

    /// The guest that answers as a guard: with its settings and grants while it has them.
    pub(crate) fn guard(&self) -> &Guest {
        match &self.trusted {
            Some(trusted) if !self.is_trusted() => &trusted.bare,
            Some(_) | None => &self.guest,
        }
    }
}
