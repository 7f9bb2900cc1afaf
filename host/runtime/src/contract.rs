//! What a component is, read from its exports, and what it wishes, read from its
//! imports. Nothing of it is run for that.

use std::fmt;

use serde::{Deserialize, Serialize};
use wasmtime::component::Component;
use wasmtime::component::types::ComponentItem;

use crate::error::LoadError;

/// The export that every plugin has.
const PLUGIN: &str = "portcullis:plugin/plugin@0.1.0";

/// What a plugin can be. One plugin may be several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Refuses tool calls.
    Guard,
    /// Follows the agent's life.
    Hook,
    /// Brings tools.
    Tool,
    /// Brings slash commands.
    Command,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Guard, Self::Hook, Self::Tool, Self::Command];

    /// The word for tables.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Guard => "guard",
            Self::Hook => "hook",
            Self::Tool => "tool",
            Self::Command => "command",
        }
    }

    /// The interface that a plugin of this kind exports.
    #[must_use]
    pub const fn interface(self) -> &'static str {
        match self {
            Self::Guard => "portcullis:guard/guard@0.1.0",
            Self::Hook => "portcullis:hook/hook@0.1.0",
            Self::Tool => "portcullis:tool/tool@0.1.0",
            Self::Command => "portcullis:command/command@0.1.0",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A component's side of the contract.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contract {
    /// What it is.
    pub kinds: Vec<Kind>,
    /// The interfaces that it wishes for.
    pub imports: Vec<String>,
}

impl Contract {
    /// True when the component is of `kind`.
    #[must_use]
    pub fn is(&self, kind: Kind) -> bool {
        self.kinds.contains(&kind)
    }

    pub(crate) fn read(component: &Component) -> Result<Self, LoadError> {
        let engine = component.engine();
        let ty = component.component_type();
        let exports: Vec<String> = ty
            .exports(engine)
            .filter(|(_, item)| matches!(item.ty, ComponentItem::ComponentInstance(_)))
            .map(|(name, _)| name.to_owned())
            .collect();
        let imports = ty.imports(engine).map(|(name, _)| name.to_owned()).collect();
        let known = || std::iter::once(PLUGIN).chain(Kind::ALL.map(Kind::interface));
        for found in &exports {
            // `package:name/interface@` is the same, the version is not.
            let other = known().find(|ours| unversioned(ours) == unversioned(found) && ours != found);
            if let Some(expected) = other {
                return Err(LoadError::OtherVersion { expected: expected.to_owned(), found: found.clone() });
            }
        }
        if !exports.iter().any(|name| name == PLUGIN) {
            let found = if exports.is_empty() { "nothing".to_owned() } else { exports.join(", ") };
            return Err(LoadError::OtherWorld { expected: PLUGIN, found });
        }
        let kinds = Kind::ALL
            .into_iter()
            .filter(|kind| exports.iter().any(|name| name == kind.interface()))
            .collect();
        Ok(Self { kinds, imports })
    }
}

fn unversioned(name: &str) -> &str {
    name.split('@').next().unwrap_or(name)
}

/// Tells a component from a core module and from anything else by its first
/// eight bytes, so that neither reaches the compiler.
pub(crate) fn check_header(bytes: &[u8]) -> Result<(), LoadError> {
    match bytes.get(..8) {
        Some([0, b'a', b's', b'm', 0x0d, 0, 1, 0]) => Ok(()),
        Some([0, b'a', b's', b'm', _, _, 0, 0]) => Err(LoadError::CoreModule),
        _ => Err(LoadError::NotWasm),
    }
}
