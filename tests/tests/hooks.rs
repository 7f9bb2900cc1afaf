//! Hooks at all eight events, components and scripts alike. Rows H-14 to H-19, H-23 to
//! H-25, H-28, H-31, H-32, CF-02 and CF-30, and faults H08, H10 and H12.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use std::fs;

use portcullis::hook::{Event, HookSaid};
use portcullis::ledger::LedgerOptions;
use portcullis::{Host, HostOptions, Noted, Prompted, Ran, Session, Started, Stopped};
use portcullis_model::fault::FaultKind;
use portcullis_model::judgement::{Refusal, RefuserKind};
use portcullis_tests::plugin::{BELL, Plugin};

use crate::place::{Place, bash, call};

const CWD: &str = "/home/dev/app";

/// What a hook has against `event`, whatever becomes of it.
async fn at(session: &Session, event: Event) -> Option<Refusal> {
    match event {
        Event::SessionStart => match session.start(CWD).await.outcome {
            Started::Open => None,
            Started::Refused(refusal) => Some(refusal),
        },
        Event::PromptSubmit => match session.turn().prompt(CWD, "words").await.outcome {
            Prompted::HandedOn => None,
            Prompted::Withheld(refusal) => Some(refusal),
        },
        Event::PreToolUse => session.turn().judge(bash("ls")).await.outcome.err(),
        Event::PostToolUse => match session.turn().ran(bash("ls"), "words").await.outcome {
            Ran::Stands => None,
            Ran::Annotated(refusal) => Some(refusal),
        },
        Event::SubagentStop => stopped(session.turn().subagent_stop(CWD, Some("words")).await.outcome),
        Event::Stop => stopped(session.turn().stop(CWD, Some("words")).await.outcome),
        Event::PreCompact => noted(session.compact(CWD).await.outcome),
        Event::SessionEnd => noted(session.end(CWD).await.outcome),
    }
}

fn stopped(stopped: Stopped) -> Option<Refusal> {
    match stopped {
        Stopped::Ends => None,
        Stopped::GoesOn(refusal) | Stopped::AtTheLimit(refusal) => Some(refusal),
    }
}

fn noted(noted: Noted) -> Option<Refusal> {
    match noted {
        Noted::Fine => None,
        Noted::Objected(refusal) => Some(refusal),
    }
}

/// A script hook: a line of shell at `event`.
fn script(event: Event, line: &str, rest: &str) -> String {
    format!("[[hooks]]\nevent = \"{event}\"\nshell = true\ncommand = '''{line}'''\n{rest}\n")
}

/// A component hook that follows every event, called `probe`.
fn component(body: &str) -> Plugin {
    let plugin = Plugin::new("probe").because("not on Fridays").on_event(body);
    Event::ALL.into_iter().fold(plugin, |plugin, event| plugin.follows(event.as_str(), None))
}

