//! A workspace whose servers are the one that misbehaves on demand.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use portcullis::{Called, Host, HostOptions, Turn};
use portcullis_runtime::Content;
use serde_json::{Value, json};

use crate::place::{Place, call};

/// The program of every server here.
pub(crate) const SERVER: &str = env!("CARGO_BIN_EXE_misbehaving-mcp-server");

/// A workspace with servers, and what they write down.
pub(crate) struct Served {
    pub(crate) place: Place,
    config: String,
}

impl Served {
    pub(crate) fn new(config: &str) -> Self {
        let place = Place::new();
        for dir in ["work", "marks"] {
            fs::create_dir_all(place.path(dir)).unwrap();
        }
        Self { place, config: format!("{config}\n") }
    }

    /// With a server more, that begins so.
    pub(crate) fn with(self, name: &str, manner: &[&str], more: &str) -> Self {
        self.with_command(name, SERVER, manner, more)
    }

    pub(crate) fn with_command(mut self, name: &str, command: &str, manner: &[&str], more: &str) -> Self {
        let own =
            ["log", "marks", "tools"].map(|what| format!("--{what}={}", self.place.path(what).display()));
        let args: Vec<&str> = manner.iter().copied().chain(own.iter().map(String::as_str)).collect();
        writeln!(self.config, "[mcp.servers.{name}]\ncommand = {command:?}\nargs = {args:?}\n{more}")
            .unwrap();
        self
    }

    /// With more lines of the configuration behind the others.
    pub(crate) fn with_config(mut self, lines: &str) -> Self {
        self.config.push_str(lines);
        self
    }

    pub(crate) fn options(&self) -> HostOptions {
        let mut options = self.place.options(&self.config);
        options.own.project = Some(self.place.path("work"));
        options.server_dir = Some(self.place.path("servers"));
        options.env.insert("PATH".to_owned(), "/usr/bin:/bin".to_owned());
        options
    }

    pub(crate) async fn open(&self) -> Host {
        Host::open(self.options()).await.unwrap()
    }

    /// What the servers have written down.
    pub(crate) fn log(&self) -> Vec<String> {
        let text = fs::read_to_string(self.place.path("log")).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    /// The processes that were started, by their numbers.
    pub(crate) fn started(&self) -> Vec<String> {
        self.log().iter().filter_map(|line| line.strip_prefix("start ").map(str::to_owned)).collect()
    }

    /// What all servers offer besides their own tools.
    pub(crate) fn offer(&self, tools: &str) {
        fs::write(self.place.path("tools"), tools).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.place.path(name)
    }
}

/// What a call through `mcp` gives: `ok` or a code, and the text.
pub(crate) async fn mcp(turn: &Turn, input: Value) -> (String, String) {
    told(turn.call(call("mcp", input)).await)
}

/// The same of a tool of a server.
pub(crate) async fn tool(turn: &Turn, server: &str, tool: &str, arguments: Value) -> (String, String) {
    let input = json!({ "action": "call", "server": server, "tool": tool, "arguments": arguments });
    mcp(turn, input).await
}

pub(crate) fn told(called: Called) -> (String, String) {
    let texts = called.output.content.iter().map(|content| match content {
        Content::Text(text) => text.clone(),
        Content::Binary { .. } => "binary".to_owned(),
    });
    let text = texts.collect::<Vec<_>>().join("\n");
    let code = match called.error {
        Some(error) => error.code,
        None if called.output.is_error => "error".to_owned(),
        None => "ok".to_owned(),
    };
    (code, text)
}

/// Waits until the process of that number is gone. It may be anybody's child, and nobody
/// may reap it.
pub(crate) fn gone(pid: &str) -> bool {
    let start = Instant::now();
    while start.elapsed() < LONG {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        if state.is_none_or(|state| matches!(state, 'Z' | 'X')) {
            return true;
        }
        std::thread::yield_now();
    }
    false
}

/// Longer than anything here takes.
pub(crate) const LONG: Duration = Duration::from_secs(120);
