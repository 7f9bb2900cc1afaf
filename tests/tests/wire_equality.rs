//! The wire gives no other answer than the library: one table of scenarios, run against
//! both.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;
mod wired;

use std::collections::BTreeSet;

use portcullis::surface::Reading;
use portcullis::{Called, Host, Started};
use portcullis_model::call::ToolCall;
use portcullis_model::capability::Domain;
use portcullis_model::fault::FaultKind;
use portcullis_model::judgement::Refusal;
use portcullis_runtime::{Content, ToolOutput};
use portcullis_tests::guest::Guard;
use portcullis_tests::plugin::Plugin;
use serde_json::{Value, json};

use crate::place::{Place, call};
use crate::wired::{Wire, server};

/// A way that a call can go.
struct Scenario {
    what: &'static str,
    config: String,
    /// Files of the user's plugin directory.
    plugins: Vec<(&'static str, Vec<u8>)>,
    tool: &'static str,
    input: Value,
    /// What both are to say: verdict, code, fault.
    says: (&'static str, Option<&'static str>, Option<FaultKind>),
}

impl Scenario {
    fn new(what: &'static str, tool: &'static str, input: Value) -> Self {
        let (config, plugins, says) = (String::new(), Vec::new(), ("allow", None, None));
        Self { what, config, plugins, tool, input, says }
    }

    fn bash(what: &'static str, command: &str) -> Self {
        Self::new(what, "Bash", json!({ "command": command }))
    }

    fn config(mut self, config: &str) -> Self {
        self.config.push_str(config);
        self
    }

    fn plugin(mut self, file: &'static str, bytes: Vec<u8>) -> Self {
        self.plugins.push((file, bytes));
        self
    }

    fn blocks(mut self, code: &'static str) -> Self {
        self.says = ("block", Some(code), None);
        self
    }

    fn asks(mut self, code: &'static str) -> Self {
        self.says = ("ask", Some(code), None);
        self
    }

    fn fails(mut self, code: &'static str, fault: FaultKind) -> Self {
        self.says = ("block", Some(code), Some(fault));
        self
    }

