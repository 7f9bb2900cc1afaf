//! Ending in order when a signal comes.

#[cfg(unix)]
use std::os::unix::net::UnixStream;

#[cfg(unix)]
use signal_hook::consts::{SIGINT, SIGTERM};
#[cfg(unix)]
use signal_hook::low_level::pipe;
#[cfg(unix)]
use tokio::io::AsyncReadExt as _;

#[cfg(unix)]
use crate::exit::Exit;
#[cfg(unix)]
use crate::process;

/// The first signal calls `end`, the second one ends the process at once. Needs a tokio
/// runtime.
#[cfg(unix)]
pub(crate) fn follow(end: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let (heard, sent) = UnixStream::pair()?;
    for signal in [SIGTERM, SIGINT] {
        pipe::register(signal, sent.try_clone()?)?;
    }
    heard.set_nonblocking(true)?;
    let mut heard = tokio::net::UnixStream::from_std(heard)?;
    tokio::spawn(async move {
        let mut byte = [0];
        if heard.read_exact(&mut byte).await.is_ok() {
            end();
        }
        if heard.read_exact(&mut byte).await.is_ok() {
            process::end(Exit::No);
        }
    });
    Ok(())
}

/// There are no signals here.
#[cfg(not(unix))]
pub(crate) fn follow(_: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    Ok(())
}
