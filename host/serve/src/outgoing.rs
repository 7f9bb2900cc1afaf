//! What a client is sent: answers, of which none is lost, and news, of which the oldest
//! are when the client is slow.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use portcullis::registry::{Delta, Epochs};
use serde_json::{Value, json};
use tokio::io::{AsyncWrite, AsyncWriteExt as _};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{OwnedSemaphorePermit, broadcast, mpsc};
use tokio::time::timeout;

use crate::message;
use crate::note::Note;

/// As much is handed to the system at once. A client that takes nothing of it for some
/// time does not read.
const CHUNK: usize = 64 << 10;

/// What is to be written.
#[derive(Debug)]
pub(crate) enum Outgoing {
    Answer(Answer),
    /// From now on the client wants to hear of every judgement.
    Judgements(broadcast::Receiver<Arc<Value>>),
    /// From now on it wants to hear of every change of what there is.
    Epochs(Epochs),
}

/// The answer to one request.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) line: Vec<u8>,
    /// The place of the request among those that are not answered yet.
    pub(crate) place: Option<OwnedSemaphorePermit>,
    /// The call that it lets pass. When the client does not get it, it was refused.
    pub(crate) allows: Option<Note>,
}

/// Writes what comes, and ends with the last sender. Gives back the calls whose answers
/// never reached the client.
pub(crate) async fn write_all(
    mut output: impl AsyncWrite + Unpin,
    mut queue: mpsc::Receiver<Outgoing>,
    stall: Duration,
    on_failure: impl FnOnce(),
) -> Vec<Note> {
    let mut judgements = None;
    let mut epochs = None;
    let mut dropped = 0_u64;
    let mut lost = Vec::new();
    let failed = loop {
        let line = tokio::select! {
            biased;
            next = queue.recv() => match next {
                None => return lost,
                Some(Outgoing::Judgements(from)) => {
                    judgements = Some(from);
                    continue;
                }
                Some(Outgoing::Epochs(from)) => {
                    epochs = Some(from);
                    continue;
                }
                Some(Outgoing::Answer(answer)) => {
                    let written = write(&mut output, &answer.line, stall).await;
                    drop(answer.place);
                    match written {
                        Ok(()) => continue,
                        Err(error) => {
                            lost.extend(answer.allows);
                            break error;
                        }
                    }
                }
            },
            delta = changed(&mut epochs) => message::notification("registry/changed", &json!(delta)),
            heard = hear(&mut judgements) => match heard {
                Ok(judgement) => judgement_line(&judgement, std::mem::take(&mut dropped)),
                Err(RecvError::Lagged(missed)) => {
                    dropped = dropped.saturating_add(missed);
                    continue;
                }
                Err(RecvError::Closed) => {
                    judgements = None;
                    continue;
                }
            },
        };
        if let Err(error) = write(&mut output, &line, stall).await {
            break error;
        }
    };
    tracing::info!("a client is closed: {failed}");
    on_failure();
    // Whoever waits for room in the queue gets it, and hears nothing more.
    while let Some(next) = queue.recv().await {
        if let Outgoing::Answer(answer) = next {
            lost.extend(answer.allows);
        }
    }
    lost
}

/// The next judgement; never, when nobody wants to hear of them.
async fn hear(from: &mut Option<broadcast::Receiver<Arc<Value>>>) -> Result<Arc<Value>, RecvError> {
    match from {
        Some(from) => from.recv().await,
        None => std::future::pending().await,
    }
}

/// The next change, of several the whole way; never, when nobody wants to hear of it.
async fn changed(from: &mut Option<Epochs>) -> Delta {
    match from {
        Some(from) => from.next().await,
        None => std::future::pending().await,
    }
}

fn judgement_line(judgement: &Value, dropped: u64) -> Vec<u8> {
    let mut params = judgement.clone();
    if let Some(params) = params.as_object_mut() {
        params.insert("dropped".to_owned(), json!(dropped));
    }
    message::notification("judgement", &params)
}

/// Writes all of `bytes`. A client that takes nothing for `stall` is given up.
async fn write(output: &mut (impl AsyncWrite + Unpin), bytes: &[u8], stall: Duration) -> io::Result<()> {
    for chunk in bytes.chunks(CHUNK) {
        let written = timeout(stall, async {
            output.write_all(chunk).await?;
            output.flush().await
        });
        written.await.map_err(|_| {
            let what = format!("it has read nothing for {} s", stall.as_secs());
            io::Error::new(io::ErrorKind::TimedOut, what)
        })??;
    }
    Ok(())
}
