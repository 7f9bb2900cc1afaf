//! `portcullis mcp skills` as a process: its flags, its pipes, its address, its watch.

#![cfg(unix)]
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use std::collections::VecDeque;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout};

use serde_json::{Value, json};

use support::{BINARY, User};

/// A skill with this in its description.
fn skill(user: &User, place: &str, name: &str, description: &str) {
    let text = format!("---\nname: {name}\ndescription: {description}\n---\n# {name}\n");
    user.write(&format!("{place}/{name}/SKILL.md"), text);
}

fn place(user: &User, name: &str) -> String {
    json!({ "dir": user.path(name) }).to_string()
}

/// A server on pipes, and its client.
struct Pipes {
    child: Child,
    input: Option<ChildStdin>,
    lines: BufReader<ChildStdout>,
    asked: u64,
    /// What came while an answer was waited for.
    heard: VecDeque<Value>,
}

impl Pipes {
    fn start(user: &User, flags: &[&str]) -> Self {
        let mut command = user.command(BINARY);
        let mut child = command.args(["mcp", "skills"]).args(flags).spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        let (lines, heard) = (BufReader::new(output), VecDeque::new());
        let mut pipes = Self { child, input, lines, asked: 0, heard };
        let hello = json!({
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
        });
        pipes.ask("initialize", hello);
        pipes.line(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        pipes
    }

    fn line(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    /// The next message. Every line has to be one.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"));
        assert_eq!(message["jsonrpc"], "2.0", "{message}");
        message
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.asked += 1;
        self.line(&json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }));
        loop {
            let message = self.next();
            if message["id"] == self.asked {
                assert_eq!(message["error"], Value::Null, "{method}: {message}");
                return message["result"].clone();
            }
            self.heard.push_back(message);
        }
    }

    /// The next message that answers nothing.
    fn news(&mut self) -> Value {
        match self.heard.pop_front() {
            Some(heard) => heard,
            None => self.next(),
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Each skill with what it is for.
    fn skills(&mut self) -> Vec<(String, String)> {
        let result = self.call("list_skills", json!({}));
        let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
        let rows = result["structuredContent"]["skills"].as_array().unwrap();
        rows.iter().map(|row| (text(row, "slug"), text(row, "description"))).collect()
    }

    /// Closes the input; the exit code and all of standard error.
    fn end(mut self) -> (Option<i32>, String) {
        drop(self.input.take());
        let mut rest = String::new();
        self.lines.read_to_string(&mut rest).unwrap();
        for line in rest.lines() {
            serde_json::from_str::<Value>(line).unwrap();
        }
        let mut errors = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (self.child.wait().unwrap().code(), errors)
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        // It ends with its input, unless a test failed before.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(slug, description)| ((*slug).to_owned(), (*description).to_owned())).collect()
}

#[test]
fn a_skill_that_is_dropped_in_is_served_without_any_configuration() {
    let user = User::new();
    skill(&user, "data/portcullis/skills", "mine", "Mine.");
    skill(&user, "home/.claude/skills", "theirs", "Theirs.");
    skill(&user, "work/.portcullis/skills", "project", "The project's.");
    let mut pipes = Pipes::start(&user, &[]);
    assert_eq!(pipes.skills(), pairs(&[("mine", "Mine."), ("theirs", "Theirs.")]));
    let list = pipes.call("list_skills", json!({}));
    let skipped = &list["structuredContent"]["skipped"];
    assert_eq!(skipped[0]["slug"], "project", "a project's skill waits for trust: {list}");
    assert!(!list.to_string().contains("The project's."), "and no word of it is told");
    assert_eq!(pipes.end().0, Some(0));
}

#[test]
fn nothing_but_the_protocol_is_on_standard_output_however_much_is_logged() {
    let user = User::new();
    skill(&user, "skills", "one", "One.");
    skill(&user, "skills", "Odd", "Odd.");
    let mut pipes = Pipes::start(&user, &["-vv", "--skill-dir", &place(&user, "skills")]);
    assert_eq!(pipes.skills().len(), 2);
    pipes.line(&json!({ "jsonrpc": "2.0", "id": 77, "method": "none" }));
    assert_eq!(pipes.next()["error"]["code"], -32601);
    let (code, errors) = pipes.end();
    assert_eq!(code, Some(0));
    assert!(errors.contains("warning: the skill `Odd` is not shown to hosts") && errors.contains("DEBUG"));
}

#[test]
fn flags_count_in_the_order_in_which_they_are_given() {
    let user = User::new();
    skill(&user, "a", "same", "First.");
    skill(&user, "b", "same", "Second.");
    skill(&user, "b", "other", "Other.");
    user.write("AGENTS.md", "From the file.\n");
    user.write("prompts/AGENTS.md", "From the directory.\n");
    user.write("prompts/hidden-x.md", "x");
    user.write("prompts/deeper/inner.md", "x");
    let (a, b) = (place(&user, "a"), place(&user, "b"));
    let mut first = Pipes::start(&user, &["--skill-dir", &a, "--skill-dir", &b]);
    assert_eq!(first.skills(), pairs(&[("other", "Other."), ("same", "First.")]));
    let mut second = Pipes::start(&user, &["--skill-dir", &b, "--skill-dir", &a]);
    assert_eq!(second.skills(), pairs(&[("other", "Other."), ("same", "Second.")]));
    let some =
        json!({ "dir": user.path("b"), "include": ["*"], "ignore": ["o*"], "watch": false }).to_string();
    let mut some = Pipes::start(&user, &["--skill-dir", &some]);
    assert_eq!(some.skills(), pairs(&[("same", "Second.")]));
    let watch = some.call("list_skills", json!({}))["structuredContent"]["watch"].clone();
    assert_eq!((&watch["active"], &watch["roots"][0]["state"]), (&json!(false), &json!("off")));
    let prompts = json!({ "dir": user.path("prompts"), "ignore": ["hidden-*"] }).to_string();
    let file = user.path("AGENTS.md").display().to_string();
    let mut prompting =
        Pipes::start(&user, &["--skill-dir", &a, "--prompt-dir", &prompts, "--prompt-file", &file]);
    let list = prompting.ask("prompts/list", json!({}));
    assert_eq!(list["prompts"], json!([{ "name": "AGENTS" }]));
    let got = prompting.ask("prompts/get", json!({ "name": "AGENTS" }));
    assert_eq!(got["messages"][0]["content"]["text"], "From the file.\n");
}

#[test]
fn a_flag_that_is_wrong_is_named() {
    let user = User::new();
    let token = user.write("token", "secret\n");
    let token = token.to_str().unwrap();
    let http = ["--transport", "http", "--listen"];
    for (flags, part) in [
        (vec!["--skill-dir", "{"], "--skill-dir"),
        (vec!["--skill-dir", "{\"include\": []}"], "missing field `dir`"),
        (vec!["--skill-dir", "{\"dir\": \"x\", \"wach\": true}"], "wach"),
        (vec!["--prompt-dir", "x"], "--prompt-dir"),
        (vec!["--skill-dir", "{\"dir\": \"x\", \"ignore\": [\"\"]}"], "`--skill-dir`"),
        (vec!["--transport", "http"], "--listen"),
        (vec!["--transport", "http", "--listen", "nowhere"], "--listen"),
        ([&http[..], &["0.0.0.0:0", "--token-file", token]].concat(), "--allow-remote"),
        ([&http[..], &["127.0.0.1:0", "--allow-remote"]].concat(), "--token-file"),
        ([&http[..], &["127.0.0.1:0", "--token-file", "none"]].concat(), "`none`"),
    ] {
        let seen = user.run(&[&["mcp", "skills"], &flags[..]].concat(), "");
        assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""), "{flags:?}: {seen}");
        assert!(seen.stderr.contains(part), "{flags:?}: {seen}");
    }
}

