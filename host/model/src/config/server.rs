//! `[mcp]`: the servers that tools come from.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use super::{ClientCount, Millis};
use crate::name::PluginName;

/// `[mcp]`. Only the user's file has it: a server is a program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct McpConfig {
    /// Each server's own table.
    pub servers: BTreeMap<PluginName, ServerConfig>,
    /// The commands that may be started, in which `*` and `?` may stand; absent: every one.
    pub allowed_commands: Option<Vec<String>>,
    /// Refuses a tool whose definition has changed since it was first seen.
    pub pin: bool,
    /// How long a server that nobody uses is kept; absent: 5 min.
    pub idle_ms: Option<Millis>,
    /// How many servers run at once.
    pub max_clients: ClientCount,
    /// How long a list of tools is believed when its server does not tell of changes;
    /// absent: 30 s.
    pub fresh_ms: Option<Millis>,
    /// How long a server that failed is left alone, the first time; absent: 1 s. Then twice
    /// as long each time, 5 min at most.
    pub retry_ms: Option<Millis>,
}

impl McpConfig {
    /// How long a server that nobody uses is kept, when nothing is said.
    pub const IDLE: Duration = Duration::from_secs(300);
    /// How long a list is believed, when nothing is said.
    pub const FRESH: Duration = Duration::from_secs(30);
    /// The first pause after a failure, when nothing is said.
    pub const RETRY: Duration = Duration::from_secs(1);

    /// How long a server that nobody uses is kept.
    #[must_use]
    pub fn idle(&self) -> Duration {
        self.idle_ms.map_or(Self::IDLE, Millis::get)
    }

    /// How long a list is believed.
    #[must_use]
    pub fn fresh(&self) -> Duration {
        self.fresh_ms.map_or(Self::FRESH, Millis::get)
    }

    /// The first pause after a failure.
    #[must_use]
    pub fn retry(&self) -> Duration {
        self.retry_ms.map_or(Self::RETRY, Millis::get)
    }
}

/// `[mcp.servers.NAME]`.
#[derive(Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ServerConfig {
    /// The program: a name that is looked for in `PATH`, or a path, below the workspace
    /// when it is relative.
    pub command: String,
    /// What it is told, word by word. No shell reads it.
    pub args: Vec<String>,
    /// Variables of its environment, beside a few of this process's. `${env:NAME}` and
    /// `${file:PATH}` stand for values from elsewhere.
    pub env: BTreeMap<String, String>,
    /// It gets all of this process's environment.
    pub inherit_env: bool,
    /// Where it runs; absent: the workspace.
    pub cwd: Option<PathBuf>,
    /// What it serves; empty: it does not say.
    pub serves: Vec<String>,
    /// Tools that it is known to have before anybody has asked it.
    pub tools: Vec<String>,
    /// How long it may take to start; absent: 30 s.
    pub start_ms: Option<Millis>,
    /// How long a call may take; absent: 60 s.
    pub timeout_ms: Option<Millis>,
}

impl ServerConfig {
    /// How long a server may take to start, when it says nothing.
    pub const START: Duration = Duration::from_secs(30);
    /// How long a call may take, when it says nothing.
    pub const TIME: Duration = Duration::from_secs(60);

    /// How long it may take to start.
    #[must_use]
    pub fn start(&self) -> Duration {
        self.start_ms.map_or(Self::START, Millis::get)
    }

    /// How long a call may take.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.timeout_ms.map_or(Self::TIME, Millis::get)
    }
}

/// The values of its environment may be secrets, and so may what it is told.
impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerConfig")
            .field("command", &self.command)
            .field("env", &self.env.keys())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::{McpConfig, ServerConfig};

    #[test]
    fn a_server_is_a_command_and_says_no_value_of_its_environment_when_it_is_shown() {
        let text = r#"{"servers":{"git-hub":{"command":"npx","args":["-y","x"],"env":{"TOKEN":"s3cret"}}}}"#;
        let config: McpConfig = serde_json::from_str(text).unwrap();
        let server = config.servers.values().next().unwrap();
        assert_eq!((server.start(), server.time()), (ServerConfig::START, ServerConfig::TIME));
        assert_eq!((config.idle(), config.max_clients.get(), config.pin), (McpConfig::IDLE, 20, false));
        let shown = format!("{config:?}");
        assert!(shown.contains("TOKEN") && !shown.contains("s3cret"), "{shown}");
        assert!(serde_json::from_str::<McpConfig>(r#"{"servers":{"a":{"comand":"x"}}}"#).is_err());
        assert!(serde_json::from_str::<McpConfig>(r#"{"servers":{"A_B":{}}}"#).is_err());
    }
}
