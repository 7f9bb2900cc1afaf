//! Batches of calls: which of them run at once, in which order, and what becomes of each.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a test ends when anything is wrong, and how long it runs is said in the environment"
)]

mod place;

use std::fs;
use std::future::pending;
use std::path::Path;
use std::sync::Arc;

use futures_util::future::join_all;
use portcullis::extension::{Level, Scope};
use portcullis::model::call::{Claims, ToolCall};
use portcullis::runtime::Content;
use portcullis::{BatchPlan, Called, DirectWrites, Host, Permit, Turn};
use portcullis_tests::plugin::Plugin;
use portcullis_tests::work::Work;
use serde_json::{Value, json};

use crate::place::{Place, call};

/// No plugin has anything to say.
const QUIET: &str = "[plugins]\nenabled = []\n";

async fn site(place: &Place, config: &str, meet: usize) -> (Host, Arc<Work>) {
    let host = place.open(config).await;
    (host.clone(), with_work(&host, meet).await)
}

async fn with_work(host: &Host, meet: usize) -> Arc<Work> {
    let work = Arc::new(Work::new(meet));
    host.register(Arc::clone(&work) as _, Level::Pool, &Scope::new(), None).await.unwrap();
    work
}

/// A call of `work` that is called `name`, with more arguments.
fn work(name: &str, claims: &Value, more: Value) -> ToolCall {
    let mut input = json!({ "name": name, "claims": claims });
    input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    ToolCall { id: name.to_owned(), ..call("work", input) }
}

fn writes(path: &str) -> Value {
    json!({ "paths": [path] })
}

async fn permitted(turn: &Turn, calls: impl IntoIterator<Item = ToolCall>) -> Vec<Permit> {
    let mut permits = Vec::new();
    for call in calls {
        permits.push(turn.judge(call).await.outcome.unwrap());
    }
    permits
}

async fn planned(turn: &Turn, calls: impl IntoIterator<Item = ToolCall>) -> BatchPlan {
    let permits = permitted(turn, calls).await;
    turn.plan(&permits.iter().collect::<Vec<_>>()).await
}

fn edit(path: &str) -> ToolCall {
    call("Edit", json!({ "file_path": path, "old_string": "1", "new_string": "2" }))
}

fn task(input: Value) -> ToolCall {
    call("task", input)
}

/// What a model reads.
fn text(called: &Called) -> &str {
    match &called.output.content[0] {
        Content::Text(text) => text,
        Content::Binary { .. } => panic!("{called:?}"),
    }
}

#[tokio::test]
async fn the_plan_shows_what_each_call_claims_and_why_it_waits() {
    let place = Place::new();
    let host = place.open(QUIET).await;
    let turn = host.session("s1").turn();
    let plan = planned(
        &turn,
        [
            edit("src/a.rs"),
            edit("./src//b/../a.rs"),
            call("Read", json!({ "file_path": "/home/dev/app/docs/x.md" })),
            call("Bash", json!({ "command": "ls src | wc -l" })),
            call("Bash", json!({ "command": "cargo test" })),
            call("TodoWrite", json!({ "todos": [] })),
            call("mcp__notes__add", json!({ "text": "x" })),
        ],
    )
    .await;
    assert_eq!(plan.waves, [vec![0, 2, 5], vec![1], vec![3], vec![4], vec![6]]);
    let shown: Vec<_> = plan.calls.iter().map(|call| (call.behind, call.why.as_deref())).collect();
    let same = "write of `/home/dev/app/src/a.rs` meets write of `/home/dev/app/src/a.rs`";
    let looks = "write of `/home/dev/app/src/a.rs` meets read of `/**`";
    let any = "one of them may write anything";
    assert_eq!(shown[..4], [(None, None), (Some(0), Some(same)), (None, None), (Some(1), Some(looks))]);
    assert_eq!(shown[4..], [(Some(3), Some(any)), (None, None), (Some(4), Some(any))]);
    assert_eq!(plan.calls[2].claim.reads, ["/home/dev/app/docs/x.md"]);
    assert_eq!(plan.calls[4].claim.because.as_deref(), Some("the script may change any file"));
    assert_eq!(plan.calls[6].claim.because.as_deref(), Some("nobody says which files the tool touches"));
    assert_eq!((plan.calls[1].tool.as_str(), plan.calls[1].wave), ("edit", 1));
    assert_eq!(planned(&turn, []).await, BatchPlan::default());
}

