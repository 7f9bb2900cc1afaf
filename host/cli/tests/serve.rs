//! `portcullis serve` as a process: its pipes, its socket, its end.

#![cfg(unix)]
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use std::fs;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command};

use portcullis_tests::guest::Guard;
use serde_json::{Value, json};

use support::{BINARY, User};

/// One side of a conversation with a server.
struct Client<R, W> {
    lines: BufReader<R>,
    output: W,
    asked: u64,
}

impl<R: std::io::Read, W: Write> Client<R, W> {
    fn new(input: R, output: W) -> Self {
        Self { lines: BufReader::new(input), output, asked: 0 }
    }

    fn send(&mut self, method: &str, params: Value) {
        self.asked += 1;
        let message = json!({"jsonrpc": "2.0", "id": self.asked, "method": method, "params": params});
        writeln!(self.output, "{message}").unwrap();
    }

    /// The next message; none at the end.
    fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        match self.lines.read_line(&mut line) {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"))),
        }
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        self.send(method, params);
        let answer = self.next().unwrap();
        assert_eq!(answer["id"], self.asked, "{answer}");
        assert_eq!(answer["error"], Value::Null, "{method}");
        answer["result"].clone()
    }

    /// Greets, and opens the session `s1` and its turn `t1`.
    fn begin(&mut self) {
        self.ask("initialize", json!({"protocol": "1.0", "client": {"name": "test", "version": "1"}}));
        self.ask("session/open", json!({"session_id": "s1", "cwd": "/home/dev/app"}));
        self.ask("turn/begin", json!({"session_id": "s1", "turn_id": "t1"}));
    }

    fn bash(&mut self, command: &str) -> Value {
        self.ask("beforeToolCall", bash(command))
    }

    /// A healthy allow and a healthy deny.
    fn is_served(&mut self) {
        assert_eq!(self.bash("ls")["verdict"], "allow");
        assert_eq!(self.bash("rm -rf x")["code"], "guard/rm");
    }
}

fn bash(command: &str) -> Value {
    json!({"turn_id": "t1", "id": "c1", "tool": "Bash", "input": {"command": command}})
}

/// A server that ends with the test.
struct Server {
    child: Child,
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Server {
    fn start(user: &User, arguments: &[&str]) -> Self {
        let mut command = user.command(BINARY);
        command.env("XDG_STATE_HOME", user.path("state")).arg("serve").args(arguments);
        Self { child: command.spawn().unwrap() }
    }

    /// At its pipes.
    fn pipes(&mut self) -> Client<ChildStdout, ChildStdin> {
        Client::new(self.child.stdout.take().unwrap(), self.child.stdin.take().unwrap())
    }

    /// At a socket, and it listens there.
    fn socket(user: &User, path: &Path) -> Self {
        let mut server = Self::start(user, &["-v", "--socket", path.to_str().unwrap()]);
        let mut log = BufReader::new(server.child.stderr.take().unwrap());
        let mut line = String::new();
        while !line.contains("listening at") {
            line.clear();
            assert_ne!(log.read_line(&mut line).unwrap(), 0, "it has ended");
        }
        // Nobody may be kept waiting because nobody reads its log.
        std::thread::spawn(move || drop(std::io::copy(&mut log, &mut std::io::sink())));
        server
    }

    fn signal(&self, name: &str) {
        let status = Command::new("kill").args([format!("-{name}"), self.child.id().to_string()]).status();
        assert!(status.unwrap().success());
    }

    fn ends(mut self) -> Option<i32> {
        self.child.wait().unwrap().code()
    }
}

fn connect(path: &Path) -> Client<UnixStream, UnixStream> {
    let stream = UnixStream::connect(path).unwrap();
    Client::new(stream.try_clone().unwrap(), stream)
}

/// What the ledger of `user` says of calls.
fn codes(user: &User) -> Vec<String> {
    let mut command = user.command(BINARY);
    command.env("XDG_STATE_HOME", user.path("state")).args(["ledger", "show", "--json"]);
    let seen = user.finish(&mut command, b"");
    let records = seen.stdout.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let judged = records.filter(|record| record["verdict"] == "block");
    judged.map(|record| record["code"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_loop_at_the_pipes_is_served_until_it_says_nothing_more() {
    let user = User::new();
    let mut server = Server::start(&user, &[]);
    let mut client = server.pipes();
    client.begin();
    client.is_served();
    let judged = client.bash("git status");
    assert_eq!(judged["permit"]["tool"], "bash");
    assert_eq!(client.ask("turn/end", json!({"turn_id": "t1"}))["outcome"], "ends");
    let Client { mut lines, output, .. } = client;
    drop(output);
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), server.ends()), ("", Some(0)));
    assert_eq!(codes(&user), ["guard/rm"]);
}

#[test]
fn nothing_but_the_protocol_is_on_standard_output() {
    let user = User::new();
    // A guard and a hook that print, and a log that says everything.
    let print = r#"
      (import "wasi:cli/stdout@0.2.0" "get-stdout" (func $stdout (result i32)))
      (import "wasi:io/streams@0.2.0" "[method]output-stream.blocking-write-and-flush" (func $write (param i32 i32 i32 i32)))"#;
    let noisy = Guard::new("noisy")
        .world("import wasi:cli/stdout@0.2.0; import wasi:io/streams@0.2.0;")
        .fields(print)
        .fault("(call $write (call $stdout) (i32.const 1024) (i32.const 64) (i32.const 512))");
    user.plugin("noisy.wasm", &noisy.build().unwrap());
    user.config("[[hooks]]\nevent = \"stop\"\nshell = true\ncommand = 'echo noise; echo more noise >&2'\n");
    let mut server = Server::start(&user, &["-vv", "--stdio"]);
    let mut client = server.pipes();
    let mut log = server.child.stderr.take().unwrap();
    let log = std::thread::spawn(move || {
        let mut text = String::new();
        log.read_to_string(&mut text).map(|_| text)
    });
    client.begin();
    for _ in 0..3 {
        assert_eq!(client.bash("print")["verdict"], "allow");
        client.is_served_by("noisy");
    }
    assert_eq!(client.ask("turn/end", json!({"turn_id": "t1"}))["outcome"], "ends");
    let Client { mut lines, output, .. } = client;
    drop(output);
    let mut rest = String::new();
    lines.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), server.ends()), ("", Some(0)));
    assert!(log.join().unwrap().unwrap().contains("a client: test 1"));
}

