//! What a list holds.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::capability::Domain;

/// The type of a skill's text when nobody says another one.
pub const SKILL_MIME: &str = "text/markdown";

/// A skill, as a list names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SkillEntry {
    /// Where its text is read.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// When to use it.
    pub description: String,
    /// The type of its text.
    #[serde(default = "markdown")]
    pub mime: String,
    /// The SHA-256 digest of its text, where whoever brings it knows it: another digest is
    /// another skill.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// What it serves. Nothing: it did not say.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub serves: BTreeSet<Domain>,
}

impl SkillEntry {
    /// One of [`SKILL_MIME`].
    #[must_use]
    pub fn new(uri: impl Into<String>, name: impl Into<String>, description: impl Into<String>) -> Self {
        let (uri, name, description) = (uri.into(), name.into(), description.into());
        Self { uri, name, description, mime: markdown(), digest: None, serves: BTreeSet::new() }
    }
}

fn markdown() -> String {
    SKILL_MIME.to_owned()
}

/// A resource, as a list names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceEntry {
    /// Where it is read.
    pub uri: String,
    /// Its name.
    pub name: String,
    /// What it is.
    pub description: String,
    /// Its type.
    pub mime: String,
}

/// A tool, as a list names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolEntry {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// The JSON schema of its arguments.
    pub schema: Value,
    /// What it says of itself besides.
    #[serde(flatten)]
    pub traits: ToolTraits,
}

/// What a tool says of itself, so that nobody needs a table of tools.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ToolTraits {
    /// What it serves. Nothing: it did not say, and is always shown.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    pub serves: BTreeSet<Domain>,
    /// It is shown in every turn.
    #[serde(skip_serializing_if = "is_false")]
    pub always_loaded: bool,
    /// It shows a card: a form of the answer, and no reading of the request.
    #[serde(skip_serializing_if = "is_false")]
    pub presents_card: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// A command, as a list names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandEntry {
    /// Its name, without the slash.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// A hint at what can be typed behind it; empty when nothing is.
    #[serde(default)]
    pub arguments: String,
    /// Whose it is, as a list says it: `project`, `plugin:NAME`, `user`. Empty: its
    /// extension's.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub from: String,
    /// A digest of what it consists of, where whoever brings it knows it: another digest is
    /// another command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Whether a plugin's command of the same name comes before it.
    #[serde(default)]
    pub rank: CommandRank,
}

impl CommandEntry {
    /// One without arguments that comes behind those of plugins.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            arguments: String::new(),
            from: String::new(),
            digest: None,
            rank: CommandRank::Last,
        }
    }
}

/// Which of two commands of one name counts, where one of them is a plugin's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommandRank {
    /// This one.
    First,
    /// The plugin's.
    #[default]
    Last,
}

/// What an extension is known to bring.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Known {
    /// Its tools.
    pub tools: Vec<ToolEntry>,
    /// Its skills.
    pub skills: Vec<SkillEntry>,
    /// Its commands.
    pub commands: Vec<CommandEntry>,
    /// Why the last look at it, or its last use, failed. Not how often, and not when: who
    /// fails again for the same reason has not changed.
    pub failed: Option<String>,
}

/// What was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Content {
    /// Text.
    Text(String),
    /// Bytes, as they are.
    Bytes(Vec<u8>),
}

/// What a tool gave back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolResult {
    /// Its answer.
    pub content: Content,
    /// The tool says that it failed.
    pub is_error: bool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Content, SkillEntry, ToolResult};

    #[test]
    fn entries_have_one_shape_as_data() {
        let skill = SkillEntry::new("skill://pdf/SKILL.md", "pdf", "Reads PDF files.");
        let value = serde_json::to_value(&skill).unwrap();
        assert_eq!(
            value,
            json!({
                "uri": "skill://pdf/SKILL.md", "name": "pdf", "description": "Reads PDF files.",
                "mime": "text/markdown",
            })
        );
        let bare = json!({ "uri": "skill://pdf/SKILL.md", "name": "pdf", "description": "Reads PDF files." });
        assert_eq!(serde_json::from_value::<SkillEntry>(bare).unwrap(), skill);
        let result = ToolResult { content: Content::Bytes(vec![0x89, b'P']), is_error: false };
        let value = serde_json::to_value(&result).unwrap();
        assert_eq!(value, json!({ "content": { "bytes": [137, 80] }, "is_error": false }));
        assert_eq!(serde_json::from_value::<ToolResult>(value).unwrap(), result);
    }
}
