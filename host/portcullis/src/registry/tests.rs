#![allow(clippy::unwrap_used, clippy::panic, reason = "a test ends when anything is wrong")]

use portcullis_model::capability::Declaration;
use proptest::prelude::*;

use super::*;

fn publish(registry: &Registry, capabilities: impl IntoIterator<Item = Capability>) -> Option<Delta> {
    registry.publish(capabilities, |_| None)
}

fn tool(name: &str) -> Capability {
    capability(CapabilityKind::Tool, name)
}

fn capability(kind: CapabilityKind, name: &str) -> Capability {
    Capability {
        id: CapabilityId::new(kind, name),
        origin: "user".to_owned(),
        declaration: Declaration { description: format!("does {name}"), ..Declaration::default() },
        standing: Standing::Usable,
    }
}

fn standing(name: &str, standing: Standing) -> Capability {
    Capability { standing, ..tool(name) }
}

fn ids(ids: &[CapabilityId]) -> Vec<String> {
    ids.iter().map(ToString::to_string).collect()
}

#[test]
fn a_quiet_world_never_moves_the_epoch() {
    let registry = Registry::new();
    assert!(publish(&registry, [tool("a"), tool("b")]).is_some());
    for _ in 0..1000 {
        assert_eq!(publish(&registry, [tool("b"), tool("a")]), None, "the order does not count");
    }
    assert_eq!((registry.current().epoch(), registry.live_epochs()), (1, 1));
}

#[test]
fn each_part_of_a_capability_moves_the_epoch_by_itself() {
    let registry = Registry::new();
    let base = tool("a");
    publish(&registry, [base.clone()]);
    type Change = fn(&mut Capability);
    let changes: [Change; 7] = [
        |own| own.id.name = "b".to_owned(),
        |own| own.origin = "plugin x".to_owned(),
        |own| own.declaration.content = Some("digest".to_owned()),
        |own| own.declaration.configuration = Some("digest".to_owned()),
        |own| own.declaration.serves = BTreeSet::from([portcullis_model::capability::Domain::Web]),
        |own| own.standing = Standing::Broken("gone".to_owned()),
        |own| own.declaration.description = "other".to_owned(),
    ];
    for change in changes {
        let mut other = base.clone();
        change(&mut other);
        let before = registry.current().epoch();
        assert!(publish(&registry, [other]).is_some());
        assert!(publish(&registry, [base.clone()]).is_some());
        assert_eq!(registry.current().epoch(), before + 2);
    }
}

#[test]
fn failing_again_for_the_same_reason_is_no_change() {
    let registry = Registry::new();
    let failed = |why: &str| Capability {
        standing: Standing::Degraded(why.to_owned()),
        ..capability(CapabilityKind::Server, "github")
    };
    let moves = ["down", "down", "down", "down", "down", "slow"]
        .map(|why| publish(&registry, [failed(why)]).is_some());
    assert_eq!(moves, [true, false, false, false, false, true]);
    assert_eq!(registry.current().count(CapabilityKind::Server), 1, "it can be called all the same");
}

#[test]
fn a_turn_keeps_its_epoch_and_is_told_of_the_next_one_once() {
    let registry = Registry::new();
    publish(&registry, [tool("a"), tool("b")]);
    let first = registry.bind();
    assert_eq!(first.news(), None);
    publish(&registry, [tool("a"), tool("c"), Capability { origin: "project".to_owned(), ..tool("d") }]);
    publish(&registry, [Capability { origin: "plugin x".to_owned(), ..tool("a") }, tool("c")]);
    assert!(first.usable(CapabilityKind::Tool, "b").is_ok(), "it was there when the turn began");
    assert!(first.usable(CapabilityKind::Tool, "c").is_err(), "it was not");
    let news = first.news().unwrap();
    assert_eq!((news.from, news.to), (1, 3));
    assert_eq!(ids(&news.added), ["tool:c"]);
    assert_eq!(ids(&news.removed), ["tool:b"]);
    assert_eq!(ids(&news.changed), ["tool:a"]);
    assert_eq!(registry.bind().news(), None, "the next turn has nothing to tell");
}

#[test]
fn an_epoch_lives_as_long_as_its_last_turn() {
    let registry = Registry::new();
    publish(&registry, [tool("a")]);
    let (one, two) = (registry.bind(), registry.bind());
    publish(&registry, [tool("b")]);
    assert_eq!((registry.live_epochs(), registry.tombstones().len()), (2, 1));
    drop(one);
    assert_eq!((registry.live_epochs(), registry.tombstones().len()), (2, 1));
    drop(two);
    assert_eq!((registry.live_epochs(), registry.tombstones().len()), (1, 0));
}