impl<R: std::io::Read, W: Write> Client<R, W> {
    /// The same, with a guard of the tests.
    fn is_served_by(&mut self, guard: &str) {
        assert_eq!(self.bash("allow")["verdict"], "allow");
        assert_eq!(self.bash("deny")["by"]["name"], guard);
    }
}

#[test]
fn a_signal_ends_it_in_order() {
    for signal in ["TERM", "INT"] {
        let user = User::new();
        let ended = user.path("ended");
        user.config(&format!(
            "[[hooks]]\nevent = \"session-end\"\nshell = true\ncommand = 'echo ended >> \"{}\"'\n",
            ended.display()
        ));
        let path = user.path("run/s");
        let server = Server::socket(&user, &path);
        let mut client = connect(&path);
        client.begin();
        client.is_served();
        server.signal(signal);
        assert_eq!(client.next(), None);
        assert_eq!(server.ends(), Some(0), "{signal}");
        assert_eq!(fs::read_to_string(&ended).unwrap(), "ended\n", "{signal}");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0, "{signal}");
    }
}

#[test]
fn a_socket_has_one_server_and_outlives_none() {
    let user = User::new();
    let path = user.path("run/s");
    let server = Server::socket(&user, &path);
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    let (mut one, mut two) = (connect(&path), connect(&path));
    for client in [&mut one, &mut two] {
        client.begin();
        client.is_served();
    }
    // Another server does not get it, and the first one serves on.
    let seen = user.run(&["serve", "--socket", path.to_str().unwrap()], "");
    assert_eq!(seen.code, Some(1));
    assert_eq!(
        seen.stderr,
        "error: another server has the socket `[user]/run/s`; hint: connect to it, end it, or choose another path\n"
    );
    one.is_served();
    // It dies without a word: its clients hear the end, and the next one takes the place.
    server.signal("KILL");
    assert_eq!(one.next(), None);
    drop(server);
    assert!(path.exists());
    let server = Server::socket(&user, &path);
    let mut next = connect(&path);
    next.begin();
    next.is_served();
    drop(next);
    server.signal("TERM");
    assert_eq!(server.ends(), Some(0));
    assert!(!path.exists());
}

