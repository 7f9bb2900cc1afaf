//! `portcullis server`: the MCP servers of the configuration.

mod call;
mod list;
mod tools;

use portcullis::extension::{Level, Scope};
use portcullis::{Host, NoSuchServer};

use crate::args::{Common, ServerForgetArguments, ServerVerb};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::Printer;

pub(crate) fn run(
    common: &Common,
    verb: &ServerVerb,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    match verb {
        ServerVerb::List(verb) => list::run(common, verb, environment, printer),
        ServerVerb::Tools(verb) => tools::run(common, verb, environment, printer),
        ServerVerb::Call(verb) => call::run(common, verb, environment, printer),
        ServerVerb::Forget(verb) => forget(common, verb, environment, printer),
    }
}

fn forget(
    common: &Common,
    verb: &ServerForgetArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    with_host(common, environment, async |host| {
        known(host.forget_server(&verb.server).await, &host)?;
        printer.tell(&format!("Nothing is known of `{}` any more.", verb.server));
        Ok(Exit::Done)
    })
}

/// Opens the host, does `work` with it, and ends the servers that were started for it.
fn with_host(
    common: &Common,
    environment: &Environment,
    work: impl AsyncFnOnce(Host) -> anyhow::Result<Exit>,
) -> anyhow::Result<Exit> {
    let mut options = open::options(common, environment, None)?;
    options.ledger = open::ledger(common, environment, None);
    open::block_on(async {
        let host = Host::open(options).await?;
        let done = work(host.clone()).await;
        drop(host.end_scope(Level::Pool, &Scope::new()).await);
        done
    })?
}

/// A name that the configuration does not have is an error with those that it has.
fn known<T>(found: Result<T, NoSuchServer>, host: &Host) -> anyhow::Result<T> {
    found.map_err(|error| {
        let names: Vec<_> = host.servers().into_iter().map(|row| row.name).collect();
        if names.is_empty() {
            anyhow::anyhow!("{error}; hint: add `[mcp.servers.{}]` to the configuration", error.0)
        } else {
            anyhow::anyhow!("{error}; hint: it has `{}`", names.join("`, `"))
        }
    })
}