/// Present or absent in the bound epoch, permitted or taken away now.
#[test]
fn what_is_there_is_the_epochs_and_what_is_permitted_is_of_now() {
    let registry = Registry::new();
    publish(&registry, [tool("there"), tool("other")]);
    let turn = registry.bind();
    let of = |name: &str| turn.usable(CapabilityKind::Tool, name).map_err(|error| error.code());
    assert!(of("there").is_ok());
    assert_eq!(of("absent").unwrap_err(), "unknown_capability");
    let id = CapabilityId::new(CapabilityKind::Tool, "there");
    registry.revoke(id.clone(), "the operator switched it off");
    for _ in 0..2 {
        assert_eq!(of("there").unwrap_err(), "retired");
        assert!(of("other").is_ok());
    }
    registry.revoke(CapabilityId::new(CapabilityKind::Tool, "absent"), "never wanted");
    assert_eq!(of("absent").unwrap_err(), "unknown_capability", "what was not there is not named");
    registry.restore(&id);
    assert!(of("there").is_ok());
}

#[test]
fn a_name_of_another_kind_and_a_slip_are_told_apart() {
    let registry = Registry::new();
    let broken = Capability { standing: Standing::Broken("no schema".to_owned()), ..tool("broken") };
    publish(&registry, [tool("read_file"), capability(CapabilityKind::Skill, "pdf"), broken]);
    let turn = registry.bind();
    let of = |name: &str| turn.usable(CapabilityKind::Tool, name).unwrap_err();
    assert_eq!(of("pdf").to_string(), "`pdf` is a skill and no tool");
    assert_eq!(of("pdf").code(), "kind_mismatch");
    assert_eq!(
        of("raed_file").to_string(),
        "there is no tool `raed_file` in this turn; did you mean `read_file`?"
    );
    assert_eq!(of("nothing").to_string(), "there is no tool `nothing` in this turn");
    assert_eq!(of("broken").to_string(), "`tool:broken` cannot be used: no schema");
}

#[test]
fn the_report_has_a_row_for_each_with_its_reason() {
    let registry = Registry::new();
    let with = |name: &str, standing| Capability { standing, ..tool(name) };
    publish(
        &registry,
        [
            tool("well"),
            with("degraded", Standing::Degraded("late".to_owned())),
            with("broken", Standing::Broken("no file".to_owned())),
            with("shadowed", Standing::Shadowed("the user's".to_owned())),
            with("denied", Standing::Denied("permissions.deny".to_owned())),
            tool("gone"),
        ],
    );
    registry.revoke(CapabilityId::new(CapabilityKind::Tool, "gone"), "trust was withdrawn");
    let rows = registry.report();
    let told: Vec<_> =
        rows.iter().map(|row| format!("{} {} {}", row.capability.id.name, row.usable, row.because)).collect();
    assert_eq!(
        told,
        [
            "broken false it is broken: no file",
            "degraded true it is tried again at its next use: late",
            "denied false the operator denies it: permissions.deny",
            "gone false it was taken away: trust was withdrawn",
            "shadowed false another one of its name comes first: the user's",
            "well true it is declared and nobody objects",
        ]
    );
    let json = serde_json::to_value(rows.first().unwrap()).unwrap();
    assert_eq!(
        json,
        serde_json::json!({
            "id": "tool:broken", "origin": "user",
            "declaration": { "description": "does broken", "content": null, "configuration": null, "serves": [] },
            "standing": "broken", "why": "no file",
            "resolution": "available", "usable": false, "because": "it is broken: no file",
        })
    );
}

