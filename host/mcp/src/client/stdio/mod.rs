//! A server that is a program, over its standard input and output.
//!
//! Four threads look after it: one writes, one reads its answers, one reads what it
//! complains about, and one waits for its end. They need no executor, so a server is
//! drained and its end is seen however busy the host is.

mod frame;
mod message;
mod pending;
mod process;
mod queue;
mod scan;
mod tail;

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::process::{ChildStderr, ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::connection::{Connection, Era, Heard, Reply, Stray, Transport};
use super::error::{ClientError, Failure};
use super::limits::{CLOSE_TIME, FRAME_MAX, LAST_WORDS_TIME, REQUEST_MAX, TEXT_MAX};
use super::program::Program;
use frame::{Frame, Frames};
use message::Message;
use pending::Pending;
use process::{Group, Pipes, Running};
use queue::{Line, Queue, Refused};
use tail::Tail;

/// Starts a program for each connection.
#[derive(Debug, Clone)]
pub struct Stdio {
    program: Program,
    frame_max: usize,
}

impl Stdio {
    /// One whose messages may be [`FRAME_MAX`] bytes long.
    #[must_use]
    pub const fn new(program: Program) -> Self {
        Self { program, frame_max: FRAME_MAX }
    }

    /// The same, with another limit.
    #[must_use]
    pub fn with_frame_max(self, frame_max: usize) -> Self {
        Self { frame_max, ..self }
    }
}

impl Transport for Stdio {
    fn connect(&self) -> Reply<'_, Arc<dyn Connection>> {
        Box::pin(async move {
            let connection = Pipe::start(&self.program, self.frame_max)?;
            Ok(Arc::new(connection) as Arc<dyn Connection>)
        })
    }
}

/// A program that runs.
#[derive(Debug)]
struct Pipe {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    program: Program,
    group: Group,
    queue: Queue,
    pending: Pending,
    tail: Tail,
    stray: Mutex<Stray>,
    heard: watch::Sender<Heard>,
    answers: AtomicBool,
    closing: AtomicBool,
    /// Whether the process is gone, for whoever waits on a thread.
    ended: Latch,
    /// The same, once all that it said was read, for whoever waits elsewhere.
    over: watch::Sender<bool>,
    /// How many of the two that read have come to an end.
    read: Latch,
}

/// Counts up, and wakes who waits for a count.
#[derive(Debug, Default)]
struct Latch {
    count: Mutex<u8>,
    changed: Condvar,
}

impl Latch {
    fn add(&self) {
        let mut count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count = count.saturating_add(1);
        self.changed.notify_all();
    }

    /// True when the count was reached within `time`.
    fn reaches(&self, wanted: u8, time: Duration) -> bool {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.changed.wait_timeout_while(count, time, |count| *count < wanted);
        *waited.unwrap_or_else(PoisonError::into_inner).0 >= wanted
    }
}

impl Pipe {
    fn start(program: &Program, frame_max: usize) -> Result<Self, Failure> {
        let (running, Pipes { stdin, stdout, stderr }, group) = process::start(program)?;
        let shared = Arc::new(Shared {
            program: program.clone(),
            group,
            queue: Queue::default(),
            pending: Pending::default(),
            tail: Tail::default(),
            stray: Mutex::default(),
            heard: watch::Sender::new(Heard::default()),
            answers: AtomicBool::new(false),
            closing: AtomicBool::new(false),
            ended: Latch::default(),
            over: watch::Sender::new(false),
            read: Latch::default(),
        });
        // The one who waits comes first: it reaps whatever happens to the others.
        let threads = shared
            .spawn("wait", move |shared| shared.wait(running))
            .and_then(|()| shared.spawn("write", move |shared| shared.write(stdin)))
            .and_then(|()| shared.spawn("read", move |shared| shared.read(stdout, frame_max)))
            .and_then(|()| shared.spawn("said", move |shared| shared.listen(stderr)));
        if let Err(error) = threads {
            shared.group.kill();
            let why = format!("no thread for it: {error}");
            return Err(Failure::Start { program: program.name(), why });
        }
        Ok(Self { shared })
    }
}

impl Shared {
    fn spawn(self: &Arc<Self>, name: &str, work: impl FnOnce(&Self) + Send + 'static) -> io::Result<()> {
        let shared = Arc::clone(self);
        let thread = thread::Builder::new().name(format!("portcullis-mcp-{name}"));
        thread.spawn(move || work(&shared)).map(drop)
    }

