//! What happens when a turn ends.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use portcullis_model::fault::FaultKind;
use portcullis_tests::plugin::{BELL, Plugin};

use crate::place::{Place, bash, call, judge, ls};

#[tokio::test]
async fn the_bell_rings_once_a_turn_when_it_is_on() {
    let place = Place::new();
    for (config, rings) in [("", 0), ("[plugins]\nenabled = [\"guard\", \"bell\"]", 1)] {
        let host = place.open(config).await;
        for _ in 0..3 {
            let turn = host.session("s1").turn();
            assert!(turn.judge(bash("ls")).await.outcome.is_ok());
            assert!(turn.judge(bash("rm -rf x")).await.outcome.is_err() || rings == 0);
            assert_eq!(place.bell.rung(), 0);
            assert!(turn.end().await.failed.is_empty());
            assert_eq!(place.bell.rung(), rings, "{config}");
        }
    }
}

#[tokio::test]
async fn every_hook_runs_after_a_turn_whatever_the_others_do() {
    let place = Place::new();
    let bodies = [
        ("one", BELL),
        ("two", "unreachable"),
        ("three", BELL),
        ("four", "(return (global.get $failed))"),
        ("five", "(loop $again (br $again))"),
        ("six", BELL),
    ];
    let mut config =
        "[plugins]\nenabled = [\"one\", \"two\", \"three\", \"four\", \"five\", \"six\"]\n".to_owned();
    for (name, body) in bodies {
        place.put(&format!("{name}.wasm"), &Plugin::new(name).after_turn(body).build().unwrap());
        config.push_str(&format!("[plugin.{name}]\ngrant.terminal = true\nlimits.hook_ms = 300\n"));
    }
    let host = place.open(&config).await;
    let turn = host.session("s1").turn();
    let before = turn.judge(bash("ls")).await.to_wire();
    let report = turn.end().await;
    let failed: Vec<_> = report.failed.iter().map(|(name, fault)| (name.as_str(), fault.kind)).collect();
    assert_eq!(
        failed,
        [("two", FaultKind::Trap), ("four", FaultKind::BadVerdict), ("five", FaultKind::Timeout)]
    );
    assert!(report.failed[1].1.detail.contains("the guest failed"));
    assert_eq!(place.bell.rung(), 3);
    // The turn's answer stands, and the next turn is as any other.
    assert_eq!(before.reason, None);
    assert_eq!(ls(&host).await, "allow");
}

#[tokio::test]
async fn a_plugin_of_all_kinds_is_used_for_each_of_them() {
    let place = Place::new();
    let all = Plugin::new("all")
        .refuses("no", "no")
        .allows("(call $drop (local.get $call)) (return (i32.const 0))")
        .after_turn(BELL)
        .tool("greet", true)
        .answers("hello")
        .command("say hello");
    place.put("all.wasm", &all.build().unwrap());
    let host = place.open("[plugin.all]\ngrant.terminal = true").await;
    let kinds: Vec<_> = host.inspect("all").unwrap().row.kinds.iter().map(|kind| kind.as_str()).collect();
    assert_eq!(kinds, ["guard", "hook", "tool", "command"]);
    // Address 0 holds zeros: no objection.
    let turn = host.session("s1").turn();
    let permit = turn.judge(call("greet", serde_json::json!({}))).await.outcome.unwrap();
    assert!(permit.is_auto_approved());
    let output = turn.run(permit).await.unwrap().unwrap();
    assert_eq!(output.content, [portcullis_runtime::Content::Text("hello".to_owned())]);
    assert!(turn.end().await.failed.is_empty());
    assert_eq!(place.bell.rung(), 1);
}

#[tokio::test]
async fn a_plugin_of_one_kind_is_asked_for_nothing_else() {
    let kinds = [
        ("guard", Plugin::new("single").refuses("no", "no")),
        ("hook", Plugin::new("single").after_turn(BELL)),
        ("tool", Plugin::new("single").tool("greet", false)),
        ("command", Plugin::new("single").command("say hello")),
    ];
    for (kind, plugin) in kinds {
        let place = Place::new();
        place.put("single.wasm", &plugin.build().unwrap());
        let host = place.open("[plugin.single]\ngrant.terminal = true").await;
        let seen = host.inspect("single").unwrap();
        assert_eq!(seen.row.kinds.iter().map(|kind| kind.as_str()).collect::<Vec<_>>(), [kind]);
        // Asking a component for what it does not export would be a fault, which would show here.
        let wire = judge(&host, bash("ls")).await;
        assert_eq!((wire.reason.is_some(), wire.fault), (kind == "guard", None), "{kind}");
        assert!(host.session("s1").turn().end().await.failed.is_empty(), "{kind}");
        assert_eq!(place.bell.rung(), usize::from(kind == "hook"), "{kind}");
        assert_eq!(seen.row.tools.len(), usize::from(kind == "tool"), "{kind}");
    }
}
