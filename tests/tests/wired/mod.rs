//! A client of the wire that says exactly what it is told to, over a pipe in memory.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::collections::HashMap;

use portcullis::Host;
use portcullis::ledger::Ledger;
use portcullis_serve::{AtEnd, ServeLimits, Server};
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf,
};
use tokio::task::JoinHandle;

/// Bytes that either side may be ahead of the other.
const PIPE: usize = 64 << 10;

/// A client, and the server that it talks to.
#[derive(Debug)]
pub(crate) struct Wire {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    output: WriteHalf<DuplexStream>,
    asked: u64,
    /// Answers that came while others were waited for.
    early: HashMap<u64, Value>,
    /// What came without having been asked for.
    pub(crate) news: Vec<Value>,
    served: JoinHandle<()>,
}

pub(crate) fn server(host: &Host) -> Server {
    Server::new(host.clone(), None, ServeLimits::new())
}

pub(crate) fn server_with(
    host: &Host,
    ledger: Option<Ledger>,
    change: impl FnOnce(&mut ServeLimits),
) -> Server {
    let mut limits = ServeLimits::new();
    change(&mut limits);
    Server::new(host.clone(), ledger, limits)
}

impl Wire {
    /// Connected, and nothing said.
    pub(crate) fn silent(server: &Server, at_end: AtEnd) -> Self {
        let (own, its) = tokio::io::duplex(PIPE);
        let (input, output) = tokio::io::split(its);
        let server = server.clone();
        let served = tokio::spawn(async move { server.serve(input, output, at_end).await });
        let (read, output) = tokio::io::split(own);
        let lines = BufReader::new(read).lines();
        Self { lines, output, asked: 0, early: HashMap::new(), news: Vec::new(), served }
    }

    /// Connected, and greeted.
    pub(crate) async fn connect(server: &Server) -> Self {
        Self::listening(server, &[]).await
    }

    /// The same, and wants to hear of some things.
    pub(crate) async fn listening(server: &Server, news: &[&str]) -> Self {
        let mut wire = Self::silent(server, AtEnd::Refuse);
        wire.ok("initialize", hello(news)).await;
        wire
    }

    /// With the session `s1` and its turn `t1` open.
    pub(crate) async fn in_turn(server: &Server) -> Self {
        let mut wire = Self::connect(server).await;
        wire.begin("s1", "t1").await;
        wire
    }

    pub(crate) async fn begin(&mut self, session: &str, turn: &str) {
        self.ok("session/open", json!({"session_id": session, "cwd": "/home/dev/app"})).await;
        self.ok("turn/begin", json!({"session_id": session, "turn_id": turn})).await;
    }

    pub(crate) async fn send(&mut self, text: &str) {
        assert!(self.try_send(text).await, "the server has gone");
    }

    /// False when the server does not listen any more.
    pub(crate) async fn try_send(&mut self, text: &str) -> bool {
        let line = format!("{text}\n");
        self.output.write_all(line.as_bytes()).await.is_ok()
    }

    /// Asks and does not wait.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.asked += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        self.send(&message.to_string()).await;
        self.asked
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string()).await;
    }

    /// The next message, whatever it is. None at the end.
    pub(crate) async fn next(&mut self) -> Option<Value> {
        let line = self.lines.next_line().await.unwrap_or_default()?;
        let message: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(message["jsonrpc"], "2.0");
        Some(message)
    }

    /// The answer to the request `id`.
    pub(crate) async fn answer(&mut self, id: u64) -> Value {
        loop {
            if let Some(answer) = self.early.remove(&id) {
                return answer;
            }
            let message = self.next().await.unwrap();
            match message["id"].as_u64() {
                Some(id) => assert!(self.early.insert(id, message).is_none(), "answered twice: {id}"),
                None => self.news.push(message),
            }
        }
    }

    /// Asks, and waits for the result.
    pub(crate) async fn ok(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        let answer = self.answer(id).await;
        assert_eq!(answer["error"], Value::Null, "{method}");
        answer["result"].clone()
    }

    /// Asks, and waits for the error.
    pub(crate) async fn error(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params).await;
        self.answer(id).await["error"].clone()
    }

    /// The code of the error.
    pub(crate) async fn refused(&mut self, method: &str, params: Value) -> String {
        self.error(method, params).await["data"]["code"].as_str().unwrap().to_owned()
    }

    /// Judges a command of `t1`.
    pub(crate) async fn bash(&mut self, command: &str) -> Value {
        self.ok("beforeToolCall", bash("t1", command)).await
    }

    /// Says nothing more, and reads what is left.
    pub(crate) async fn finish(mut self) -> Vec<Value> {
        self.output.shutdown().await.unwrap();
        let mut rest = Vec::new();
        while let Some(message) = self.next().await {
            rest.push(message);
        }
        self.served.await.unwrap();
        rest
    }

    /// Goes away, and waits until the server has noticed.
    pub(crate) async fn vanish(self) {
        let Self { lines, output, served, .. } = self;
        drop((lines, output));
        served.await.unwrap();
    }

    /// Waits until the server has had enough of it.
    pub(crate) async fn served(self) {
        self.served.await.unwrap();
    }
}

pub(crate) fn hello(news: &[&str]) -> Value {
    json!({"protocol": "1.0", "client": {"name": "test", "version": "1"}, "notifications": news})
}

pub(crate) fn bash(turn: &str, command: &str) -> Value {
    json!({"turn_id": turn, "id": "c1", "tool": "Bash", "input": {"command": command}})
}
