//! `portcullis mcp …`: what is served over MCP.

mod skills;

use crate::args::{Common, McpVerb};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(
    common: &Common,
    verb: &McpVerb,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    match verb {
        McpVerb::Skills(verb) => skills::run(common, verb, environment, printer),
    }
}