#[tokio::test]
async fn calls_that_claim_nothing_or_only_read_share_the_first_wave() {
    let place = Place::new();
    let host = place.open(QUIET).await;
    let turn = host.session("s1").turn();
    let quiet = (0..5).map(|n| call(if n % 2 == 0 { "TodoWrite" } else { "think" }, json!({})));
    assert_eq!(planned(&turn, quiet).await.waves, [[0, 1, 2, 3, 4]]);
    let tasks =
        [json!({ "readonly": true }), json!({}), json!({ "readonly": true }), json!({ "readonly": true })];
    assert_eq!(planned(&turn, tasks.map(task)).await.waves, [[0, 1, 2, 3]]);
    let scoped = [
        json!({ "paths": ["src/**"] }),
        json!({ "paths": ["src/auth/**"] }),
        json!({ "paths": ["docs"] }),
        json!({ "paths": [] }),
    ];
    assert_eq!(planned(&turn, scoped.map(task)).await.waves, [vec![0, 2], vec![1], vec![3]]);
    let odd = [json!({ "paths": ["src", 7] }), json!({ "paths": "src" }), json!({ "paths": ["~/x"] })];
    assert_eq!(planned(&turn, odd.map(task)).await.waves, [[0], [1], [2]]);
}

#[tokio::test]
async fn both_ends_of_a_rename_and_all_of_a_directory_are_claimed() {
    let place = Place::new();
    let host = place.open(QUIET).await;
    let turn = host.session("s1").turn();
    let moves = call("move_file", json!({ "source": "a/x", "destination": "b/x" }));
    let plan = planned(&turn, [moves, edit("a/x"), edit("b/x"), edit("c/x")]).await;
    assert_eq!(plan.waves, [vec![0, 3], vec![1, 2]]);
    let removes = call("delete_file", json!({ "path": "src" }));
    let makes = call("Write", json!({ "file_path": "src/new/deep.rs", "content": "" }));
    assert_eq!(planned(&turn, [removes, makes, edit("srcs/a")]).await.waves, [vec![0, 2], vec![1]]);
}

#[tokio::test]
async fn a_plugins_claims_count_as_those_of_any_other_tool() {
    let place = Place::new();
    let scribe = Plugin::new("scribe").tool("scribble", true);
    let claims = Claims { paths: vec!["src/**".to_owned()], ..Claims::default() };
    place.put("scribe.wasm", &scribe.clone().claims(claims).build().unwrap());
    for (name, plugin) in [
        ("traps", Plugin::new("traps").when_asked("unreachable")),
        ("loops", Plugin::new("loops").when_asked("(loop $again (br $again))")),
        ("odd", Plugin::new("odd").claims(Claims { exclusive: true, read_only: true, paths: Vec::new() })),
        ("nowhere", Plugin::new("nowhere").claims(Claims::default())),
    ] {
        place.put(&format!("{name}.wasm"), &plugin.tool(&format!("tool_of_{name}"), true).build().unwrap());
    }
    let host = place.open("[plugin.loops]\nlimits.describe_ms = 100\n").await;
    let turn = host.session("s1").turn();
    let scribble = || call("scribble", json!({}));
    let plan = planned(&turn, [scribble(), edit("src/a"), edit("docs/a"), scribble()]).await;
    assert_eq!(plan.waves, [vec![0, 2], vec![1], vec![3]]);
    for (name, because) in [
        ("traps", "the traps plugin failed to say which files the tool touches"),
        ("loops", "the loops plugin failed to say which files the tool touches"),
        ("odd", "it says both that it writes nothing and that it needs everything"),
        ("nowhere", "it says that it writes, and not where"),
    ] {
        let broken = call(&format!("tool_of_{name}"), json!({}));
        let plan = planned(&turn, [edit("src/a"), broken, edit("docs/a")]).await;
        assert_eq!(plan.waves, [[0], [1], [2]], "{name}");
        assert_eq!(plan.calls[1].claim.because.as_deref(), Some(because));
    }
}

#[tokio::test]
async fn what_an_extension_cannot_say_is_exclusive() {
    let place = Place::new();
    let (host, _) = site(&place, QUIET, 1).await;
    let turn = host.session("s1").turn();
    let panics = work("x", &json!("panic"), json!({}));
    let silent = call("work", json!({ "name": "x" }));
    let many: Vec<String> = (0..300).map(|n| format!("f{n}")).collect();
    let many = work("x", &json!({ "paths": many }), json!({}));
    for (call, because) in [
        (panics, "`work` failed to say which files the tool touches"),
        (silent, "nobody says which files the tool touches"),
        (many, "it names too many paths"),
    ] {
        let plan = planned(&turn, [edit("a"), call, edit("b")]).await;
        assert_eq!((plan.waves.len(), plan.calls[1].claim.because.as_deref()), (3, Some(because)));
    }
}

