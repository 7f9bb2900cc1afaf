//! `list_skills`.

use portcullis_model::extension::{Coverage, LibraryRoot, LibrarySkill};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::entry;
use super::super::index::line;
use super::super::manner::Manner;
use super::super::state::State;
use super::{Failed, Output, arguments};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {}

pub(super) fn run(state: &State, value: &Value) -> Result<Output, Failed> {
    let Arguments {} = arguments(value)?;
    let view = state.view();
    let library = &view.library;
    let rows: Vec<Value> = library.skills.iter().map(|skill| row(skill, state.manner)).collect();
    let roots = state.source.roots();
    let mut text = match library.skills.len() {
        1 => "1 skill".to_owned(),
        count => format!("{count} skills"),
    };
    text.push_str(". Load one with `read_skill`.\n");
    for skill in &library.skills {
        text.push_str(&format!("\n- {}: {}", skill.slug, line(&skill.description)));
        if skill.is_for_the_user {
            text.push_str(" (only when the user asks for it)");
        }
        let (references, files) = (skill.references.len(), skill.files.len());
        text.push_str(&format!(" [references: {references}, files: {files}]"));
        if let Some(why) = &skill.withheld {
            text.push_str(&format!(" (not shown to hosts of the skills extension: {why})"));
        }
    }
    for skipped in &library.skipped {
        text.push_str(&format!("\n- {} cannot be used: {}", skipped.slug, skipped.why));
    }
    text.push_str(&uncovered(&roots, state.manner));
    let skipped: Vec<Value> =
        library.skipped.iter().map(|skill| json!({ "slug": skill.slug, "reason": skill.why })).collect();
    let data = json!({ "skills": rows, "skipped": skipped, "watch": watch(&roots, state.manner) });
    Ok(Output { data, text })
}

fn row(skill: &LibrarySkill, manner: Manner) -> Value {
    let mut row = Map::new();
    row.insert("slug".to_owned(), json!(skill.slug));
    row.insert("uri".to_owned(), json!(skill.uri));
    row.insert("name".to_owned(), json!(skill.name));
    if let Some(title) = &skill.title {
        row.insert("title".to_owned(), json!(title));
    }
    row.insert("description".to_owned(), json!(skill.description));
    row.insert("referenceCount".to_owned(), json!(skill.references.len()));
    row.insert("fileCount".to_owned(), json!(skill.files.len()));
    row.insert("served".to_owned(), json!(skill.withheld.is_none()));
    if let Some(why) = &skill.withheld {
        row.insert("reason".to_owned(), json!(why));
    }
    row.insert("metadata".to_owned(), Value::Object(entry::metadata(skill, manner)));
    Value::Object(row)
}

/// How well the roots are watched.
pub(super) fn watch(roots: &[LibraryRoot], manner: Manner) -> Value {
    let is_active = !roots.is_empty() && roots.iter().all(|root| root.coverage == Coverage::Watching);
    let row = |root: &LibraryRoot| {
        let mut row = json!({ "path": shown_path(root, manner), "state": word(&root.coverage) });
        // What a file system says may hold a path.
        if let (Coverage::Degraded(why), Some(row), true) =
            (&root.coverage, row.as_object_mut(), manner.shows_paths)
        {
            row.insert("reason".to_owned(), json!(why));
        }
        row
    };
    json!({ "active": is_active, "roots": roots.iter().map(row).collect::<Vec<_>>() })
}

/// Names the roots whose changes are not seen.
fn uncovered(roots: &[LibraryRoot], manner: Manner) -> String {
    let mut text = String::new();
    for root in roots.iter().filter(|root| root.coverage != Coverage::Watching) {
        let (path, state) = (shown_path(root, manner), word(&root.coverage));
        text.push_str(&format!("\n\n`{path}` is not watched ({state}); call `reload` to see its changes."));
    }
    text
}

fn shown_path(root: &LibraryRoot, manner: Manner) -> &str {
    if manner.shows_paths {
        return &root.path;
    }
    root.path.rsplit('/').next().unwrap_or_default()
}

const fn word(coverage: &Coverage) -> &'static str {
    match coverage {
        Coverage::Watching => "watching",
        Coverage::Degraded(_) => "degraded",
        Coverage::Off => "off",
    }
}
