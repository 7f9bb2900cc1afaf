//! A client against servers that misbehave, each in one way.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test ends when anything is wrong"
)]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{self, Command};
use std::thread;
use std::time::{Duration, Instant};

use portcullis_mcp::client::{Client, ClientError, Era, Failure, Program, Secrets, Stdio, Times};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// Longer than anything here takes.
const LONG: Duration = Duration::from_secs(60);
/// For what is never to come.
const SHORT: Duration = Duration::from_millis(200);

/// A server that begins so.
fn server(manner: &[&str]) -> Program {
    let arguments = manner.iter().map(|word| (*word).to_owned()).collect();
    program(env!("CARGO_BIN_EXE_misbehaving-server"), arguments)
}

fn program(command: &str, arguments: Vec<String>) -> Program {
    let variables = BTreeMap::from([("TOKEN".to_owned(), "t0p-s3cret".to_owned())]);
    let secrets = Secrets::new(variables.values().cloned());
    Program::find(command, arguments, "/".into(), variables, secrets).unwrap()
}

fn patient() -> Times {
    Times { probe: LONG, initialize: LONG, list: LONG }
}

async fn opened(manner: &[&str]) -> Client {
    Client::open(&Stdio::new(server(manner)), None, patient()).await.unwrap()
}

async fn call(client: &Client, tool: &str, arguments: Value) -> Result<String, ClientError> {
    let result = client.call(tool, &arguments, LONG).await?;
    Ok(result.pointer("/content/0/text").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// A call that goes well, so that the connection is known to be there.
async fn still_serves(client: &Client) {
    assert_eq!(call(client, "echo", json!({ "text": "well" })).await.unwrap(), "well");
}

/// Waits until the process of that number is gone. It may be anybody's child, and nobody
/// may reap it.
fn is_gone_soon(pid: &str) -> bool {
    let start = Instant::now();
    while start.elapsed() < LONG {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        if state.is_none_or(|state| matches!(state, 'Z' | 'X')) {
            return true;
        }
        thread::yield_now();
    }
    false
}

fn log(file: &Path) -> Vec<String> {
    fs::read_to_string(file).unwrap_or_default().lines().map(str::to_owned).collect()
}

fn starts(file: &Path) -> usize {
    log(file).iter().filter(|line| line.starts_with("start ")).count()
}

#[tokio::test]
async fn a_server_of_either_generation_is_asked_in_its_own_way() {
    for (manner, era, version) in
        [("--discover=modern", Era::Modern, "2026-07-28"), ("--quiet", Era::Legacy, "2025-11-25")]
    {
        let client = opened(&[manner]).await;
        assert_eq!((client.peer().era, client.peer().version.as_str()), (era, version));
        assert!(client.tools().await.unwrap().entries.len() > 10);
        still_serves(&client).await;
        client.ping(LONG).await.unwrap();
        client.close().await;
        assert!(!client.is_alive());
        let error = client.ping(LONG).await.unwrap_err();
        assert_eq!((error.failure.code(), error.may_have_run), ("server/closed", false));
    }
}

#[tokio::test]
async fn whatever_error_answers_the_probe_means_an_older_server_and_the_same_process_goes_on() {
    let there = tempfile::tempdir().unwrap();
    for code in ["", "-32602", "-32600", "0"] {
        let file = there.path().join(format!("log{code}"));
        let client = opened(&[&format!("--discover={code}"), &format!("--log={}", file.display())]).await;
        assert_eq!((client.peer().era, starts(&file)), (Era::Legacy, 1), "{code}");
    }
}

#[tokio::test]
async fn a_server_that_is_silent_or_ends_or_answers_late_is_started_anew_for_the_handshake() {
    let there = tempfile::tempdir().unwrap();
    for how in ["silent", "exit", "late"] {
        let file = there.path().join(how);
        let program = server(&[&format!("--discover={how}"), &format!("--log={}", file.display())]);
        let times = Times { probe: SHORT, ..patient() };
        let client = Client::open(&Stdio::new(program), None, times).await.unwrap();
        assert_eq!((client.peer().era, starts(&file)), (Era::Legacy, 2), "{how}");
        still_serves(&client).await;
    }
}

#[tokio::test]
async fn what_a_server_spoke_before_is_tried_first_and_not_believed_for_ever() {
    let there = tempfile::tempdir().unwrap();
    let file = there.path().join("log");
    let logged = format!("--log={}", file.display());
    // It would never answer the probe.
    let silent = Stdio::new(server(&["--discover=silent", &logged]));
    let client = Client::open(&silent, Some(Era::Legacy), patient()).await.unwrap();
    assert_eq!((client.peer().era, starts(&file)), (Era::Legacy, 1));
    assert!(!log(&file).contains(&"server/discover".to_owned()));
    let changed = Stdio::new(server(&["--discover=modern", "--initialize=refuse"]));
    let client = Client::open(&changed, Some(Era::Legacy), patient()).await.unwrap();
    assert_eq!(client.peer().era, Era::Modern);
    let changed = Stdio::new(server(&[]));
    let client = Client::open(&changed, Some(Era::Modern), patient()).await.unwrap();
    assert_eq!(client.peer().era, Era::Legacy);
}

#[tokio::test]
async fn a_handshake_that_fails_is_an_error_within_its_time_and_leaves_nothing_behind() {
    let there = tempfile::tempdir().unwrap();
    for (at, (manner, code)) in [
        ("--initialize=silent", "server/late"),
        ("--initialize=exit", "server/ended"),
        ("--initialize=version", "server/version"),
        ("--discover=other", "server/version"),
    ]
    .into_iter()
    .enumerate()
    {
        let file = there.path().join(at.to_string());
        let times = Times { initialize: SHORT, ..patient() };
        let program = server(&[manner, &format!("--log={}", file.display())]);
        let error = Client::open(&Stdio::new(program), None, times).await.unwrap_err();
        assert_eq!(error.failure.code(), code, "{manner}: {error}");
        for line in log(&file) {
            let Some(pid) = line.strip_prefix("start ") else { continue };
            assert!(!Path::new("/proc").join(pid).exists(), "{manner} left {pid}");
        }
    }
}

#[tokio::test]
async fn an_error_shows_the_end_of_what_the_server_said_and_no_secret() {
    let script = "echo starting >&2; echo \"cannot open $TOKEN\" >&2; exit 5";
    let program = program("/bin/sh", vec!["-c".to_owned(), script.to_owned()]);
    let error = Client::open(&Stdio::new(program), None, patient()).await.unwrap_err();
    let shown = format!("{error} {error:?}");
    assert_eq!(error.said, "starting\ncannot open [hidden]");
    assert!(matches!(&error.failure, Failure::Ended(how) if how.contains('5')), "{error}");
    assert!(!shown.contains("t0p-s3cret"), "{shown}");
}

#[tokio::test]
async fn a_program_that_cannot_be_started_is_an_error_that_names_it() {
    let there = tempfile::tempdir().unwrap();
    let file = there.path().join("serve");
    fs::write(&file, "no program").unwrap();
    let program = program(&file.to_string_lossy(), Vec::new());
    let error = Client::open(&Stdio::new(program), None, patient()).await.unwrap_err();
    assert_eq!((error.failure.code(), error.may_have_run), ("server/start", false));
    assert!(error.to_string().contains("`serve`"), "{error}");
}

#[tokio::test]
async fn a_server_may_complain_as_much_as_it_likes() {
    let client = opened(&["--chatter=1000000"]).await;
    assert_eq!(call(&client, "complain", json!({})).await.unwrap(), "done");
    assert!(client.said().len() <= portcullis_mcp::client::TAIL_MAX);
    still_serves(&client).await;
}

#[tokio::test]
async fn noise_is_counted_and_answered_by_nothing() {
    let there = tempfile::tempdir().unwrap();
    let file = there.path().join("log");
    let client = opened(&[&format!("--log={}", file.display())]).await;
    assert_eq!(call(&client, "noise", json!({})).await.unwrap(), "done");
    assert_eq!(call(&client, "object", json!({})).await.unwrap(), "done");
    let stray = client.stray();
    assert_eq!((stray.noise, stray.first_noise.as_str()), (4, "listening on 3000"));
    client.close().await;
    assert!(!log(&file).iter().any(|line| line.starts_with("answer")), "{:?}", log(&file));
}

#[tokio::test]
async fn an_answer_that_is_too_long_fails_its_own_call_and_no_other() {
    let client = opened(&[]).await;
    let kept = call(&client, "keep", json!({ "text": "first" }));
    let long = async {
        let error = call(&client, "long", json!({})).await.unwrap_err();
        assert_eq!((error.failure.code(), error.may_have_run), ("server/too-long", true));
        call(&client, "keep", json!({ "text": "second" })).await
    };
    let (kept, second) = tokio::join!(kept, long);
    assert_eq!(kept.unwrap(), "first");
    assert_eq!(second.unwrap(), "second");
}

#[tokio::test]
async fn an_answer_that_cannot_be_read_fails_its_own_call() {
    let client = opened(&[]).await;
    for tool in ["deep", "cut", "null", "input"] {
        let error = call(&client, tool, json!({})).await.unwrap_err();
        assert_eq!((error.failure.code(), error.may_have_run), ("server/answer", true), "{tool}");
        still_serves(&client).await;
    }
    let error = call(&client, "refuse", json!({})).await.unwrap_err();
    assert_eq!(error.failure, Failure::Error { code: -32602, message: "no such thing".to_owned() });
}

#[tokio::test]
async fn a_result_comes_through_as_it_was_sent() {
    let client = opened(&[]).await;
    let result = client.call("odd", &json!({}), LONG).await.unwrap();
    let text = serde_json::to_string(&result).unwrap();
    let wanted = r#"{"content":[{"type":"hologram","angle":1.50,"far":1e+400},{"type":"text","text":"t","annotations":{"audience":["system"]}}],"new":{}}"#;
    assert_eq!(text, wanted);
}

#[tokio::test]
async fn answers_find_their_calls_in_any_order_and_those_to_nobody_are_counted() {
    let client = opened(&[]).await;
    let both = tokio::join!(
        call(&client, "keep", json!({ "text": "one" })),
        call(&client, "keep", json!({ "text": "two" })),
    );
    assert_eq!((both.0.unwrap().as_str(), both.1.unwrap().as_str()), ("one", "two"));
    assert_eq!(call(&client, "twice", json!({})).await.unwrap(), "first");
    assert_eq!(call(&client, "float", json!({})).await.unwrap(), "float");
    assert_eq!(call(&client, "stray", json!({})).await.unwrap(), "done");
    still_serves(&client).await;
    assert_eq!(client.stray().lost, 4);
}

#[tokio::test]
async fn a_call_that_is_not_answered_in_time_is_cancelled_and_the_server_goes_on() {
    let there = tempfile::tempdir().unwrap();
    let file = there.path().join("log");
    let client = opened(&[&format!("--log={}", file.display())]).await;
    let error = client.call("hang", &json!({}), SHORT).await.unwrap_err();
    assert_eq!(error.failure, Failure::Late { method: "tools/call".to_owned(), time: SHORT });
    assert!(error.may_have_run);
    let given_up = tokio::time::timeout(SHORT, client.call("hang", &json!({}), LONG)).await;
    assert!(given_up.is_err());
    still_serves(&client).await;
    let cancelled = log(&file).iter().filter(|line| *line == "notifications/cancelled").count();
    assert_eq!((cancelled, starts(&file)), (2, 1));
}

#[tokio::test]
async fn a_server_that_asks_its_client_is_told_no_and_need_not_wait() {
    let client = opened(&[]).await;
    assert_eq!(call(&client, "ask", json!({})).await.unwrap(), "-32601");
    assert_eq!(client.stray().requests, 1);
    // A modern server must not ask, and no client may answer it.
    let modern = opened(&["--discover=modern"]).await;
    let error = modern.call("ask", &json!({}), SHORT).await.unwrap_err();
    assert_eq!(error.failure.code(), "server/late");
    still_serves(&modern).await;
}

#[tokio::test]
async fn thousands_of_changes_are_one_to_whoever_looks() {
    for manner in ["", "--discover=modern"] {
        let client = opened(&[manner]).await;
        let mut heard = client.heard();
        assert_eq!(call(&client, "storm", json!({})).await.unwrap(), "done");
        heard.changed().await.unwrap();
        assert_eq!(heard.borrow_and_update().tools, 5000);
        assert!(!heard.has_changed().unwrap());
    }
}

#[tokio::test]
async fn a_server_that_ends_in_a_call_fails_it_and_all_others_at_once() {
    let client = opened(&[]).await;
    let kept = call(&client, "hang", json!({}));
    let (kept, crashed) = tokio::join!(kept, call(&client, "crash", json!({})));
    for error in [kept.unwrap_err(), crashed.unwrap_err()] {
        assert!(matches!(&error.failure, Failure::Ended(how) if how.contains("70")), "{error}");
        assert_eq!((error.said.as_str(), error.may_have_run), ("out of luck", true));
    }
    assert!(!client.is_alive());
    let after = call(&client, "echo", json!({})).await.unwrap_err();
    assert!(!after.may_have_run && matches!(after.failure, Failure::Ended(_)), "{after}");
}

#[tokio::test]
async fn a_server_that_closes_its_output_is_ended() {
    let client = opened(&[]).await;
    let pid = call(&client, "pid", json!({})).await.unwrap();
    let error = call(&client, "close", json!({})).await.unwrap_err();
    assert_eq!(error.failure.code(), "server/ended", "{error}");
    assert!(is_gone_soon(&pid));
}

#[tokio::test]
async fn a_server_that_stops_reading_blocks_nobody() {
    let client = opened(&[]).await;
    assert_eq!(call(&client, "stop-reading", json!({})).await.unwrap(), "done");
    let large = json!({ "text": "x".repeat(1 << 20) });
    // The first is cut off within the pipe; of those behind it nothing was sent.
    let first = client.call("echo", &large, SHORT).await.unwrap_err();
    assert_eq!((first.failure.code(), first.may_have_run), ("server/late", true));
    let second = client.call("echo", &large, SHORT).await.unwrap_err();
    assert_eq!((second.failure, second.may_have_run), (Failure::Stuck, false));
    let huge = json!({ "text": "x".repeat(17 << 20) });
    let error = client.call("echo", &huge, LONG).await.unwrap_err();
    assert_eq!((error.failure.code(), error.may_have_run), ("server/request", false));
    client.close().await;
}

#[tokio::test]
async fn nothing_that_a_server_started_is_left_behind() {
    let client = opened(&[]).await;
    let child = call(&client, "linger", json!({})).await.unwrap();
    client.close().await;
    assert!(is_gone_soon(&child));

    let client = opened(&[]).await;
    let child = call(&client, "linger", json!({})).await.unwrap();
    let pid = call(&client, "pid", json!({})).await.unwrap();
    drop(client);
    assert!(is_gone_soon(&pid) && is_gone_soon(&child));

    let client = opened(&[]).await;
    let child = call(&client, "linger", json!({})).await.unwrap();
    let error = call(&client, "crash", json!({})).await.unwrap_err();
    assert_eq!(error.failure.code(), "server/ended", "{error}");
    assert!(is_gone_soon(&child));
}

/// As many as a broker has at most.
const MANY: usize = 20;
const DIES: &str = "PORTCULLIS_TEST_DIES";
const HOLDS: &str = "PORTCULLIS_TEST_HOLDS_SERVERS";

/// What the next test starts and kills.
#[tokio::test]
async fn holds_servers_until_it_is_killed() {
    if std::env::var_os(HOLDS).is_none() {
        return;
    }
    let mut clients = Vec::new();
    for _ in 0..MANY {
        let client = opened(&["--deaf"]).await;
        let pid = call(&client, "pid", json!({})).await.unwrap();
        println!("holds {pid} {}", call(&client, "linger", json!({})).await.unwrap());
        clients.push(client);
    }
    println!("holds all");
    std::future::pending::<()>().await;
}

#[test]
fn a_client_that_is_killed_takes_its_servers_with_it() {
    let mut holder = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "holds_servers_until_it_is_killed", "--nocapture"])
        .env(HOLDS, "1")
        .stdout(process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut held = Vec::new();
    for line in BufReader::new(holder.stdout.take().unwrap()).lines() {
        let line = line.unwrap();
        if line.ends_with("holds all") {
            break;
        }
        if let Some((_, pids)) = line.split_once("holds ") {
            held.extend(pids.split(' ').map(str::to_owned));
        }
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
    assert_eq!(held.len(), 2 * MANY);
    assert!(held.iter().all(|pid| is_gone_soon(pid)));
}

/// Processes whose parent this one is, dead ones that nobody has waited for included.
fn children() -> usize {
    let tasks = fs::read_dir("/proc/self/task").unwrap().flatten();
    let of_task = |task: fs::DirEntry| fs::read_to_string(task.path().join("children")).unwrap_or_default();
    tasks.map(of_task).map(|pids| pids.split_whitespace().count()).sum()
}

/// What the next test runs by itself, where no other test has children.
#[tokio::test]
async fn dies_five_hundred_times() {
    if std::env::var_os(DIES).is_none() {
        return;
    }
    for round in 0..100 {
        let clients = (0..5).map(|_| async {
            let client = opened(&[]).await;
            let error = call(&client, "crash", json!({})).await.unwrap_err();
            assert_eq!(error.failure.code(), "server/ended", "{round}: {error}");
            client.close().await;
        });
        futures_util::future::join_all(clients).await;
    }
    assert_eq!(children(), 0);
    println!("left nothing");
}

#[test]
fn five_hundred_deaths_leave_nothing_behind() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "dies_five_hundred_times", "--nocapture"])
        .env(DIES, "1")
        .output()
        .unwrap();
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && told.contains("left nothing"), "{told}");
}

