//! `portcullis check`: tool calls in, one line of JSON out for each.

use std::collections::HashMap;
use std::io::{BufRead, Read as _};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use portcullis::ledger::{Entry, EntryKind, Ledger};
use portcullis::model::call::ToolCall;
use portcullis::model::fault::FaultKind;
use portcullis::model::input::{Input, InputError, strict_value};
use portcullis::model::judgement::{JudgementWire, RefusedBy, RefuserKind, Verdict};
use portcullis::model::limits::INPUT_MAX;
use portcullis::{Host, HostOptions, Session};
use serde_json::Value;

use crate::args::{CheckArguments, Common};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::Printer;

/// What a line may have around its input, in bytes.
const ENVELOPE_MAX: usize = 1 << 20;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
const KEYS: [&str; 5] = ["tool", "input", "cwd", "session_id", "id"];

pub(crate) fn run(
    common: &Common,
    verb: &CheckArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let cwd = open::workspace(common, environment)
        .map(|dir| dir.to_string_lossy().into_owned())
        .unwrap_or_default();
    let options = open::options(common, environment, None);
    let own = (common.clone(), environment.clone());
    let (lines, read) = mpsc::channel();
    let (judged, answers) = mpsc::sync_channel(1);
    thread::Builder::new().name("portcullis-read".to_owned()).spawn(move || {
        let sent = lines.clone();
        read_all(&sent);
        // Whoever reads may have gone.
        drop(lines.send(Read::End));
    })?;
    thread::Builder::new().name("portcullis-work".to_owned()).spawn(move || {
        let (common, environment) = own;
        let mut bench = Bench::open(options, &common, &environment);
        for line in read {
            let answer = match line {
                Read::Line(line) => Some(bench.judge(line, &cwd)),
                Read::End => None,
            };
            // The main thread goes when its reader has gone.
            if judged.send(answer).is_err() {
                return;
            }
        }
    })?;
    let mut exit = None;
    loop {
        let answer = match answers.recv_timeout(Duration::from_secs(verb.timeout)) {
            Ok(Some(answer)) => answer,
            Ok(None) => break,
            Err(failed) => {
                // The calls that are left have no verdict, and are refused by this one answer.
                let (fault, what) = match failed {
                    RecvTimeoutError::Timeout => (FaultKind::Timeout, "no answer within the time of `check`"),
                    RecvTimeoutError::Disconnected => (FaultKind::Internal, "`check` failed inside"),
                };
                printer.line(&serde_json::to_string(&block("", "check", fault, what))?)?;
                open::note_fault(common, environment, None, fault, what);
                return Ok(Exit::Refused);
            }
        };
        printer.line(&serde_json::to_string(&answer)?)?;
        // Consent that nobody can give here is none.
        let this = if answer.verdict == Verdict::Allow { Exit::Done } else { Exit::Refused };
        exit = Some(if exit == Some(Exit::Refused) { Exit::Refused } else { this });
    }
    exit.ok_or_else(|| {
        anyhow::anyhow!(
            "there was no call on standard input; hint: echo '{{\"tool\":\"Bash\",\"input\":{{\"command\":\"ls\"}}}}' | \
             portcullis check"
        )
    })
}

/// One call as text, or why there is none.
type Line = Result<String, (FaultKind, String)>;

/// What comes from standard input. Without its end, something failed.
enum Read {
    Line(Line),
    End,
}

/// Reads standard input, one call a line. A first line that is only the beginning
/// of an object is read on: the input may be one object over many lines.
fn read_all(lines: &mpsc::Sender<Read>) {
    let mut input = std::io::stdin().lock();
    let max = INPUT_MAX + ENVELOPE_MAX;
    let mut first = true;
    loop {
        let mut bytes = Vec::new();
        let line = match input.by_ref().take(max as u64 + 1).read_until(b'\n', &mut bytes) {
            Ok(0) => return,
            Ok(_) if bytes.len() > max => {
                if !bytes.ends_with(b"\n") {
                    skip_line(&mut input);
                }
                Err((FaultKind::TooBig, format!("the line is longer than {max} bytes")))
            }
            Ok(_) if bytes.iter().all(u8::is_ascii_whitespace) => continue,
            Ok(_) => {
                if first && bytes.starts_with(BYTE_ORDER_MARK) {
                    bytes.drain(..BYTE_ORDER_MARK.len());
                }
                if first && is_unfinished(&bytes) {
                    // Lines that turn out to be no object after all are each told of below.
                    let rest = input.by_ref().take((max - bytes.len()) as u64).read_to_end(&mut bytes);
                    if rest.is_ok() && serde_json::from_slice::<serde::de::IgnoredAny>(&bytes).is_err() {
                        for part in bytes.split(|byte| *byte == b'\n').filter(|part| !part.is_empty()) {
                            if lines.send(Read::Line(text(part.to_vec()))).is_err() {
                                return;
                            }
                        }
                        continue;
                    }
                }
                text(bytes)
            }
            Err(error) => Err((FaultKind::BadInput, format!("standard input cannot be read: {error}"))),
        };
        first = false;
        let failed = line.is_err();
        if lines.send(Read::Line(line)).is_err() || (failed && input.fill_buf().is_err()) {
            return;
        }
    }
}

fn is_unfinished(bytes: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(bytes).is_err_and(|error| error.is_eof())
}

fn text(bytes: Vec<u8>) -> Line {
    String::from_utf8(bytes).map_err(|_| (FaultKind::BadInput, "the line is not UTF-8".to_owned()))
}

