//! A server that misbehaves on demand: its arguments say how it begins, and each of its
//! tools has a fault of its own.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::exit,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "it is there to fail"
)]

mod skill;
mod tool;

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::path::PathBuf;

use serde_json::{Value, json};

/// How it begins, and what it offers.
#[derive(Debug, Default)]
pub struct Manner {
    /// Where it writes down that it was started, and what it was asked.
    pub log: Option<PathBuf>,
    /// What becomes of `server/discover`: `modern`, `silent`, `exit`, `late`, `other` or an
    /// error.
    pub discover: String,
    /// What becomes of `initialize`: `silent`, `exit`, `version`, `refuse` or an answer.
    pub initialize: String,
    /// What becomes of `tools/list`: `loop`, `pages`, `broken`, `silent`, `twice` or a list.
    pub list: String,
    /// It does not tell of changes.
    pub quiet: bool,
    /// It does not end when its input does.
    pub deaf: bool,
    /// A file whose words are more tools.
    pub tools: Option<PathBuf>,
    /// It offers skills from this directory.
    pub skills: Option<PathBuf>,
    /// Where its tools leave marks.
    pub marks: Option<PathBuf>,
    /// It says as much on its standard error before it begins, in bytes.
    pub chatter: usize,
}

impl Manner {
    fn read(arguments: impl Iterator<Item = String>) -> Self {
        let mut manner = Self::default();
        for argument in arguments {
            let (name, value) = argument.split_once('=').unwrap_or((&argument, ""));
            let path = || Some(PathBuf::from(value));
            match name {
                "--log" => manner.log = path(),
                "--discover" => manner.discover = value.to_owned(),
                "--initialize" => manner.initialize = value.to_owned(),
                "--list" => manner.list = value.to_owned(),
                "--quiet" => manner.quiet = true,
                "--deaf" => manner.deaf = true,
                "--tools" => manner.tools = path(),
                "--skills" => manner.skills = path(),
                "--marks" => manner.marks = path(),
                "--chatter" => manner.chatter = value.parse().unwrap(),
                // Whatever else it is told, it can repeat.
                _ => {}
            }
        }
        manner
    }

    pub fn note(&self, line: &str) {
        if let Some(log) = &self.log {
            let mut log = OpenOptions::new().create(true).append(true).open(log).unwrap();
            log.write_all(format!("{line}\n").as_bytes()).unwrap();
        }
    }
}

/// What it has to remember.
#[derive(Debug, Default)]
pub struct Server {
    pub manner: Manner,
    /// A request that it answers later.
    pub kept: Vec<Value>,
    /// The number of lists that it has given.
    lists: usize,
    modern: bool,
}

fn main() {
    let mut server = Server { manner: Manner::read(std::env::args().skip(1)), ..Server::default() };
    server.manner.note(&format!("start {}", std::process::id()));
    let chatter = server.manner.chatter;
    io::stderr().write_all(&vec![b'.'; chatter]).unwrap();
    for line in io::stdin().lock().lines() {
        let Ok(message) = serde_json::from_str::<Value>(&line.unwrap()) else { std::process::exit(65) };
        server.take(&message);
    }
    server.manner.note("end of input");
    if server.manner.deaf {
        park();
    }
}

/// For ever.
pub fn park() -> ! {
    loop {
        std::thread::park();
    }
}

/// Writes one line.
pub fn say(message: &Value) {
    let mut stdout = io::stdout().lock();
    stdout.write_all(format!("{message}\n").as_bytes()).unwrap();
    stdout.flush().unwrap();
}