#[tokio::test]
async fn a_server_that_does_not_want_to_end_is_ended() {
    let command = format!("trap '' TERM; exec {} --deaf", env!("CARGO_BIN_EXE_misbehaving-server"));
    let program = program("/bin/sh", vec!["-c".to_owned(), command]);
    let client = Client::open(&Stdio::new(program), None, patient()).await.unwrap();
    let pid = call(&client, "pid", json!({})).await.unwrap();
    client.close().await;
    assert!(is_gone_soon(&pid));
}

#[tokio::test]
async fn a_server_that_is_killed_from_outside_is_known_to_be_gone() {
    let client = opened(&[]).await;
    let pid = call(&client, "pid", json!({})).await.unwrap();
    kill_process(Pid::from_raw(pid.parse().unwrap()).unwrap(), Signal::KILL).unwrap();
    let error = call(&client, "hang", json!({})).await.unwrap_err();
    assert_eq!(error.failure.code(), "server/ended", "{error}");
    assert!(!client.is_alive());
}

#[tokio::test]
async fn a_list_is_read_to_its_end_and_a_tool_that_cannot_be_called_is_left_out() {
    let all = opened(&["--list=pages"]).await.tools().await.unwrap();
    assert!(all.entries.len() > 10 && all.warnings.is_empty());
    let looped = opened(&["--list=loop"]).await.tools().await.unwrap();
    assert_eq!(looped.entries, all.entries);
    assert!(looped.warnings.iter().any(|warning| warning.contains("begin anew")), "{:?}", looped.warnings);
    let twice = opened(&["--list=twice"]).await.tools().await.unwrap();
    assert_eq!(twice.entries.len(), all.entries.len());
    assert!(twice.warnings[0].contains("several tools `echo`"), "{:?}", twice.warnings);
    let error = opened(&["--list=broken"]).await.tools().await.unwrap_err();
    assert_eq!(error.failure.code(), "server/answer");
    let there = tempfile::tempdir().unwrap();
    let file = there.path().join("tools");
    fs::write(&file, format!("fine a\n{} b\n", "n".repeat(200))).unwrap();
    let named = opened(&[&format!("--tools={}", file.display())]).await.tools().await.unwrap();
    assert_eq!((named.entries.len(), named.warnings.len()), (all.entries.len() + 1, 1));
}

#[tokio::test]
async fn no_shell_reads_what_a_server_is_told() {
    let there = tempfile::tempdir().unwrap();
    let word = "; touch x";
    let arguments = vec![word.to_owned(), "$HOME".to_owned()];
    let mut program = program(env!("CARGO_BIN_EXE_misbehaving-server"), arguments);
    program.directory = there.path().to_owned();
    let client = Client::open(&Stdio::new(program), None, patient()).await.unwrap();
    let told = call(&client, "arguments", json!({})).await.unwrap();
    let place = fs::canonicalize(there.path()).unwrap();
    assert_eq!(told, format!("{word}\n$HOME\n{}", place.display()));
    assert_eq!(fs::read_dir(there.path()).unwrap().count(), 0);
    // Nothing of this process's environment but what it was given.
    assert_eq!(call(&client, "env", json!({ "name": "TOKEN" })).await.unwrap(), "t0p-s3cret");
    assert_eq!(call(&client, "env", json!({ "name": "CARGO_MANIFEST_DIR" })).await.unwrap(), "");
}
