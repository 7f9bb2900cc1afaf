//! `portcullis config show`: every value that holds, and where it comes from.

use portcullis::config::{Origin, Setting};
use serde_json::{Value, json};

use crate::args::{Common, ConfigShowArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::{self, Printer};

/// One line of the answer.
struct Row {
    key: String,
    value: Option<Value>,
    /// `default`, `user`, `project` or `flag`, and where in which file.
    from: Vec<(&'static str, Option<Origin>)>,
}

pub(super) fn run(
    common: &Common,
    verb: &ConfigShowArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let work = open::workspace(common, environment);
    let loaded = open::loaded(common, environment, work.as_deref())?;
    let mut rows: Vec<Row> = loaded.settings().into_iter().map(of_file).collect();
    rows.extend(flags(common));
    if verb.json {
        let files = open::files(common, environment, work.as_deref())?;
        let settings: Vec<_> = rows.iter().map(to_json).collect();
        let ignored: Vec<_> = loaded.ignored.iter().map(super::validate::to_json).collect();
        let answer = json!({
            "files": { "user": files.user, "project": files.project },
            "settings": settings,
            "ignored": ignored,
        });
        printer.line(&serde_json::to_string(&answer)?)?;
    } else {
        let rows: Vec<_> = rows.iter().map(to_cells).collect();
        printer.line(&printer::table(&["KEY", "VALUE", "FROM"], &rows))?;
        for ignored in &loaded.ignored {
            printer.tell(&format!("warning: {ignored}"));
        }
    }
    Ok(Exit::Done)
}

fn of_file(setting: Setting) -> Row {
    let value = setting.shown();
    let mut from: Vec<_> =
        setting.origins.into_iter().map(|origin| (origin.layer.as_str(), Some(origin))).collect();
    if from.is_empty() {
        from.push(("default", None));
    }
    Row { key: setting.key, value, from }
}

/// What the command line says for this one run.
fn flags(common: &Common) -> Vec<Row> {
    let said = [
        ("--config", common.config.as_ref().map(|path| json!(path))),
        ("--plugin", (!common.plugins.is_empty()).then(|| json!(common.plugins))),
        ("--plugin-dir", common.plugin_dir.as_ref().map(|path| json!(path))),
        ("--isolated", common.isolated.then_some(Value::Bool(true))),
        ("--mode", common.mode.map(|mode| json!(mode))),
        ("--no-plugins", common.no_plugins.then_some(Value::Bool(true))),
    ];
    let row = |(key, value): (&str, Option<Value>)| {
        value.map(|value| Row { key: key.to_owned(), value: Some(value), from: vec![("flag", None)] })
    };
    said.into_iter().filter_map(row).collect()
}

fn to_json(row: &Row) -> Value {
    let from: Vec<_> = row
        .from
        .iter()
        .map(|(layer, origin)| match origin {
            Some(origin) => json!({ "layer": layer, "file": origin.file, "line": origin.line }),
            None => json!({ "layer": layer }),
        })
        .collect();
    json!({ "key": row.key, "value": row.value, "from": from })
}

fn to_cells(row: &Row) -> Vec<String> {
    let from: Vec<_> = row
        .from
        .iter()
        .map(|(layer, origin)| match origin {
            Some(origin) => format!("{layer} {}:{}", origin.file.display(), origin.line),
            None => (*layer).to_owned(),
        })
        .collect();
    let value = row.value.as_ref().map_or_else(|| "absent".to_owned(), ToString::to_string);
    vec![row.key.clone(), printer::plain(&value), printer::plain(&from.join(", "))]
}
