//! The plugins that come with the host: components like any other, embedded.

use portcullis_model::config::GrantConfig;

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
}

impl Bundled {
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
        default_on: true,
        clock: false,
        terminal: false,
    },
    Bundled {
        name: "time",
        component: include_bytes!("../../../../plugins/dist/time.wasm"),
        default_on: true,
        clock: true,
        terminal: false,
    },
    Bundled {
        name: "bell",
        component: include_bytes!("../../../../plugins/dist/bell.wasm"),
        default_on: false,
        clock: false,
        terminal: true,
    },
    Bundled {
        name: "no-secrets",
        component: include_bytes!("../../../../plugins/dist/no-secrets.wasm"),
        default_on: false,
        clock: false,
        terminal: false,
    },
];
