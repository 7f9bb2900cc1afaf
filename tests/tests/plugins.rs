//! Which plugins act, in which order, and what refuses every call.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use std::fs;

use portcullis::{HostError, PluginState};
use portcullis_tests::guest::{self, Guard};
use portcullis_tests::plugin::{BELL, Plugin, busy};

use crate::place::{Place, active, age, bash, judge, ls, outcome, row, standing};

#[tokio::test]
async fn a_plugin_with_a_name_and_a_description_is_active_and_does_nothing() {
    let place = Place::new();
    place.put("quiet.wasm", &Plugin::new("quiet").without_appendix().build().unwrap());
    let host = place.open("").await;
    assert_eq!(active(&host), ["guard", "time", "quiet"]);
    let quiet = row(&host, "quiet", "active");
    assert!(quiet.kinds.is_empty() && quiet.warnings.is_empty() && quiet.tools.is_empty(), "{quiet:?}");
    assert_eq!(ls(&host).await, "allow");
    assert!(host.session("s1").turn().end().await.failed.is_empty());
}

#[tokio::test]
async fn a_plugin_without_a_name_or_a_description_is_rejected_with_the_reason() {
    for (plugin, reason) in [
        (Plugin::new(""), "not a plugin name"),
        (Plugin::new("Not A Name"), "not a plugin name"),
        (Plugin::new("fine").description(""), "its description has 0 characters"),
    ] {
        let place = Place::new();
        place.put("nameless.wasm", &plugin.build().unwrap());
        let host = place.open("").await;
        let (code, said) = standing(&host).await;
        assert_eq!(code, "load/bad-verdict");
        assert!(said.contains("nameless.wasm") && said.contains(reason), "{said}");
        assert!(row(&host, "nameless", "broken").state.reason().unwrap().contains(reason));
    }
}

#[tokio::test]
async fn the_host_says_which_plugin_refused() {
    for name in ["one", "two"] {
        let place = Place::new();
        place.put("x.wasm", &Plugin::new(name).refuses("word", "because of α").build().unwrap());
        let wire = judge(&place.open("").await, bash("ls")).await;
        assert_eq!(wire.reason.unwrap(), format!("Blocked by the {name} plugin: because of α"));
        assert_eq!(wire.code.unwrap(), format!("{name}/word"));
    }
}

