//! What a turn may use besides tools of plugins: skills, commands and servers, as far as the
//! operator wants them.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use std::fs;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use portcullis::Host;
use portcullis::extension::Level;
use portcullis_model::capability::CapabilityKind;
use portcullis_model::extension::{CommandEntry, Known, SkillEntry};
use portcullis_tests::extension::{Fake, register, tool};
use portcullis_tests::plugin::Plugin;
use serde_json::json;

use crate::place::{Place, bash, call, judge, outcome};

fn skill(name: &str) -> SkillEntry {
    SkillEntry::new(format!("skill://{name}/SKILL.md"), name, "What it is for.")
}

fn command(name: &str) -> CommandEntry {
    CommandEntry::new(name, "does it")
}

#[tokio::test]
async fn what_a_turn_may_use_is_one_value_whatever_it_is_about() {
    let place = Place::new();
    let host = place.open("").await;
    let (own, github, gitlab) =
        (Arc::new(Fake::new("own")), Arc::new(Fake::server("github")), Arc::new(Fake::server("gitlab")));
    own.brings(Known { tools: vec![tool("mark")], skills: vec![skill("pdf")], ..Known::default() });
    github.brings_tools(&["create_issue", "look_up", "read", "mark"]);
    gitlab.brings_tools(&["look_up"]);
    for extension in [&own, &github, &gitlab] {
        register(&host, extension).await;
    }
    let session = host.session("s1");
    let capabilities = session.turn().capabilities();
    assert_eq!(capabilities.tools, ["current_time", "mark", "find_tools", "mcp"]);
    let bare: Vec<_> =
        capabilities.servers_of_tools.iter().map(|(tool, server)| format!("{tool}: {server}")).collect();
    assert_eq!(bare, ["create_issue: github"], "of several servers, or another tool's, no name is bare");
    let ids: Vec<_> = capabilities.descriptors.iter().map(|own| own.id.to_string()).collect();
    assert_eq!(
        ids,
        ["tool:current_time", "tool:mark", "skill:pdf", "server:github", "server:gitlab", "hook:guard guard"]
    );
    for needs in ["web", "vcs", "quantum"] {
        let reading =
            portcullis::surface::Reading { needs: [needs.to_owned().into()].into(), ..Default::default() };
        assert_eq!(session.turn().about(reading).capabilities(), capabilities);
    }
}

#[tokio::test]
async fn skills_and_commands_are_those_that_were_there_and_are_permitted() {
    let place = Place::new();
    place.put("namer.wasm", &Plugin::new("namer").command("Name it well.").build().unwrap());
    let host = place.open("").await;
    let own = Arc::new(Fake::new("own"));
    own.brings(Known { skills: vec![skill("pdf")], commands: vec![command("ship")], ..Known::default() });
    register(&host, &own).await;
    let session = host.session("s1");
    let turn = session.turn();
    assert_eq!(turn.skill("pdf").await.unwrap(), "the text of skill://pdf/SKILL.md");
    assert_eq!(turn.expand("ship", "it now", "/").await.unwrap(), "ship it now");
    assert_eq!(turn.expand("greet", "", "/").await.unwrap(), "Name it well.");
    let errors = [
        turn.skill("ship").await.unwrap_err(),
        turn.skill("nope").await.unwrap_err(),
        turn.expand("pdf", "", "/").await.unwrap_err(),
    ];
    let codes = errors.each_ref().map(portcullis::TextError::code);
    assert_eq!(codes, ["kind_mismatch", "unknown_capability", "kind_mismatch"]);
    // What comes is for the next turn, what is revoked is gone at once.
    own.brings(Known { skills: vec![skill("pdf"), skill("new")], ..Known::default() });
    host.reconcile().await;
    assert_eq!(turn.skill("new").await.unwrap_err().code(), "unknown_capability");
    assert!(session.turn().skill("new").await.is_ok());
    host.revoke("skill:pdf".parse().unwrap(), "the operator said so");
    assert_eq!(turn.skill("pdf").await.unwrap_err().code(), "retired");
    assert!(turn.skill("pdf").await.unwrap_err().to_string().contains("the operator said so"));
}

#[tokio::test]
async fn what_is_denied_is_meant_by_its_kind_and_its_name() {
    let place = Place::new();
    let host = place.open("[permissions]\ndeny = [\"bash\"]\n").await;
    let own = Arc::new(Fake::new("own"));
    own.brings(Known {
        tools: vec![tool("bash"), tool("mark")],
        skills: vec![skill("bash")],
        ..Known::default()
    });
    register(&host, &own).await;
    let turn = host.session("s1").turn();
    assert_eq!(turn.capabilities().tools, ["current_time", "mark", "find_tools"]);
    assert_eq!(turn.skill("bash").await.unwrap(), "the text of skill://bash/SKILL.md");
    let called = turn.call(call("bash", json!({ "command": "ls" }))).await;
    assert!(called.error.is_some() && own.calls.load(Ordering::SeqCst) == 0);
    assert!(turn.call(call("mark", json!({}))).await.error.is_none());
}

