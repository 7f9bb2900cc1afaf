//! The one tool by which a model asks for the text of a skill. A skill is never a tool of
//! its own, and a model is told no more of it than a line before it asks.

use portcullis_model::extension::{Content, ToolEntry, ToolResult, ToolTraits};
use serde_json::{Value, json};

use super::bundle::Bundle;
use super::catalog::{Catalog, Skill};
use super::load::{LoadError, LoadedSkill, SkillLoader};
use crate::frontmatter::one_line;

/// The name of the tool that loads skills.
pub const SKILL_TOOL: &str = "skill";

/// The most files of a skill that a model is told of.
const FILES_MAX: usize = 50;

/// The tool that loads skills; none without any that a model may ask for.
#[must_use]
pub fn tool(catalog: &Catalog) -> Option<ToolEntry> {
    let names: Vec<&str> = listed(catalog).map(|skill| skill.slug.as_str()).collect();
    (!names.is_empty()).then(|| ToolEntry {
        name: SKILL_TOOL.to_owned(),
        description: "Loads the instructions of a skill.".to_owned(),
        schema: json!({
            "type": "object",
            "properties": { "name": { "type": "string", "enum": names } },
            "required": ["name"],
            "additionalProperties": false,
        }),
        traits: ToolTraits { always_loaded: true, ..ToolTraits::default() },
    })
}

/// What the tool answers. It knows the skills that its schema names, and no others.
#[must_use]
pub fn answer(catalog: &Catalog, loader: &SkillLoader, arguments: &Value) -> ToolResult {
    let name = arguments.get("name").and_then(Value::as_str).unwrap_or_default();
    let skill = listed(catalog).find(|skill| skill.slug == name);
    let loaded = match skill {
        Some(skill) => loader.load(catalog, &skill.slug).map(|loaded| (skill, loaded)),
        None => Err(LoadError::Unknown(catalog.unknown(name))),
    };
    match loaded {
        Ok((skill, loaded)) => {
            ToolResult { content: Content::Text(wrapped(skill, &loaded)), is_error: false }
        }
        Err(error) => {
            let answer = json!({ "code": error.code(), "message": error.to_string() });
            ToolResult { content: Content::Text(answer.to_string()), is_error: true }
        }
    }
}

/// A text with where it comes from around it, so that a host can tell it from others.
fn wrapped(skill: &Skill, loaded: &LoadedSkill) -> String {
    let mut text = format!("<skill_content name=\"{}\">\n{}\n", escaped(&loaded.slug), loaded.body.trim());
    let files = Bundle::of(skill).map(|bundle| bundle.files).unwrap_or_default();
    let others: Vec<_> = files.iter().filter(|file| file.path != super::SKILL_FILE).collect();
    if !others.is_empty() {
        text.push_str(&format!(
            "<skill_resources directory=\"{}\">\n",
            escaped(&loaded.directory.to_string_lossy())
        ));
        for file in others.iter().take(FILES_MAX) {
            text.push_str(&format!("- {}\n", escaped(&file.path)));
        }
        if others.len() > FILES_MAX {
            text.push_str(&format!("- and {} more\n", others.len() - FILES_MAX));
        }
        text.push_str("</skill_resources>\n");
    }
    text.push_str("</skill_content>");
    text
}

fn listed(catalog: &Catalog) -> impl Iterator<Item = &Skill> {
    catalog.usable().filter(|skill| skill.is_listed())
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in one_line(text).chars() {
        match c {
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '&' => safe.push_str("&amp;"),
            '"' => safe.push_str("&quot;"),
            _ => safe.push(c),
        }
    }
    safe
}
