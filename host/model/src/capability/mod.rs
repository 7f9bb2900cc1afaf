//! What an agent can use: tools, skills, servers, hooks and commands, each by one id.

mod domain;

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub use domain::Domain;

/// What sort of thing a capability is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CapabilityKind {
    /// A model calls it.
    Tool,
    /// A document that a model loads.
    Skill,
    /// An MCP server.
    Server,
    /// Asked at moments of the agent's life.
    Hook,
    /// A person types it.
    Command,
}

impl CapabilityKind {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Tool, Self::Skill, Self::Server, Self::Hook, Self::Command];

    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Skill => "skill",
            Self::Server => "server",
            Self::Hook => "hook",
            Self::Command => "command",
        }
    }
}

impl fmt::Display for CapabilityKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Who a capability is: `kind:name`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct CapabilityId {
    /// What sort of thing.
    pub kind: CapabilityKind,
    /// Its name, unique among those of its kind.
    pub name: String,
}

impl CapabilityId {
    /// The one of this kind and name.
    #[must_use]
    pub fn new(kind: CapabilityKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }
}

impl fmt::Display for CapabilityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.kind, self.name)
    }
}

impl From<CapabilityId> for String {
    fn from(id: CapabilityId) -> Self {
        id.to_string()
    }
}

impl FromStr for CapabilityId {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (kind, name) = text.split_once(':').unwrap_or((text, ""));
        let kind = CapabilityKind::ALL.into_iter().find(|own| own.as_str() == kind);
        match kind.filter(|_| !name.is_empty()) {
            Some(kind) => Ok(Self::new(kind, name)),
            None => Err(format!(
                "an id is KIND:NAME, where KIND is tool, skill, server, hook or command: `{text}`"
            )),
        }
    }
}

impl TryFrom<String> for CapabilityId {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

/// One capability, as it was declared and as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Capability {
    /// Who it is.
    pub id: CapabilityId,
    /// Where it comes from, such as `bundled`, `plugin time` or `user`.
    pub origin: String,
    /// What it says of itself.
    pub declaration: Declaration,
    /// Whether it can be used, as far as its source knows.
    #[serde(flatten)]
    pub standing: Standing,
}

/// What a capability says of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Declaration {
    /// What it is for.
    pub description: String,
    /// The digest of what it consists of: a body, a schema, a catalogue.
    pub content: Option<String>,
    /// The digest of how it is set up.
    pub configuration: Option<String>,
    /// The domains that it serves. None at all: it did not say, and is never narrowed.
    pub serves: BTreeSet<Domain>,
}

/// Whether a capability can be used, as far as its source knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "standing", content = "why")]
pub enum Standing {
    /// It can.
    Usable,
    /// It can, and its last use failed for this reason.
    Degraded(String),
    /// It cannot: it is not what it should be.
    Broken(String),
    /// It cannot: another one of its name comes first.
    Shadowed(String),
    /// It cannot: the operator does not want it.
    Denied(String),
}

impl Standing {
    /// Whether it can be used.
    #[must_use]
    pub const fn is_usable(&self) -> bool {
        match self {
            Self::Usable | Self::Degraded(_) => true,
            Self::Broken(_) | Self::Shadowed(_) | Self::Denied(_) => false,
        }
    }

    /// The stable word.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Usable => "usable",
            Self::Degraded(_) => "degraded",
            Self::Broken(_) => "broken",
            Self::Shadowed(_) => "shadowed",
            Self::Denied(_) => "denied",
        }
    }

    /// Why it is not simply usable.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::Usable => None,
            Self::Degraded(why) | Self::Broken(why) | Self::Shadowed(why) | Self::Denied(why) => Some(why),
        }
    }
}

/// Whether a capability is there, at this moment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "resolution", content = "reason")]
pub enum Resolution {
    /// It is.
    Available,
    /// Somebody took it away, and why.
    Retired(String),
}

#[cfg(test)]
mod tests {
    use super::{CapabilityId, CapabilityKind, Standing};

    #[test]
    fn an_id_is_a_kind_and_a_name() {
        for text in ["tool:bash", "skill:a/b", "server:github", "hook:pre-tool-use x", "command:mcp:a:b"] {
            let id: CapabilityId = text.parse().unwrap();
            assert_eq!(id.to_string(), text);
            let json = serde_json::to_value(&id).unwrap();
            assert_eq!((json.as_str(), serde_json::from_value(json.clone()).ok()), (Some(text), Some(id)));
        }
        for wrong in ["", "tool", "tool:", "thing:x", ":x"] {
            assert!(wrong.parse::<CapabilityId>().unwrap_err().contains("KIND:NAME"), "{wrong}");
        }
        let skill = CapabilityId::new(CapabilityKind::Skill, "bash");
        assert_ne!(skill, CapabilityId::new(CapabilityKind::Tool, "bash"));
    }

    #[test]
    fn a_standing_says_whether_and_why() {
        let broken = Standing::Broken("no file".to_owned());
        assert_eq!((broken.is_usable(), broken.why(), broken.as_str()), (false, Some("no file"), "broken"));
        assert!(Standing::Usable.is_usable() && Standing::Degraded("late".to_owned()).is_usable());
        assert_eq!(serde_json::to_string(&broken).unwrap(), "{\"standing\":\"broken\",\"why\":\"no file\"}");
        assert_eq!(serde_json::to_string(&Standing::Usable).unwrap(), "{\"standing\":\"usable\"}");
    }
}
