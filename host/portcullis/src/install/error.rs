//! Why an entry is not written.

use std::path::PathBuf;

use crate::agent::Agent;

/// Why an agent's hook entry cannot be written, found or removed. Nothing has been
/// changed then, but for the files before this one.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The program's path is not absolute, or holds a character that a shell command
    /// cannot hold safely.
    #[error(
        "the program's path cannot stand in a hook's command, because {reason}: `{}`; put the program elsewhere",
        path.display()
    )]
    Program {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The file cannot be read.
    #[error("`{}` cannot be read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is no text.
    #[error("`{}` is not UTF-8; it is left as it is", path.display())]
    NotUtf8 {
        /// The file.
        path: PathBuf,
    },
    /// The file is not the JSON that the agent reads.
    #[error("`{}` is not valid JSON ({reason}); it is left as it is: mend it, then install again", path.display())]
    NotJson {
        /// The file.
        path: PathBuf,
        /// Where, and what.
        reason: String,
    },
    /// The file is not the TOML that the agent reads.
    #[error("`{}` is not TOML that a table can be added to ({reason}); it is left as it is: mend it, then install again", path.display())]
    NotToml {
        /// The file.
        path: PathBuf,
        /// Where, and what.
        reason: String,
    },
    /// Nobody knows where the agent keeps its MCP servers.
    #[error(
        "the MCP servers of {agent} are kept where nothing is written; add one there by hand that runs `portcullis mcp skills`"
    )]
    NoServers {
        /// The agent.
        agent: Agent,
    },
    /// A key holds something that no hook can be added to.
    #[error("`{key}` in `{}` is not {expected}; it is left as it is: mend it, then install again", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// The key, from the root.
        key: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A file of this name is there already, and is not ours.
    #[error("`{}` is there already and is not ours; move it away, then install again", path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// Somebody wrote to the file in the meantime.
    #[error("`{}` was changed by somebody else in the meantime; nothing of that is lost: try again", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
    /// The installed entry cannot be tried out.
    #[error("the hook of {agent} cannot be started to try it out: {source}")]
    Start {
        /// The agent.
        agent: Agent,
        /// Why.
        source: std::io::Error,
    },
    /// The file cannot be written.
    #[error("`{}` cannot be written: {source}; it is as it was", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}