#[test]
fn an_edited_skill_gives_exactly_its_news_and_a_burst_gives_them_once() {
    let user = User::new();
    skill(&user, "skills", "one", "One.");
    skill(&user, "skills", "two", "Two.");
    user.write("skills/one/.venv/x", "hidden");
    let mut pipes = Pipes::start(&user, &["--skill-dir", &place(&user, "skills")]);
    let list = pipes.call("list_skills", json!({}));
    assert_eq!(list["structuredContent"]["watch"]["active"], true, "{list}");
    user.write("skills/one/.venv/x", "still hidden");
    for number in 0..20 {
        skill(&user, "skills", "one", &format!("Number {number}."));
    }
    // One burst on a machine that keeps up, and as many whole sets where it was held up.
    loop {
        let mut heard = Vec::new();
        while heard.last().is_none_or(|last: &String| last != "notifications/resources/list_changed") {
            let message = pipes.news();
            heard.push(message["params"]["uri"].as_str().or(message["method"].as_str()).unwrap().to_owned());
        }
        heard.sort();
        let expected =
            ["notifications/resources/list_changed", "portcullis://skills", "skill://one/SKILL.md"];
        assert_eq!(heard, expected);
        // Nobody asked for a look, and what is read is what was told of.
        let read = pipes.ask("resources/read", json!({ "uri": "skill://one/SKILL.md" }));
        if read["contents"][0]["text"].as_str().unwrap().contains("Number 19.") {
            break;
        }
    }
    let reload = pipes.call("reload", json!({}))["structuredContent"].clone();
    assert_eq!((&reload["updated"], &reload["membershipChanged"]), (&json!([]), &json!(false)));
}

#[test]
fn what_is_read_stays_what_was_listed_until_a_reload_where_nobody_watches() {
    let user = User::new();
    skill(&user, "skills", "one", "One.");
    let unwatched = json!({ "dir": user.path("skills"), "watch": false }).to_string();
    let mut pipes = Pipes::start(&user, &["--skill-dir", &unwatched]);
    let digest = |list: &Value| list["skills"][0]["resources"][0]["digest"].clone();
    let before = digest(&pipes.ask("skills/list", json!({})));
    skill(&user, "skills", "one", "Another.");
    let read = pipes.ask("resources/read", json!({ "uri": "skill://one/SKILL.md" }));
    assert!(read["contents"][0]["text"].as_str().unwrap().contains("One."));
    assert_eq!(digest(&pipes.ask("skills/list", json!({}))), before);
    let reload = pipes.call("reload", json!({}))["structuredContent"].clone();
    assert_eq!(reload["updated"], json!(["one"]));
    assert_ne!(digest(&pipes.ask("skills/list", json!({}))), before);
}

