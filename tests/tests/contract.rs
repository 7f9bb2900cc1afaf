//! The contract: what was released goes on working, and what is not ours is
//! refused by name.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;
mod stubs;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use portcullis_model::fault::FaultKind;
use portcullis_model::judgement::Verdict;
use portcullis_runtime::{Allocation, Decision, Kind, LoadError, Runtime, RuntimeOptions};
use portcullis_tests::guest::{dummy, dummy_with, wit};
use portcullis_tests::plugin::Plugin;
use serde_json::json;

use crate::place::{Place, bash, call, compiler, judge, outcome};
use crate::stubs::{Nothing, far, link};

fn runtime() -> Runtime {
    let mut options = RuntimeOptions::new(compiler());
    options.allocation = Allocation::OnDemand;
    Runtime::new(options).unwrap()
}

/// Every package in the folder `wit`: its name, and its worlds or interfaces.
fn packages() -> Vec<(String, Vec<String>)> {
    let mut resolve = wit_parser::Resolve::default();
    resolve.push_path(wit()).unwrap();
    resolve
        .packages
        .iter()
        .map(|(_, package)| (package.name.to_string(), package.worlds.keys().cloned().collect()))
        .collect()
}

/// A world's name with its package's version: `portcullis:plugin/guard-plugin@0.1.0`.
fn within(package: &str, item: &str) -> String {
    let (name, version) = package.split_once('@').unwrap();
    format!("{name}/{item}@{version}")
}

#[tokio::test]
async fn a_component_of_every_released_world_loads_and_links() {
    let runtime = runtime();
    let mut worlds = 0;
    for (package, names) in packages() {
        for world in names {
            let world = within(&package, &world);
            let plugin =
                if world.contains("/platform@") { "export portcullis:plugin/plugin@0.1.0;" } else { "" };
            let bytes =
                dummy(&format!("package portcullis:tests; world guest {{ include {world}; {plugin} }}"))
                    .unwrap();
            let component = runtime.load(&bytes).unwrap_or_else(|e| panic!("{world}: {e}"));
            let guest = link(&runtime, &component).unwrap_or_else(|e| panic!("{world}: {e}"));
            // A dummy's functions trap: it was reached, and it could not be more.
            assert_eq!(guest.describe().await.unwrap_err().kind, FaultKind::Trap, "{world}");
            worlds += 1;
        }
    }
    assert!(worlds >= 6, "the worlds of the first release alone are six, found {worlds}");
}

#[tokio::test]
async fn a_component_that_imports_every_interface_of_a_released_host_loads_and_links() {
    let runtime = runtime();
    let mut resolve = wit_parser::Resolve::default();
    resolve.push_path(wit()).unwrap();
    let hosts = resolve.packages.iter().filter(|(_, package)| package.name.name == "host");
    let mut versions = BTreeSet::new();
    for (_, package) in hosts {
        let version = package.name.version.as_ref().unwrap();
        let names = package.interfaces.keys();
        let imports: String =
            names.map(|name| format!("import portcullis:host/{name}@{version}; ")).collect();
        // The kinds name the first version of the types that they are told.
        for exports in ["", "export portcullis:guard/guard@0.1.0; export portcullis:hook/hook@0.1.0;"] {
            let text = format!(
                "package portcullis:tests; world guest {{ {imports} export portcullis:plugin/plugin@0.1.0; {exports} }}"
            );
            let component = runtime.load(&dummy(&text).unwrap()).unwrap();
            let asked = &component.contract().imports;
            assert_eq!(asked.len(), package.interfaces.len(), "{asked:?}");
            assert!(asked.iter().all(|import| import.ends_with(&format!("@{version}"))), "{asked:?}");
            let guest = link(&runtime, &component).unwrap_or_else(|e| panic!("host@{version}: {e}"));
            assert_eq!(guest.describe().await.unwrap_err().kind, FaultKind::Trap);
        }
        versions.insert(version.to_string());
    }
    assert!(versions.is_superset(&["0.1.0", "0.1.1"].map(str::to_owned).into()), "{versions:?}");
}

#[test]
fn a_component_that_was_built_for_a_later_patch_of_the_host_is_refused_with_both_versions() {
    let runtime = runtime();
    let text = fs::read_to_string(wit().join("deps/host@0.1.1/host.wit")).unwrap();
    let text = text.replace("package portcullis:host@0.1.1", "package portcullis:host@0.1.99");
    let world = "package portcullis:tests; world guest { import portcullis:host/call@0.1.99; export \
                 portcullis:plugin/plugin@0.1.0; export portcullis:guard/guard@0.1.0; }";
    let component = runtime.load(&dummy_with(&[text], world).unwrap()).unwrap();
    assert_eq!(
        link(&runtime, &component).unwrap_err().to_string(),
        "built for `portcullis:host/call@0.1.99`; this host speaks `portcullis:host/call@0.1.1`"
    );
}