#[test]
fn a_place_that_others_can_get_into_is_refused() {
    let user = User::new();
    fs::create_dir_all(user.path("open")).unwrap();
    fs::set_permissions(user.path("open"), fs::Permissions::from_mode(0o755)).unwrap();
    let seen = user.run(&["serve", "--socket", user.path("open/s").to_str().unwrap()], "");
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""));
    assert_eq!(
        seen.stderr,
        "error: others can get into the directory `[user]/open`; hint: `chmod 700` it, or choose one of your own\n"
    );
    assert!(!user.path("open/s").exists());
}

/// Who is not this user is turned away even where the directory lets them in. Needs root,
/// who alone can be somebody else.
#[test]
fn another_user_who_gets_in_is_turned_away() {
    let user = User::new();
    let path = user.path("run/s");
    let _server = Server::socket(&user, &path);
    if path.metadata().unwrap().uid() != 0 {
        eprintln!("not run: only root can be another user");
        return;
    }
    // As an operator's mistake would leave it.
    for (place, mode) in [(user.path(""), 0o755), (user.path("run"), 0o755), (path.clone(), 0o666)] {
        fs::set_permissions(place, fs::Permissions::from_mode(mode)).unwrap();
    }
    let greeting = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol":"1.0","client":{"name":"x","version":"1"}}}"#;
    let script = format!(
        "use IO::Socket::UNIX; $SIG{{PIPE}} = 'IGNORE'; my $s = IO::Socket::UNIX->new(Peer => '{}') or die \"no: $!\"; print $s '{greeting}' . \"\\n\"; \
         $s->flush; my $line = <$s>; print defined $line ? $line : 'turned away';",
        path.display()
    );
    let ask = |uid: u32| {
        use std::os::unix::process::CommandExt as _;
        let output = Command::new("/usr/bin/perl").args(["-e", &script]).uid(uid).output().unwrap();
        String::from_utf8(output.stdout).unwrap() + &String::from_utf8(output.stderr).unwrap()
    };
    assert!(ask(0).contains("\"protocol\":\"1.0\""));
    assert_eq!(ask(65534), "turned away");
    let mut client = connect(&path);
    client.begin();
    client.is_served();
}

#[test]
fn a_client_that_vanishes_leaves_the_others_alone_and_its_call_is_refused() {
    let user = User::new();
    let started = user.path("started");
    assert!(Command::new("mkfifo").arg(&started).status().unwrap().success());
    user.config(&format!(
        "[[hooks]]\nevent = \"pre-tool-use\"\nshell = true\ncommand = 'grep -q wait || exit 0; : > \"{}\"; exec tail -f /dev/null'\n",
        started.display()
    ));
    let path = user.path("run/s");
    let server = Server::socket(&user, &path);
    let (mut one, mut two) = (connect(&path), connect(&path));
    one.begin();
    two.begin();
    one.is_served();
    one.send("beforeToolCall", bash("wait"));
    drop(fs::File::open(&started).unwrap());
    drop(one);
    two.is_served();
    server.signal("TERM");
    assert_eq!(server.ends(), Some(0));
    assert_eq!(codes(&user), ["guard/rm", "wire/gone", "guard/rm"]);
}

#[test]
fn what_it_cannot_start_with_is_told_and_nothing_is_served() {
    let user = User::new();
    user.config("[plugins]\nenabeld = []\n");
    let seen = user.run(&["serve"], "{}\n");
    assert_eq!((seen.code, seen.stdout.as_str()), (Some(1), ""));
    assert!(seen.stderr.contains("enabeld"), "{}", seen.stderr);
    user.config("");
    for wrong in [&["serve", "--stdio", "--socket", "x"][..], &["serve", "--socket"], &["serve", "now"]] {
        assert_eq!(user.run(wrong, "").code, Some(1), "{wrong:?}");
    }
}

#[test]
fn a_guard_that_appears_while_it_runs_acts_at_once() {
    let user = User::new();
    fs::create_dir_all(user.path("data/portcullis/plugins")).unwrap();
    let mut server = Server::start(&user, &[]);
    let mut client = server.pipes();
    client.begin();
    assert_eq!(client.bash("deny")["verdict"], "allow");
    user.plugin("probe.wasm", &Guard::new("probe").build().unwrap());
    // The directory is looked at when it changes; until then nobody knows.
    while client.bash("deny")["verdict"] == "allow" {}
    assert_eq!(client.bash("deny")["by"]["name"], "probe");
    client.is_served();
}
