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
    surroundings: Surroundings,
}

impl Bench {
    fn new() -> Self {
        Self { dir: TempDir::new().unwrap(), surroundings: at_depth(None) }
    }

    /// A hook that is this shell script.
    fn hook(&self, name: &str, script: &str, failure_mode: FailureMode) -> ScriptHook {
        let program = self.dir.path().join(name);
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        ScriptHook {
            listening: Listening { event: Event::PreToolUse, rule: None },
            program,
            arguments: Vec::new(),
            time: Duration::from_secs(5),
            failure_mode,
            enabled: true,
        }
    }

    async fn ask(&self, hooks: &[ScriptHook]) -> Outcome {
        self.ask_about(hooks, &occasion("/"), TOGETHER).await
    }

    async fn ask_about(&self, hooks: &[ScriptHook], occasion: &Occasion, together: Duration) -> Outcome {
        let asking = Asking { surroundings: &self.surroundings, together, failures_pass: false };
        ask_all(hooks.iter().map(Handler::Script), occasion, asking).await
    }
}

fn occasion(cwd: &str) -> Occasion {
    Occasion {
        event: Event::PreToolUse,
        session_id: "s".to_owned(),
        cwd: cwd.to_owned(),
        call: None,
        text: None,
    }
}

/// The environment of a process that is so many hooks deep.
fn at_depth(depth: Option<&str>) -> Surroundings {
    let mut variables = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    variables.extend(depth.map(|depth| (DEPTH.to_owned(), depth.to_owned())));
    Surroundings::new(variables)
}

/// Who failed, whether or not that blocked.
fn failed(outcome: &Outcome) -> usize {
    outcome.runs.iter().filter(|run| matches!(run.said, HookSaid::Failed(_))).count()
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
                None => {
                    assert_eq!(reason, None, "{script} in {mode:?}");
                    // H-18 and H-30: what blocks nothing is told all the same.
                    assert_eq!(failed(&outcome), usize::from(expected != closed), "{script}: {outcome:?}");
                }
                Some(part) => {
                    assert!(reason.is_some_and(|reason| reason.contains(part)), "{script}: {outcome:?}")
                }
            }
        }
    }
    let missing = ScriptHook { program: "/no/such/hook".into(), ..bench.hook("x", "", FailureMode::Closed) };
    assert!(bench.ask(std::slice::from_ref(&missing)).await.blocked.is_some());
    let open = ScriptHook { failure_mode: FailureMode::Open, ..missing };
    let outcome = bench.ask(&[open]).await;
    assert!(outcome.blocked.is_none() && failed(&outcome) == 1);
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
    let late = ScriptHook { time: Duration::from_secs(2), ..bench.hook("a", &script, FailureMode::Closed) };
    let outcome = bench.ask(&[late]).await;
    assert_eq!(outcome.blocked.unwrap().fault, Some(FaultKind::Timeout));
    let start = Instant::now();
    while !gone(&pid) {
        assert!(start.elapsed() < Duration::from_secs(10), "it still runs");
        tokio::task::yield_now().await;
    }

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
    let occasion = Occasion { text: Some("words".into()), ..occasion("/no/such/directory") };
    assert_eq!(bench.ask_about(&[hook], &occasion, TOGETHER).await.blocked, None);
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
    let occasion = Occasion { text: Some("x".repeat(8 << 20).into()), ..occasion("/") };
    let hook = bench.hook("a", "exit 0", FailureMode::Closed);
    assert_eq!(bench.ask_about(&[hook], &occasion, TOGETHER).await.blocked, None);
}

/// H-03 and H-04: who is not meant is not started.
#[tokio::test]
async fn a_hook_that_is_not_meant_is_not_started() {
    let bench = Bench::new();
    let marker = bench.dir.path().join("marker");
    let touch = format!("touch {}", marker.display());
    let ruled = ScriptHook {
        listening: Listening { event: Event::PreToolUse, rule: Some("Bash(git push *)".parse().unwrap()) },
        ..bench.hook("a", &touch, FailureMode::Closed)
    };
    let other = ScriptHook {
        listening: Listening { event: Event::Stop, rule: None },
        ..bench.hook("b", &touch, FailureMode::Closed)
    };
    let off = ScriptHook { enabled: false, ..bench.hook("c", &touch, FailureMode::Closed) };
    assert_eq!(bench.ask(&[ruled, other, off]).await, Outcome::default());
    assert!(!marker.exists());
}

