//! What a call does, whatever the tool is called.

use core::fmt;

use crate::bindings::host::call as wire;

/// One thing that a call does.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Effect {
    /// What sort of thing.
    pub kind: EffectKind,
    /// Script text, absolute path, URL, `SERVER/TOOL`, or the tool's name.
    pub target: String,
}

impl Effect {
    /// An effect of `kind` on `target`.
    #[must_use]
    pub fn new(kind: EffectKind, target: impl Into<String>) -> Self {
        Self { kind, target: target.into() }
    }
}

impl From<wire::Effect> for Effect {
    fn from(effect: wire::Effect) -> Self {
        Self { kind: EffectKind::from(effect.kind.as_str()), target: effect.target }
    }
}

/// The vocabulary of effects. A later host may know more of them than this SDK.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum EffectKind {
    /// Runs a script.
    Run,
    /// Reads a file or a directory.
    Read,
    /// Creates or changes a file.
    Write,
    /// Removes a file.
    Delete,
    /// Fetches a URL.
    Fetch,
    /// Calls a tool of an MCP server.
    Mcp,
    /// A tool that the host knows nothing of.
    Opaque,
    /// A kind that this SDK does not know, by its word.
    Other(String),
}

impl EffectKind {
    /// The word that the contract uses.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Run => "run",
            Self::Read => "read",
            Self::Write => "write",
            Self::Delete => "delete",
            Self::Fetch => "fetch",
            Self::Mcp => "mcp",
            Self::Opaque => "opaque",
            Self::Other(word) => word,
        }
    }
}

impl From<&str> for EffectKind {
    fn from(word: &str) -> Self {
        match word {
            "run" => Self::Run,
            "read" => Self::Read,
            "write" => Self::Write,
            "delete" => Self::Delete,
            "fetch" => Self::Fetch,
            "mcp" => Self::Mcp,
            "opaque" => Self::Opaque,
            other => Self::Other(other.to_owned()),
        }
    }
}

impl fmt::Display for EffectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::EffectKind;

    #[test]
    fn a_kind_keeps_its_word_even_when_it_is_unknown() {
        for word in ["run", "read", "write", "delete", "fetch", "mcp", "opaque", "teleport"] {
            assert_eq!(EffectKind::from(word).as_str(), word);
        }
        assert_eq!(EffectKind::from("teleport"), EffectKind::Other("teleport".to_owned()));
    }
}
