//! `portcullis plugin list`.

use portcullis::{PluginRow, PluginState};
use serde_json::{Value, json};

use crate::args::{Common, ListArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::{self, Printer};

pub(crate) fn run(
    common: &Common,
    verb: &ListArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let report = open::open(open::options(common, environment, None)?)?.report();
    if verb.json {
        let rows: Vec<Value> = report.rows.iter().map(to_json).collect();
        printer.line(&serde_json::to_string(&json!({ "plugins": rows, "standing": report.standing }))?)?;
    } else {
        let rows: Vec<Vec<String>> = report.rows.iter().map(to_cells).collect();
        printer.line(&printer::table(&["NAME", "STATE", "KINDS", "FROM", "NOTES"], &rows))?;
        if common.no_plugins {
            printer.tell("Plugins are off, because of `--no-plugins`: every call is allowed.");
        }
        for standing in &report.standing {
            printer.tell(&format!("Every tool call is refused, because {standing}."));
        }
    }
    let lost = |row: &PluginRow| matches!(row.state, PluginState::Unresolved | PluginState::Broken { .. });
    let wrong = !report.standing.is_empty() || report.rows.iter().any(lost);
    Ok(if wrong { Exit::No } else { Exit::Done })
}

pub(super) fn to_json(row: &PluginRow) -> Value {
    json!({
        "name": row.name,
        "state": row.state.as_str(),
        "reason": row.state.reason(),
        "from": row.origin.as_ref().map(portcullis::Origin::as_str),
        "path": row.origin.as_ref().and_then(portcullis::Origin::path),
        "version": row.version,
        "kinds": row.kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(),
        "tools": row.tools,
        "digest": row.digest.map(|digest| digest.to_string()),
        "warnings": row.warnings,
    })
}

fn to_cells(row: &PluginRow) -> Vec<String> {
    let kinds: Vec<_> = row.kinds.iter().map(|kind| kind.as_str()).collect();
    let from = match &row.origin {
        None => String::new(),
        Some(origin) => match origin.path().and_then(|path| path.file_name()) {
            Some(file) => format!("{} {}", origin.as_str(), file.to_string_lossy()),
            None => origin.as_str().to_owned(),
        },
    };
    let notes: Vec<&str> =
        row.state.reason().into_iter().chain(row.warnings.iter().map(String::as_str)).collect();
    vec![row.name.clone(), row.state.as_str().to_owned(), kinds.join(", "), from, notes.join("; ")]
}