#[test]
fn a_component_that_exports_any_released_interface_is_of_that_kind() {
    let runtime = runtime();
    for kind in Kind::ALL {
        let text = format!(
            "package portcullis:tests; world guest {{ export portcullis:plugin/plugin@0.1.0; export {}; }}",
            kind.interface()
        );
        let component = runtime.load(&dummy(&text).unwrap()).unwrap();
        assert_eq!(component.contract().kinds, [kind]);
        link(&runtime, &component).unwrap();
    }
}

#[test]
fn every_released_package_is_in_the_folder() {
    let there: BTreeSet<String> = packages().into_iter().map(|(name, _)| name).collect();
    for package in ["plugin", "guard", "hook", "tool", "command", "host"] {
        let name = format!("portcullis:{package}@0.1.0");
        assert!(there.contains(&name), "`{name}` was released, and is gone from {there:?}");
    }
    // `cargo xtask wit` writes this file when a version is released.
    let lock = fs::read_to_string(wit().join("released.lock")).unwrap_or_default();
    for line in lock.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        let package = line.split(' ').next().unwrap();
        assert!(there.contains(package), "`{package}` was released, and is gone from {there:?}");
    }
}

/// The text of a later version of the package `name`.
fn later(name: &str) -> String {
    let folder = wit().join(format!("deps/{name}@0.1.0"));
    let text = fs::read_to_string(folder.join(format!("{name}.wit"))).unwrap();
    text.replace(&format!("package portcullis:{name}@0.1.0"), &format!("package portcullis:{name}@0.9.0"))
}

#[test]
fn a_component_of_a_later_version_is_refused_with_both_versions() {
    let runtime = runtime();
    for name in ["guard", "hook", "tool", "command"] {
        let text = format!(
            "package portcullis:tests; world guest {{ export portcullis:plugin/plugin@0.1.0; export \
             portcullis:{name}/{name}@0.9.0; }}"
        );
        let error = runtime.load(&dummy_with(&[later(name)], &text).unwrap()).unwrap_err();
        assert!(matches!(error, LoadError::OtherVersion { .. }), "{error}");
        assert_eq!(
            error.to_string(),
            format!(
                "built for `portcullis:{name}/{name}@0.9.0`; this host speaks `portcullis:{name}/{name}@0.1.0`"
            )
        );
    }
    // A later host interface among the imports.
    let text = "package portcullis:tests; world guest { import portcullis:host/log@0.9.0; export \
                portcullis:plugin/plugin@0.1.0; }";
    let component = runtime.load(&dummy_with(&[later("host")], text).unwrap()).unwrap();
    let error = link(&runtime, &component).unwrap_err();
    assert_eq!(
        error.to_string(),
        "built for `portcullis:host/log@0.9.0`; this host speaks `portcullis:host/log@0.1.1`"
    );
}

#[test]
fn an_import_that_nobody_offers_is_named() {
    let runtime = runtime();
    let world = "package portcullis:tests; interface magic { wand: func(); } world guest { import magic; export \
                 portcullis:plugin/plugin@0.1.0; }";
    let component = runtime.load(&dummy(world).unwrap()).unwrap();
    assert_eq!(component.contract().imports, ["portcullis:tests/magic"]);
    let error = link(&runtime, &component).unwrap_err();
    assert!(
        error.to_string().starts_with("it imports `portcullis:tests/magic`, which this host does not"),
        "{error}"
    );
}

#[test]
fn an_interface_that_is_ours_by_name_alone_is_refused() {
    let runtime = runtime();
    let guard = "package portcullis:guard@0.1.0; interface guard { before-tool-call: func() -> bool; }";
    let mut resolve = wit_parser::Resolve::default();
    resolve.push_str("guard.wit", guard).unwrap();
    let plugin = fs::read_to_string(wit().join("world.wit")).unwrap();
    let plugin = &plugin[..plugin.find("/// What any plugin may import").unwrap()];
    resolve.push_str("plugin.wit", plugin).unwrap();
    let world = "package portcullis:tests; world guest { export portcullis:plugin/plugin@0.1.0; export \
                 portcullis:guard/guard@0.1.0; }";
    let package = resolve.push_str("world.wit", world).unwrap();
    let world = resolve.select_world(&[package], None).unwrap();
    let abi = wit_parser::ManglingAndAbi::Legacy(wit_parser::LiftLowerAbi::Sync);
    let mut module = wit_component::dummy_module(&resolve, world, abi);
    let utf8 = wit_component::StringEncoding::UTF8;
    wit_component::embed_component_metadata(&mut module, &resolve, world, utf8).unwrap();
    let bytes = wit_component::ComponentEncoder::default().module(&module).unwrap().encode().unwrap();
    let component = runtime.load(&bytes).unwrap();
    // A stale record is refused, and never read as something else.
    let fault = match link(&runtime, &component) {
        Err(error) => error.code().to_owned(),
        Ok(guest) => tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build()
            .unwrap()
            .block_on(guest.before_tool_call(Arc::new(Nothing), far()))
            .unwrap_err()
            .to_string(),
    };
    assert!(fault.starts_with("load"), "{fault}");
}

