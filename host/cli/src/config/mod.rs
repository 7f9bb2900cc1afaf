//! `portcullis config`: what holds, where it comes from, and what is wrong.

mod show;
mod validate;

use crate::args::{Common, ConfigVerb};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(
    common: &Common,
    verb: &ConfigVerb,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    match verb {
        ConfigVerb::Show(verb) => show::run(common, verb, environment, printer),
        ConfigVerb::Validate(verb) => validate::run(common, verb, environment, printer),
    }
}
