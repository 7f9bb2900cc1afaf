//! The shared references of skills: manifests, and texts.

use std::collections::HashSet;

use portcullis_model::extension::{ExtensionError, LibrarySkill, SharedFile};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::entry;
use super::super::state::State;
use super::super::view::View;
use super::{Failed, OUTPUT_MAX, Output, arguments, asked, no_skill, shown};

/// One row of a manifest: what is declared, and the file as it is now.
pub(super) struct Row {
    label: String,
    /// None: there is no such file, or it cannot be read.
    file: Option<SharedFile>,
}

/// Every reference that `skill` declares, in its order, as it is now.
pub(super) async fn manifest(state: &State, skill: &LibrarySkill) -> Result<Vec<Row>, Failed> {
    let mut rows = Vec::with_capacity(skill.references.len());
    for declared in &skill.references {
        let file = match &declared.path {
            Some(path) => state.source.shared(path).await.map_err(unavailable)?,
            None => None,
        };
        rows.push(Row { label: declared.label.clone(), file });
    }
    Ok(rows)
}

/// The rows as data.
pub(super) fn to_json(rows: &[Row], view: &View) -> Vec<Value> {
    rows.iter().map(|row| Value::Object(fields(row, view))).collect()
}

fn fields(row: &Row, view: &View) -> Map<String, Value> {
    let Some(file) = &row.file else {
        let gone = [("name", json!(row.label)), ("status", json!("not-found"))];
        return gone.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    };
    let mut fields = Map::new();
    fields.insert("path".to_owned(), json!(view.reference_path(&file.path)));
    fields.insert("uri".to_owned(), json!(view.reference_uri(&file.path)));
    fields.insert("name".to_owned(), json!(file.name));
    entry::put_facts(&mut fields, &file.facts);
    if let Some(metadata) = &file.metadata {
        fields.insert("metadata".to_owned(), Value::Object(metadata.clone()));
    }
    fields
}

/// The texts as data: each row with its text.
pub(super) fn with_bodies(rows: &[Row], view: &View) -> Vec<Value> {
    let one = |row: &Row| {
        let mut fields = fields(row, view);
        if let Some(file) = &row.file {
            fields.insert("body".to_owned(), json!(file.body));
        }
        Value::Object(fields)
    };
    rows.iter().map(one).collect()
}

/// The texts one behind the other, each below a header that says what its row says.
pub(super) fn texts(rows: &[Row], view: &View) -> String {
    let mut text = String::new();
    for row in rows {
        text.push_str("---\nreference:\n");
        for (key, value) in fields(row, view) {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            text.push_str(&format!("  {key}: {value}\n"));
        }
        text.push_str("---\n\n");
        if let Some(file) = &row.file {
            text.push_str(&file.body);
            text.push('\n');
        }
    }
    text
}

/// A manifest at the foot of a text.
pub(super) fn footer(rows: &[Row], view: &View) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let mut text = "\n\n## References\n\nRead them with `read_skill_references`, by path.\n".to_owned();
    for row in rows {
        match &row.file {
            Some(file) => {
                let path = view.reference_path(&file.path);
                text.push_str(&format!("\n- {path} ({}, {} bytes)", file.name, file.facts.size));
            }
            None => text.push_str(&format!("\n- {}: not found", row.label)),
        }
    }
    text
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ListArguments {
    slug: String,
}

/// `list_skill_references`.
pub(super) async fn list(state: &State, value: &Value) -> Result<Output, Failed> {
    let ListArguments { slug } = arguments(value)?;
    let view = state.view();
    let skill = view.library.skill(&slug).ok_or_else(|| no_skill(&slug))?;
    let rows = manifest(state, skill).await?;
    let text = if rows.is_empty() {
        format!("the skill `{slug}` declares no references")
    } else {
        format!("The references of the skill `{slug}`.{}", footer(&rows, &view))
    };
    let data = json!({ "slug": skill.slug, "uri": skill.uri, "references": to_json(&rows, &view) });
    Ok(Output { data, text })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReadArguments {
    references: Vec<String>,
}

/// `read_skill_references`.
pub(super) async fn read(state: &State, value: &Value) -> Result<Output, Failed> {
    let ReadArguments { references } = arguments(value)?;
    let view = state.view();
    let mut paths: Vec<String> = Vec::new();
    // All or nothing: a part of an answer would hide that the rest is missing.
    for asked in asked(references)? {
        let path = view.reference(&asked).ok_or_else(|| {
            format!("no skill declares `{}`; use the paths that `read_skill` gives", shown(&asked))
        })?;
        paths.push(path.to_owned());
    }
    let mut seen = HashSet::new();
    paths.retain(|path| seen.insert(path.clone()));
    let (mut rows, mut bytes) = (Vec::with_capacity(paths.len()), 0);
    for path in paths {
        let file = state.source.shared(&path).await.map_err(unavailable)?;
        let file = file.ok_or_else(|| {
            format!("`{}` cannot be read any more; read the skill again", view.reference_path(&path))
        })?;
        bytes += file.body.len();
        if bytes > OUTPUT_MAX {
            return Err(format!("together they have more than {OUTPUT_MAX} bytes; ask for fewer at once"));
        }
        rows.push(Row { label: file.name.clone(), file: Some(file) });
    }
    let data = json!({ "references": with_bodies(&rows, &view) });
    Ok(Output { data, text: texts(&rows, &view) })
}

fn unavailable(error: ExtensionError) -> Failed {
    error.to_string()
}
