//! The files that skills ship.

use portcullis_model::extension::{LibraryFile, LibrarySkill};
use serde::Deserialize;
use serde_json::{Value, json};

use super::super::address;
use super::super::mime;
use super::super::state::State;
use super::super::view::View;
use super::{Failed, OUTPUT_MAX, Output, arguments, asked, shown};

/// The files of `skill`, without their texts. Its `SKILL.md` is what was asked for.
pub(super) fn manifest(skill: &LibrarySkill, view: &View) -> Vec<Value> {
    own_files(skill, view).map(|(uri, file)| describe(uri, file)).collect()
}

fn own_files<'v>(
    skill: &'v LibrarySkill,
    view: &'v View,
) -> impl Iterator<Item = (&'v String, &'v LibraryFile)> {
    let others = skill.files.iter().filter(|uri| **uri != skill.uri);
    others.filter_map(|uri| Some((uri, view.library.files.get(uri)?)))
}

fn describe(uri: &str, file: &LibraryFile) -> Value {
    json!({ "uri": uri, "size": file.facts.size, "mimeType": mime::of(uri, &file.bytes) })
}

/// The manifest at the foot of a text.
pub(super) fn footer(skill: &LibrarySkill, view: &View) -> String {
    let mut rows = own_files(skill, view).peekable();
    if rows.peek().is_none() {
        return String::new();
    }
    let mut text = "\n\n## Files\n\nRead them with `read_skill_files`, by address.\n".to_owned();
    for (uri, file) in rows {
        text.push_str(&format!("\n- {uri} ({}, {} bytes)", mime::of(uri, &file.bytes), file.facts.size));
    }
    text
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    files: Vec<String>,
}

/// `read_skill_files`.
pub(super) fn run(state: &State, value: &Value) -> Result<Output, Failed> {
    let Arguments { files } = arguments(value)?;
    let view = state.view();
    let mut found: Vec<(String, &LibraryFile)> = Vec::new();
    for asked in asked(files)? {
        let (uri, file) = find(&view, &asked).ok_or_else(|| {
            format!("no skill has a file `{}`; use the addresses that `read_skill` gives", shown(&asked))
        })?;
        if !found.iter().any(|(other, _)| *other == uri) {
            found.push((uri, file));
        }
    }
    let bytes: usize = found.iter().map(|(_, file)| file.bytes.len()).sum();
    if bytes > OUTPUT_MAX {
        return Err(format!("together they have more than {OUTPUT_MAX} bytes; ask for fewer at once"));
    }
    let (mut rows, mut text) = (Vec::with_capacity(found.len()), String::new());
    for (uri, file) in found {
        let mut row = describe(&uri, file);
        let (mime, size) = (mime::of(&uri, &file.bytes), file.facts.size);
        text.push_str(&format!("---\nfile:\n  uri: {uri}\n  size: {size}\n  mimeType: {mime}\n---\n\n"));
        match (std::str::from_utf8(&file.bytes), row.as_object_mut()) {
            (Ok(body), Some(row)) => {
                row.insert("text".to_owned(), json!(body));
                text.push_str(body);
                text.push('\n');
            }
            (Ok(_), None) => {}
            (Err(_), _) => text.push_str("It is no text; `resources/read` gives its bytes.\n"),
        }
        rows.push(row);
    }
    Ok(Output { data: json!({ "files": rows }), text })
}

/// A tool reaches the files of every skill, also of one that no host is shown.
fn find<'v>(view: &'v View, asked: &str) -> Option<(String, &'v LibraryFile)> {
    let files = &view.library.files;
    if let Some((uri, file)) = files.get_key_value(asked) {
        return Some((uri.clone(), file));
    }
    let normal = address::normal(asked)?;
    files.get(&normal).map(|file| (normal, file))
}