    fn call(&self) -> ToolCall {
        call(self.tool, self.input.clone())
    }
}

/// A guard whose every call but `allow` and `deny` does this.
fn probe(fault: &str) -> Vec<u8> {
    Guard::new("probe").fault(fault).build().unwrap()
}

const ASK: &str = "[permissions]\nmode = \"ask\"\n";
const REQUIRED: &str = "[plugins]\nrequired = [\"guard\"]\n";

fn scenarios() -> Vec<Scenario> {
    let bash = Scenario::bash;
    let probed = |what, fault: &str| bash(what, "fault").plugin("probe.wasm", probe(fault));
    let hook = |run: &str| {
        format!(
            "[[hooks]]\nevent = \"pre-tool-use\"\nshell = true\nfailure_mode = \"closed\"\ncommand = '{run}'\n"
        )
    };
    let deep = format!("echo {}ls{}", "$(echo ".repeat(100), ")".repeat(100));
    vec![
        bash("a command that nobody minds", "ls"),
        bash("a command that the guard refuses", "rm -rf build").blocks("guard/rm"),
        bash("a guard of the user's that allows", "allow").plugin("probe.wasm", probe("")),
        bash("a guard of the user's that denies", "deny").plugin("probe.wasm", probe("")).blocks("probe/no"),
        probed("a trap", "unreachable").fails("fault/trap", FaultKind::Trap),
        probed("an endless loop", "(loop $again (br $again))").fails("fault/timeout", FaultKind::Timeout),
        probed("memory", "(drop (memory.grow (i32.const 16384)))").fails("fault/memory", FaultKind::Memory),
        probed(
            "no verdict",
            "(call $drop (local.get $call)) (return (call $err (i32.const 16) (i32.const 8)))",
        )
        .fails("fault/bad-verdict", FaultKind::BadVerdict),
        bash("a file that is no component", "ls")
            .plugin("broken.wasm", b"nonsense".to_vec())
            .fails("load/not-wasm", FaultKind::Load),
        bash("a hook that approves", "ls").config(&hook("true")),
        bash("a hook that refuses", "ls").config(&hook("echo no >&2; exit 2")).blocks("hook/block"),
        bash("a hook that fails", "ls").config(&hook("exit 7")).fails("fault/trap", FaultKind::Trap),
        bash("a rule that denies", "make it")
            .config("[permissions]\ndeny = [\"Bash(make *)\"]\n")
            .blocks("policy/deny"),
        bash("a rule that asks", "make it").config(ASK).asks("policy/ask"),
        bash("a mode that lets pass", "make it").config("[permissions]\nmode = \"yolo\"\n"),
        Scenario::new("a tool that nobody knows", "launch_rocket", json!({}))
            .config(REQUIRED)
            .fails("input/unknown-tool", FaultKind::BadInput),
        Scenario::new("a tool that nobody requires to be known", "launch_rocket", json!({})),
        Scenario::new("a name that is none", "Bash\u{200b}", json!({"command": "ls"}))
            .fails("input/tool-name", FaultKind::BadInput),
        Scenario::new("a call without its command", "Bash", json!({"cmd": 7}))
            .fails("input/no-command", FaultKind::BadInput),
        Scenario::new("arguments that are no object", "Bash", json!(["ls"]))
            .fails("input/not-an-object", FaultKind::BadInput),
        Scenario::new("a script that is too deep", "Bash", json!({ "command": deep }))
            .fails("fault/too-big", FaultKind::TooBig),
        Scenario::new(
            "a file of the host's own",
            "Write",
            json!({"file_path": "/home/dev/.claude/settings.json", "content": "x"}),
        )
        .blocks("self/hooks"),
        Scenario::new("a tool of a plugin", "current_time", json!({})),
        Scenario::new("a tool of a plugin, that another one refuses", "current_time", json!({}))
            .plugin("wall.wasm", Plugin::new("wall").refuses("no", "not today").build().unwrap())
            .blocks("wall/no"),
        Scenario::new("a tool of a plugin, where consent is wanted", "own_tool", json!({}))
            .plugin("own.wasm", Plugin::new("own").tool("own_tool", false).build().unwrap())
            .config(ASK)
            .asks("policy/ask"),
    ]
}

/// What is compared: everything but the time that it took.
fn without_time(mut judgement: Value) -> Value {
    let object = judgement.as_object_mut().unwrap();
    object.remove("micros");
    object.remove("permit");
    judgement
}

#[tokio::test]
async fn every_call_is_judged_on_the_wire_as_in_the_library() {
    let mut wrong = Vec::new();
    let mut faults = BTreeSet::new();
    for scenario in scenarios() {
        let place = Place::new();
        for (file, bytes) in &scenario.plugins {
            place.put(file, bytes);
        }
        let mut options = place.options(&scenario.config);
        options.env.insert("HOME".to_owned(), "/home/dev".to_owned());
        options.env.insert("PATH".to_owned(), "/usr/bin:/bin".to_owned());
        let host = Host::open(options).await.unwrap();
        let library = host.session("s1").turn().judge(scenario.call()).await;
        let permit = library.outcome.as_ref().ok().map(|permit| *permit.digest());
        let library = without_time(json!(library.to_wire()));
        let mut wire = Wire::in_turn(&server(&host)).await;
        let params = json!({"turn_id": "t1", "id": "c1", "tool": scenario.tool, "input": scenario.input});
        let judged = wire.ok("beforeToolCall", params.clone()).await;
        // The same arguments were judged.
        let digest = permit.map(|digest| digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>());
        assert_eq!(judged["permit"]["digest"].as_str().map(str::to_owned), digest, "{}", scenario.what);
        assert_eq!(judged["permit"].is_null(), judged["verdict"] != "allow", "{}", scenario.what);
        assert_eq!(without_time(judged), library, "{}", scenario.what);
        // So is the other way to a tool, and what it gives back.
        let ran = host.session("s1").turn().call(scenario.call()).await;
        assert_eq!(wire.ok("tools/call", params).await, called(&ran), "{}", scenario.what);
        let (verdict, code, fault) = scenario.says;
        faults.extend(fault.map(FaultKind::as_str));
        let expected = json!({"verdict": verdict, "code": code, "fault": fault});
        let said = json!({"verdict": library["verdict"], "code": library["code"], "fault": library["fault"]});
        if said != expected {
            wrong.push(format!("{}: {library}", scenario.what));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // A host that is out of instances, or fails inside, cannot be had at will.
    let all: BTreeSet<_> = FaultKind::ALL.into_iter().map(FaultKind::as_str).collect();
    assert_eq!(all.difference(&faults).copied().collect::<Vec<_>>(), ["internal", "resource"]);
}

/// The answer to a call, as the wire has it.
fn called(called: &Called) -> Value {
    let error = called.error.as_ref().map(|error| {
        let refusal = error.refusal.as_ref().map(refusal);
        json!({"code": error.code, "refusal": refusal})
    });
    json!({"output": output(&called.output), "error": error})
}

fn output(output: &ToolOutput) -> Value {
    let part = |part: &Content| match part {
        Content::Text(text) => json!({"type": "text", "text": text}),
        Content::Binary { mime_type, bytes } => panic!("{mime_type}: {bytes:?}"),
    };
    json!({"content": output.content.iter().map(part).collect::<Vec<_>>(), "is_error": output.is_error})
}

fn refusal(said: &Refusal) -> Value {
    json!({"by": said.by, "code": said.code, "fault": said.fault, "reason": said.reason})
}

#[tokio::test]
async fn a_tool_of_a_plugin_runs_on_the_wire_as_in_the_library() {
    let place = Place::new();
    let own = Plugin::new("own").tool("own_tool", true).answers("42 — done");
    place.put("own.wasm", &own.build().unwrap());
    let annotates =
        "[[hooks]]\nevent = \"post-tool-use\"\nshell = true\ncommand = 'echo look again >&2; exit 2'\n";
    for config in ["", annotates] {
        let host = place.open(config).await;
        let turn = host.session("s1").turn();
        let permit = turn.judge(call("own_tool", json!({}))).await.outcome.unwrap();
        let library = turn.run(permit).await.unwrap().unwrap();
        let expected = json!({"output": output(&library), "error": null});
        assert_eq!(library.content.len(), if config.is_empty() { 1 } else { 2 }, "{library:?}");
        let mut wire = Wire::in_turn(&server(&host)).await;
        let params = json!({"turn_id": "t1", "tool": "own_tool", "input": {}});
        let judged = wire.ok("beforeToolCall", params.clone()).await;
        let by_permit = json!({"turn_id": "t1", "permit": judged["permit"]["id"]});
        assert_eq!(wire.ok("tools/call", by_permit).await, expected);
        assert_eq!(wire.ok("tools/call", params).await, expected);
        // Arguments that do not fit its schema are the schema's to refuse, on every way.
        let wrong = call("own_tool", json!(["x"]));
        let library = turn.call(wrong).await;
        let params = json!({"turn_id": "t1", "id": "c1", "tool": "own_tool", "input": ["x"]});
        let seen = wire.ok("tools/call", params).await;
        assert_eq!(seen, called(&library));
        assert_eq!(seen["error"]["code"], "refused");
    }
}

#[tokio::test]
async fn what_a_turn_offers_is_told_on_the_wire_as_in_the_library() {
    let place = Place::new();
    let own = Plugin::new("own").tool("own_tool", true).tool("other_tool", false);
    place.put("own.wasm", &own.build().unwrap());
    let host = place.open("").await;
    let turn = host.session("library").turn();
    let mut wire = Wire::in_turn(&server(&host)).await;
    let params = json!({"turn_id": "t1"});
    let surface = turn.surface();
    let listed = wire.ok("tools/list", params.clone()).await;
    assert_eq!(listed["definitions"], json!(surface.definitions(false)));
    assert_eq!(listed["catalogue"], surface.catalogue());
    let names: Vec<_> = surface.shown().map(|tool| tool.name.clone()).collect();
    assert!(
        names.contains(&"own_tool".to_owned()) && names.contains(&"current_time".to_owned()),
        "{names:?}"
    );
    // What a turn is about decides what is shown, and every tool can be called all the same.
    let reading = Reading { needs: [Domain::Web].into(), ..Reading::default() };
    let surface = host.session("library").turn().about(reading).surface();
    let about = json!({"session_id": "s1", "turn_id": "t2", "reading": {"needs": ["web"]}});
    wire.ok("turn/begin", about).await;
    let read = json!({"turn_id": "t2", "provider_defers": true});
    let listed = wire.ok("tools/list", read).await;
    assert_eq!(listed["definitions"], json!(surface.definitions(true)));
    assert_eq!(listed["catalogue"], surface.catalogue());
    let deferred: Vec<_> = surface.deferred().map(|tool| &tool.name).collect();
    assert_eq!(listed["deferred"], json!(deferred));
    // A search is a call.
    let library = turn.call(call("find_tools", json!({"query": "own"}))).await;
    let found = wire.ok("tools/find", json!({"turn_id": "t1", "id": "c1", "query": "own"})).await;
    assert_eq!(json!({"output": found["output"], "error": found["error"]}), called(&library));
    assert!(found["output"]["content"][0]["text"].as_str().unwrap().contains("own_tool"), "{found}");
    let section = turn.standing().await;
    let told = wire.ok("turn/standing", params).await;
    assert_eq!((&told["text"], &told["tokens"]), (&json!(section.text), &json!(section.tokens)));
    assert_eq!(told["epoch"], turn.epoch());
    assert_eq!(wire.ok("registry/report", json!({})).await, json!(host.capabilities()));
}

#[tokio::test]
async fn commands_and_skills_are_the_same_on_the_wire_as_in_the_library() {
    let place = Place::new();
    place.put("namer.wasm", &Plugin::new("namer").command("See @a.md and @../b.").build().unwrap());
    for (path, text) in [("commands/ship.md", "Ship $1."), ("skills/trim/SKILL.md", SKILL)] {
        let path = place.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mut options = place.options("");
    options.local = Some(portcullis::LocalPlaces {
        skills: portcullis::skill::SkillPlaces { user: Some(place.path("skills")), ..Default::default() },
        commands: portcullis::command::CommandPlaces {
            user: Some(place.path("commands")),
            ..Default::default()
        },
    });
    let host = Host::open(options).await.unwrap();
    let turn = host.session("library").turn();
    let mut wire = Wire::in_turn(&server(&host)).await;
    let listed = wire.ok("commands/list", json!({"turn_id": "t1"})).await;
    let expected: Vec<_> = turn
        .commands()
        .into_iter()
        .map(|own| {
            let (name, description) = (own.name, own.description);
            json!({"name": name, "description": description, "arguments": own.arguments, "from": own.from})
        })
        .collect();
    assert_eq!(listed["commands"], json!(expected));
    let names: Vec<_> = expected.iter().map(|own| own["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["greet", "ship", "skill:trim"]);
    for (name, arguments) in
        [("ship", "it now"), ("greet", ""), ("skill:trim", "x"), ("none", ""), ("trim", "")]
    {
        let asked = json!({"turn_id": "t1", "name": name, "arguments": arguments});
        let answer = wire.ok("commands/expand", asked).await;
        match turn.expand(name, arguments, "/home/dev/app").await {
            Ok(text) => {
                assert_eq!((&answer["text"], &answer["error"]), (&json!(text), &Value::Null), "{name}");
                assert_eq!(answer["mentions"], json!(portcullis::command::mentions(&text)));
            }
            Err(error) => {
                let told = json!({"code": error.code(), "message": error.to_string()});
                assert_eq!((&answer["text"], &answer["error"]), (&Value::Null, &told), "{name}");
            }
        }
    }
    let listed = wire.ok("skills/list", json!({"turn_id": "t1"})).await;
    let trim = json!({"name": "trim", "description": "Trims.", "serves": []});
    assert_eq!(listed["skills"], json!([trim]));
    let loaded = wire.ok("skills/load", json!({"turn_id": "t1", "name": "trim"})).await;
    assert_eq!(loaded, json!({"text": turn.skill("trim").await.unwrap(), "error": null}));
    let none = wire.ok("skills/load", json!({"turn_id": "t1", "name": "ship"})).await;
    assert_eq!(none["error"]["code"], "kind_mismatch");
}

const SKILL: &str = "---\nname: trim\ndescription: Trims.\n---\nTrim it.\n";

#[tokio::test]
async fn a_change_of_what_there_is_is_told_to_who_wants_to_hear_of_it() {
    let place = Place::new();
    let host = place.watch("").await;
    let server = server(&host);
    let mut listener = Wire::listening(&server, &["registry/changed"]).await;
    let mut deaf = Wire::in_turn(&server).await;
    let own = Plugin::new("own").tool("own_tool", true);
    place.put("own.wasm", &own.build().unwrap());
    host.refresh();
    let heard = listener.next().await.unwrap();
    assert_eq!(heard["method"], "registry/changed");
    assert_eq!(heard["params"]["added"], json!(["tool:own_tool"]));
    assert_eq!(heard["params"]["to"], host.capabilities().epoch);
    // The turn that runs has what it had; the next one has the tool, and is told so.
    let params = json!({"turn_id": "t1", "tool": "own_tool", "input": {}});
    assert_eq!(deaf.ok("tools/call", params).await["error"]["refusal"]["code"], "capability/next-turn");
    deaf.ok("turn/begin", json!({"session_id": "s1", "turn_id": "t2"})).await;
    let params = json!({"turn_id": "t2", "tool": "own_tool", "input": {}});
    assert_eq!(deaf.ok("tools/call", params).await["error"], Value::Null);
    let told = deaf.ok("turn/standing", json!({"turn_id": "t2"})).await;
    assert!(told["text"].as_str().unwrap().contains("own_tool"), "{told}");
    assert!(deaf.news.is_empty());
}

/// What the wire says of a moment, and what the library says of it.
fn assert_told(wire: &Value, word: &str, said: Option<&Refusal>) {
    assert_eq!(wire["outcome"], word);
    assert_eq!(wire["refusal"], said.map(refusal).unwrap_or_default());
}

#[tokio::test]
async fn the_moments_of_a_loop_are_those_of_the_library() {
    let hook =
        |event: &str, run: &str| format!("[[hooks]]\nevent = \"{event}\"\nshell = true\ncommand = '{run}'\n");
    let config = [
        hook("prompt-submit", "grep -q secret && { echo no secrets >&2; exit 2; }; true"),
        hook("post-tool-use", "echo look again >&2; exit 2"),
        hook("stop", "grep -q really || { echo go on >&2; exit 2; }"),
        hook("subagent-stop", "echo go on >&2; exit 2"),
        hook("pre-compact", "echo not now >&2; exit 2"),
    ]
    .concat();
    let place = Place::new();
    let mut options = place.options(&config);
    options.env.insert("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    let host = Host::open(options).await.unwrap();
    let cwd = "/home/dev/app";
    let mut wire = Wire::in_turn(&server(&host)).await;
    let own = json!({"session_id": "s1"});

    let session = host.session("library");
    let turn = session.turn();
    for (text, word) in [("hello", "handed_on"), ("my secret", "withheld")] {
        let told = turn.prompt(cwd, text).await;
        let begun = wire.ok("turn/begin", json!({"session_id": "s1", "prompt": text})).await;
        let refusal = match &told.outcome {
            portcullis::Prompted::HandedOn => None,
            portcullis::Prompted::Withheld(refusal) => Some(refusal),
        };
        assert_told(&begun["prompt"], word, refusal);
        assert_eq!(begun["prompt"]["hooks"].as_array().unwrap().len(), told.runs.len());
    }
    let portcullis::Ran::Annotated(refusal) = turn.ran(crate::place::bash("ls"), "out").await.outcome else {
        panic!("the hook says nothing");
    };
    let params =
        json!({"turn_id": "t1", "id": "c1", "tool": "Bash", "input": {"command": "ls"}, "output": "out"});
    assert_told(&wire.ok("afterToolCall", params).await, "annotated", Some(&refusal));
    let portcullis::Stopped::GoesOn(refusal) = turn.subagent_stop(cwd, Some("done")).await.outcome else {
        panic!("the hook says nothing");
    };
    let params = json!({"turn_id": "t1", "words": "done"});
    assert_told(&wire.ok("turn/subagentStop", params.clone()).await, "goes_on", Some(&refusal));
    let portcullis::Stopped::GoesOn(refusal) = turn.stop(cwd, Some("done")).await.outcome else {
        panic!("the hook says nothing");
    };
    assert_told(&wire.ok("turn/end", params).await, "goes_on", Some(&refusal));
    // It goes on, so there are calls; then it ends.
    assert_eq!(wire.bash("ls").await["verdict"], "allow");
    assert_told(&wire.ok("turn/end", json!({"turn_id": "t1", "words": "really done"})).await, "ends", None);
    let portcullis::Noted::Objected(refusal) = session.compact(cwd).await.outcome else {
        panic!("the hook says nothing");
    };
    assert_told(&wire.ok("session/compact", own.clone()).await, "objected", Some(&refusal));
    assert_told(&wire.ok("session/close", own).await, "fine", None);
}

#[tokio::test]
async fn a_session_that_a_hook_does_not_let_begin_is_refused_on_the_wire_too() {
    let place = Place::new();
    let config =
        "[[hooks]]\nevent = \"session-start\"\nshell = true\ncommand = 'echo not today >&2; exit 2'\n";
    let mut options = place.options(config);
    options.store_dir = Some(place.path("store"));
    let host = Host::open(options).await.unwrap();
    let Started::Refused(refusal) = host.session("library").start("/home/dev/app").await.outcome else {
        panic!("the hook says nothing");
    };
    let library = host.session("library").turn().judge(crate::place::bash("ls")).await.to_wire();
    let mut wire = Wire::connect(&server(&host)).await;
    let opened = wire.ok("session/open", json!({"session_id": "s1", "cwd": "/home/dev/app"})).await;
    assert_told(&opened, "refused", Some(&refusal));
    wire.ok("turn/begin", json!({"session_id": "s1", "turn_id": "t1"})).await;
    let judged = wire.bash("ls").await;
    assert_eq!(without_time(judged), without_time(json!(library)));
}

#[tokio::test]
async fn the_paths_of_a_session_bind_it_on_the_wire_too() {
    let place = Place::new();
    let host = place.open("").await;
    let mut wire = Wire::connect(&server(&host)).await;
    let cwd = place.path("work");
    std::fs::create_dir_all(&cwd).unwrap();
    let open = json!({"session_id": "s1", "cwd": cwd, "direct_writes": ["docs/**"]});
    wire.ok("session/open", open).await;
    wire.ok("turn/begin", json!({"session_id": "s1", "turn_id": "t1"})).await;
    let patterns = ["docs/**".to_owned()];
    let writes = portcullis::DirectWrites::new(&cwd, &patterns).unwrap();
    let turn = host.session("s1").with_direct_writes(writes).turn();
    for (file, verdict) in [("docs/a.md", "allow"), ("src/a.rs", "block"), ("docs/../src/a.rs", "block")] {
        let input = json!({"file_path": cwd.join(file), "content": "x"});
        let mut asked = call("Write", input.clone());
        asked.cwd = cwd.to_string_lossy().into_owned();
        let library = without_time(json!(turn.judge(asked).await.to_wire()));
        let params = json!({"turn_id": "t1", "id": "c1", "tool": "Write", "input": input});
        let judged = without_time(wire.ok("beforeToolCall", params).await);
        assert_eq!(judged, library, "{file}");
        assert_eq!(judged["verdict"], verdict, "{file}");
    }
}
