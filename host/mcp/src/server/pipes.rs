//! Serving one client over two pipes, a message on each line.
//!
//! The protocol's library does the protocol. What it lacks is done here, between it and the
//! pipes: a line that is too long or no message is answered where it can be and never ends
//! the session; a notification before the session begins is no reason to end either; a
//! request whose id is still in use is refused; and subscriptions end with the input.

use std::collections::HashSet;
use std::io;
use std::sync::{Arc, Mutex as StdMutex, PoisonError};

use rmcp::model::{
    ClientJsonRpcMessage, ClientRequest, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RoleServer, ServerInitializeError, ServiceExt as _};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;

use super::handler::Handler;
use super::state::State;

/// The most bytes of one message of a client.
pub const LINE_MAX: usize = 4 << 20;
/// How many refusals may wait to be written. More are left out.
const REFUSALS_MAX: usize = 64;

pub(super) async fn serve<R, W>(state: &Arc<State>, read: R, write: W) -> io::Result<()>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let pipes = Pipes::new(read, write, state.closing.clone());
    let service = match Handler::new(Arc::clone(state)).serve_with_ct(pipes, state.closing.clone()).await {
        Ok(service) => service,
        // Whoever went away or was told to has said nothing wrong.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error.to_string())),
    };
    service.waiting().await.map_err(|error| io::Error::other(error.to_string()))?;
    Ok(())
}

/// The two pipes.
struct Pipes<R, W> {
    read: BufReader<R>,
    line: Vec<u8>,
    /// The rest of a line that is too long is on its way.
    skipping: bool,
    write: Arc<Mutex<W>>,
    session: Arc<StdMutex<Session>>,
    refusals: Arc<Semaphore>,
    closing: CancellationToken,
}

/// What is known of the session.
#[derive(Debug, Default)]
struct Session {
    /// Something was answered that only a session has.
    has_begun: bool,
    /// The requests that wait for an answer.
    waiting: HashSet<RequestId>,
    /// Those of them that begin no session.
    probes: HashSet<RequestId>,
}

impl Session {
    fn sent(&mut self, message: &ServerJsonRpcMessage) {
        match message {
            ServerJsonRpcMessage::Response(response) => {
                self.waiting.remove(&response.id);
                self.has_begun |= !self.probes.remove(&response.id);
            }
            ServerJsonRpcMessage::Error(error) => {
                if let Some(id) = &error.id {
                    self.waiting.remove(id);
                    self.probes.remove(id);
                }
            }
            ServerJsonRpcMessage::Notification(_) | ServerJsonRpcMessage::Request(_) => self.has_begun = true,
        }
    }
}

/// What a line came to.
enum Line {
    Message(Box<ClientJsonRpcMessage>),
    Refused(ErrorData, Option<RequestId>),
    Nothing,
}

/// What reading came to.
enum Read {
    Line,
    TooLong,
    End,
}

impl<R, W> Pipes<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    fn new(read: R, write: W, closing: CancellationToken) -> Self {
        Self {
            read: BufReader::new(read),
            line: Vec::new(),
            skipping: false,
            write: Arc::new(Mutex::new(write)),
            session: Arc::default(),
            refusals: Arc::new(Semaphore::new(REFUSALS_MAX)),
            closing,
        }
    }

    /// Reads on to the end of a line. Whoever drops this loses nothing: what was read is
    /// in `self.line`.
    async fn read_line(&mut self) -> io::Result<Read> {
        loop {
            let available = self.read.fill_buf().await?;
            if available.is_empty() {
                return Ok(Read::End);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            let is_over = self.line.len().saturating_add(taken) > LINE_MAX;
            if !self.skipping && !is_over {
                self.line.extend(available.iter().take(taken));
            }
            self.read.consume(taken);
            if self.skipping {
                self.skipping = end.is_none();
            } else if is_over {
                self.line.clear();
                self.skipping = end.is_none();
                return Ok(Read::TooLong);
            } else if end.is_some() {
                return Ok(Read::Line);
            }
        }
    }

    fn take(&self, line: &[u8]) -> Line {
        // An answer to what is no message could begin a storm of such answers.
        let Ok(value) = serde_json::from_slice::<Value>(line) else {
            tracing::debug!("a line is no JSON and is passed over");
            return Line::Nothing;
        };
        let id = value.get("id").cloned().and_then(|id| serde_json::from_value::<RequestId>(id).ok());
        let is_request = value.get("method").is_some_and(Value::is_string) && value.get("id").is_some();
        let message = match serde_json::from_value::<ClientJsonRpcMessage>(value) {
            Ok(message) => message,
            Err(_) if is_request => return refused("the request is not understood", id),
            Err(_) => return refused("this is no message; there are no batches", None),
        };
        let mut session = self.session.lock().unwrap_or_else(PoisonError::into_inner);
        let ClientJsonRpcMessage::Request(request) = &message else {
            // Nothing but a request begins a session, and nothing else ends it.
            return if session.has_begun { Line::Message(Box::new(message)) } else { Line::Nothing };
        };
        if !session.waiting.insert(request.id.clone()) {
            return refused("the id is that of a request that still waits for its answer", id);
        }
        let probe =
            matches!(&request.request, ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_));
        if probe {
            session.probes.insert(request.id.clone());
        }
        Line::Message(Box::new(message))
    }

    /// Answers off the way: whoever reads may be interrupted, and an answer may not.
    fn refuse(&self, error: ErrorData, id: Option<RequestId>) {
        let Ok(permit) = Arc::clone(&self.refusals).try_acquire_owned() else { return };
        let write = Arc::clone(&self.write);
        tokio::spawn(async move {
            // A client that has gone needs no answer.
            let _ = put(&write, &ServerJsonRpcMessage::error(error, id)).await;
            drop(permit);
        });
    }
}

fn refused(message: &'static str, id: Option<RequestId>) -> Line {
    Line::Refused(ErrorData::new(ErrorCode::INVALID_REQUEST, message, None), id)
}

async fn put<W: AsyncWrite + Unpin>(write: &Mutex<W>, message: &ServerJsonRpcMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut write = write.lock().await;
    write.write_all(&line).await?;
    write.flush().await
}

impl<R, W> Transport<RoleServer> for Pipes<R, W>
where
    R: AsyncRead + Send + Unpin,
    W: AsyncWrite + Send + Unpin + 'static,
{
    type Error = io::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.session.lock().unwrap_or_else(PoisonError::into_inner).sent(&message);
        let write = Arc::clone(&self.write);
        async move { put(&write, &message).await }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            match self.read_line().await {
                Ok(Read::Line) => {}
                Ok(Read::TooLong) => {
                    let why = format!("a message has more than {LINE_MAX} bytes");
                    self.refuse(ErrorData::new(ErrorCode::INVALID_REQUEST, why, None), None);
                    continue;
                }
                Ok(Read::End) => {
                    self.closing.cancel();
                    return None;
                }
                Err(error) => {
                    tracing::error!("the client cannot be heard any more: {error}");
                    self.closing.cancel();
                    return None;
                }
            }
            let line = std::mem::take(&mut self.line);
            match self.take(line.trim_ascii()) {
                Line::Message(message) => return Some(*message),
                Line::Refused(error, id) => self.refuse(error, id),
                Line::Nothing => {}
            }
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        self.closing.cancel();
        self.write.lock().await.shutdown().await
    }
}
