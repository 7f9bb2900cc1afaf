//! `portcullis serve`: JSON-RPC for a loop in any language.

use std::sync::Arc;

use portcullis::Host;
use portcullis::runtime::Allocation;
use portcullis_serve::{AtEnd, ServeLimits, Server, ledger_beside};
use tokio::io::{stdin, stdout};

use crate::args::{Common, ServeArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::{open, process, signal};

pub(crate) fn run(common: &Common, verb: &ServeArguments, environment: &Environment) -> anyhow::Result<Exit> {
    let mut options = open::options(common, environment, None)?;
    // It stays, and judges more than one call at a time.
    options.allocation = Allocation::Pool;
    options.watch = true;
    options.local = Some(open::local(common, environment));
    options.ledger = open::ledger(common, environment, None);
    let ledger = ledger_beside(&options, &environment.variables);
    let executor = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let socket = verb.socket.clone();
    executor.block_on(async move {
        let host = Host::open(options).await?;
        let server = Server::new(host, ledger, ServeLimits::new());
        let ending = server.clone();
        signal::follow(move || ending.end())?;
        match socket {
            #[cfg(unix)]
            Some(path) => at_socket(&server, &path).await?,
            #[cfg(not(unix))]
            Some(_) => anyhow::bail!("there are no Unix sockets here; hint: use `--stdio`"),
            None => server.serve(stdin(), stdout(), AtEnd::Answer).await,
        }
        anyhow::Ok(())
    })?;
    // A read of standard input that nobody waits for any more would keep the process.
    process::end(Exit::Done)
}

/// Serves whoever comes, until the server ends.
#[cfg(unix)]
async fn at_socket(server: &Server, path: &std::path::Path) -> anyhow::Result<()> {
    let socket = portcullis_serve::Socket::listen(path)?;
    tracing::info!("listening at `{}`", path.display());
    let places = Arc::new(tokio::sync::Semaphore::new(server.limits().connections));
    let mut clients = tokio::task::JoinSet::new();
    loop {
        let stream = tokio::select! {
            () = server.ending() => break,
            _ = clients.join_next(), if !clients.is_empty() => continue,
            accepted = socket.accept() => match accepted {
                Ok(stream) => stream,
                Err(error) => {
                    // Out of descriptors, most likely: the clients that are there are served.
                    tracing::error!("a client cannot be taken: {error}");
                    tokio::time::sleep(std::time::Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            // It hears an end of file, which is a refusal.
            tracing::error!("a client is turned away: there are {} already", server.limits().connections);
            continue;
        };
        let server = server.clone();
        clients.spawn(async move {
            let (input, output) = stream.into_split();
            server.serve(input, output, AtEnd::Refuse).await;
            drop(place);
        });
    }
    while clients.join_next().await.is_some() {}
    Ok(())
}