/// H-28: the same at every event, whether a component or a script is asked. A component
/// that fails blocks, as a closed script does.
#[tokio::test]
async fn components_and_scripts_mean_the_same_at_every_event() {
    let rows: [(&str, &str, Option<Option<FaultKind>>); 5] = [
        ("", "exit 0", None),
        ("(return (global.get $approve))", r#"echo '{"decision":"approve"}'"#, None),
        ("(return (global.get $block))", "echo not on Fridays >&2; exit 2", Some(None)),
        ("unreachable", "exit 7", Some(Some(FaultKind::Trap))),
        ("(return (global.get $odd))", "echo hello", Some(Some(FaultKind::BadVerdict))),
    ];
    for (body, line, expected) in rows {
        let place = Place::new();
        place.put("probe.wasm", &component(body).build().unwrap());
        let components = place.open("[plugins]\nenabled = [\"probe\"]").await;
        let lines: String = Event::ALL.map(|event| script(event, line, "failure_mode = \"closed\"")).concat();
        let scripts = Place::new().open(&format!("[plugins]\nenabled = []\n{lines}")).await;
        for event in Event::ALL {
            for host in [&components, &scripts] {
                // A session that was refused would refuse its calls as well.
                let said = at(&host.session(event.as_str()), event).await;
                let seen = said.as_ref().map(|refusal| refusal.fault);
                assert_eq!(seen, expected, "{event} {body} {line}: {said:?}");
                let Some(refusal) = said else { continue };
                assert_eq!(refusal.by.kind, RefuserKind::Hook);
                let tagged = matches!(event, Event::Stop | Event::SubagentStop);
                assert_eq!(refusal.reason.starts_with("[stop-hook] "), tagged, "{}", refusal.reason);
                match refusal.fault {
                    None => {
                        assert!(refusal.reason.contains("not on Fridays") && refusal.code == "hook/block")
                    }
                    Some(kind) => {
                        assert_eq!(refusal.code, format!("fault/{kind}"));
                        // What failed, that it is no decision, and the way out.
                        for part in ["the hook `", "not a decision", "Ask the user to"] {
                            assert!(refusal.reason.contains(part), "{event}: {}", refusal.reason);
                        }
                    }
                }
            }
        }
    }
}

/// A component hears the event's name, its call and its text, through the SDK as well.
#[tokio::test]
async fn a_component_hears_what_a_script_hears() {
    let place = Place::new();
    place.put("every-kind.wasm", include_bytes!("../guests/dist/every-kind.wasm"));
    let host = place.open("[plugins]\nenabled = [\"every-kind\"]").await;
    let followed: Vec<_> = host.all_hooks().into_iter().map(|hook| (hook.event, hook.rule)).collect();
    assert_eq!(followed, [(Event::Stop, None), (Event::PreToolUse, Some("bash(git push *)".to_owned()))]);
    for (words, said) in [("done", None), ("approve", None), ("block", Some("stop of nothing"))] {
        let told = host.session("s").turn().stop(CWD, Some(words)).await;
        let reason = stopped(told.outcome).map(|refusal| refusal.reason);
        assert_eq!(reason.is_some(), said.is_some(), "{words}: {reason:?}");
        assert!(reason.unwrap_or_default().ends_with(said.unwrap_or_default()), "{words}");
        assert_eq!(told.runs.len(), 1);
    }
    // At a call there is no text, so it has no opinion.
    assert!(host.session("s").turn().judge(bash("git push origin x")).await.outcome.is_ok());
}

/// CF-02: each way in which a component hook can fail, with its three arms.
#[tokio::test]
async fn every_way_in_which_a_component_hook_fails_refuses_the_call_and_serves_the_next() {
    for (body, kind) in [
        ("unreachable", FaultKind::Trap),
        ("(loop $again (br $again))", FaultKind::Timeout),
        ("(drop (memory.grow (i32.const 16384)))", FaultKind::Memory),
        ("(return (global.get $failed))", FaultKind::BadVerdict),
        ("(return (global.get $odd))", FaultKind::BadVerdict),
        ("(return (i32.const 0x7fffff00))", FaultKind::BadVerdict),
    ] {
        let place = Place::new();
        let denies = Plugin::new("denies")
            .because("no")
            .follows("pre-tool-use", Some("bash(deny*)"))
            .on_event("(return (global.get $block))");
        let fails = Plugin::new("fails").follows("pre-tool-use", Some("bash(fault*)")).on_event(body);
        place.put("denies.wasm", &denies.build().unwrap());
        place.put("fails.wasm", &fails.build().unwrap());
        let host = place
            .open("[plugins]\nenabled = [\"denies\", \"fails\"]\n[plugin.fails.limits]\nhook_ms = 300\nmemory_mib = 32")
            .await;
        let session = host.session("s");
        for (command, fault) in [
            ("allow", None),
            ("deny", None),
            ("fault", Some(kind)),
            ("fault", Some(kind)),
            ("allow", None),
            ("deny", None),
        ] {
            let refusal = session.turn().judge(bash(command)).await.outcome.err();
            assert_eq!(refusal.is_none(), command == "allow", "{body} {command}: {refusal:?}");
            let Some(refusal) = refusal else { continue };
            assert_eq!(refusal.fault, fault, "{body} {command}: {refusal:?}");
            if fault.is_some() {
                let way_out = "portcullis plugin inspect fails";
                assert!(refusal.reason.contains(way_out), "{}", refusal.reason);
            }
        }
    }
}

/// H-32, H-31 and H-13: who is asked before whom, and that nobody is asked behind a
/// refusal. Plugins' hooks come first, then scripts; who approves silences nobody.
#[tokio::test]
async fn everything_that_can_refuse_has_one_order() {
    for (guard, started, hook, asks, by) in [
        (true, false, "", (0, false), Some("first")),
        (false, true, "", (0, false), Some("session-start /bin/sh")),
        (false, false, "(call $bell) (return (global.get $block))", (1, false), Some("pre-tool-use probe")),
        (false, false, "(call $bell) (return (global.get $approve))", (1, true), Some("script")),
        (false, false, "(call $bell)", (1, true), Some("script")),
    ] {
        let place = Place::new();
        let first = Plugin::new("first");
        let first = if guard { first.refuses("no", "no") } else { first.allows("") };
        place.put("first.wasm", &first.build().unwrap());
        let hook = if hook.is_empty() { BELL } else { hook };
        let probe = Plugin::new("probe").because("no").follows("pre-tool-use", None).on_event(hook);
        place.put("probe.wasm", &probe.build().unwrap());
        let asked = place.path("asked");
        let line = format!("touch {}; echo no >&2; exit 2", asked.display());
        let config = format!(
            "[plugins]\nenabled = [\"first\", \"probe\"]\n[plugin.probe.grant]\nterminal = true\n{}{}",
            script(Event::PreToolUse, &line, ""),
            script(Event::SessionStart, if started { "exit 2" } else { "exit 0" }, ""),
        );
        let session = place.open(&config).await.session("s");
        session.start(CWD).await;
        let refusal = session.turn().judge(bash("ls")).await.outcome.err();
        assert_eq!((place.bell.rung(), asked.exists()), asks, "{refusal:?}");
        let name = refusal.map(|refusal| refusal.by.name).unwrap_or_default();
        let right = match by {
            Some("script") => name.starts_with("pre-tool-use touch"),
            Some("session-start /bin/sh") => name.starts_with("session-start exit 2"),
            Some(by) => name == by,
            None => name.is_empty(),
        };
        assert!(right, "{name} {by:?}");
    }
}

/// H-24, H-25 and H08: a subscription that cannot be followed keeps the plugin from
/// being used, which refuses every call, or is told when the plugin is advisory.
#[tokio::test]
async fn a_subscription_that_cannot_be_followed_is_a_standing_refusal() {
    for (event, rule, part) in [
        ("pre-tool", None, "no such event"),
        ("pre-tool-use", Some("bash(x"), "does not end with its bracket"),
        ("stop", Some("bash"), "is about none"),
    ] {
        let place = Place::new();
        let probe = Plugin::new("probe").follows(event, rule).follows("stop", None);
        place.put("probe.wasm", &probe.build().unwrap());
        let host = place.open("").await;
        let refusal = host.session("s").turn().judge(bash("ls")).await.outcome.unwrap_err();
        assert_eq!((refusal.by.kind, refusal.code.as_str()), (RefuserKind::Standing, "load/subscription"));
        assert!(refusal.reason.contains(part) && refusal.reason.contains("failure_mode"), "{refusal:?}");
        let host = place.open("[plugin.probe]\nfailure_mode = \"open\"").await;
        assert!(host.session("s").turn().judge(bash("ls")).await.outcome.is_ok());
        let told = host.report().rows.into_iter().any(|row| row.state.as_str() == "broken (advisory)");
        assert!(told);
    }
}

/// What came with a project follows nothing until it is trusted.
#[tokio::test]
async fn a_hook_of_a_project_is_not_asked() {
    let place = Place::new();
    place.put_project("probe.wasm", &component("(return (global.get $block))").build().unwrap());
    let host = place.open("").await;
    for event in Event::ALL {
        assert_eq!(at(&host.session(event.as_str()), event).await, None, "{event}");
    }
    assert!(host.all_hooks().is_empty());
}

/// A host with one hook at `session-start`, over a store that outlives it.
async fn opened(place: &Place, line: &str, mode: &str) -> Host {
    let rest = format!("failure_mode = \"{mode}\"");
    let mut options = place.options(&script(Event::SessionStart, line, &rest));
    options.store_dir = Some(place.path("store"));
    Host::open(options).await.unwrap()
}

/// A session that a hook does not let begin is there, and every call of it is refused,
/// also by the next process; asking again is the way out, and so is taking the hook out.
#[tokio::test]
async fn a_session_that_a_hook_refuses_has_no_call_until_the_hook_agrees() {
    let place = Place::new();
    let flag = place.path("flag");
    let line = format!("test -e {} || {{ echo no ticket >&2; exit 2; }}", flag.display());
    let host = opened(&place, &line, "open").await;
    let judge =
        async |host: &Host, session: &str| host.session(session).turn().judge(bash("ls")).await.outcome.err();
    assert!(matches!(host.session("s").start(CWD).await.outcome, Started::Refused(_)));
    for host in [&host, &opened(&place, &line, "open").await] {
        for _ in 0..2 {
            let refusal = judge(host, "s").await.unwrap();
            assert_eq!(refusal.code, "hook/session");
            assert!(
                refusal.reason.contains("no ticket") && refusal.reason.contains("start the session anew")
            );
        }
        assert_eq!(judge(host, "another").await, None);
    }
    let other = opened(&place, "exit 0", "open").await;
    assert_eq!(judge(&other, "s").await, None);
    fs::write(&flag, "").unwrap();
    assert!(matches!(host.session("s").start(CWD).await.outcome, Started::Open));
    assert_eq!(judge(&host, "s").await, None);
}

/// A closed hook that fails, and one whose answer nobody waited for.
#[tokio::test]
async fn a_session_whose_closed_hook_fails_has_no_call() {
    for (line, mode, fault) in [
        ("exit 7", "closed", Some(FaultKind::Trap)),
        ("exit 7", "open", None),
        ("exec sleep 600", "closed", Some(FaultKind::Timeout)),
    ] {
        let place = Place::new();
        let host = opened(&place, line, mode).await;
        let session = host.session("s");
        if line == "exit 7" {
            session.start(CWD).await;
        } else {
            // The process that asks ends before the hook does.
            let mut start = std::pin::pin!(session.start(CWD));
            for _ in 0..3 {
                let waker = std::task::Waker::noop();
                assert!(start.as_mut().poll(&mut std::task::Context::from_waker(waker)).is_pending());
                tokio::task::yield_now().await;
            }
        }
        let refusal =
            opened(&place, line, mode).await.session("s").turn().judge(bash("ls")).await.outcome.err();
        assert_eq!(refusal.and_then(|refusal| refusal.fault), fault, "{line} {mode}");
    }
    let place = Place::new();
    let host = opened(&place, "exit 2", "open").await;
    host.session("s").start(CWD).await;
    let file = fs::read_dir(place.path("store")).unwrap().next().unwrap().unwrap().path();
    fs::write(file, "?").unwrap();
    let refusal = host.session("s").turn().judge(bash("ls")).await.outcome.unwrap_err();
    assert_eq!(refusal.fault, Some(FaultKind::Resource));
    assert!(refusal.reason.contains("start a new session"), "{}", refusal.reason);
}

/// H-16, H-17 and CF-30: hooks send the agent on as often as it may go on, and what runs
/// after the turn runs once, when it has really ended.
#[tokio::test]
async fn hooks_at_the_end_send_the_agent_on_up_to_the_limit() {
    let place = Place::new();
    let probe = Plugin::new("probe").after_turn(BELL);
    place.put("probe.wasm", &probe.build().unwrap());
    let config = format!(
        "[hook_defaults]\nmax_turns = 3\n[plugins]\nenabled = [\"probe\"]\n[plugin.probe.grant]\nterminal = true\n{}",
        script(Event::Stop, "echo the tests fail >&2; exit 2", "")
    );
    let mut options = place.options(&config);
    options.ledger = Some(LedgerOptions::new(place.path("ledger")));
    options.store_dir = Some(place.path("store"));
    let host = Host::open(options).await.unwrap();
    let session = host.session("s");
    // In one process, and in one for each event.
    for in_parts in [false, true] {
        let mut turn = session.turn();
        for round in 1..=3 {
            if in_parts {
                turn = session.part_of_turn(round == 1);
            }
            let told = turn.stop(CWD, None).await;
            assert_eq!(place.bell.rung(), 0);
            match told.outcome {
                Stopped::GoesOn(refusal) if round < 3 => {
                    assert!(refusal.reason.starts_with("[stop-hook] The hook `stop echo"), "{refusal:?}");
                }
                Stopped::AtTheLimit(_) if round == 3 => {}
                other @ (Stopped::Ends | Stopped::GoesOn(_) | Stopped::AtTheLimit(_)) => {
                    panic!("{round}: {other:?}")
                }
            }
        }
        assert!(turn.end().await.failed.is_empty());
        assert_eq!(place.bell.rung(), 1);
    }
    let entries = fs::read_to_string(place.path("ledger").join("ledger.jsonl")).unwrap();
    assert_eq!(entries.matches("[stop-hook] The hook").count(), 6, "{entries}");
    // H-23: what was merely asked is no entry.
    assert!(
        entries.lines().all(|line| line.contains("\"plugins\"") || line.contains("[stop-hook]")),
        "{entries}"
    );
}

/// A closed hook that fails sends the agent on once a turn, and hides no other.
#[tokio::test]
async fn a_hook_that_fails_at_the_end_counts_once_a_turn() {
    let place = Place::new();
    let flag = place.path("flag");
    let later =
        format!("test -e {} && exit 0; touch {}; echo later >&2; exit 2", flag.display(), flag.display());
    let config = format!(
        "{}{}",
        script(Event::Stop, "exit 7", "failure_mode = \"closed\""),
        script(Event::Stop, &later, "")
    );
    let host = place.open(&config).await;
    let turn = host.session("s").turn();
    let Stopped::GoesOn(first) = turn.stop(CWD, None).await.outcome else { panic!() };
    assert_eq!(first.fault, Some(FaultKind::Trap));
    let Stopped::GoesOn(second) = turn.stop(CWD, None).await.outcome else { panic!() };
    assert!(second.reason.contains("later"), "{second:?}");
    let told = turn.stop(CWD, None).await;
    assert_eq!(told.outcome, Stopped::Ends);
    assert!(matches!(told.runs[0].said, HookSaid::Failed(_)));
}

/// H-15, H10 and H12: a result stands whatever a hook says, the reason comes behind it,
/// and one call is asked about once.
#[tokio::test]
async fn a_result_stands_and_the_reason_comes_behind_it() {
    for (line, mode, part) in [
        ("exit 0", "closed", None),
        ("echo look again >&2; exit 2", "open", Some("look again")),
        ("exit 7", "open", None),
        ("exit 7", "closed", Some("its result stands")),
    ] {
        let place = Place::new();
        place.put("mine.wasm", &Plugin::new("mine").tool("greet", true).answers("hello").build().unwrap());
        let asked = place.path("asked");
        let line = format!("cat >>{}; {line}", asked.display());
        let config = script(Event::PostToolUse, &line, &format!("failure_mode = \"{mode}\""));
        let host = place.open(&config).await;
        let turn = host.session("s").turn();
        let permit = turn.judge(call("greet", serde_json::json!({}))).await.outcome.unwrap();
        let output = turn.run(permit).await.unwrap().unwrap();
        let texts: Vec<_> = output.content.iter().map(|part| format!("{part:?}")).collect();
        assert!(texts[0].contains("hello"));
        assert_eq!(texts.get(1).map(|text| text.contains(part.unwrap_or("nothing"))), part.map(|_| true));
        let heard: serde_json::Value = serde_json::from_str(&fs::read_to_string(&asked).unwrap()).unwrap();
        assert_eq!((&heard["text"], &heard["tool"]["name"]), (&"hello".into(), &"greet".into()));
        // The same call, told again.
        let again = call("greet", serde_json::json!({}));
        let told = turn.ran(again.clone(), "hello").await;
        assert!(told.runs.is_empty() && matches!(told.outcome, Ran::Stands) == part.is_none());
        let other = portcullis_model::call::ToolCall { id: "another".to_owned(), ..again };
        assert_eq!(turn.ran(other, "it failed").await.runs.len(), 1);
    }
}

/// H-14 and H-18: an open script that fails is told, and the call goes on.
#[tokio::test]
async fn an_open_hook_that_fails_is_told_and_blocks_nothing() {
    let lines = ["exit 7", "kill -9 $$", "echo hello", "exec sleep 600"];
    let config: String = lines.map(|line| script(Event::PromptSubmit, line, "timeout_ms = 300")).concat();
    let host = Place::new().open(&config).await;
    let told = host.session("s").turn().prompt(CWD, "words").await;
    assert_eq!(told.outcome, Prompted::HandedOn);
    assert_eq!(told.runs.len(), 4);
    assert!(told.runs.iter().all(|run| matches!(run.said, HookSaid::Failed(_))), "{told:?}");
    // The same, with one switch for all of them.
    let options: HostOptions =
        Place::new().options(&format!("[hook_defaults]\nfailure_mode = \"closed\"\n{config}"));
    let host = Host::open(options).await.unwrap();
    assert!(matches!(host.session("s").turn().prompt(CWD, "words").await.outcome, Prompted::Withheld(_)));
}
