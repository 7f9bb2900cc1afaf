//! One client, from its first line to its last.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::FutureExt as _;
use serde_json::{Map, Value};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, SetOnce, mpsc};
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::error::WireError;
use crate::frame::{Frame, Frames};
use crate::hello;
use crate::message::{self, Id, Message, Unread};
use crate::method::{self, Client, Reply, Work};
use crate::note::Note;
use crate::outgoing::{self, Answer, Outgoing};
use crate::server::Server;

/// What the end of a client's input means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AtEnd {
    /// It asks nothing more, and may still read: what it has asked is answered.
    Answer,
    /// It has gone: what it has asked is refused.
    Refuse,
}

/// Requests that are not answered yet, each with what takes it back.
type Pending = Arc<Mutex<HashMap<Id, Arc<SetOnce<WireError>>>>>;

impl Server {
    /// Serves one client until it or the server ends. Whatever the reason, the calls that
    /// are not answered then are refused, and what the client has opened ends, the last
    /// session first.
    pub async fn serve(
        &self,
        input: impl AsyncRead + Unpin,
        output: impl AsyncWrite + Unpin + Send + 'static,
        at_end: AtEnd,
    ) {
        let limits = self.limits();
        let (queue, answers) = mpsc::channel(limits.answers);
        let gone = Arc::new(SetOnce::new());
        let broken = Arc::clone(&gone);
        let writer = outgoing::write_all(output, answers, limits.stall, move || drop(broken.set(())));
        let writer = tokio::spawn(writer);
        let mut connection = Connection {
            client: Arc::new(Client::new(self.clone())),
            queue,
            pending: Pending::default(),
            places: Arc::new(Semaphore::new(limits.in_flight)),
            tasks: JoinSet::new(),
            is_initialized: false,
        };
        let mut frames = Frames::new(input, limits.line, limits.line_time);
        let error = connection.read(&mut frames, &gone).await;
        match (error, at_end) {
            (None, AtEnd::Answer) => connection.finish(&gone).await,
            (None, AtEnd::Refuse) => connection.refuse_all(&WireError::Gone),
            (Some(error), _) => connection.refuse_all(&error),
        }
        connection.end().await;
        // A writer that failed inside has told nobody of anything.
        let lost = writer.await.unwrap_or_default();
        self.note(lost, WireError::Gone).await;
    }
}

struct Connection {
    client: Arc<Client>,
    queue: mpsc::Sender<Outgoing>,
    pending: Pending,
    places: Arc<Semaphore>,
    tasks: JoinSet<()>,
    is_initialized: bool,
}

impl Connection {
    /// Reads until the client says nothing more, or until there is a reason to hear
    /// nothing more of it.
    async fn read<R: AsyncRead + Unpin>(
        &mut self,
        frames: &mut Frames<R>,
        gone: &SetOnce<()>,
    ) -> Option<WireError> {
        let server = self.client.server.clone();
        let hello = tokio::time::sleep(server.limits().hello);
        tokio::pin!(hello);
        loop {
            let frame = tokio::select! {
                () = server.ending() => return Some(WireError::Closing),
                () = wait(gone) => return Some(WireError::Gone),
                () = &mut hello, if !self.is_initialized => {
                    let what = "no request".to_owned();
                    self.answer_unread(None, WireError::NotInitialized(what)).await;
                    return Some(WireError::Closing);
                }
                _ = self.tasks.join_next(), if !self.tasks.is_empty() => continue,
                frame = frames.next() => frame,
            };
            match frame {
                Ok(Frame::Line(line)) => self.line(&line).await,
                Ok(Frame::TooLong(beginning)) => {
                    let id = message::id_in(&beginning);
                    let is_known = id.is_some();
                    let max = server.limits().line;
                    self.answer_unread(id, WireError::LineTooLong { max }).await;
                    // Somebody waits for an answer that nobody can give.
                    if !is_known {
                        return Some(WireError::Closing);
                    }
                }
                Ok(Frame::Slow) => {
                    let why = "it was begun and not ended in time".to_owned();
                    self.answer_unread(None, WireError::NotJson(why)).await;
                    return Some(WireError::Closing);
                }
                Ok(Frame::End) => return None,
                Err(error) => {
                    tracing::info!("a client cannot be read any more: {error}");
                    return Some(WireError::Gone);
                }
            }
        }
    }

    async fn line(&mut self, line: &[u8]) {
        match message::read(line) {
            Ok(Message::Request { id, method, params }) => self.request(id, method, params).await,
            Ok(Message::Notification { method, params }) => self.notification(&method, params),
            Ok(Message::Answer) => tracing::debug!("a client answers what nobody asked"),
            Err(Unread { id, error }) => self.answer_unread(id, error).await,
        }
    }