impl Server {
    fn take(&mut self, message: &Value) {
        let Some(method) = message["method"].as_str() else {
            self.manner.note(&format!("answer {}", message["error"]["code"]));
            return self.answered(message);
        };
        let of = message["params"]["name"].as_str().map(|name| format!(" {name}"));
        self.manner.note(&format!("{method}{}", of.unwrap_or_default()));
        let id = &message["id"];
        match method {
            "server/discover" => self.discover(id),
            "initialize" => self.initialize(id),
            "tools/list" => self.list(id, &message["params"]),
            "tools/call" => self.call(id, &message["params"]),
            "ping" => self.answer(id, json!({})),
            "subscriptions/listen" if self.modern => say(&json!({
                "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                "params": { "_meta": { "io.modelcontextprotocol/subscriptionId": id } },
            })),
            "skills/list" | "skills/get" | "resources/list" | "resources/read" | "prompts/list"
            | "prompts/get" => self.provide(method, id, &message["params"]),
            _ if id.is_null() => {}
            _ => self.refuse(id, -32601, "Method not found"),
        }
    }

    /// A result, as this generation writes it.
    pub fn answer(&self, id: &Value, mut result: Value) {
        if self.modern {
            result["resultType"] = "complete".into();
        }
        say(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    pub fn refuse(&self, id: &Value, code: i64, message: &str) {
        say(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } }));
    }

    fn capabilities(&self) -> Value {
        let mut all = json!({ "tools": { "listChanged": !self.manner.quiet }, "prompts": {} });
        if self.manner.skills.is_some() {
            all["resources"] = json!({ "listChanged": true });
            all["extensions"] = json!({ "io.modelcontextprotocol/skills": {} });
        }
        all
    }

    fn discover(&mut self, id: &Value) {
        match self.manner.discover.as_str() {
            "modern" => {
                self.modern = true;
                let versions = ["2026-07-28"];
                let result = json!({
                    "supportedVersions": versions, "capabilities": self.capabilities(), "ttlMs": 0,
                    "cacheScope": "private", "instructions": "Use it well.",
                });
                self.answer(id, result);
            }
            "silent" => {}
            "exit" => std::process::exit(3),
            // The answer comes when something else is waited for.
            "late" => self.kept.push(id.clone()),
            "other" => self.refuse(id, -32022, "only 2031-01-01"),
            "" => self.refuse(id, -32601, "Method not found"),
            code => self.refuse(id, code.parse().unwrap(), "Invalid request parameters"),
        }
    }

    fn initialize(&mut self, id: &Value) {
        let spoilt = self.kept.pop();
        if let Some(before) = &spoilt {
            self.refuse(before, -32601, "Method not found");
        }
        let mut version = "2025-11-25";
        match self.manner.initialize.as_str() {
            // What it was asked before has confused it.
            _ if spoilt.is_some() => return,
            "silent" => return,
            "exit" => {
                io::stderr().write_all(b"the database is locked\n").unwrap();
                std::process::exit(3)
            }
            "version" => version = "1999-01-01",
            "refuse" => return self.refuse(id, -32022, "this connection is modern"),
            _ => {}
        }
        let info = json!({ "name": "misbehaving", "version": "1" });
        let capabilities = self.capabilities();
        let result = json!({ "protocolVersion": version, "capabilities": capabilities, "serverInfo": info });
        self.answer(id, result);
    }

    fn list(&mut self, id: &Value, params: &Value) {
        self.lists += 1;
        let tools = self.tools();
        let page = |tools: &[Value], next: Option<&str>| {
            let mut page = json!({ "tools": tools });
            if let Some(next) = next {
                page["nextCursor"] = next.into();
            }
            page
        };
        let cursor = params["cursor"].as_str();
        let answer = match (self.manner.list.as_str(), cursor) {
            ("silent", _) => return,
            ("broken", _) => json!({ "tools": "none" }),
            ("fails-later", _) if self.lists > 1 => return self.refuse(id, -32603, "later"),
            ("loop", _) => page(&tools, Some("again")),
            ("pages", None) => page(&tools[..2], Some("second")),
            ("pages", Some("second")) => page(&tools[2..], None),
            ("twice", _) => page(&[tools.clone(), tools].concat(), None),
            _ => page(&tools, None),
        };
        self.answer(id, answer);
    }
}
