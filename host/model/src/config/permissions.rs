//! What the operator permits: `[permissions]` and `[channels]`.

use serde::{Deserialize, Serialize};

/// `[permissions]`: what happens to a call that no guard and no hook objects to. Each
/// list holds rules such as `Bash(git push *)`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PermissionsConfig {
    /// What happens to a call that no rule names; absent: it passes, and the agent's
    /// own rules count.
    pub mode: Option<Mode>,
    /// Calls that pass without consent, when these rules cover all of them.
    pub allow: Vec<String>,
    /// Calls that need consent, when one of these rules means any part of them.
    pub ask: Vec<String>,
    /// Calls that are refused, when one of these rules means any part of them.
    pub deny: Vec<String>,
    /// What the project wants to be asked for; no file has this key. It is apart,
    /// because words that a project chose never reach a model.
    #[serde(skip)]
    pub ask_by_project: Vec<String>,
    /// What the project wants to be refused; no file has this key.
    #[serde(skip)]
    pub deny_by_project: Vec<String>,
}

/// What happens to a call that no rule names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Whatever does more than read is refused; reading passes in the workspace, and
    /// needs consent elsewhere.
    ReadOnly,
    /// Reading in the workspace passes; anything else needs consent.
    Ask,
    /// Reading and editing in the workspace pass; anything else needs consent.
    AcceptEdits,
    /// Everything passes.
    Yolo,
}

impl Mode {
    /// All of them, the strictest first.
    pub const ALL: [Self; 4] = [Self::ReadOnly, Self::Ask, Self::AcceptEdits, Self::Yolo];

    /// Their words, in the same order.
    pub const WORDS: &[&str] = &["read-only", "ask", "accept-edits", "yolo"];

    /// The word in configuration files and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadOnly => "read-only",
            Self::Ask => "ask",
            Self::AcceptEdits => "accept-edits",
            Self::Yolo => "yolo",
        }
    }
}

impl std::str::FromStr for Mode {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .into_iter()
            .find(|mode| mode.as_str() == text)
            .ok_or_else(|| format!("no such mode (known: {}): `{text}`", Self::WORDS.join(", ")))
    }
}

/// `[channels]`: what there is for an agent at all.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChannelsConfig {
    /// Tools, by any agent's name for them.
    pub tools: ChannelConfig,
    /// MCP servers, by name.
    pub servers: ChannelConfig,
    /// Hooks, by name.
    pub hooks: ChannelConfig,
    /// Skills, by path or name.
    pub skills: ChannelConfig,
}

/// Names in which `*` and `?` may stand. What is denied is not there, whatever is
/// allowed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChannelConfig {
    /// What there is; absent: everything.
    pub allow: Option<Vec<String>>,
    /// What there is not.
    pub deny: Vec<String>,
}

#[cfg(test)]
mod tests {
    use super::Mode;

    #[test]
    fn every_mode_has_its_word_in_every_place() {
        for (mode, word) in Mode::ALL.into_iter().zip(Mode::WORDS) {
            assert_eq!(mode.as_str(), *word);
            assert_eq!(word.parse(), Ok(mode));
            assert_eq!(serde_json::to_value(mode).unwrap(), *word);
        }
        assert!("yes".parse::<Mode>().unwrap_err().contains("accept-edits"));
    }
}
