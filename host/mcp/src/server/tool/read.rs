//! `read_skill`.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::super::entry;
use super::super::state::State;
use super::{Failed, Output, arguments, file, no_skill, reference};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    slug: String,
    #[serde(default)]
    bundle: bool,
}

pub(super) async fn run(state: &State, value: &Value) -> Result<Output, Failed> {
    let Arguments { slug, bundle } = arguments(value)?;
    let view = state.view();
    let skill = view.library.skill(&slug).ok_or_else(|| no_skill(&slug))?;
    let rows = reference::manifest(state, skill).await?;
    let files = file::manifest(skill, &view);
    let mut data = Map::new();
    data.insert("slug".to_owned(), json!(skill.slug));
    data.insert("uri".to_owned(), json!(skill.uri));
    data.insert("name".to_owned(), json!(skill.name));
    data.insert("description".to_owned(), json!(skill.description));
    data.insert("body".to_owned(), json!(*skill.body));
    data.insert("references".to_owned(), json!(reference::to_json(&rows, &view)));
    data.insert("files".to_owned(), json!(files));
    data.insert("metadata".to_owned(), Value::Object(entry::metadata(skill, state.manner)));
    let mut text = skill.body.to_string();
    if bundle {
        data.insert("bundle".to_owned(), json!(reference::with_bodies(&rows, &view)));
        text.push_str("\n\n");
        text.push_str(&reference::texts(&rows, &view));
    }
    text.push_str(&reference::footer(&rows, &view));
    text.push_str(&file::footer(skill, &view));
    Ok(Output { data: Value::Object(data), text })
}