    fn wait(&self, running: Running) {
        let status = running.wait(&self.group);
        self.ended.add();
        self.queue.close();
        // What it said last is still in the pipes. A process that it started and that left
        // its group may hold them open for ever.
        self.read.reaches(2, LAST_WORDS_TIME);
        let closed = self.closing.load(Ordering::Acquire);
        self.pending.end(if closed { Failure::Closed } else { Failure::Ended(status) });
        self.over.send_replace(true);
    }

    fn write(&self, mut stdin: ChildStdin) {
        while let Some(line) = self.queue.next() {
            if stdin.write_all(&line.bytes).and_then(|()| stdin.flush()).is_err() {
                // Of a line that breaks off the server can make nothing.
                self.queue.put_back(line);
                self.queue.close();
                self.give_up();
            }
        }
    }

    /// Who reads or says nothing any more is of no use, and may not know it.
    fn give_up(&self) {
        if !self.ended.reaches(1, LAST_WORDS_TIME) {
            self.group.kill();
        }
    }

    fn read(&self, stdout: ChildStdout, frame_max: usize) {
        let mut frames = Frames::new(stdout, frame_max);
        while let Ok(Some(frame)) = frames.next() {
            match frame {
                Frame::Line(line) => {
                    for message in message::read(&line) {
                        self.take(message, &line);
                    }
                }
                Frame::TooLong(scan) => {
                    self.stray().unusable += 1;
                    let failure = Failure::TooLong(frame_max);
                    match scan.id() {
                        Some(id) => drop(self.pending.settle(id, Err(failure))),
                        None if scan.may_be_an_answer() => self.pending.fail(&failure),
                        None => {}
                    }
                }
            }
        }
        self.read.add();
        self.give_up();
    }

    fn listen(&self, mut stderr: ChildStderr) {
        let mut bytes = vec![0; 16 << 10];
        loop {
            match stderr.read(&mut bytes) {
                Ok(0) => break,
                Ok(count) => self.tail.push(bytes.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => break,
            }
        }
        self.read.add();
    }

    fn take(&self, message: Message, line: &[u8]) {
        match message {
            Message::Result { id, result } => self.settle(id, Ok(result)),
            Message::Error { id, code, message } => {
                let message = self.shown(message.as_bytes(), TEXT_MAX);
                self.settle(id, Err(Failure::Error { code, message }));
            }
            Message::Unusable { id, why } => {
                self.stray().unusable += 1;
                self.settle(id, Err(Failure::Answer(why.to_owned())));
            }
            Message::Lost => self.stray().lost += 1,
            Message::Request { id, method } => self.refuse(&id, &method),
            Message::Notification { method } => {
                self.heard.send_if_modified(|heard| heard.count(&method));
            }
            Message::Noise => {
                let mut stray = self.stray();
                stray.noise += 1;
                if stray.noise == 1 {
                    stray.first_noise = self.shown(line, NOISE_SHOWN);
                }
            }
        }
    }

    fn settle(&self, id: u64, outcome: pending::Outcome) {
        if !self.pending.settle(id, outcome) {
            self.stray().lost += 1;
        }
    }

    /// Nothing is done for a server. One that waits for an answer hears that, so that it
    /// need not wait for ever; when it does not read, it is not told.
    fn refuse(&self, id: &Value, method: &str) {
        self.stray().requests += 1;
        if !self.answers.load(Ordering::Acquire) {
            return;
        }
        let answer = if method == "ping" {
            json!({ "jsonrpc": "2.0", "id": id, "result": {} })
        } else {
            let error = json!({ "code": -32601, "message": "this client does nothing for a server" });
            json!({ "jsonrpc": "2.0", "id": id, "error": error })
        };
        let _ = self.queue.push(Line { id: None, bytes: line(&answer) });
    }

    fn shown(&self, bytes: &[u8], most: usize) -> String {
        let text = self.program.secrets.hide(&String::from_utf8_lossy(bytes));
        tail::plain(&text).chars().take(most).collect::<String>().trim().to_owned()
    }

    fn stray(&self) -> MutexGuard<'_, Stray> {
        self.stray.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn notify(&self, method: &str, params: Option<Value>) {
        let bytes = line(&message(None, method, params));
        if let Err(refused) = self.queue.push(Line { id: None, bytes }) {
            tracing::debug!(method, ?refused, "a server is not told");
        }
    }

    /// First it sees the end of its input, then it is asked, and then it is ended; the
    /// group has ended with it when this returns.
    fn close(&self) {
        self.queue.close();
        if !self.ended.reaches(1, CLOSE_TIME) {
            self.group.ask();
        }
        if !self.ended.reaches(1, CLOSE_TIME) {
            self.group.kill();
        }
    }

    fn begin_to_close(self: &Arc<Self>) {
        if !self.closing.swap(true, Ordering::AcqRel) && self.spawn("close", Self::close).is_err() {
            self.group.kill();
        }
    }

    fn error(&self, failure: Failure, may_have_run: bool) -> ClientError {
        // What it says has nothing to do with these.
        let is_ours = matches!(failure, Failure::Error { .. } | Failure::Request(_) | Failure::Closed);
        let said = if is_ours { String::new() } else { self.tail.text(&self.program.secrets) };
        ClientError { failure, may_have_run, said }
    }
}

/// Characters of the first line of noise that are kept.
const NOISE_SHOWN: usize = 200;

/// A message to the server.
fn message(id: Option<u64>, method: &str, params: Option<Value>) -> Value {
    let mut message = Map::new();
    message.insert("jsonrpc".to_owned(), "2.0".into());
    if let Some(id) = id {
        message.insert("id".to_owned(), id.into());
    }
    message.insert("method".to_owned(), method.into());
    if let Some(params) = params {
        message.insert("params".to_owned(), params);
    }
    Value::Object(message)
}

fn line(message: &Value) -> Vec<u8> {
    let mut bytes = message.to_string().into_bytes();
    bytes.push(b'\n');
    bytes
}

/// Gives a request up when it is dropped before its answer is there.
struct Asked<'a> {
    shared: &'a Shared,
    id: u64,
    /// The server may not be told that this one is given up.
    cancels: bool,
    answered: bool,
}

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        if self.answered {
            return;
        }
        self.shared.pending.forget(self.id);
        if !self.shared.queue.withdraw(self.id) && self.cancels {
            let params = json!({ "requestId": self.id, "reason": "nobody waits for it any more" });
            self.shared.notify("notifications/cancelled", Some(params));
        }
    }
}