    async fn request(&mut self, id: Id, method: String, params: Map<String, Value>) {
        if method == hello::METHOD {
            let outcome = self.hello(params).await;
            return self.answer(Some(&id), outcome).await;
        }
        let note = method::note(&self.client, &method, &params);
        if !self.is_initialized {
            return self.refuse(&id, note, WireError::NotInitialized(method)).await;
        }
        if let Some(first) = lock(&self.pending).get(&id) {
            // The client could take the answer to one for that to the other.
            drop(first.set(twice()));
        } else if let Ok(place) = Arc::clone(&self.places).try_acquire_owned() {
            return match method::begin(&self.client, &method, params) {
                Ok(work) => self.start(id, place, work, note),
                Err(error) => self.refuse(&id, note, error).await,
            };
        } else {
            let max = self.client.server.limits().in_flight;
            let error = WireError::TooMany { what: "requests without an answer", max };
            return self.refuse(&id, note, error).await;
        }
        self.refuse(&id, note, twice()).await;
    }

    /// Does the work beside all other.
    fn start(&mut self, id: Id, place: OwnedSemaphorePermit, work: Work, note: Option<Note>) {
        let cancel = Arc::new(SetOnce::new());
        lock(&self.pending).insert(id.clone(), Arc::clone(&cancel));
        let (pending, queue) = (Arc::clone(&self.pending), self.queue.clone());
        let server = self.client.server.clone();
        self.tasks.spawn(async move {
            let can_cancel = work.can_cancel;
            let work = AssertUnwindSafe(work.future).catch_unwind();
            let done = tokio::select! {
                biased;
                done = work => done.unwrap_or(Err(WireError::Internal)),
                error = cancel.wait(), if can_cancel => Err(error.clone()),
            };
            let (outcome, allows) = match done {
                Ok(Reply { result, allows }) => (Ok(result), allows),
                Err(error) => {
                    server.note(note.into_iter().collect(), error.clone()).await;
                    (Err(error), None)
                }
            };
            let line = message::answer(Some(&id), &outcome);
            lock(&pending).remove(&id);
            // The writer takes everything as long as there is anybody who sends.
            drop(queue.send(Outgoing::Answer(Answer { line, place: Some(place), allows })).await);
        });
    }

    fn notification(&self, method: &str, mut params: Map<String, Value>) {
        if method != "$/cancelRequest" {
            return tracing::debug!("a client notifies of `{method}`, which nobody knows");
        }
        let id = params.remove("id").and_then(Id::of);
        if let Some(cancel) = id.and_then(|id| lock(&self.pending).get(&id).cloned()) {
            // It may have been cancelled already.
            drop(cancel.set(WireError::Cancelled));
        }
    }

    async fn hello(&mut self, params: Map<String, Value>) -> Result<Value, WireError> {
        if self.is_initialized {
            return Err(WireError::Initialized);
        }
        let (hello, result) = hello::read(params, self.client.server.limits())?;
        self.is_initialized = true;
        tracing::info!("a client: {} {}", hello.name, hello.version);
        if hello.judgements {
            let judgements = self.client.server.judgements();
            drop(self.queue.send(Outgoing::Judgements(judgements)).await);
        }
        if hello.changes {
            let epochs = self.client.server.host().epochs();
            drop(self.queue.send(Outgoing::Epochs(epochs)).await);
        }
        Ok(result)
    }

    /// The answer to something that is no request.
    async fn answer_unread(&self, id: Option<Id>, error: WireError) {
        // It may have been a call.
        self.client.server.note(vec![Note::default()], error.clone()).await;
        self.answer(id.as_ref(), Err(error)).await;
    }

    async fn refuse(&self, id: &Id, note: Option<Note>, error: WireError) {
        self.client.server.note(note.into_iter().collect(), error.clone()).await;
        self.answer(Some(id), Err(error)).await;
    }

    /// Waits when the client does not read: then no more requests of it are read.
    async fn answer(&self, id: Option<&Id>, outcome: Result<Value, WireError>) {
        let line = message::answer(id, &outcome);
        drop(self.queue.send(Outgoing::Answer(Answer { line, place: None, allows: None })).await);
    }

    /// Waits for the work that was begun, as long as somebody may want to hear of it.
    async fn finish(&mut self, gone: &SetOnce<()>) {
        let server = self.client.server.clone();
        loop {
            tokio::select! {
                () = server.ending() => return self.refuse_all(&WireError::Closing),
                () = wait(gone) => return self.refuse_all(&WireError::Gone),
                done = self.tasks.join_next() => if done.is_none() { return },
            }
        }
    }

    fn refuse_all(&self, error: &WireError) {
        for cancel in lock(&self.pending).values() {
            drop(cancel.set(error.clone()));
        }
    }

    /// Ends what is open. The last clone of the queue goes with it.
    async fn end(mut self) {
        let time = self.client.server.limits().close;
        let all = async { while self.tasks.join_next().await.is_some() {} };
        if timeout(time, all).await.is_err() {
            tracing::warn!("a request of a client that has gone is given up");
            self.tasks.shutdown().await;
        }
        self.client.end().await;
    }
}

async fn wait(once: &SetOnce<()>) {
    once.wait().await;
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn twice() -> WireError {
    WireError::Message { field: "id", what: "is that of a request which is not answered yet".to_owned() }
}