/// H11: a thousand hooks have their time together, and none blocks without having been
/// asked but the closed ones.
#[tokio::test]
async fn a_thousand_hooks_keep_to_their_time_together() {
    let bench = Bench::new();
    let together = Duration::from_secs(3);
    let quick = ScriptHook { time: together, ..bench.hook("quick", "exit 0", FailureMode::Closed) };
    let slow = ScriptHook {
        time: Duration::from_millis(400),
        ..bench.hook("slow", "exec sleep 600", FailureMode::Open)
    };
    let mut hooks = vec![quick.clone()];
    hooks.extend(std::iter::repeat_n(slow, 999));
    let outcome = bench.ask_about(&hooks, &occasion("/"), together).await;
    assert_eq!((outcome.blocked.as_ref(), outcome.runs.len()), (None, 1000));
    let late = |run: &&HookRun| matches!(&run.said, HookSaid::Failed(how) if how.contains("together"));
    let not_asked = outcome.runs.iter().filter(late).count();
    assert!(not_asked > 990, "{not_asked}");
    hooks.push(quick);
    let outcome = bench.ask_about(&hooks, &occasion("/"), together).await;
    let blocked = outcome.blocked.unwrap();
    assert!(blocked.fault == Some(FaultKind::Timeout) && blocked.reason.contains("together"), "{blocked:?}");
}

/// H09: hooks that start one another come to an end, in every mode.
#[tokio::test]
async fn hooks_that_start_one_another_are_refused_three_deep() {
    let bench = Bench::new();
    for (depth, runs) in
        [(None, true), (Some("1"), true), (Some("2"), true), (Some("3"), false), (Some("x"), false)]
    {
        let bench = Bench { surroundings: at_depth(depth), dir: TempDir::new().unwrap() };
        let script = format!("echo $PORTCULLIS_HOOK_DEPTH >{}/depth", bench.dir.path().display());
        let outcome = bench.ask(&[bench.hook("a", &script, FailureMode::Open)]).await;
        let blocked = outcome.blocked.map(|blocked| blocked.fault);
        assert_eq!(blocked, (!runs).then_some(Some(FaultKind::Resource)), "{depth:?}");
        let told = fs::read_to_string(bench.dir.path().join("depth")).ok();
        let deeper = depth.unwrap_or("0").parse::<u32>().map_or(0, |depth| depth + 1);
        assert_eq!(told.map(|told| told.trim().to_owned()), runs.then(|| deeper.to_string()));
    }
    drop(bench);
}

/// A rule that could never be met, and an event that there is not, are errors.
#[test]
fn what_a_hook_listens_to_is_read_in_one_place() {
    let read = |event: &str, matching: Option<&str>| {
        let wanted = portcullis_runtime::Subscription {
            event: event.to_owned(),
            matching: matching.map(str::to_owned),
        };
        Listening::read_all(&[wanted]).map(drop).map_err(|wrong| wrong.to_string())
    };
    for event in Event::ALL {
        assert_eq!(read(event.as_str(), None), Ok(()));
        let ruled = read(event.as_str(), Some("bash(git push *)"));
        assert_eq!(ruled.is_ok(), event.is_about_a_call(), "{ruled:?}");
    }
    let long = format!("bash({})", "x".repeat(2000));
    for (event, rule, part) in [
        ("pre-tool", None, "write `pre-tool-use`"),
        ("", None, "no such event"),
        ("pre-tool-use", Some("bash("), "does not end with its bracket"),
        ("pre-tool-use", Some("bsh"), "did you mean `bash`?"),
        ("pre-tool-use", Some(long.as_str()), "the most is 1024"),
        ("stop", Some("*"), "is about none"),
    ] {
        let said = read(event, rule).unwrap_err();
        assert!(said.contains(part), "{said}");
    }
    let many = vec![portcullis_runtime::Subscription { event: "stop".to_owned(), matching: None }; 65];
    assert!(Listening::read_all(&many).unwrap_err().to_string().contains("the most is 64"));
    assert!(Listening::read_all(&many[1..]).is_ok());
}

/// What is remembered of a session outlives the process, and what cannot be read is
/// never taken for nothing.
#[test]
fn a_session_that_a_hook_refused_is_remembered() {
    let dir = TempDir::new().unwrap();
    let place = || Memory::new(Some(dir.path().join("store")), true);
    let blocked = Blocked {
        hook: "session-start a".to_owned(),
        plugin: None,
        event: Event::SessionStart,
        reason: "no".to_owned(),
        fault: Some(FaultKind::Trap),
    };
    for memory in [place(), Memory::new(None, false)] {
        assert_eq!(memory.refused("s"), Ok(None));
        memory.begin("s", Some(&blocked)).unwrap();
        assert_eq!((memory.refused("s"), memory.refused("t")), (Ok(Some(blocked.clone())), Ok(None)));
        memory.set_rounds("s", Event::Stop, Rounds { stops: 2, failed: true }).unwrap();
        assert_eq!(memory.rounds("s", Event::Stop), Rounds { stops: 2, failed: true });
        assert_eq!(memory.rounds("s", Event::SubagentStop), Rounds::default());
    }
    assert_eq!(place().refused("s"), Ok(Some(blocked)));
    let file = fs::read_dir(dir.path().join("store")).unwrap().next().unwrap().unwrap().path();
    fs::write(&file, "{").unwrap();
    assert!(place().refused("s").unwrap_err().contains("damaged"));
    place().begin("s", None).unwrap();
    assert_eq!(place().refused("s"), Ok(None));
    place().forget("s");
    assert!(!file.exists());
}
