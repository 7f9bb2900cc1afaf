//! The tools, for clients whose models reach nothing else.

mod file;
mod list;
mod read;
mod reference;
mod reload;

use std::sync::Arc;

use rmcp::ErrorData;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::state::State;

/// The most bytes of text that one call gives.
const OUTPUT_MAX: usize = 8 << 20;
/// The most things that one call may ask for.
const ASKED_MAX: usize = 256;

/// Why a call failed, in words that a model may act on.
type Failed = String;

/// What a call came to: data, and a text that says the same.
struct Output {
    data: Value,
    text: String,
}

/// All tools, in the order in which they are listed.
pub(super) fn all() -> Vec<Tool> {
    vec![
        tool(
            "list_skills",
            "List every skill: its slug, what it is for, and how many shared references and files it has.",
            json!({}),
            &[],
        ),
        tool(
            "read_skill",
            "Load a skill by its slug: its instructions, and which references and files belong to it. \
             With `bundle` the texts of all its references come too.",
            json!({
                "slug": { "type": "string", "description": "The slug, as `list_skills` names it." },
                "bundle": { "type": "boolean", "description": "Whether the references' texts come too." },
            }),
            &["slug"],
        ),
        tool(
            "list_skill_references",
            "List the shared references of a skill, without any text.",
            json!({ "slug": { "type": "string", "description": "The slug, as `list_skills` names it." } }),
            &["slug"],
        ),
        tool(
            "read_skill_references",
            "Read shared references by the paths that a skill's manifest gives, of any number of skills.",
            json!({ "references": strings("The paths, as a manifest gives them.") }),
            &["references"],
        ),
        tool(
            "read_skill_files",
            "Read files that skills ship, by their `skill://` addresses. What is no text is described.",
            json!({ "files": strings("The addresses, as a manifest gives them.") }),
            &["files"],
        ),
        tool(
            "reload",
            "Look at all skills and prompts again, and say what changed. Needed only where `list_skills` \
             says that a directory is not watched.",
            json!({}),
            &[],
        ),
    ]
}

/// Runs one. What the caller can mend is a result that says so.
pub(super) async fn call(
    state: &State,
    name: &str,
    arguments: Option<JsonObject>,
) -> Result<CallToolResult, ErrorData> {
    let arguments = Value::Object(arguments.unwrap_or_default());
    let output = match name {
        "list_skills" => list::run(state, &arguments),
        "read_skill" => read::run(state, &arguments).await,
        "list_skill_references" => reference::list(state, &arguments).await,
        "read_skill_references" => reference::read(state, &arguments).await,
        "read_skill_files" => file::run(state, &arguments),
        "reload" => reload::run(state, &arguments).await,
        _ => {
            let known: Vec<String> = all().into_iter().map(|tool| tool.name.into_owned()).collect();
            let message = format!("there is no tool `{}`; there are {}", shown(name), known.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    Ok(match output {
        Ok(Output { text, .. }) if text.len() > OUTPUT_MAX => {
            failed(format!("the answer would have more than {OUTPUT_MAX} bytes; ask for less at once"))
        }
        Ok(Output { data, text }) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
            result.structured_content = Some(data);
            result
        }
        Err(why) => failed(why),
    })
}

fn failed(why: String) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}

fn tool(name: &'static str, description: &'static str, properties: Value, required: &[&str]) -> Tool {
    let schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let schema = schema.as_object().cloned().unwrap_or_default();
    // `reload` changes what is served only to what is there anyway.
    let hints = ToolAnnotations::new().read_only(true).idempotent(true).open_world(false);
    Tool::new(name, description, Arc::new(schema)).with_annotations(hints)
}

fn strings(description: &str) -> Value {
    json!({
        "type": "array",
        "items": { "type": "string" },
        "minItems": 1,
        "maxItems": ASKED_MAX,
        "description": description,
    })
}

/// The arguments of a tool.
fn arguments<A: DeserializeOwned>(value: &Value) -> Result<A, Failed> {
    A::deserialize(value).map_err(|error| format!("the arguments are not understood: {error}"))
}

/// What was asked for, each once.
fn asked(items: Vec<String>) -> Result<Vec<String>, Failed> {
    if items.is_empty() || items.len() > ASKED_MAX {
        return Err(format!("name 1 to {ASKED_MAX} of them at once, not {}", items.len()));
    }
    let mut each: Vec<String> = Vec::with_capacity(items.len());
    for item in items {
        if !each.contains(&item) {
            each.push(item);
        }
    }
    Ok(each)
}

/// As much of a caller's word as a message has room for.
fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(200).collect()
}

fn no_skill(slug: &str) -> Failed {
    format!("there is no skill `{}`; `list_skills` names all of them", shown(slug))
}
