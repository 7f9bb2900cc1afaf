#![allow(clippy::unwrap_used, clippy::panic, reason = "a test ends when anything is wrong")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use portcullis_model::config::FailureMode;
use portcullis_model::fault::FaultKind;
use serde_json::Value;
use tempfile::TempDir;

use super::*;

struct Bench {
    dir: TempDir,
    variables: BTreeMap<String, String>,
}

impl Bench {
    fn new() -> Self {
        let variables = [("PATH".to_owned(), "/usr/bin:/bin".to_owned())].into();
        Self { dir: TempDir::new().unwrap(), variables }
    }

    /// A hook that is this shell script.
    fn hook(&self, name: &str, script: &str, failure_mode: FailureMode) -> ScriptHook {
        let program = self.dir.path().join(name);
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        ScriptHook {
            event: Event::PreToolUse,
            rule: None,
            program,
            arguments: Vec::new(),
            time: Duration::from_secs(5),
            failure_mode,
        }
    }

    fn occasion<'a>(&'a self, cwd: &'a str) -> Occasion<'a> {
        Occasion { event: Event::PreToolUse, session_id: "s", cwd, call: None, text: None }
    }

    async fn ask(&self, hooks: &[ScriptHook]) -> Outcome {
        ask_all(hooks, &self.occasion("/"), &self.variables).await
    }
}

