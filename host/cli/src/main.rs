//! The command line of Portcullis. The only crate that prints and exits.

mod args;
mod break_glass;
mod check;
mod command;
mod compile;
mod config;
mod doctor;
mod environment;
mod exit;
mod hook;
mod hooks;
mod install;
mod ledger;
mod log;
mod mcp;
mod memory;
mod open;
mod plugin;
mod printer;
mod process;
mod serve;
mod server;
mod signal;
mod skill;
#[cfg(not(feature = "compiler"))]
mod start;
mod trust;
mod why;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use clap::Parser as _;
use portcullis::model::fault::FaultKind;

use crate::args::{Arguments, Verb};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::printer::Printer;

#[global_allocator]
static ALLOCATOR: memory::Memory = memory::Memory;

fn main() -> ExitCode {
    #[cfg(not(feature = "compiler"))]
    start::protect_tables();
    let arguments: Vec<String> = environment::arguments();
    if arguments.get(1).is_some_and(|verb| verb == "hook") {
        memory::expect_a_hook();
    }
    if let Some(exit) = compile::run_if_asked(&arguments) {
        return exit;
    }
    let printer = Printer::new();
    let parsed = hook::as_installed(&arguments).map_or_else(Arguments::try_parse, Ok);
    let arguments = match parsed {
        Ok(arguments) => arguments,
        Err(error) => {
            // `--help` and `--version` are no errors, and clap knows where each goes.
            let wrong = error.use_stderr();
            drop(error.print());
            let Some(agent) = hook::misspelt(&arguments).filter(|_| wrong) else {
                return if wrong { Exit::No } else { Exit::Done }.into();
            };
            const WHAT: &str = "its command line is not understood";
            let exit = hook::fail(agent, WHAT, &printer);
            let (common, environment) = (args::Common::default(), Environment::read());
            let agent = agent.map(portcullis::agent::Agent::as_str);
            open::note_fault(&common, &environment, agent, FaultKind::BadInput, WHAT);
            return exit.into();
        }
    };
    log::follow(arguments.common.verbose, printer);
    let environment = Environment::read();
    let exit = match arguments.verb {
        Verb::Check(verb) => check::run(&arguments.common, &verb, &environment, &printer),
        Verb::Hook(verb) => {
            // A panic of the work is caught inside as well.
            let run = || hook::run(&arguments.common, &verb, &environment, &printer);
            let exit = catch_unwind(AssertUnwindSafe(run))
                .unwrap_or_else(|_| hook::fail(verb.agent.parse().ok(), "it failed inside", &printer));
            process::end(exit)
        }
        Verb::Serve(verb) => serve::run(&arguments.common, &verb, &environment),
        Verb::Install(verb) => install::install(&arguments.common, &verb, &environment, &printer),
        Verb::Uninstall(verb) => install::uninstall(&arguments.common, &verb, &environment, &printer),
        Verb::BreakGlass(verb) => break_glass::run(&arguments.common, &verb, &environment, &printer),
        Verb::Why(verb) => why::run(&arguments.common, &verb, &environment, &printer),
        Verb::Doctor(verb) => doctor::run(&arguments.common, &verb, &environment, &printer),
        Verb::Plugin(verb) => plugin::run(&arguments.common, &verb, &environment, &printer),
        Verb::Hooks(verb) => hooks::run(&arguments.common, &verb, &environment, &printer),
        Verb::Config(verb) => config::run(&arguments.common, &verb, &environment, &printer),
        Verb::Trust(verb) => trust::run(&arguments.common, &verb, &environment, &printer),
        Verb::Server(verb) => server::run(&arguments.common, &verb, &environment, &printer),
        Verb::Skill(verb) => skill::run(&arguments.common, &verb, &environment, &printer),
        Verb::Command(verb) => command::run(&arguments.common, &verb, &environment, &printer),
        Verb::Mcp(verb) => mcp::run(&arguments.common, &verb, &environment, &printer),
        Verb::Ledger(verb) => ledger::run(&verb, &environment, &printer),
    };
    exit.unwrap_or_else(|error| {
        printer.error(&error);
        if error.is::<portcullis::HostError>() { Exit::Internal } else { Exit::No }
    })
    .into()
}
