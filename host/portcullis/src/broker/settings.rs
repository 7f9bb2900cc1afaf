//! How a server is started and used.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use portcullis_mcp::client::{Program, Surroundings};
use portcullis_model::capability::Domain;
use portcullis_model::config::{McpConfig, ServerConfig};
use portcullis_runtime::Digest;
use serde_json::json;

use super::error::ServerError;
use crate::rule::Name;

/// How one server is started and used.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    config: ServerConfig,
    directory: PathBuf,
    /// What it serves, as far as its table says.
    pub(super) serves: BTreeSet<Domain>,
    /// What tells it from other servers: the same program that is started in the same way
    /// is the same server, whatever it is called.
    pub(super) digest: String,
}

impl Settings {
    /// The server that `config` defines, for a workspace.
    pub(crate) fn new(config: ServerConfig, workspace: &Path) -> Self {
        let directory = config.cwd.clone().unwrap_or_else(|| workspace.to_owned());
        let ServerConfig { command, args, env, inherit_env, .. } = &config;
        let times = [config.start(), config.time()].map(|time| time.as_millis().to_string());
        let identity = json!([command, args, env, inherit_env, directory, times]);
        let digest = Digest::of(identity.to_string().as_bytes()).to_string();
        let serves = config.serves.iter().cloned().map(Domain::from).collect();
        Self { serves, digest, directory, config }
    }

    pub(super) fn start(&self) -> Duration {
        self.config.start()
    }

    pub(super) fn time(&self) -> Duration {
        self.config.time()
    }

    /// The tools that it is said to have.
    pub(super) fn tools(&self) -> Vec<String> {
        self.config.tools.clone()
    }

    /// The program, with its environment. This reads the files that hold its secrets.
    pub(super) fn program(
        &self,
        ambient: &BTreeMap<String, String>,
        allowed: Option<&[Name]>,
    ) -> Result<Program, ServerError> {
        let command = self.config.command.as_str();
        if command.is_empty() {
            let reason = "its table has no `command`";
            return Err(ServerError::new("server/no-program", reason, "add the program that it is"));
        }
        if allowed.is_some_and(|allowed| !allowed.iter().any(|name| name.is_match(command))) {
            let reason = format!("`mcp.allowed_commands` does not name `{command}`");
            return Err(ServerError::new("server/not-allowed", reason, "add it there"));
        }
        let from = Surroundings { ambient, directory: &self.directory, inherit: self.config.inherit_env };
        let (variables, secrets) = from.resolve(&self.config.env)?;
        let arguments = self.config.args.clone();
        Ok(Program::find(command, arguments, self.directory.clone(), variables, secrets)?)
    }
}

/// What holds for all servers of a workspace.
#[derive(Debug, Clone)]
pub(crate) struct Bounds {
    /// How long a server that nobody uses is kept.
    pub(crate) idle: Duration,
    /// How many run at once.
    pub(crate) clients: usize,
    /// A tool whose definition has changed is refused.
    pub(crate) pin: bool,
    /// The commands that may be started; none: every one.
    pub(crate) allowed: Option<Vec<Name>>,
    /// How long a list of a server that does not tell of changes is believed.
    pub(crate) fresh: Duration,
    /// How long is waited before a server that has failed is tried anew, the first time;
    /// then twice as long each time, 5 min at most.
    pub(crate) retry: Duration,
}

/// The longest time between two tries.
const RETRY_MAX: Duration = Duration::from_secs(300);

impl Bounds {
    /// What `config` says. A name that means nothing allows nothing; the reader of the
    /// configuration has told of it.
    pub(crate) fn read(config: &McpConfig) -> Self {
        let names = |names: &Vec<String>| names.iter().filter_map(|name| Name::new(name).ok()).collect();
        Self {
            idle: config.idle(),
            clients: config.max_clients.get(),
            pin: config.pin,
            allowed: config.allowed_commands.as_ref().map(names),
            fresh: config.fresh(),
            retry: config.retry(),
        }
    }

    /// How long is waited after so many failures in a row.
    pub(super) fn pause(&self, failures: u32) -> Duration {
        let doubled = 2_u32.checked_pow(failures.saturating_sub(1)).unwrap_or(u32::MAX);
        self.retry.saturating_mul(doubled).min(RETRY_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bounds, McpConfig};

    #[test]
    fn pauses_double_up_to_five_minutes() {
        let bounds = Bounds::read(&McpConfig::default());
        let pauses: Vec<_> = [1, 2, 3, 9, 10, 99].map(|n| bounds.pause(n).as_secs()).into();
        assert_eq!(pauses, [1, 2, 4, 256, 300, 300]);
    }
}