impl Connection for Pipe {
    fn request<'a>(&'a self, method: &'a str, params: Value, time: Duration) -> Reply<'a, Value> {
        Box::pin(async move {
            let shared = &*self.shared;
            let (id, answer) = shared.pending.begin().map_err(|failure| shared.error(failure, false))?;
            let mut asked = Asked { shared, id, cancels: method != "initialize", answered: false };
            let bytes = line(&message(Some(id), method, Some(params)));
            if bytes.len() > REQUEST_MAX {
                asked.cancels = false;
                return Err(shared.error(Failure::Request(REQUEST_MAX), false));
            }
            let pushed = shared.queue.push(Line { id: Some(id), bytes });
            if let Err(refused) = pushed {
                asked.cancels = false;
                if refused == Refused::Full {
                    return Err(shared.error(Failure::Stuck, false));
                }
                if shared.closing.load(Ordering::Acquire) {
                    return Err(shared.error(Failure::Closed, false));
                }
                // It is ending, and soon it is known how.
            }
            let outcome = match tokio::time::timeout(time, answer).await {
                Ok(Ok(outcome)) => outcome,
                Ok(Err(_)) => Err(Failure::Closed),
                Err(_) if shared.queue.withdraw(id) => {
                    asked.cancels = false;
                    return Err(shared.error(Failure::Stuck, false));
                }
                Err(_) => {
                    let failure = Failure::Late { method: method.to_owned(), time };
                    return Err(shared.error(failure, true));
                }
            };
            asked.answered = true;
            outcome.map_err(|failure| {
                let was_sent = pushed.is_ok() && !shared.queue.withdraw(id);
                shared.error(failure, was_sent)
            })
        })
    }

    fn notify(&self, method: &str, params: Option<Value>) {
        self.shared.notify(method, params);
    }

    fn subscribe(&self, method: &str, params: Value) {
        if let Ok(id) = self.shared.pending.begin_unheard() {
            let bytes = line(&message(Some(id), method, Some(params)));
            if self.shared.queue.push(Line { id: Some(id), bytes }).is_err() {
                self.shared.pending.forget(id);
            }
        }
    }

    fn speaks(&self, era: Era) {
        self.shared.answers.store(era == Era::Legacy, Ordering::Release);
    }

    fn is_alive(&self) -> bool {
        !self.shared.closing.load(Ordering::Acquire) && !self.shared.ended.reaches(1, Duration::ZERO)
    }

    fn heard(&self) -> watch::Receiver<Heard> {
        self.shared.heard.subscribe()
    }

    fn stray(&self) -> Stray {
        self.shared.stray().clone()
    }

    fn said(&self) -> String {
        self.shared.tail.text(&self.shared.program.secrets)
    }

    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        self.shared.begin_to_close();
        let mut over = self.shared.over.subscribe();
        Box::pin(async move {
            drop(over.wait_for(|over| *over).await);
        })
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        self.shared.begin_to_close();
    }
}
