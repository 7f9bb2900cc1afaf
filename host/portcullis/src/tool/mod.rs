//! What a call is, once its agent's words are taken off.
//!
//! Every agent has its own names for the same few tools, and its own fields for
//! what they touch. This module turns a [`ToolCall`] into one canonical name and
//! a list of effects, which is what guards and the gate decide by. It is a pure
//! function: no file is looked at, no environment is read.
//!
//! Whenever a call can be read in two ways, both readings become effects, and
//! whatever cannot be read is [`Malformed`], which the gate refuses.
//!
//! To teach it a tool, add a row to `table.rs`, and a case to `cases.json`.

mod diff;
mod field;
mod malformed;
mod mcp;
mod name;
mod patch;
mod path;
mod reference;
mod resolve;
mod script;
mod table;
mod text;

#[cfg(test)]
mod tests;

use portcullis_model::call::{Effect, ToolCall};

pub use malformed::{CODES, Malformed};
pub(crate) use patch::changes;
pub(crate) use path::Directory;
pub use reference::reference_page;

/// What a call is and does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The canonical name, such as `bash` or `multi_edit`; `mcp:SERVER/TOOL` for
    /// a tool of an MCP server; an unknown tool's own name.
    pub tool: String,
    /// What the call does, in source order, each thing once. Paths are absolute
    /// and lexically normalised; links are not followed.
    pub effects: Vec<Effect>,
    /// The texts that the call hands to a POSIX shell.
    pub scripts: Vec<String>,
    /// The texts that the call hands to PowerShell. They are `run` effects as
    /// well; nothing here can take them apart.
    pub powershell: Vec<String>,
    /// The absolute directory that the call names for itself, if it names one.
    /// Its scripts run there, and not in the directory of [`ToolCall`].
    pub cwd: Option<String>,
    /// The canonical names of the tools that a batch calls, each once.
    pub inner: Vec<String>,
    /// False when the host has no row for the tool, or for a tool within a batch.
    pub known: bool,
}

/// Resolves `call`. A path such as `~/x` is read as it stands, below the call's
/// directory; see [`resolve_with_home`].
///
/// # Errors
/// When the call cannot be understood; the gate refuses it.
pub fn resolve(call: &ToolCall) -> Result<Resolved, Malformed> {
    resolve::resolve(call, None)
}

/// Resolves `call` for a user whose home directory is `home`.
///
/// Some tools expand `~` and some do not, so a path that begins with `~/` gives
/// two effects: below the call's directory, and below `home`.
///
/// # Errors
/// When the call cannot be understood; the gate refuses it.
pub fn resolve_with_home(call: &ToolCall, home: &str) -> Result<Resolved, Malformed> {
    resolve::resolve(call, Some(home))
}

/// The tool of an MCP server that the agent did not tell, by its canonical name.
pub(crate) fn without_server(name: &str) -> Option<&str> {
    of_unknown_server(name.strip_prefix("mcp:")?)
}

/// The same of `SERVER/TOOL`.
pub(crate) fn of_unknown_server(name: &str) -> Option<&str> {
    name.strip_prefix(mcp::UNKNOWN_SERVER)?.strip_prefix('/')
}

/// The canonical name of the tool that any agent calls `name`.
pub(crate) fn canonical_of(name: &str) -> Option<String> {
    name::canonical(name)
}

/// Every name that any agent has for a tool that the host knows.
pub(crate) fn every_name() -> impl Iterator<Item = &'static str> {
    name::every()
}

/// The canonical name of every tool that the host knows, in the table's order.
pub fn canonical_names() -> impl Iterator<Item = &'static str> {
    table::TOOLS.iter().map(|tool| tool.name)
}

/// Is `name` taken: a canonical name, an agent's, an MCP server's tool's, or one
/// that [`resolve`] would refuse? A plugin may not bring a tool of such a name.
#[must_use]
pub fn is_taken(name: &str) -> bool {
    !matches!(name::look_up(name), Ok(name::Named::Unknown))
}
