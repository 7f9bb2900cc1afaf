//! The plugins that come with the host: components like any other, embedded.

use portcullis_model::config::GrantConfig;
use portcullis_runtime::{Contract, Digest, Known, PluginInfo, ToolDefinition};
use serde::{Deserialize, Serialize};

/// A plugin that comes with the host.
#[derive(Debug, Clone, Copy)]
pub struct Bundled {
    /// Its name.
    pub name: &'static str,
    /// Its component.
    pub component: &'static [u8],
    /// Active when the operator has no list of their own.
    pub default_on: bool,
    clock: bool,
    terminal: bool,
    /// An [`About`], as JSON.
    about: &'static str,
}

/// What a bundled plugin says of itself, asked when it was built.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct About {
    /// Of its component, in hexadecimal.
    pub(crate) digest: String,
    pub(crate) contract: Contract,
    pub(crate) info: PluginInfo,
    pub(crate) tools: Vec<ToolDefinition>,
}

impl About {
    pub(crate) fn known(&self) -> Option<Known> {
        Some(Known { digest: Digest::parse(&self.digest)?, contract: self.contract.clone() })
    }
}

impl Bundled {
    /// What it says of itself. A test holds that it does.
    pub(crate) fn about(&self) -> Option<About> {
        serde_json::from_str(self.about).ok()
    }

    /// What it is granted without the operator's word: we wrote it.
    pub(crate) fn grant(&self) -> GrantConfig {
        GrantConfig { clock: self.clock, terminal: self.terminal, ..GrantConfig::default() }
    }
}

/// Every plugin that comes with the host, in their default order.
pub const BUNDLED: [Bundled; 4] = [
    Bundled {
        name: "guard",
        component: include_bytes!("../../../../plugins/dist/guard.wasm"),
        about: include_str!("about/guard.json"),
        default_on: true,
        clock: false,
        terminal: false,
    },
    Bundled {
        name: "time",
        component: include_bytes!("../../../../plugins/dist/time.wasm"),
        about: include_str!("about/time.json"),
        default_on: true,
        clock: true,
        terminal: false,
    },
    Bundled {
        name: "bell",
        component: include_bytes!("../../../../plugins/dist/bell.wasm"),
        about: include_str!("about/bell.json"),
        default_on: false,
        clock: false,
        terminal: true,
    },
    Bundled {
        name: "no-secrets",
        component: include_bytes!("../../../../plugins/dist/no-secrets.wasm"),
        about: include_str!("about/no-secrets.json"),
        default_on: false,
        clock: false,
        terminal: false,
    },
];