#[tokio::test]
async fn calls_of_a_wave_run_at_once_and_waves_one_after_the_other() {
    let place = Place::new();
    // Four have to be inside at once, or nobody goes on.
    let (host, seen) = site(&place, QUIET, 4).await;
    let turn = host.session("s1").turn();
    let first =
        (0..4).map(|n| work(&format!("a{n}"), &writes(&format!("src/{n}")), json!({ "meets": true })));
    let second =
        (0..4).map(|n| work(&format!("b{n}"), &writes(&format!("src/{n}")), json!({ "meets": true })));
    let answers = turn.call_batch(first.chain(second).collect(), pending()).await;
    assert!(answers.iter().all(|answer| answer.error.is_none()), "{answers:?}");
    for (name, running) in seen.began() {
        assert!(
            name.starts_with('a') || running.iter().all(|other| other.starts_with('b')),
            "{name} {running:?}"
        );
    }
}

#[tokio::test]
async fn results_are_in_the_order_of_the_calls_whoever_ends_first() {
    let place = Place::new();
    let (host, seen) = site(&place, QUIET, 1).await;
    let turn = host.session("s1").turn();
    // More than run at once, and each sooner than the one before it.
    let calls = (0..200_u32)
        .map(|n| work(&n.to_string(), &json!({ "read_only": true }), json!({ "steps": 200 - n })));
    let answers = turn.call_batch(calls.collect(), pending()).await;
    let names: Vec<_> = answers.iter().map(text).collect();
    assert_eq!(names, (0..200).map(|n| n.to_string()).collect::<Vec<_>>());
    assert_ne!(seen.ended(), names, "they ended in another order");
}

#[tokio::test]
async fn one_failure_among_thirty_keeps_no_other_from_running() {
    let place = Place::new();
    let (host, _) = site(&place, QUIET, 1).await;
    let turn = host.session("s1").turn();
    let calls = (0..30).map(|n| {
        let more = if n == 3 { json!({ "fails": "no" }) } else { json!({}) };
        work(&n.to_string(), &writes(&format!("{}", n % 10)), more)
    });
    let answers = turn.call_batch(calls.collect(), pending()).await;
    assert_eq!(answers.len(), 30);
    for (n, answer) in answers.iter().enumerate() {
        assert_eq!(answer.error.is_some(), n == 3, "{answer:?}");
        assert!(n == 3 || text(answer) == n.to_string());
    }
}

#[tokio::test]
async fn a_batch_that_is_cancelled_begins_nothing_more_and_answers_every_call() {
    let place = Place::new();
    let (host, seen) = site(&place, QUIET, 1).await;
    let turn = host.session("s1").turn();
    let of = |name: &str, more| work(name, &writes("src"), more);
    let calls = vec![
        work("done", &json!({ "read_only": true }), json!({})),
        of("hangs", json!({ "waits": true })),
        of("second", json!({})),
        of("third", json!({})),
    ];
    let cancelled = async {
        // Both of the first wave have begun, and one has nothing to wait for.
        drop(seen.begun.acquire_many(2).await.unwrap());
        while seen.ended().is_empty() {
            tokio::task::yield_now().await;
        }
    };
    let answers = turn.call_batch(calls, cancelled).await;
    let codes: Vec<_> =
        answers.iter().map(|answer| answer.error.as_ref().map(|error| error.code.as_str())).collect();
    assert_eq!(codes, [None, Some("cancelled"), Some("cancelled"), Some("cancelled")]);
    assert_eq!(seen.began().len(), 2);
    // What was broken off holds nothing, and the session goes on.
    assert_eq!(text(&turn.call(of("next", json!({}))).await), "next");
    let never = turn.call_batch(vec![of("x", json!({}))], async {}).await;
    assert_eq!(never[0].error.as_ref().unwrap().code, "cancelled");
}

#[tokio::test]
async fn a_call_that_is_refused_takes_no_place() {
    let place = Place::new();
    let config = format!("{QUIET}[permissions]\ndeny = [\"other\"]\n");
    let (host, seen) = site(&place, &config, 2).await;
    let turn = host.session("s1").turn();
    let blocked = call("other", json!({ "claims": { "exclusive": true } }));
    let of = |name: &str| work(name, &writes(name), json!({ "meets": true }));
    // The two meet, so nothing of the refused one was between them.
    let answers = turn.call_batch(vec![of("a"), blocked, of("b")], pending()).await;
    let refusal = answers[1].error.as_ref().unwrap().refusal.as_ref().unwrap();
    assert_eq!(
        (refusal.code.as_str(), text(&answers[1])),
        ("capability/not-usable", refusal.reason.as_str())
    );
    assert_eq!((text(&answers[0]), text(&answers[2])), ("a", "b"));
    assert_eq!(seen.began().len(), 2);
}

