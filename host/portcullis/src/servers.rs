//! The MCP servers that the configuration names.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use portcullis_model::config::McpConfig;
use portcullis_model::extension::{ExtensionError, ToolEntry};

use crate::broker::{Bounds, Memory, Pool, Server, ServerRow, Settings};
use crate::extension::{Level, Scope, within};
use crate::host::Host;
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
        dir: Option<std::path::PathBuf>,
    ) -> Self {
        let pool = Pool::new(env, Bounds::read(config), Memory::new(dir));
        let server = |(name, config): (&portcullis_model::name::PluginName, _)| {
            let settings = Settings::new(Clone::clone(config), workspace);
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
}

/// There is no server of that name in the configuration.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the configuration has no MCP server `{0}`")]
pub struct NoSuchServer(pub String);

impl Host {
    /// The MCP servers that the configuration names, by name, as far as they are known.
    /// Nothing is started.
    #[must_use]
    pub fn servers(&self) -> Vec<ServerRow> {
        self.mcp().0.iter().map(|server| server.row()).collect()
    }

    /// The tools of the server `name`, which is started when they are not known.
    ///
    /// # Errors
    /// When there is no such server. The inner error is the server's.
    pub async fn server_tools(
        &self,
        name: &str,
    ) -> Result<Result<Vec<ToolEntry>, ExtensionError>, NoSuchServer> {
        use portcullis_model::extension::ToolProvider as _;
        let server = self.server(name)?;
        let tools = within(&**server, server.list()).await;
        self.learn(vec![Arc::clone(server) as _]).await;
        Ok(tools)
    }

    /// Ends the server `name` and forgets what is known of it: its tools, the generation
    /// that it speaks, and how its tools looked when they were first seen.
    ///
    /// # Errors
    /// When there is no such server.
    pub async fn forget_server(&self, name: &str) -> Result<(), NoSuchServer> {
        let server = self.server(name)?;
        server.forget().await;
        self.learn(vec![Arc::clone(server) as _]).await;
        Ok(())
    }

    fn server(&self, name: &str) -> Result<&Arc<Server>, NoSuchServer> {
        use portcullis_model::extension::Extension as _;
        let server = self.mcp().0.iter().find(|server| server.name() == name);
        server.ok_or_else(|| NoSuchServer(name.to_owned()))
    }
}
