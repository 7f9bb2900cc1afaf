//! The verbs about MCP.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde::Deserialize;

#[derive(Debug, Subcommand)]
pub(crate) enum McpVerb {
    /// Serve skills and prompts to any MCP client.
    Skills(McpSkillsArguments),
}

/// Serves the skills of this workspace and of this user: the skills extension, resources,
/// tools and prompts. Directories are watched, and clients hear of each change. Over stdio
/// nothing but the protocol is on standard output; with HTTP it is the address, on one line.
///
/// `--skill-dir` takes the place of all other directories of skills; its value is JSON:
/// `{"dir": DIR, "include": [GLOB…], "ignore": [GLOB…], "watch": true}`, of which only
/// `dir` is needed. `--prompt-dir` takes the same. Earlier ones win.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct McpSkillsArguments {
    /// How clients are talked to.
    #[arg(long, value_enum, default_value_t = TransportChoice::Stdio)]
    pub(crate) transport: TransportChoice,
    /// The address for HTTP, such as `127.0.0.1:8765`; port 0 takes a free one.
    #[arg(long, value_name = "ADDR", required_if_eq("transport", "http"))]
    pub(crate) listen: Option<SocketAddr>,
    /// A file with the token that every HTTP request has to bear. Without it the variable
    /// `PORTCULLIS_MCP_TOKEN` counts.
    #[arg(long, value_name = "FILE")]
    pub(crate) token_file: Option<PathBuf>,
    /// Answer requests from other machines. Needs a token.
    #[arg(long)]
    pub(crate) allow_remote: bool,
    /// Answer web pages of this origin too, such as `https://app.example:443`. May be given
    /// more than once.
    #[arg(long = "allow-origin", value_name = "ORIGIN")]
    pub(crate) origins: Vec<String>,
    /// Tell HTTP clients where files are on this machine.
    #[arg(long)]
    pub(crate) show_paths: bool,
    /// A directory of skills, as JSON. May be given more than once.
    #[arg(long = "skill-dir", value_name = "JSON", value_parser = place)]
    pub(crate) skill_dirs: Vec<PlaceArgument>,
    /// A directory of prompts, as JSON. May be given more than once.
    #[arg(long = "prompt-dir", value_name = "JSON", value_parser = place)]
    pub(crate) prompt_dirs: Vec<PlaceArgument>,
    /// A file that is a prompt. May be given more than once.
    #[arg(long = "prompt-file", value_name = "PATH")]
    pub(crate) prompt_files: Vec<PathBuf>,
}

/// How clients are talked to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TransportChoice {
    /// The one client at standard input and output.
    Stdio,
    /// Any client that reaches the address.
    Http,
}

/// A directory, and what of it is meant.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PlaceArgument {
    pub(crate) dir: PathBuf,
    #[serde(default)]
    pub(crate) include: Vec<String>,
    #[serde(default)]
    pub(crate) ignore: Vec<String>,
    #[serde(default = "watched")]
    pub(crate) watch: bool,
}

const fn watched() -> bool {
    true
}

fn place(text: &str) -> Result<PlaceArgument, String> {
    serde_json::from_str(text).map_err(|error| format!("it is no such JSON object: {error}"))
}