#[tokio::test]
async fn guards_are_asked_in_order_and_the_first_refusal_ends_it() {
    let place = Place::new();
    for name in ["one", "three"] {
        place.put(&format!("{name}.wasm"), &Plugin::new(name).allows(BELL).build().unwrap());
    }
    let ring_and_refuse = "(call $bell) (call $drop (local.get $call)) (return (global.get $refusal))";
    let two = Plugin::new("two").refuses("no", "no").allows(ring_and_refuse);
    place.put("two.wasm", &two.build().unwrap());
    for (order, asked) in [
        (r#"["one", "two", "three"]"#, 2),
        (r#"["three", "one", "two"]"#, 3),
        (r#"["two", "one", "three"]"#, 1),
    ] {
        let grants: String =
            ["one", "two", "three"].map(|n| format!("[plugin.{n}.grant]\nterminal = true\n")).concat();
        let host = place.open(&format!("[plugins]\nenabled = {order}\n{grants}")).await;
        assert_eq!(ls(&host).await, "two");
        assert_eq!(place.bell.rung(), asked, "{order}");
    }
}

#[tokio::test]
async fn a_list_replaces_and_orders_the_defaults() {
    let place = Place::new();
    place.put("b.wasm", &Plugin::new("zebra").build().unwrap());
    place.put("a.wasm", &Plugin::new("yak").build().unwrap());
    place.put(".hidden.wasm", b"a copy in the making");
    place.put("notes.txt", b"no plugin");
    for (config, expected) in [
        ("", &["guard", "time", "yak", "zebra"][..]),
        ("[plugins]\nenabled = [\"time\"]", &["time"]),
        ("[plugins]\nenabled = []", &[]),
        ("[plugins]\nenabled = [\"guard\", \"time\", \"bell\"]", &["guard", "time", "bell"]),
        ("[plugins]\nenabled = [\"zebra\", \"guard\", \"yak\"]", &["zebra", "guard", "yak"]),
    ] {
        let host = place.open(config).await;
        assert_eq!(active(&host), expected, "{config}");
        let blocks = expected.contains(&"guard");
        assert_eq!(outcome(&judge(&host, bash("rm -rf build")).await) == "guard", blocks, "{config}");
        assert!(host.report().standing.is_empty());
    }
}

#[tokio::test]
async fn no_plugins_turns_every_plugin_off_unless_the_operator_locked_them() {
    let place = Place::new();
    place.put("no.wasm", &Plugin::new("no").refuses("no", "no").build().unwrap());
    place.put("bad.wasm", b"random bytes");
    let mut options = place.options("[plugins]\nrequired = [\"guard\"]");
    options.no_plugins = true;
    let host = portcullis::Host::open(options).await.unwrap();
    assert!(active(&host).is_empty());
    assert!(host.report().rows.iter().all(|row| row.state == PluginState::Inactive));
    assert_eq!(outcome(&judge(&host, bash("rm -rf build")).await), "allow");

    let mut options = place.options("[plugins]\nlocked = true");
    options.no_plugins = true;
    let error = portcullis::Host::open(options).await.unwrap_err();
    assert!(matches!(error, HostError::Locked) && error.code() == "host/plugins-locked", "{error}");
}

#[tokio::test]
async fn a_name_that_nothing_has_is_reported_and_the_others_act() {
    let place = Place::new();
    let host = place.open("[plugins]\nenabled = [\"guard\", \"nope\"]").await;
    assert_eq!(active(&host), ["guard"]);
    assert_eq!(row(&host, "nope", "unresolved").state.reason(), Some("no plugin has this name"));
    assert_eq!(ls(&host).await, "allow");
    assert_eq!(outcome(&judge(&host, bash("rm -rf build")).await), "guard");
}

#[tokio::test]
async fn a_broken_file_refuses_every_call_until_its_failure_mode_is_open() {
    let place = Place::new();
    place.put("bad.wasm", b"random bytes that are no component");
    let host = place.open("").await;
    let (code, reason) = standing(&host).await;
    assert_eq!(code, "load/not-wasm");
    for part in
        ["bad.wasm", "not a WebAssembly file", "replace or remove", "portcullis plugin list", "failure_mode"]
    {
        assert!(reason.contains(part), "no `{part}` in {reason}");
    }
    assert!(!reason.contains(place.user().to_str().unwrap()), "a host path: {reason}");
    assert_eq!(host.report().standing.len(), 1);

    let host = place.open("[plugin.bad]\nfailure_mode = \"open\"").await;
    assert_eq!(ls(&host).await, "allow");
    assert_eq!(outcome(&judge(&host, bash("rm -rf build")).await), "guard");
    let bad = row(&host, "bad", "broken (advisory)");
    assert_eq!(bad.state.reason(), Some("not a WebAssembly file"));
}

#[tokio::test]
async fn an_open_failure_mode_never_opens_a_running_guard() {
    let place = Place::new();
    place.put("trap.wasm", &Plugin::new("trap").allows("unreachable").build().unwrap());
    let host = place.open("[plugin.trap]\nfailure_mode = \"open\"").await;
    assert_eq!(ls(&host).await, "trap!trap");
}

#[tokio::test]
async fn a_broken_file_that_is_not_on_the_list_is_left_alone() {
    let place = Place::new();
    place.put("bad.wasm", b"random bytes");
    let host = place.open("[plugins]\nenabled = [\"guard\"]").await;
    assert_eq!(row(&host, "bad", "inactive").state.reason(), None);
    assert_eq!(ls(&host).await, "allow");
}

#[tokio::test]
async fn a_broken_file_may_be_the_one_that_the_list_misses() {
    let place = Place::new();
    // Its name is in its bytes, which cannot be read any more.
    let strict = Plugin::new("strict").refuses("no", "no").build().unwrap();
    place.put("my-guard.wasm", &strict);
    let config = "[plugins]\nenabled = [\"strict\"]";
    assert_eq!(ls(&place.open(config).await).await, "strict");
    place.put("my-guard.wasm", &strict[..strict.len() / 2]);
    let (_, reason) = standing(&place.open(config).await).await;
    assert!(reason.contains("my-guard.wasm"), "{reason}");
}

#[tokio::test]
async fn every_sort_of_broken_file_refuses_with_a_reason_of_its_own() {
    let good = Plugin::new("good").refuses("no", "no").build().unwrap();
    let core = [0, b'a', b's', b'm', 1, 0, 0, 0];
    let other_world = guest::dummy("package portcullis:tests; world guest { export run: func(); }").unwrap();
    let rows: &[(&str, &[u8], &str, &[&str])] = &[
        ("empty", b"", "load/not-wasm", &["not a WebAssembly file"]),
        ("half", &good[..good.len() / 2], "load/compile", &["does not compile"]),
        ("core", &core, "load/core-module", &["a core module, not a component"]),
        ("world", &other_world, "load/other-world", &["portcullis:plugin/plugin@0.1.0", "exports: "]),
        (
            "version",
            &Guard::new("later").guard_version("0.2.0").build().unwrap(),
            "load/other-version",
            &["built for `portcullis:guard/guard@0.2.0`", "speaks `portcullis:guard/guard@0.1.0`"],
        ),
        ("describe", &guest::only_a_name().unwrap(), "load/trap", &["`describe` failed"]),
    ];
    let mut reasons = Vec::new();
    for (name, bytes, expected, parts) in rows {
        let place = Place::new();
        place.put(&format!("{name}.wasm"), bytes);
        let (code, reason) = standing(&place.open("").await).await;
        assert_eq!(code, *expected, "{name}: {reason}");
        for part in *parts {
            assert!(reason.contains(part), "{name}: no `{part}` in {reason}");
        }
        reasons.push(reason);
    }
    reasons.sort();
    reasons.dedup();
    assert_eq!(reasons.len(), rows.len());
}

#[cfg(unix)]
#[tokio::test]
async fn what_is_no_plain_file_refuses_and_is_not_waited_for() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    for sort in ["directory", "pipe", "dangling", "circle", "device"] {
        let place = Place::new();
        let path = place.user().join("odd.wasm");
        match sort {
            "directory" => fs::create_dir(&path).unwrap(),
            // A pipe that nobody writes into: reading it would never end.
            "pipe" => mknodat(CWD, &path, FileType::Fifo, Mode::RWXU, 0).unwrap(),
            "dangling" => std::os::unix::fs::symlink("nowhere", &path).unwrap(),
            "circle" => std::os::unix::fs::symlink(&path, &path).unwrap(),
            _ => std::os::unix::fs::symlink("/dev/full", &path).unwrap(),
        }
        let (code, reason) = standing(&place.open("").await).await;
        assert_eq!(code, "load/read", "{sort}: {reason}");
        assert!(reason.contains("odd.wasm"), "{reason}");
    }
}

#[tokio::test]
async fn a_plugin_directory_that_cannot_be_listed_refuses_every_call() {
    let place = Place::new();
    fs::remove_dir(place.user()).unwrap();
    fs::write(place.user(), "no directory").unwrap();
    let (code, reason) = standing(&place.open("").await).await;
    assert_eq!(code, "load/directory");
    assert!(reason.contains("a plugin directory cannot be listed"), "{reason}");
    fs::remove_file(place.user()).unwrap();
    // One that is not there holds nothing.
    assert_eq!(ls(&place.open("").await).await, "allow");
}

#[tokio::test]
async fn a_component_that_imports_sockets_is_refused_with_the_import_named() {
    let place = Place::new();
    let guard = Guard::new("talker")
        .world("import wasi:sockets/instance-network@0.2.0;")
        .fields(r#"(import "wasi:sockets/instance-network@0.2.0" "instance-network" (func $network (result i32)))"#)
        .fault("(drop (call $network))");
    place.put("talker.wasm", &guard.build().unwrap());
    let (code, reason) = standing(&place.open("").await).await;
    assert_eq!(code, "load/import");
    assert!(
        reason.contains("`wasi:sockets/instance-network@0.2.0`, which no plugin is ever given"),
        "{reason}"
    );
}

#[tokio::test]
async fn a_guard_without_an_appendix_is_warned_of() {
    let place = Place::new();
    place.put("mute.wasm", &Plugin::new("mute").without_appendix().allows("").build().unwrap());
    place.put("told.wasm", &Plugin::new("told").allows("").build().unwrap());
    let host = place.open("").await;
    assert!(row(&host, "mute", "active").warnings[0].contains("has no appendix"));
    assert!(row(&host, "told", "active").warnings.is_empty());
    assert_eq!(host.inspect("told").unwrap().appendix.as_deref(), Some("A plugin of the tests."));
}

#[tokio::test]
async fn the_first_of_two_plugins_of_one_name_is_used_and_the_other_is_shadowed() {
    let place = Place::new();
    place.put("a.wasm", &Plugin::new("twin").refuses("a", "a").build().unwrap());
    place.put("b.wasm", &Plugin::new("twin").refuses("b", "b").build().unwrap());
    let host = place.open("").await;
    assert_eq!(judge(&host, bash("ls")).await.code.unwrap(), "twin/a");
    let path = |state| row(&host, "twin", state).origin.unwrap().path().unwrap().to_owned();
    assert_eq!(
        (path("active"), path("shadowed")),
        (place.user().join("a.wasm"), place.user().join("b.wasm"))
    );
}

#[tokio::test]
async fn a_named_file_takes_the_place_of_a_bundled_plugin() {
    let place = Place::new();
    let file = place.path("own.wasm");
    let config = format!("[plugin.guard]\npath = '{}'", file.display());
    fs::write(&file, Plugin::new("guard").refuses("own", "own").build().unwrap()).unwrap();
    let host = place.open(&config).await;
    assert_eq!(active(&host), ["guard", "time"]);
    assert_eq!(judge(&host, bash("ls")).await.code.unwrap(), "guard/own");
    // A file that calls itself something else is not what the operator meant.
    fs::write(&file, Plugin::new("other").allows("").build().unwrap()).unwrap();
    let (code, reason) = standing(&place.open(&config).await).await;
    assert!(code == "load/other-name" && reason.contains("`other`"), "{code} {reason}");
    fs::remove_file(&file).unwrap();
    assert_eq!(standing(&place.open(&config).await).await.0, "load/read");
}

#[tokio::test]
async fn a_required_plugin_that_is_not_live_refuses_every_call() {
    let place = Place::new();
    let config = "[plugins]\nrequired = [\"strict\"]";
    let (code, reason) = standing(&place.open(config).await).await;
    assert_eq!(code, "load/required");
    assert!(reason.contains("the required plugin `strict` is not live"), "{reason}");
    place.put("strict.wasm", &Plugin::new("strict").allows("").build().unwrap());
    assert_eq!(ls(&place.open(config).await).await, "allow");
    // Required, and not on the list.
    let config = "[plugins]\nenabled = [\"guard\"]\nrequired = [\"strict\"]";
    assert_eq!(standing(&place.open(config).await).await.0, "load/required");
}

#[tokio::test]
async fn plugins_do_not_see_one_anothers_values() {
    // Refuses what it has seen before in this session.
    let seen = r#"
      (call $get (i32.const 1024) (i32.const 1) (i32.const 512))
      (if (i32.load8_u (i32.const 512))
        (then (call $drop (local.get $call)) (return (global.get $refusal))))
      (call $set (i32.const 1024) (i32.const 1) (i32.const 1024) (i32.const 1) (i32.const 512))"#;
    let fields = r#"
      (import "portcullis:host/store@0.1.0" "get" (func $get (param i32 i32 i32)))
      (import "portcullis:host/store@0.1.0" "set" (func $set (param i32 i32 i32 i32 i32)))"#;
    let counter =
        |name| Plugin::new(name).refuses("seen", "seen").allows(seen).fields(fields).build().unwrap();
    let place = Place::new();
    place.put("one.wasm", &counter("one"));
    place.put("two.wasm", &counter("two"));
    place.put("crash.wasm", &Plugin::new("crash").allows("unreachable").build().unwrap());
    let host = place.open("[plugins]\nenabled = [\"one\", \"two\", \"crash\"]").await;
    // Both see the call for the first time; then the third one crashes.
    assert_eq!(ls(&host).await, "crash!trap");
    assert_eq!(ls(&host).await, "one");
    let other = host.session("s2").turn().judge(bash("ls")).await.to_wire();
    assert_eq!(outcome(&other), "crash!trap", "sessions are apart");
}

#[tokio::test]
async fn all_guards_of_a_call_share_one_deadline() {
    let place = Place::new();
    let config = ["one", "two"].map(|name| {
        let guard = Plugin::new(name).allows(&busy(3)).build().unwrap();
        place.put(&format!("{name}.wasm"), &guard);
        format!("[plugin.{name}]\nlimits.guard_ms = 60000\ngrant.clock = true\n")
    });
    let host = place.open(&format!("[plugins]\nenabled = [\"one\", \"two\"]\n{}", config.concat())).await;
    // Each has a minute for itself, and all of them have five seconds.
    assert_eq!(ls(&host).await, "two!timeout");
}

#[tokio::test]
async fn a_component_that_is_too_big_is_not_read_to_its_end() {
    let place = Place::new();
    let path = place.user().join("big.wasm");
    let max = portcullis_model::limits::COMPONENT_MAX as u64;
    fs::File::create(&path).unwrap().set_len(max * 16).unwrap();
    age(&path);
    let (code, reason) = standing(&place.open("").await).await;
    assert_eq!(code, "load/too-big");
    assert!(reason.contains("the most is 67108864"), "{reason}");
}
