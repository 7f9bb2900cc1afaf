//! The MCP servers that the configuration names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_model::config::{McpConfig, ServerConfig};
use portcullis_model::extension::Extension as _;
use portcullis_model::name::PluginName;

use crate::broker::{Bounds, Memory, Pool, Server, ServerRow, Settings};
use crate::extension::{Level, Scope};
use crate::world::World;

/// The servers of a host.
#[derive(Debug, Default)]
pub(crate) struct Servers(Vec<Arc<Server>>);

impl Servers {
    /// Those that `config` names. Nothing is started.
    pub(crate) fn new(
        config: &McpConfig,
        workspace: &Path,
        env: Arc<BTreeMap<String, String>>,
        dir: Option<PathBuf>,
    ) -> Self {
        let pool = Pool::new(env, Bounds::read(config), Memory::new(dir));
        let server = |(name, config): (&PluginName, &ServerConfig)| {
            let settings = Settings::new(config.clone(), workspace);
            Arc::new(Server::new(name.as_str(), settings, &pool))
        };
        Self(config.servers.iter().map(server).collect())
    }

    /// Registers them for the pool. Each has a name of its own, and there is nobody yet.
    pub(crate) async fn register(&self, world: &World) {
        for server in &self.0 {
            let registered =
                world.extensions().register(Arc::clone(server) as _, Level::Pool, &Scope::new(), None);
            if let Err(error) = registered {
                tracing::error!("an MCP server is left out: {error}");
            }
        }
        world.look_at_new_ones().await;
    }

    /// How each of them stands.
    pub(crate) fn rows(&self) -> Vec<ServerRow> {
        self.0.iter().map(|server| server.row()).collect()
    }

    /// The one of this name.
    pub(crate) fn named(&self, name: &str) -> Result<&Arc<Server>, NoSuchServer> {
        let server = self.0.iter().find(|server| server.name() == name);
        server.ok_or_else(|| NoSuchServer(name.to_owned()))
    }
}

/// There is no server of that name in the configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the configuration has no MCP server `{0}`")]
pub struct NoSuchServer(pub String);