/// Appends a line to a file, as an agent's own tool would say it.
fn appends(tool: &str, path: &Path, line: &str) -> ToolCall {
    let path = path.to_str().unwrap();
    let input = json!({ "file_path": path, "line": line, "content": line, "old_string": "", "new_string": "", "name": line });
    ToolCall { id: line.to_owned(), ..call(tool, input) }
}

#[tokio::test]
async fn two_sessions_that_edit_one_file_lose_nothing() {
    let place = Place::new();
    let (host, seen) = site(&place, QUIET, 1).await;
    let file = place.path("shared");
    // `PORTCULLIS_SOAK=whole` makes it 10,000 rounds.
    let whole = std::env::var("PORTCULLIS_SOAK").is_ok_and(|word| word == "whole");
    let rounds = if whole { 5000 } else { 250 };
    let edits = |session: &'static str| {
        let (host, file) = (host.clone(), file.clone());
        async move {
            for round in 0..rounds {
                let turn = host.session(session).turn();
                let tool = if round % 2 == 0 { "edit" } else { "Write" };
                let called = turn.call(appends(tool, &file, &format!("{session}{round}"))).await;
                assert!(called.error.is_none(), "{called:?}");
            }
        }
    };
    tokio::join!(edits("a"), edits("b"));
    let text = fs::read_to_string(&file).unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2 * rounds);
    for session in ["a", "b"] {
        let own: Vec<_> = lines.extract_if(.., |line| line.starts_with(session)).collect();
        assert_eq!(own, (0..rounds).map(|round| format!("{session}{round}")).collect::<Vec<_>>());
    }
    assert!(seen.began().iter().all(|(_, running)| running.is_empty()));
}

#[tokio::test]
async fn a_session_that_works_for_a_task_works_within_its_claim() {
    let place = Place::new();
    let (host, _) = site(&place, QUIET, 1).await;
    let turn = host.session("parent").turn();
    let permits = permitted(&turn, [task(json!({ "paths": ["src/**"] }))]).await;
    let hold = turn.hold(&permits[0]).await.unwrap();
    let child = host.session("child").within(hold.within()).turn();
    let stranger = host.session("stranger").turn();
    let waits = stranger.call(work("stranger", &writes("src/a"), json!({})));
    let mut waits = std::pin::pin!(waits);
    // The stranger is in the queue, behind the task.
    assert!(tokio::select! { biased; _ = &mut waits => false, () = rounds(100) => true });
    assert_eq!(text(&child.call(work("own", &writes("src/a"), json!({}))).await), "own");
    let outside = child.call(work("outside", &writes("docs"), json!({}))).await;
    assert_eq!(outside.error.unwrap().code, "claim/outside");
    let shell = child.call(work("shell", &json!({ "exclusive": true }), json!({}))).await;
    assert_eq!(shell.error.unwrap().code, "claim/outside");
    hold.done().await;
    assert_eq!(text(&waits.await), "stranger");
    let late = child.call(work("late", &writes("src/a"), json!({}))).await;
    assert_eq!(late.error.unwrap().code, "claim/parent-gone");
}

