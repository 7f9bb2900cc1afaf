//! Plugins that come, go and change while the host runs.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use std::fs;
use std::time::Duration;

use portcullis::Host;
use portcullis_model::judgement::Verdict;
use portcullis_tests::plugin::Plugin;

use crate::place::{Place, active, age, bash, judge, ls, outcome, rename_into, row, standing};

/// A guard that refuses everything, and says `word`.
fn strict(word: &str) -> Vec<u8> {
    Plugin::new("strict").refuses("no", word).build().unwrap()
}

/// A host for which every file stays in the making until it is aged.
async fn patient(place: &Place, config: &str) -> Host {
    let mut options = place.options(config);
    options.watch = true;
    options.quiet = Duration::from_secs(30 * 60);
    Host::open(options).await.unwrap()
}

/// What the guard `strict` says now.
async fn word(host: &Host) -> String {
    let reason = judge(host, bash("ls")).await.reason.unwrap_or_default();
    reason.rsplit(": ").next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn a_guard_that_appears_acts_at_once_within_the_turn_too() {
    let place = Place::new();
    let host = place.watch("[plugins]\nenabled = [\"guard\", \"strict\"]").await;
    let turn = host.session("s1").turn();
    assert_eq!(row(&host, "strict", "unresolved").origin, None);
    assert_eq!(outcome(&turn.judge(bash("ls")).await.to_wire()), "allow");
    fs::write(place.user().join("any-name.wasm"), strict("new")).unwrap();
    host.refresh();
    assert_eq!(active(&host), ["guard", "strict"]);
    assert_eq!(outcome(&turn.judge(bash("ls")).await.to_wire()), "strict");
}

#[tokio::test]
async fn a_change_is_noticed_without_being_asked_for() {
    let place = Place::new();
    let host = place.watch("").await;
    fs::write(place.user().join("strict.wasm"), strict("new")).unwrap();
    while ls(&host).await == "allow" {
        tokio::task::yield_now().await;
    }
    assert_eq!(active(&host), ["guard", "time", "strict"]);
}

#[tokio::test]
async fn a_guard_that_vanishes_acts_until_the_turn_ends() {
    let place = Place::new();
    let file = place.user().join("strict.wasm");
    fs::write(&file, strict("old")).unwrap();
    let host = place.watch("").await;
    let turn = host.session("s1").turn();
    fs::remove_file(&file).unwrap();
    host.refresh();
    assert_eq!(active(&host), ["guard", "time"]);
    for _ in 0..3 {
        assert_eq!(outcome(&turn.judge(bash("ls")).await.to_wire()), "strict");
    }
    turn.end().await;
    assert_eq!(ls(&host).await, "allow");
}

#[tokio::test]
async fn a_file_that_becomes_another_plugin_keeps_the_first_until_the_turn_ends() {
    let place = Place::new();
    let file = place.user().join("a.wasm");
    fs::write(&file, strict("old")).unwrap();
    let host = place.watch("").await;
    let turn = host.session("s1").turn();
    rename_into(&file, &Plugin::new("lenient").allows("").build().unwrap());
    host.refresh();
    assert_eq!(active(&host), ["guard", "time", "lenient"]);
    assert_eq!(outcome(&turn.judge(bash("ls")).await.to_wire()), "strict");
    assert_eq!(ls(&host).await, "allow");
}

#[tokio::test]
async fn a_standing_refusal_lifts_when_its_file_is_removed_or_replaced() {
    let place = Place::new();
    let file = place.user().join("bad.wasm");
    let host = place.watch("").await;
    for mended in ["removed", "replaced", "rewritten"] {
        place.put("bad.wasm", b"random bytes");
        host.refresh();
        assert!(standing(&host).await.1.contains("bad.wasm"));
        let turn = host.session("s1").turn();
        match mended {
            "removed" => fs::remove_file(&file).unwrap(),
            "replaced" => rename_into(&file, &Plugin::new("fine").build().unwrap()),
            _ => fs::write(&file, Plugin::new("fine").build().unwrap()).unwrap(),
        }
        host.refresh();
        // Nothing was bound that could refuse: the turn goes on as well.
        assert_eq!(outcome(&turn.judge(bash("ls")).await.to_wire()), "allow", "{mended}");
        assert!(host.report().standing.is_empty());
        let _ = fs::remove_file(&file);
        host.refresh();
    }
}

#[tokio::test]
async fn a_new_file_neither_acts_nor_refuses_while_it_is_written() {
    let place = Place::new();
    let host = patient(&place, "").await;
    let file = place.user().join("strict.wasm");
    let whole = strict("whole");
    for length in [0, 4, 8, 9, whole.len() / 2, whole.len() - 1] {
        fs::write(&file, &whole[..length]).unwrap();
        host.refresh();
        assert_eq!(row(&host, "strict", "settling").state.reason(), Some("its file is still being written"));
        assert_eq!(ls(&host).await, "allow", "{length} bytes");
        assert!(host.report().standing.is_empty());
    }
    // Nobody goes on writing it.
    age(&file);
    host.refresh();
    assert!(standing(&host).await.1.contains("strict.wasm"));
    // Somebody does after all; what refuses goes on until there is something whole.
    for length in [8, whole.len() - 1] {
        fs::write(&file, &whole[..length]).unwrap();
        host.refresh();
        assert!(standing(&host).await.1.contains("strict.wasm"), "{length} bytes");
    }
    fs::write(&file, &whole).unwrap();
    host.refresh();
    assert_eq!(word(&host).await, "whole");
}

#[tokio::test]
async fn a_half_written_replacement_keeps_the_last_good_version() {
    let place = Place::new();
    place.put("strict.wasm", &strict("old"));
    let host = patient(&place, "").await;
    let file = place.user().join("strict.wasm");
    let new = strict("new");
    let mut written = Vec::new();
    for part in new.chunks(256) {
        assert_eq!(word(&host).await, "old");
        written.extend_from_slice(part);
        fs::write(&file, &written).unwrap();
        host.refresh();
        assert!(host.report().standing.is_empty());
    }
    assert_eq!(word(&host).await, "new");

    // One that stays broken is told of, and the last good version still serves.
    place.put("strict.wasm", &new[..new.len() / 2]);
    host.refresh();
    let stale = row(&host, "strict", "stale");
    assert!(stale.state.reason().unwrap().contains("does not compile"), "{stale:?}");
    assert_eq!(word(&host).await, "new");
    fs::write(&file, strict("newer")).unwrap();
    host.refresh();
    row(&host, "strict", "active");
    assert_eq!(word(&host).await, "newer");
}

#[tokio::test]
async fn a_host_that_opens_while_a_file_is_written_takes_it_for_broken() {
    let place = Place::new();
    let whole = strict("whole");
    fs::write(place.user().join("strict.wasm"), &whole[..whole.len() / 2]).unwrap();
    let host = patient(&place, "").await;
    assert!(standing(&host).await.1.contains("strict.wasm"));
    host.refresh();
    assert!(standing(&host).await.1.contains("strict.wasm"));
    fs::write(place.user().join("strict.wasm"), &whole).unwrap();
    host.refresh();
    assert_eq!(word(&host).await, "whole");
}

#[tokio::test]
async fn the_last_of_many_edits_serves() {
    let place = Place::new();
    let file = place.user().join("strict.wasm");
    // All of one size, so that only the bytes tell them apart.
    let versions: Vec<_> = (0..6).map(|n| (format!("v{n}"), strict(&format!("v{n}")))).collect();
    let size = versions[0].1.len();
    assert!(versions.iter().all(|(_, bytes)| bytes.len() == size));
    fs::write(&file, &versions[0].1).unwrap();
    let host = place.watch("").await;
    for edit in 1..=150 {
        let (name, bytes) = &versions[edit % versions.len()];
        if edit % 3 == 0 {
            rename_into(&file, bytes)
        } else {
            fs::write(&file, bytes).unwrap()
        }
        // Some edits are looked at one by one, and some in a burst.
        if edit % 10 < 7 {
            host.refresh();
            assert_eq!(word(&host).await, *name, "edit {edit}");
        }
    }
    host.refresh();
    assert_eq!(word(&host).await, versions[150 % versions.len()].0);
}

#[tokio::test]
async fn a_directory_that_empties_keeps_the_required_guard_and_loses_the_others() {
    for how in ["emptied", "gone", "moved", "replaced", "made again"] {
        let place = Place::new();
        place.put("strict.wasm", &strict("old"));
        place.put("other.wasm", &Plugin::new("other").allows("").build().unwrap());
        let host = place.watch("[plugins]\nrequired = [\"strict\"]").await;
        assert_eq!(active(&host), ["guard", "time", "other", "strict"]);
        match how {
            "emptied" => {
                for file in ["strict.wasm", "other.wasm"] {
                    fs::remove_file(place.user().join(file)).unwrap();
                }
            }
            "moved" => fs::rename(place.user(), place.path("away")).unwrap(),
            _ => fs::remove_dir_all(place.user()).unwrap(),
        }
        match how {
            "replaced" => fs::write(place.user(), "no directory").unwrap(),
            "made again" => fs::create_dir(place.user()).unwrap(),
            _ => {}
        }
        host.refresh();
        assert_eq!(active(&host), ["guard", "time", "strict"], "{how}");
        let kept = row(&host, "strict", "kept");
        assert_eq!(kept.state.reason(), Some("its file is gone; it is required, so it acts on"));
        if how == "replaced" {
            assert_eq!(standing(&host).await.0, "load/directory");
            fs::remove_file(place.user()).unwrap();
            host.refresh();
        }
        assert_eq!(word(&host).await, "old", "{how}");

        // It comes back, and serves as it is now.
        fs::create_dir_all(place.user()).unwrap();
        fs::write(place.user().join("strict.wasm"), strict("new")).unwrap();
        host.refresh();
        assert_eq!(word(&host).await, "new", "{how}");
        row(&host, "strict", "active");
    }
}

#[tokio::test]
async fn a_directory_that_is_made_again_is_followed_again() {
    let place = Place::new();
    let host = place.watch("").await;
    for round in 0..3 {
        fs::remove_dir_all(place.user()).unwrap();
        fs::create_dir(place.user()).unwrap();
        host.refresh();
        assert_eq!(ls(&host).await, "allow");
        fs::write(place.user().join("strict.wasm"), strict("new")).unwrap();
        while ls(&host).await == "allow" {
            tokio::task::yield_now().await;
        }
        assert_eq!(ls(&host).await, "strict", "round {round}");
    }
}

#[tokio::test]
async fn a_required_guard_that_breaks_or_changes_its_name_acts_on() {
    let place = Place::new();
    place.put("strict.wasm", &strict("old"));
    let host = place.watch("[plugins]\nrequired = [\"strict\"]").await;
    place.put("strict.wasm", b"random bytes");
    host.refresh();
    assert_eq!(word(&host).await, "old");
    row(&host, "strict", "stale");
    place.put("strict.wasm", &Plugin::new("other").allows("").build().unwrap());
    host.refresh();
    assert_eq!(active(&host), ["guard", "time", "other", "strict"]);
    assert_eq!(word(&host).await, "old");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_call_slips_through_while_guards_are_replaced() {
    let place = Place::new();
    let file = place.user().join("strict.wasm");
    let versions = [strict("one"), strict("two")];
    fs::write(&file, &versions[0]).unwrap();
    let host = place.watch("").await;
    let (stop, stopped) = tokio::sync::watch::channel(false);
    let judging: Vec<_> = (0..4)
        .map(|_| {
            let (host, stopped) = (host.clone(), stopped.clone());
            tokio::spawn(async move {
                let mut calls = 0_usize;
                while !*stopped.borrow() {
                    let wire = judge(&host, bash("ls")).await;
                    assert_eq!((wire.verdict, wire.fault), (Verdict::Block, None), "{wire:?}");
                    calls += 1;
                }
                calls
            })
        })
        .collect();
    for edit in 0..60 {
        let bytes = &versions[edit % 2];
        match edit % 3 {
            0 => rename_into(&file, bytes),
            1 => fs::write(&file, bytes).unwrap(),
            _ => {
                fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
                host.refresh();
                fs::write(&file, bytes).unwrap();
            }
        }
        host.refresh();
    }
    stop.send(true).unwrap();
    for judge in judging {
        assert!(judge.await.unwrap() > 0);
    }
}

#[tokio::test]
async fn a_clock_that_was_set_back_keeps_no_file_in_the_making() {
    let place = Place::new();
    let host = patient(&place, "").await;
    let file = place.user().join("strict.wasm");
    // Files of before are from the future now, and nobody may be waiting for them.
    let write = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        let file = fs::File::options().append(true).open(&file).unwrap();
        let now = file.metadata().unwrap().modified().unwrap();
        file.set_modified(now + Duration::from_secs(10 * 24 * 3600)).unwrap();
    };
    write(b"half of a component");
    host.refresh();
    assert!(standing(&host).await.0.starts_with("load/"));
    write(&strict("mended"));
    host.refresh();
    assert_eq!(word(&host).await, "mended");
    fs::remove_file(&file).unwrap();
    host.refresh();
    assert_eq!(ls(&host).await, "allow");
}
