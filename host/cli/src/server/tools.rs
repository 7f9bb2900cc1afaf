//! `portcullis server tools`.

use serde_json::json;

use crate::args::{Common, ServerToolsArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::printer::{self, Printer};

pub(super) fn run(
    common: &Common,
    verb: &ServerToolsArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    super::with_host(common, environment, async |host| {
        let tools = super::known(host.server_tools(&verb.server).await, &host)?;
        let tools = match tools {
            Ok(tools) => tools,
            Err(error) if verb.json => {
                let error = json!({ "error": { "code": error.code(), "message": error.to_string() } });
                printer.line(&error.to_string())?;
                return Ok(Exit::No);
            }
            Err(error) => return Err(error.into()),
        };
        if verb.json {
            printer.line(&json!({ "tools": tools }).to_string())?;
        } else if tools.is_empty() {
            printer.line("no tools")?;
        } else {
            let cells = |tool: &portcullis::model::extension::ToolEntry| {
                let words = tool.description.split_whitespace().collect::<Vec<_>>().join(" ");
                vec![tool.name.clone(), printer::plain(&words.chars().take(80).collect::<String>())]
            };
            let rows: Vec<_> = tools.iter().map(cells).collect();
            printer.line(&printer::table(&["TOOL", "DESCRIPTION"], &rows))?;
        }
        Ok(Exit::Done)
    })
}
