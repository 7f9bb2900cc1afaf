//! What a server offers, as it said when it was asked last.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use portcullis_mcp::client::Listed;
use portcullis_model::extension::{SkillEntry, ToolEntry, ToolTraits};
use portcullis_runtime::Digest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::prompt::Prompt;

/// A tool of a server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Tool {
    pub(super) entry: ToolEntry,
    /// It says that running it twice does no harm. Nothing is permitted for that.
    pub(super) repeatable: bool,
    /// It says that it only reads. It may run beside others then, and nothing is permitted
    /// for that either.
    #[serde(default)]
    pub(super) only_reads: bool,
    /// What tells its definition from another one.
    pub(super) digest: String,
}

/// What a server offers.
#[derive(Debug, Clone, Default)]
pub(super) struct Catalogue {
    pub(super) tools: Vec<Tool>,
    pub(super) skills: Vec<SkillEntry>,
    pub(super) prompts: Vec<Prompt>,
    /// When it was asked; none when that was in another process.
    pub(super) learned: Option<Instant>,
    /// How many changes of its tools, and of its prompts, had been heard of by then.
    pub(super) heard: (u64, u64),
    /// The tools whose definitions have changed since they were first seen.
    pub(super) changed: BTreeSet<String>,
}

/// Bytes of a description, as it is kept.
const DESCRIPTION_MAX: usize = 16 << 10;

impl Tool {
    fn read(tool: &Value) -> Option<Self> {
        let name = tool.get("name")?.as_str()?.to_owned();
        let description = tool.get("description").and_then(Value::as_str).unwrap_or_default();
        let schema = tool.get("inputSchema")?.clone();
        let digest = Digest::of(format!("{name}\0{description}\0{schema}").as_bytes()).to_string();
        let hint = |name: &str| tool.pointer(name).and_then(Value::as_bool) == Some(true);
        let description: String = description
            .chars()
            .filter(|own| !own.is_control() || *own == '\n')
            .take(DESCRIPTION_MAX)
            .collect();
        Some(Self {
            entry: ToolEntry { name, description, schema, traits: ToolTraits::default() },
            only_reads: hint("/annotations/readOnlyHint"),
            repeatable: hint("/annotations/readOnlyHint") || hint("/annotations/idempotentHint"),
            digest,
        })
    }

    /// One that the configuration says there is.
    pub(super) fn said(name: &str) -> Self {
        let description = "Nobody has asked its server about it yet.".to_owned();
        let traits = ToolTraits::default();
        let schema = Value::Object(serde_json::Map::new());
        let entry = ToolEntry { name: name.to_owned(), description, schema, traits };
        Self { entry, repeatable: false, only_reads: false, digest: String::new() }
    }
}

/// The tools of a list.
pub(super) fn tools(listed: &Listed) -> Vec<Tool> {
    listed.entries.iter().filter_map(Tool::read).collect()
}

/// Compares the tools with how they were first seen, and notes those that are new.
pub(super) fn compare(tools: &[Tool], pins: &mut BTreeMap<String, String>) -> BTreeSet<String> {
    let mut changed = BTreeSet::new();
    for tool in tools {
        let pin = pins.entry(tool.entry.name.clone()).or_insert_with(|| tool.digest.clone());
        if *pin != tool.digest {
            changed.insert(tool.entry.name.clone());
        }
    }
    changed
}

/// The tool that `name` means: the one of that name, or the only one that differs from it
/// by case, `-` and `_`.
pub(super) fn meant<'t>(tools: &'t [Tool], name: &str) -> Option<&'t Tool> {
    if let Some(tool) = tools.iter().find(|tool| tool.entry.name == name) {
        return Some(tool);
    }
    let mut alike = tools.iter().filter(|tool| folded(&tool.entry.name) == folded(name));
    alike.next().filter(|_| alike.next().is_none())
}

fn folded(name: &str) -> String {
    name.to_lowercase().replace('-', "_")
}

/// Names that `name` may be a slip of, the nearest first; 3 at most.
pub(crate) fn near<'a>(name: &str, names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let wanted = folded(name);
    let mut all: Vec<(usize, &str)> = names
        .map(|own| (strsim::damerau_levenshtein(&wanted, &folded(own)), own))
        .filter(|(slips, own)| {
            let own = folded(own);
            *slips <= own.len().max(3) / 3 || own.contains(&wanted) || wanted.contains(&own)
        })
        .collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().take(3).map(|(_, own)| own.to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use serde_json::json;

    use super::{Tool, compare, meant, near};

    fn tool(name: &str, description: &str) -> Tool {
        let tool = json!({ "name": name, "description": description, "inputSchema": {} });
        Tool::read(&tool).unwrap()
    }

    #[test]
    fn a_name_is_repaired_when_it_can_mean_one_tool_only() {
        let tools = ["create_issue", "list-issues", "get_me", "get-me"].map(|name| tool(name, ""));
        let of = |name| meant(&tools, name).map(|tool| tool.entry.name.as_str());
        assert_eq!(of("Create-Issue"), Some("create_issue"));
        assert_eq!(of("list_issues"), Some("list-issues"));
        assert_eq!((of("get_me"), of("get-me"), of("GET_ME")), (Some("get_me"), Some("get-me"), None));
        assert_eq!(of("delete"), None);
        let names = || tools.iter().map(|tool| tool.entry.name.as_str());
        assert_eq!(near("create_isue", names()), ["create_issue"]);
        assert_eq!(near("issues", names()), ["list-issues"]);
        assert!(near("weather", names()).is_empty());
    }

    #[test]
    fn a_definition_that_changes_is_told_from_one_that_is_new() {
        let mut pins = BTreeMap::new();
        assert!(compare(&[tool("a", "x"), tool("b", "x")], &mut pins).is_empty());
        let changed = compare(&[tool("a", "y"), tool("b", "x"), tool("c", "x")], &mut pins);
        assert_eq!(changed, BTreeSet::from(["a".to_owned()]));
        // It stays so: how it was first seen counts.
        assert_eq!(compare(&[tool("a", "y")], &mut pins), changed);
        assert!(compare(&[tool("a", "x")], &mut pins).is_empty());
    }

    #[test]
    fn what_a_tool_says_of_itself_is_read() {
        let read = |hints| {
            let tool = json!({ "name": "a", "inputSchema": { "x": 1.50 }, "annotations": hints });
            let tool = Tool::read(&tool).unwrap();
            (tool.repeatable, tool.only_reads)
        };
        assert_eq!(read(json!({ "readOnlyHint": true })), (true, true));
        assert_eq!(read(json!({ "idempotentHint": true })), (true, false));
        assert_eq!(read(json!({ "readOnlyHint": "true" })), (false, false));
        assert_eq!(read(json!({})), (false, false));
    }
}