/// A server at an address.
struct Web {
    child: Child,
    address: String,
}

impl Web {
    fn start(user: &User, flags: &[&str], token: Option<&str>) -> Self {
        let mut command = user.command(BINARY);
        command.args(["mcp", "skills", "--transport", "http", "--listen", "127.0.0.1:0"]).args(flags);
        if let Some(token) = token {
            command.env("PORTCULLIS_MCP_TOKEN", token);
        }
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("http://").unwrap().strip_suffix("/mcp").unwrap().to_owned();
        Self { child, address }
    }

    fn list(&self, headers: &str) -> (String, String) {
        self.ask("skills/list", headers)
    }

    /// The status and the body.
    fn ask(&self, method: &str, headers: &str) -> (String, String) {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": { "_meta": {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        } } })
        .to_string();
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let head = format!(
            "POST /mcp HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2026-07-28\r\n\
             Mcp-Method: {method}\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            self.address,
            body.len()
        );
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().to_owned(), body.to_owned())
    }

    /// Ends it as a service manager would.
    fn end(mut self) -> (Option<i32>, String) {
        let pid = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
        let code = self.child.wait().unwrap().code();
        let mut errors = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
        (code, errors)
    }
}

#[test]
fn over_http_a_token_is_asked_for_and_without_one_there_is_a_warning() {
    let user = User::new();
    skill(&user, "skills", "one", "One.");
    let (dir, file) = (place(&user, "skills"), user.write("token", "from-file\n"));
    let open = Web::start(&user, &["--skill-dir", &dir], None);
    let (status, body) = open.list("");
    assert!(
        status == "200" && body.contains("skill://one/SKILL.md") && body.contains("\"ttlMs\":0"),
        "{body}"
    );
    assert_eq!(open.list("Origin: https://evil.example\r\n").0, "403");
    let home = user.path("skills").display().to_string();
    let (_, resources) = open.ask("resources/list", "");
    assert!(resources.contains("io.portcullis/skill") && !resources.contains(&home), "{resources}");
    let (code, errors) = open.end();
    assert!(code == Some(0) && errors.contains("no token"), "{errors}");
    let telling = Web::start(&user, &["--skill-dir", &dir, "--show-paths"], None);
    assert!(telling.ask("resources/list", "").1.contains(&home));
    drop(telling.end());
    let by_variable = Web::start(&user, &["--skill-dir", &dir], Some("from-variable"));
    assert_eq!(by_variable.list(""), ("401".to_owned(), String::new()));
    assert_eq!(by_variable.list("Authorization: Bearer from-variable\r\n").0, "200");
    assert_eq!(by_variable.end(), (Some(0), String::new()));
    // The file counts before the variable.
    let file = file.to_str().unwrap();
    let by_file = Web::start(&user, &["--skill-dir", &dir, "--token-file", file], Some("from-variable"));
    assert_eq!(by_file.list("Authorization: Bearer from-variable\r\n").0, "401");
    assert_eq!(by_file.list("Authorization: Bearer from-file\r\n").0, "200");
    assert_eq!(by_file.end().0, Some(0));
}

#[test]
fn the_server_is_written_into_an_agents_configuration_and_taken_out_again() {
    let user = User::new();
    fs::create_dir_all(user.path("home")).unwrap();
    let dry = user.run(&["install", "claude", "--skills", "--dry-run"], "");
    assert!(dry.code == Some(0) && dry.stdout.contains("portcullis-skills"), "{dry}");
    assert!(!user.path("home/.claude.json").exists());
    assert_eq!(user.run(&["install", "claude", "--skills"], "").code, Some(0));
    let written: Value =
        serde_json::from_str(&fs::read_to_string(user.path("home/.claude.json")).unwrap()).unwrap();
    let entry = &written["mcpServers"]["portcullis-skills"];
    assert_eq!(entry["args"], json!(["mcp", "skills"]));
    // The very entry starts a server that answers.
    skill(&user, "data/portcullis/skills", "mine", "Mine.");
    let program = entry["command"].as_str().unwrap().to_owned();
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "t", "version": "1" },
    } });
    let seen = user.finish(user.command(&program).args(["mcp", "skills"]), format!("{hello}\n").as_bytes());
    assert!(seen.code == Some(0) && seen.stdout.contains("portcullis-skills"), "{seen}");
    let again = user.run(&["install", "claude", "--skills"], "");
    assert!(again.stdout.contains("already has the skills server"), "{again}");
    assert_eq!(user.run(&["uninstall", "claude", "--skills"], "").code, Some(0));
    assert!(!user.path("home/.claude.json").exists() && !user.path("home/.claude/settings.json").exists());
    let unknown = user.run(&["install", "goose", "--skills"], "");
    assert!(unknown.code == Some(1) && unknown.stderr.contains("portcullis mcp skills"), "{unknown}");
}