/// Rows H-10 to H-12, H-18 to H-20, H-29 and H-30, and faults H01, H03 and H07: what a
/// hook does, and whether it blocks in open and in closed mode.
#[tokio::test]
async fn every_way_to_end_means_what_the_contract_says() {
    let bench = Bench::new();
    for (script, open, closed) in [
        ("exit 0", None, None),
        ("cat >/dev/null", None, None),
        ("exec <&-; exit 0", None, None),
        (r#"echo '{"decision":"block","reason":"no"}'"#, Some("no"), Some("no")),
        (r#"echo '{"decision":"block"}'"#, Some("gives no reason"), Some("gives no reason")),
        (r#"echo '{"decision":"approve"}'"#, None, None),
        (r#"echo '{"decision":"block","reason":"no"}'; exit 1"#, Some("no"), Some("no")),
        (r#"echo '{"decision":"approve"}'; exit 1"#, None, None),
        ("echo why >&2; exit 2", Some("why"), Some("why")),
        ("exit 2", Some("gives no reason"), Some("gives no reason")),
        ("exit 1", None, Some("exit status")),
        ("exit 126", None, Some("exit status")),
        ("kill -9 $$", None, Some("SIGKILL")),
        ("echo hello", None, Some("no decision")),
        (r#"echo '{"decision":"allow"}'"#, None, Some("neither")),
        (r#"echo '{}'; echo '{}'"#, None, Some("no decision")),
        ("yes >&2 | head -c 3000000 >&2; exit 0", None, None),
    ] {
        for (mode, expected) in [(FailureMode::Open, open), (FailureMode::Closed, closed)] {
            let outcome = bench.ask(&[bench.hook("hook", script, mode)]).await;
            let reason = outcome.blocked.as_ref().map(|blocked| blocked.reason.as_str());
            match expected {
                None => assert_eq!(reason, None, "{script} in {mode:?}"),
                Some(part) => {
                    assert!(reason.is_some_and(|reason| reason.contains(part)), "{script}: {outcome:?}")
                }
            }
        }
    }
    let missing = ScriptHook { program: "/no/such/hook".into(), ..bench.hook("x", "", FailureMode::Closed) };
    assert!(bench.ask(std::slice::from_ref(&missing)).await.blocked.is_some());
    let open = ScriptHook { failure_mode: FailureMode::Open, ..missing };
    assert_eq!(bench.ask(&[open]).await.failed.len(), 1);
}

/// H-13 and H-31: the first block decides, and who approves silences nobody.
#[tokio::test]
async fn the_first_block_decides_and_the_rest_is_not_asked() {
    let bench = Bench::new();
    let marker = bench.dir.path().join("marker");
    let hooks = [
        bench.hook("a", r#"echo '{"decision":"approve"}'"#, FailureMode::Open),
        bench.hook("b", "echo first >&2; exit 2", FailureMode::Open),
        bench.hook("c", &format!("touch {}; exit 2", marker.display()), FailureMode::Open),
    ];
    let outcome = bench.ask(&hooks).await;
    let blocked = outcome.blocked.unwrap();
    assert_eq!(
        (blocked.hook.as_str(), blocked.reason.as_str(), blocked.fault),
        ("pre-tool-use b", "first", None)
    );
    assert!(!marker.exists());
}

/// H-21 and H-22: whatever a hook starts ends with it, late or cancelled.
#[tokio::test]
async fn a_late_or_cancelled_hook_ends_with_everything_that_it_started() {
    let bench = Bench::new();
    let pid = bench.dir.path().join("pid");
    let script = format!("sleep 600 & echo $! > {}; wait", pid.display());
    let gone = |pid: &Path| {
        let pid = fs::read_to_string(pid).unwrap();
        let stat = fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        // One that is dead and not yet reaped by its parent is gone as well.
        stat.is_empty() || stat.contains(") Z ")
    };
    let late =
        ScriptHook { time: Duration::from_millis(300), ..bench.hook("a", &script, FailureMode::Closed) };
    let outcome = bench.ask(&[late]).await;
    assert!(outcome.blocked.unwrap().fault == Some(FaultKind::Timeout) && gone(&pid));

    fs::remove_file(&pid).unwrap();
    let hook = [bench.hook("b", &script, FailureMode::Closed)];
    let asked = bench.ask(&hook);
    let start = Instant::now();
    tokio::select! {
        outcome = asked => panic!("{outcome:?}"),
        () = async { while fs::read_to_string(&pid).map_or(0, |text| text.len()) == 0 { tokio::task::yield_now().await; } } => {}
    }
    // The future is dropped now.
    while !gone(&pid) {
        assert!(start.elapsed() < Duration::from_secs(10), "it still runs");
        tokio::task::yield_now().await;
    }
}

/// H-09 and H05: what a hook hears, also when the agent's directory is gone.
#[tokio::test]
async fn a_hook_hears_one_object_wherever_it_runs() {
    let bench = Bench::new();
    let heard = bench.dir.path().join("heard");
    let hook = bench.hook("a", &format!("cat > {}", heard.display()), FailureMode::Closed);
    let occasion = Occasion { text: Some("words"), ..bench.occasion("/no/such/directory") };
    assert_eq!(ask_all(&[hook], &occasion, &bench.variables).await, Outcome::default());
    let said: Value = serde_json::from_str(&fs::read_to_string(heard).unwrap()).unwrap();
    assert_eq!(
        said,
        serde_json::json!({
            "event": "pre-tool-use", "session_id": "s", "cwd": "/no/such/directory", "text": "words",
        })
    );
}

/// H01: a payload of 8 MiB that nobody reads.
#[tokio::test]
async fn a_payload_that_is_not_read_is_no_failure() {
    let bench = Bench::new();
    let text = "x".repeat(8 << 20);
    let occasion = Occasion { text: Some(&text), ..bench.occasion("/") };
    let hook = bench.hook("a", "exit 0", FailureMode::Closed);
    assert_eq!(ask_all(&[hook], &occasion, &bench.variables).await, Outcome::default());
}

/// H-03 and H-04: who is not meant is not started.
#[tokio::test]
async fn a_hook_that_is_not_meant_is_not_started() {
    let bench = Bench::new();
    let marker = bench.dir.path().join("marker");
    let touch = format!("touch {}", marker.display());
    let ruled = ScriptHook {
        rule: Some("Bash(git push *)".parse().unwrap()),
        ..bench.hook("a", &touch, FailureMode::Closed)
    };
    let other = ScriptHook { event: Event::Stop, ..bench.hook("b", &touch, FailureMode::Closed) };
    assert_eq!(bench.ask(&[ruled, other]).await, Outcome::default());
    assert!(!marker.exists());
}