#[tokio::test]
async fn each_kind_is_reached_and_no_other() {
    let runtime = runtime();
    let plugins = [
        (&[Kind::Guard][..], Plugin::new("one").refuses("no", "no")),
        (&[Kind::Hook], Plugin::new("one").after_turn("")),
        (&[Kind::Tool], Plugin::new("one").tool("greet", true)),
        (&[Kind::Command], Plugin::new("one").command("say hello")),
        (
            &Kind::ALL,
            Plugin::new("one").refuses("no", "no").after_turn("").tool("greet", true).command("say hello"),
        ),
        (&[], Plugin::new("one")),
    ];
    for (kinds, plugin) in plugins {
        let guest = link(&runtime, &runtime.load(&plugin.build().unwrap()).unwrap()).unwrap();
        assert_eq!(guest.describe().await.unwrap().name.as_str(), "one");
        assert_eq!(guest.contract().kinds, kinds);
        let answers = [
            (Kind::Guard, guest.before_tool_call(Arc::new(Nothing), far()).await.map(|no| no.is_some())),
            (Kind::Hook, guest.subscriptions().await.map(|list| list.is_empty())),
            (Kind::Hook, guest.on_event(Arc::new(Nothing)).await.map(|said| said == Decision::NoOpinion)),
            (Kind::Hook, guest.after_turn("s").await.map(|()| true)),
            (Kind::Tool, guest.list_tools().await.map(|list| list[0].name == "greet")),
            (Kind::Tool, guest.claims_of(Arc::new(Nothing)).await.map(|claims| claims.read_only)),
            (Kind::Tool, guest.call_tool(Arc::new(Nothing)).await.map(|output| output.is_ok())),
            (Kind::Command, guest.list_commands().await.map(|list| list[0].name == "greet")),
            (
                Kind::Command,
                guest.expand(Arc::new(Nothing)).await.map(|text| text == Ok("say hello".to_owned())),
            ),
        ];
        for (kind, answer) in answers {
            match answer {
                Ok(right) => assert!(right && kinds.contains(&kind), "{kind} of {kinds:?}"),
                Err(fault) => {
                    assert!(!kinds.contains(&kind), "{kind} of {kinds:?}: {fault}");
                    assert_eq!(fault.kind, FaultKind::Load);
                    assert!(fault.detail.contains(kind.interface()), "{fault}");
                }
            }
        }
    }
}

#[tokio::test]
async fn a_guard_that_was_built_with_wit_bindgen_alone_judges() {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests/dist/plain-guard.wasm");
    let place = Place::new();
    place.put("plain-guard.wasm", &fs::read(dist).unwrap());
    let host = place.open("[plugins]\nenabled = [\"plain-guard\"]").await;
    assert_eq!(outcome(&judge(&host, bash("ls")).await), "allow");
    for refused in ["echo forbidden", "sh -c 'cat $(forbidden)'", "true && \"forbidden\""] {
        let wire = judge(&host, bash(refused)).await;
        assert_eq!(wire.verdict, Verdict::Block, "{refused}");
        assert_eq!(wire.code.as_deref(), Some("plain-guard/forbidden"));
        assert_eq!(wire.reason.as_deref(), Some("Blocked by the plain-guard plugin: that is forbidden"));
    }
    assert_eq!(outcome(&judge(&host, call("Read", json!({"file_path": "/forbidden"}))).await), "allow");
}

#[tokio::test]
async fn a_guard_is_shown_the_tool_the_input_and_the_directory() {
    // Refuses with what a method of the call gives it.
    let echo = |method: &str| {
        let import = format!(
            r#"(import "portcullis:host/call@0.1.0" "[method]tool-call.{method}" (func $get (param i32 i32)))"#
        );
        let body = "(call $get (local.get $call) (i32.const 512))
             (i32.store (i32.const 600) (i32.const 0))
             (i32.store (i32.const 604) (i32.const 1))
             (i32.store (i32.const 616) (i32.load (i32.const 512)))
             (i32.store (i32.const 620) (i32.load (i32.const 516)))
             (call $drop (local.get $call))
             (return (i32.const 600))";
        Plugin::new("echo").allows(body).fields(&import).build().unwrap()
    };
    let input: serde_json::Value = serde_json::from_str(
        r#"{"command":"ls","none":null,"text":"α\u0000😀\"","deep":[[{"big":123456789012345678901234567890,"e":1.50e400}]]}"#,
    )
    .unwrap();
    for (method, expected) in [("tool", "bash"), ("cwd", "/home/dev/app"), ("session-id", "s1"), ("id", "c1")]
    {
        let place = Place::new();
        place.put("echo.wasm", &echo(method));
        let wire = judge(&place.open("").await, call("Bash", input.clone())).await;
        assert_eq!(wire.reason.unwrap(), format!("Blocked by the echo plugin: {expected}"));
    }
    let place = Place::new();
    place.put("echo.wasm", &echo("input"));
    let reason = judge(&place.open("").await, call("Bash", input.clone())).await.reason.unwrap();
    let shown: serde_json::Value =
        serde_json::from_str(reason.strip_prefix("Blocked by the echo plugin: ").unwrap()).unwrap();
    assert_eq!(shown, input);
}
