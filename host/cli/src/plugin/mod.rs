//! `portcullis plugin`: what there is, what it is, and whether it does its work.

mod cases;
mod inspect;
mod list;

use crate::args::{Common, PluginVerb};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(
    common: &Common,
    verb: &PluginVerb,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    match verb {
        PluginVerb::List(verb) => list::run(common, verb, environment, printer),
        PluginVerb::Inspect(verb) => inspect::run(common, verb, environment, printer),
        PluginVerb::Check(verb) => cases::run(common, verb, environment, printer),
    }
}