#[test]
fn content_stays_while_an_epoch_refers_to_it_and_is_bounded_otherwise() {
    let registry = Registry::new();
    let store = ContentStore::new(100);
    let body = |text: &str| {
        let content = Some(store.put(text));
        let base = capability(CapabilityKind::Skill, "s");
        Capability { declaration: Declaration { content, ..base.declaration.clone() }, ..base }
    };
    let first = body(&"a".repeat(80));
    let digest = first.declaration.content.clone().unwrap();
    publish(&registry, [first]);
    let turn = registry.bind();
    for edit in 0..10_000 {
        publish(&registry, [body(&format!("{edit}{}", "b".repeat(80)))]);
        store.sweep(&registry.referenced());
        assert!(store.bytes() <= 100 + 2 * 90, "{}", store.bytes());
    }
    assert_eq!(store.get(&digest).as_deref(), Some("a".repeat(80).as_str()), "a turn still refers to it");
    drop(turn);
    store.put(&"c".repeat(90));
    store.sweep(&registry.referenced());
    assert_eq!(store.get(&digest), None, "there is no room for it any more");
    assert_eq!((registry.live_epochs(), registry.tombstones().len()), (1, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// A delta, applied to the set before, gives the set after.
    #[test]
    fn a_delta_is_what_changed(
        before in prop::collection::btree_map("[a-e]", 0_u8..3, 0..5),
        after in prop::collection::btree_map("[a-e]", 0_u8..3, 0..5),
    ) {
        let all = |world: &BTreeMap<String, u8>| -> Vec<Capability> {
            let one = |(name, version): (&String, &u8)| {
                let base = tool(name);
                let content = Some(version.to_string());
                Capability { declaration: Declaration { content, ..base.declaration.clone() }, ..base }
            };
            world.iter().map(one).collect()
        };
        let registry = Registry::new();
        publish(&registry, all(&before));
        let delta = publish(&registry, all(&after));
        prop_assert_eq!(delta.is_none(), before == after);
        let delta = delta.unwrap_or_default();
        let mut world = before.clone();
        for id in &delta.removed {
            prop_assert!(world.remove(&id.name).is_some());
        }
        for id in &delta.added {
            prop_assert!(world.insert(id.name.clone(), after[&id.name]).is_none());
        }
        for id in &delta.changed {
            prop_assert!(world.insert(id.name.clone(), after[&id.name]).is_some_and(|old| old != after[&id.name]));
        }
        prop_assert_eq!(world, after);
    }
}

#[test]
fn what_is_taken_away_ends_within_the_turn_and_what_goes_by_itself_does_not() {
    let registry = Registry::new();
    publish(&registry, [tool("off"), tool("gone"), tool("denied"), tool("broken"), tool("stays")]);
    let turn = registry.bind();
    let denied = standing("denied", Standing::Denied("`channels.tools` hides it".to_owned()));
    let broken = standing("broken", Standing::Broken("it trapped".to_owned()));
    let off = |own: &Capability| (own.id.name == "off").then(|| "the operator turned it off".to_owned());
    registry.publish([tool("stays"), denied, broken], off);
    let usable =
        |name: &str| turn.usable(CapabilityKind::Tool, name).map(drop).map_err(|error| error.to_string());
    assert_eq!(usable("stays"), Ok(()));
    assert_eq!(usable("gone"), Ok(()), "its file is gone: it acts until the turn ends");
    assert_eq!(usable("off").unwrap_err(), "`tool:off` was taken away: the operator turned it off");
    assert_eq!(usable("denied").unwrap_err(), "`tool:denied` was taken away: `channels.tools` hides it");
    assert_eq!(usable("broken").unwrap_err(), "`tool:broken` was taken away: it trapped");
    // What comes back is there again at once, in the turn that knew it.
    publish(&registry, [tool("stays"), tool("off"), tool("denied"), tool("broken")]);
    for name in ["off", "denied", "broken"] {
        assert_eq!(usable(name), Ok(()), "{name}");
    }
}

#[test]
fn an_idle_session_is_told_the_way_from_its_epoch_as_one_change() {
    let registry = Registry::new();
    publish(&registry, [tool("a"), tool("b")]);
    let then = registry.current().epoch();
    assert_eq!(registry.since(then), None);
    publish(&registry, [tool("a"), tool("b"), tool("passing")]);
    publish(&registry, [tool("b")]);
    publish(&registry, [tool("a"), Capability { origin: "plugin x".to_owned(), ..tool("b") }, tool("c")]);
    let delta = registry.since(then).unwrap();
    assert_eq!((delta.from, delta.to), (then, registry.current().epoch()));
    assert_eq!(ids(&delta.added), ["tool:c"]);
    assert_eq!(ids(&delta.changed), ["tool:a", "tool:b"], "what went and came back may be another one");
    assert!(delta.removed.is_empty());
    // It is forgotten some day: then all that is there is told.
    for round in 0..30_000 {
        publish(&registry, [tool(&format!("t{round}"))]);
    }
    let all = registry.since(then).unwrap();
    assert_eq!((all.from, ids(&all.added)), (0, vec!["tool:t29999".to_owned()]));
    assert!(registry.since(registry.current().epoch() - 1).unwrap().from > 0);
}

#[tokio::test]
async fn who_waits_for_epochs_is_told_of_each_change_once_and_of_many_as_one() {
    let registry = Registry::new();
    publish(&registry, [tool("before")]);
    let mut epochs = registry.epochs();
    publish(&registry, [tool("before"), tool("a")]);
    publish(&registry, [tool("before"), tool("a")]);
    publish(&registry, [tool("a"), tool("b")]);
    let delta = epochs.next().await;
    assert_eq!((delta.from, delta.to), (1, 3));
    assert_eq!(
        (ids(&delta.added), ids(&delta.removed)),
        (vec!["tool:a".to_owned(), "tool:b".to_owned()], vec!["tool:before".to_owned()])
    );
    // Waiting is taken up again, and what comes meanwhile is not lost.
    let later = registry.clone();
    let waits = tokio::time::timeout(std::time::Duration::ZERO, epochs.next()).await;
    assert!(waits.is_err());
    let change = async move { publish(&later, [tool("b")]) };
    let (delta, _) = tokio::join!(epochs.next(), change);
    assert_eq!(ids(&delta.removed), ["tool:a"]);
}
