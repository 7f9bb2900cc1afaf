//! `reload`.

use serde::Deserialize;
use serde_json::{Value, json};

use super::super::state::State;
use super::list::watch;
use super::{Failed, Output, arguments};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {}

pub(super) async fn run(state: &State, value: &Value) -> Result<Output, Failed> {
    let Arguments {} = arguments(value)?;
    let news = state.refresh().await.map_err(|error| error.to_string())?;
    let view = state.view();
    let (skills, prompts) = (view.library.skills.len(), view.library.prompts.len());
    let references: Vec<String> = news.references.iter().map(|path| view.reference_path(path)).collect();
    let data = json!({
        "reloaded": skills,
        "prompts": prompts,
        "membershipChanged": news.membership,
        "updated": news.skills,
        "filesChanged": news.files,
        "referencesChanged": references,
        "promptsChanged": news.prompts,
        "watch": watch(&state.source.roots(), state.manner),
    });
    let text = if news.is_empty() {
        format!("{skills} skills and {prompts} prompts; nothing changed.")
    } else {
        format!("{skills} skills and {prompts} prompts. What changed:\n{data:#}")
    };
    Ok(Output { data, text })
}
