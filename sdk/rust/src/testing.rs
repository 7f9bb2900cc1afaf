//! Tests of a plugin without a host: calls as data, and what a host would have
//! remembered. Every test thread has a host of its own.
//!
//! ```
//! use portcullis_sdk::EffectKind;
//! use portcullis_sdk::testing::{CallBuilder, script};
//!
//! let call = CallBuilder::bash("ls | wc -l").build();
//! assert_eq!(call.commands().count(), 2);
//! assert_eq!(call.text("/command").as_deref(), Some("ls | wc -l"));
//!
//! let call = CallBuilder::new("run_tests")
//!     .input(r#"{"script": "make test"}"#)
//!     .script(script("make test"))
//!     .effect(EffectKind::Write, "/home/dev/app/report.xml")
//!     .build();
//! assert_eq!(call.writes().count(), 1);
//! ```

use core::cell::RefCell;
use std::collections::BTreeMap;

use crate::clock::Moment;
use crate::{Call, Command, Effect, EffectKind, Invocation, Occurrence, Pipeline, Script, Word};

/// What the host of this thread knows.
#[derive(Debug)]
pub(crate) struct Host {
    pub(crate) settings: String,
    pub(crate) store: BTreeMap<String, String>,
    pub(crate) log: Vec<(String, String)>,
    pub(crate) now: Moment,
    pub(crate) bells: usize,
}

thread_local! {
    static HOST: RefCell<Host> = const {
        RefCell::new(Host {
            settings: String::new(),
            store: BTreeMap::new(),
            log: Vec::new(),
            now: Moment { seconds: 0, nanoseconds: 0, offset_seconds: 0, zone: String::new() },
            bells: 0,
        })
    };
}

pub(crate) fn with<T>(answer: impl FnOnce(&mut Host) -> T) -> T {
    HOST.with_borrow_mut(|host| {
        if host.settings.is_empty() {
            host.settings = "{}".to_owned();
        }
        answer(host)
    })
}

/// Makes this JSON object the plugin's settings.
pub fn set_settings(json: impl Into<String>) {
    with(|host| host.settings = json.into());
}

/// Stops the clock at this moment.
pub fn set_now(moment: Moment) {
    with(|host| host.now = moment);
}

/// How often the bell rang.
#[must_use]
pub fn bells() -> usize {
    with(|host| host.bells)
}

/// What was logged: level and message.
#[must_use]
pub fn logged() -> Vec<(String, String)> {
    with(|host| host.log.clone())
}

/// Builds a call.
#[derive(Debug)]
pub struct CallBuilder {
    tool: String,
    input: String,
    cwd: String,
    session_id: String,
    effects: Vec<Effect>,
    scripts: Vec<Script>,
}

impl CallBuilder {
    /// A call of this tool, with an empty object as its input.
    #[must_use]
    pub fn new(tool: impl Into<String>) -> Self {
        Self {
            tool: tool.into(),
            input: "{}".to_owned(),
            cwd: "/home/dev/app".to_owned(),
            session_id: "session".to_owned(),
            effects: Vec::new(),
            scripts: Vec::new(),
        }
    }

    /// A call of `bash` that runs this script of plain words; see [`script`] for
    /// what it understands.
    #[must_use]
    pub fn bash(text: &str) -> Self {
        let command = serde_json::Value::from(text);
        Self::new("bash")
            .input(format!(r#"{{"command":{command}}}"#))
            .script(script(text))
            .effect(EffectKind::Run, text)
    }

    /// The arguments as a JSON document.
    #[must_use]
    pub fn input(mut self, json: impl Into<String>) -> Self {
        self.input = json.into();
        self
    }

    /// The directory that the call runs in.
    #[must_use]
    pub fn cwd(mut self, path: impl Into<String>) -> Self {
        self.cwd = path.into();
        self
    }

    /// The agent's session.
    #[must_use]
    pub fn session_id(mut self, id: impl Into<String>) -> Self {
        self.session_id = id.into();
        self
    }

    /// One thing that the call does.
    #[must_use]
    pub fn effect(mut self, kind: EffectKind, target: impl Into<String>) -> Self {
        self.effects.push(Effect::new(kind, target));
        self
    }

    /// A script that the call runs.
    #[must_use]
    pub fn script(mut self, script: Script) -> Self {
        self.scripts.push(script);
        self
    }

    /// The call.
    #[must_use]
    pub fn build(self) -> Call<'static> {
        let call = Call::default();
        // A fresh cell takes its value.
        let _ = (call.id.set("call".to_owned()), call.tool.set(self.tool), call.input.set(self.input));
        let _ = (call.cwd.set(self.cwd), call.session_id.set(self.session_id));
        let _ = (call.effects.set(self.effects), call.scripts.set(self.scripts));
        call
    }
}

/// An event, such as `stop`, with a call when it has one.
#[must_use]
pub fn occurrence(name: &str, call: Option<Call<'static>>, text: Option<&str>) -> Occurrence<'static> {
    let occurrence = Occurrence::default();
    let _ = (occurrence.name.set(name.to_owned()), occurrence.call.set(call));
    let _ = occurrence.text.set(text.map(str::to_owned));
    occurrence
}

/// A slash command as the user typed it.
#[must_use]
pub fn invocation(name: &str, arguments: &str) -> Invocation<'static> {
    let invocation = Invocation::default();
    let _ = (invocation.name.set(name.to_owned()), invocation.arguments.set(arguments.to_owned()));
    invocation
}

/// A script of plain words: `;` ends a pipeline, `|` joins commands, spaces part
/// words, and nothing else means anything. The host's parser knows the rest of
/// the language; a test that needs a quote or a heredoc says what it comes to.
#[must_use]
pub fn script(text: &str) -> Script {
    let pipeline = |text: &str| Pipeline::new(text.split('|').map(command).collect());
    let pipelines = text.split(';').filter(|text| !text.trim().is_empty()).map(pipeline).collect();
    Script::new(text, true, pipelines)
}

/// What a guest makes of a script's pipelines in the one value in which the host
/// hands them over (`script.packed`). None when it is not as the contract has it.
#[must_use]
pub fn unpack(packed: &[u8]) -> Option<Vec<Pipeline>> {
    crate::packed::unpack(packed)
}

/// A command of plain words.
#[must_use]
pub fn command(text: &str) -> Command {
    Command {
        words: text.split_whitespace().map(|word| Word::Literal(word.to_owned())).collect(),
        source: text.trim().to_owned(),
        ..Command::default()
    }
}
