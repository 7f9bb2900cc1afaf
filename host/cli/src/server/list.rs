//! `portcullis server list`.

use portcullis::ServerRow;
use serde_json::json;

use crate::args::{Common, ServerListArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::printer::{self, Printer};

pub(super) fn run(
    common: &Common,
    verb: &ServerListArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    super::with_host(common, environment, async |host| {
        let rows = host.servers();
        if verb.json {
            printer.line(&json!({ "servers": rows }).to_string())?;
        } else if rows.is_empty() {
            printer.line("no servers")?;
        } else {
            let cells: Vec<_> = rows.iter().map(to_cells).collect();
            printer.line(&printer::table(&["SERVER", "ERA", "TOOLS", "CHANGED"], &cells))?;
        }
        Ok(Exit::Done)
    })
}

fn to_cells(row: &ServerRow) -> Vec<String> {
    let era = row.era.clone().unwrap_or_else(|| "unknown".to_owned());
    vec![row.name.clone(), era, row.tools.len().to_string(), row.changed.join(", ")]
}