fn skip_line(input: &mut impl BufRead) {
    while let Ok(bytes) = input.fill_buf() {
        let (used, found) = match bytes.iter().position(|byte| *byte == b'\n') {
            Some(at) => (at + 1, true),
            None => (bytes.len(), bytes.is_empty()),
        };
        input.consume(used);
        if found {
            return;
        }
    }
}

/// What calls are judged with: an open host, or the reason why there is none.
struct Bench {
    host: Result<(Host, tokio::runtime::Runtime), Closed>,
    sessions: HashMap<String, Session>,
    /// For what does not reach the gate.
    ledger: Option<Ledger>,
}

/// Why there is no host: for the model, and the command with which the user finds out more.
struct Closed {
    what: String,
    way_out: &'static str,
}

impl Bench {
    fn open(options: anyhow::Result<HostOptions>, common: &Common, environment: &Environment) -> Self {
        let audit = options.as_ref().map(|options| options.config.audit).unwrap_or_default();
        let place = open::ledger(common, environment, None);
        let ledger = place.clone().map(|place| Ledger::new(place, audit, &environment.variables));
        let opened = options.and_then(|mut options| {
            options.ledger = place;
            let executor = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
            let host = executor.block_on(Host::open(options))?;
            Ok((host, executor))
        });
        // `-v` shows the whole of it; the model gets the part that is for it.
        let closed = |error| Closed { what: open::for_model(&error), way_out: open::way_out(&error) };
        Self { host: opened.map_err(closed), sessions: HashMap::new(), ledger }
    }

    /// The refusal of a line that never reaches the gate, written down.
    fn refused(&self, wire: JudgementWire, call: Option<ToolCall>) -> JudgementWire {
        if let Some(ledger) = &self.ledger {
            let (tool, session) = call.map(|call| (call.tool, call.session_id)).unzip();
            let entry = Entry { tool, session, ..Entry::judged(EntryKind::Fault, wire.clone()) };
            if let Err(error) = ledger.append(entry) {
                tracing::warn!("a refusal is not written down: {error}");
            }
        }
        wire
    }

    fn judge(&mut self, line: Line, cwd: &str) -> JudgementWire {
        let line = match line {
            Ok(line) => line,
            Err((kind, reason)) => return self.refused(block("", "check", kind, &reason), None),
        };
        let call = match call(&line, cwd) {
            Ok(call) => call,
            Err((kind, reason)) => {
                return self.refused(block(&id_of(&line), "check", kind, &reason), None);
            }
        };
        match &self.host {
            Ok((host, executor)) => {
                let session = self
                    .sessions
                    .entry(call.session_id.clone())
                    .or_insert_with(|| host.session(call.session_id.clone()));
                executor.block_on(session.turn().judge(call)).to_wire()
            }
            Err(Closed { what, way_out }) => {
                let what = format!(
                    "Portcullis cannot judge: {what}. Every tool call is refused until that is mended. Ask the \
                     user to run `{way_out}`"
                );
                let by = RefusedBy { kind: RefuserKind::Standing, name: "portcullis".to_owned() };
                let block = block(&call.id, &call.tool, FaultKind::Load, &what);
                self.refused(JudgementWire { by: Some(by), ..block }, Some(call))
            }
        }
    }
}

/// Reads one call.
pub(crate) fn call(line: &str, cwd: &str) -> Result<ToolCall, (FaultKind, String)> {
    let bad = |reason: String| (FaultKind::BadInput, reason);
    let value = strict_value(line).map_err(|error| bad(error.to_string()))?;
    let Value::Object(mut object) = value else {
        return Err(bad("a call is a JSON object with `tool` and `input`".to_owned()));
    };
    if let Some(key) = object.keys().find(|key| !KEYS.contains(&key.as_str())) {
        return Err(bad(format!("the key `{key}` is not known; the keys are {}", KEYS.join(", "))));
    }
    let mut word = |key: &str| match object.remove(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(bad(format!("`{key}` is not a string"))),
    };
    let tool = word("tool")?.ok_or_else(|| bad("`tool` is missing".to_owned()))?;
    let id = word("id")?.unwrap_or_default();
    let session_id = word("session_id")?.unwrap_or_default();
    let cwd = word("cwd")?.unwrap_or_else(|| cwd.to_owned());
    let input = object.remove("input").ok_or_else(|| bad("`input` is missing".to_owned()))?;
    let input = Input::from_value(input).map_err(|error| match error {
        InputError::TooBig { .. } => (FaultKind::TooBig, error.to_string()),
        InputError::NotJson(_) => bad(error.to_string()),
    })?;
    Ok(ToolCall { id, tool, input, cwd, session_id })
}

/// The id in a line that is no call, so that whoever sent it can match the answer.
fn id_of(line: &str) -> String {
    let object = serde_json::from_str::<Value>(line).ok();
    object.as_ref().and_then(|object| object.get("id")?.as_str()).unwrap_or_default().to_owned()
}

fn block(id: &str, name: &str, fault: FaultKind, reason: &str) -> JudgementWire {
    JudgementWire {
        id: id.to_owned(),
        verdict: Verdict::Block,
        by: Some(RefusedBy { kind: RefuserKind::Input, name: name.to_owned() }),
        code: Some(format!("fault/{fault}")),
        fault: Some(fault),
        reason: Some(format!("Blocked: {reason}.")),
        auto_approved: false,
        micros: 0,
    }
}