/// Lets others go on so many times.
async fn rounds(count: usize) {
    for _ in 0..count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_turn_that_has_ended_holds_nothing_and_says_so() {
    let place = Place::new();
    let (host, _) = site(&place, QUIET, 1).await;
    let turn = host.session("s1").turn();
    let permits = permitted(&turn, [edit("src/a")]).await;
    let hold = turn.hold(&permits[0]).await.unwrap();
    assert!(hold.is_current());
    let other = host.session("s2").turn();
    let waits = tokio::spawn(async move { other.call(work("next", &writes("src"), json!({}))).await });
    drop(turn.end().await);
    assert_eq!(text(&waits.await.unwrap()), "next");
    assert!(!hold.is_current(), "a late write is one that it must not make");
}

#[cfg(unix)]
#[tokio::test]
async fn a_call_whose_path_leads_elsewhere_by_its_turn_is_refused() {
    let place = Place::new();
    let (host, seen) = site(&place, QUIET, 1).await;
    let root = fs::canonicalize(place.path(".")).unwrap().join("site");
    fs::create_dir_all(root.join("kept")).unwrap();
    let only = DirectWrites::new(&root, &["docs/**"]).unwrap();
    let path = root.join("docs/x");
    let link =
        json!({ "link": root.join("docs"), "to": root.join("kept"), "name": "link", "file_path": path });
    // The link is made by a tool that says that it writes the very file.
    let first = ToolCall { id: "link".to_owned(), ..call("write", link) };
    let turn = host.session("s1").with_direct_writes(only).turn();
    let answers = turn.call_batch(vec![first, appends("write", &path, "x")], pending()).await;
    assert!(answers[0].error.is_none(), "{answers:?}");
    assert_eq!(answers[1].error.as_ref().map(|error| error.code.as_str()), Some("refused"));
    assert_eq!((seen.began().len(), root.join("kept/x").exists()), (1, false));
}

#[tokio::test]
async fn a_write_to_a_file_that_changed_since_it_was_read_is_an_error_and_no_overwrite() {
    let place = Place::new();
    let config = format!("{QUIET}[schedule]\ncheck_writes = true\n");
    let (host, _) = site(&place, &config, 1).await;
    let file = place.path("shared");
    fs::write(&file, "one\n").unwrap();
    let session = host.session("s1");
    let read = || call("read", json!({ "file_path": file.to_str().unwrap(), "name": "read" }));
    let turn = session.turn();
    assert_eq!(text(&turn.call(read()).await), "read");
    // Somebody else changes it, outside.
    fs::write(&file, "other\n").unwrap();
    let next = session.turn();
    let stale = next.call(appends("write", &file, "mine")).await;
    assert_eq!(stale.error.as_ref().unwrap().code, "claim/stale");
    assert!(text(&stale).contains("has changed since it was read in this session"), "{stale:?}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "other\n");
    // It reads what is there, and goes on; what it wrote itself it knows.
    assert_eq!(text(&next.call(read()).await), "read");
    for line in ["mine", "more"] {
        assert_eq!(text(&next.call(appends("write", &file, line)).await), line);
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), "other\nmine\nmore\n");
    // Another session has not read it, and one that is not asked to check does not.
    let other = host.session("s2").turn();
    assert_eq!(text(&other.call(appends("write", &file, "blind")).await), "blind");
    let stale = next.call(appends("write", &file, "late")).await;
    assert_eq!(stale.error.unwrap().code, "claim/stale");
    let careless = site(&place, QUIET, 1).await.0.session("s1").turn();
    assert_eq!(text(&careless.call(read()).await), "read");
    fs::write(&file, "").unwrap();
    assert_eq!(text(&careless.call(appends("write", &file, "over")).await), "over");
}

#[tokio::test]
async fn a_loop_that_runs_its_tools_itself_is_checked_as_well() {
    let place = Place::new();
    let host = place.open(&format!("{QUIET}[schedule]\ncheck_writes = true\n")).await;
    let file = place.path("own");
    fs::write(&file, "one").unwrap();
    let path = file.to_str().unwrap();
    let turn = host.session("s1").turn();
    let reads = || call("Read", json!({ "file_path": path }));
    let permits = permitted(&turn, [reads(), edit(path), edit(path), edit(path), reads(), edit(path)]).await;
    turn.hold(&permits[0]).await.unwrap().done().await;
    let hold = turn.hold(&permits[1]).await.unwrap();
    fs::write(&file, "two").unwrap();
    hold.done().await;
    // Broken off in the middle: nobody has seen what is there.
    let hold = turn.hold(&permits[2]).await.unwrap();
    fs::write(&file, "thr").unwrap();
    drop(hold);
    let stale = turn.hold(&permits[3]).await.unwrap_err();
    assert_eq!(stale.code(), "claim/stale");
    turn.hold(&permits[4]).await.unwrap().done().await;
    assert!(turn.hold(&permits[5]).await.is_ok());
}

#[tokio::test]
async fn many_sessions_wait_their_turn_and_leave_nothing() {
    let place = Place::new();
    let (host, seen) = site(&place, QUIET, 1).await;
    let all = (0..40).map(|n| {
        let host = host.clone();
        async move {
            let turn = host.session(format!("s{n}")).turn();
            let claims = if n % 5 == 0 { json!({ "exclusive": true }) } else { writes("src/one") };
            turn.call(work(&n.to_string(), &claims, json!({ "steps": 3 }))).await
        }
    });
    let answers = join_all(all).await;
    assert!(answers.iter().all(|answer| answer.error.is_none()));
    assert!(seen.began().iter().all(|(_, running)| running.is_empty()), "each conflicts with each");
    let calls: Vec<_> = seen.began().into_iter().map(|(name, _)| name).collect();
    assert_eq!(calls, (0..40).map(|n| n.to_string()).collect::<Vec<_>>(), "first come, first served");
}