#[tokio::test]
async fn a_server_that_is_down_is_an_answer_at_once_with_what_to_do() {
    let place = Place::new();
    let host = place.open("").await;
    let github = Arc::new(Fake::server("github"));
    github.brings_tools(&["down", "create_issue"]);
    register(&host, &github).await;
    let turn = host.session("s1").turn();
    for _ in 0..2 {
        let called = turn.call(call("mcp__github__down", json!({}))).await;
        assert_eq!(called.error.unwrap().code, "unavailable");
        assert!(called.output.is_error && format!("{:?}", called.output).contains("start it again"));
        assert!(turn.call(call("create_issue", json!({}))).await.error.is_none(), "the next call is served");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn a_change_that_nobody_tells_of_is_seen_at_the_next_look() {
    let place = Place::new();
    let (one, other) = (place.path("one"), place.path("other"));
    for (dir, name) in [(&one, "first"), (&other, "second")] {
        fs::create_dir(dir).unwrap();
        fs::write(dir.join("plugin.wasm"), Plugin::new(name).tool(name, false).build().unwrap()).unwrap();
    }
    let link = place.path("link");
    std::os::unix::fs::symlink(&one, &link).unwrap();
    let mut options = place.options("");
    options.plugin_dir = Some(link.clone());
    options.watch = true;
    let host = Host::open(options).await.unwrap();
    let has = |name: &str| {
        let rows = host.capabilities().rows;
        rows.iter()
            .any(|row| row.capability.id.kind == CapabilityKind::Tool && row.capability.id.name == name)
    };
    assert!(has("first"));
    // The watch is on the directory; where a link leads is told to nobody.
    let temporary = place.path("link.tmp");
    std::os::unix::fs::symlink(&other, &temporary).unwrap();
    fs::rename(&temporary, &link).unwrap();
    while !has("second") {
        tokio::task::yield_now().await;
    }
    assert!(!has("first"));
}

/// A guard that refuses everything.
fn strict() -> Vec<u8> {
    Plugin::new("strict").refuses("no", "no").build().unwrap()
}

/// Whether a guard that comes now acts, and one that goes does not.
async fn guards_are_followed(place: &Place, host: &Host) {
    let file = place.user().join("strict.wasm");
    for _ in 0..2 {
        assert_eq!(outcome(&judge(host, bash("ls")).await), "allow");
        fs::write(&file, strict()).unwrap();
        host.refresh();
        assert_eq!(outcome(&judge(host, bash("ls")).await), "strict");
        fs::remove_file(&file).unwrap();
        host.refresh();
    }
}

#[tokio::test]
async fn an_extension_that_fails_inside_harms_nothing_but_itself() {
    let place = Place::new();
    let host = place.watch("").await;
    let (odd, own) = (Arc::new(Fake::new("odd")), Arc::new(Fake::new("own")));
    odd.brings_tools(&["odd_one"]);
    own.brings_tools(&["mark"]);
    register(&host, &odd).await;
    register(&host, &own).await;
    let turn = host.session("s1").turn();
    assert!(turn.call(call("odd_one", json!({}))).await.error.is_none());
    odd.panic();
    odd.tell();
    host.reconcile().await;
    let rows = host.capabilities().rows;
    let row = rows.iter().find(|row| row.capability.id.name == "odd_one").unwrap();
    assert!(row.usable && row.because.contains("it failed inside"), "{row:?}");
    let called = turn.call(call("odd_one", json!({}))).await;
    assert_eq!(called.error.unwrap().code, "unavailable");
    assert!(turn.call(call("mark", json!({}))).await.error.is_none(), "the next call is served");
    guards_are_followed(&place, &host).await;
}

#[tokio::test]
async fn an_extension_that_keeps_its_thread_keeps_no_guard_from_acting() {
    let place = Place::new();
    let host = place.watch("").await;
    let (slow, own) = (Arc::new(Fake::new("slow")), Arc::new(Fake::new("own")));
    own.brings_tools(&["mark"]);
    register(&host, &slow).await;
    slow.shut(true);
    // The next look asks it, and waits.
    let asked = slow.lists.load(Ordering::SeqCst);
    slow.tell();
    while slow.lists.load(Ordering::SeqCst) == asked {
        tokio::task::yield_now().await;
    }
    guards_are_followed(&place, &host).await;
    register(&host, &own).await;
    assert!(host.session("s1").turn().call(call("mark", json!({}))).await.error.is_none());
    slow.shut(false);
}

#[tokio::test]
async fn the_end_of_a_worker_is_not_its_sessions() {
    let place = Place::new();
    let host = place.open("").await;
    let session = host.session("s1");
    let worker = session.clone().agent("worker");
    let (of_session, of_worker) = (Arc::new(Fake::new("session")), Arc::new(Fake::new("worker")));
    host.register(Arc::clone(&of_session) as _, Level::Session, &session.scope(), None).await.unwrap();
    host.register(Arc::clone(&of_worker) as _, Level::Agent, &worker.scope(), None).await.unwrap();
    worker.end("/").await;
    assert!(of_worker.closed.load(Ordering::SeqCst) && !of_session.closed.load(Ordering::SeqCst));
    session.end("/").await;
    assert!(of_session.closed.load(Ordering::SeqCst));
}
