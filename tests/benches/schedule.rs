//! What planning a batch costs, and what it saves.
//!
//! Goal: 1,000 claimed calls are planned in 5 ms. The makespans are of twice 50 batches, with
//! a fixed time for each kind of call: they are counted, not measured, so they are the same
//! on every machine. All at once is what a loop does that knows no claims.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark prints, and ends when anything is wrong"
)]

/// The one of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod measure;

use std::fs;
use std::path::Path;

use measure::{Case, print, ratio, side_by_side};
use portcullis::{BatchPlan, Host, HostOptions, Permit, Turn};
use portcullis_model::call::ToolCall;
use portcullis_model::config::Config;
use portcullis_model::input::Input;
use portcullis_runtime::Compiler;
use portcullis_schedule::{Claim, Plan, plan};
use serde_json::{Value, json};

fn call(tool: &str, input: Value, cwd: &Path) -> ToolCall {
    ToolCall {
        id: String::new(),
        tool: tool.to_owned(),
        input: Input::from_value(input).unwrap(),
        cwd: cwd.to_str().unwrap().to_owned(),
        session_id: "s1".to_owned(),
    }
}

fn edit(path: &str, cwd: &Path) -> ToolCall {
    call("Edit", json!({ "file_path": path, "old_string": "1", "new_string": "2" }), cwd)
}

/// Calls that were recorded and are let pass, ten a batch. Most of them are scripts.
fn recorded(cwd: &Path) -> Vec<Vec<ToolCall>> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/corpus/guard.jsonl");
    let corpus = fs::read_to_string(corpus).unwrap();
    let rows = corpus.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    let recorded: Vec<Value> = rows.filter(|row| row["expect"] == "allow").collect();
    let made = |row: &Value| call(row["tool"].as_str().unwrap(), row["input"].clone(), cwd);
    recorded.chunks(10).cycle().take(50).map(|rows| rows.iter().map(made).collect()).collect()
}

/// What an agent asks for at once that looks around and edits: files that it reads and
/// searches, two that it edits, a page that it fetches, and a script in every fifth batch.
fn edited(cwd: &Path) -> Vec<Vec<ToolCall>> {
    let batch = |at: usize| {
        let mut calls: Vec<ToolCall> = (0..3 + at % 3)
            .map(|n| call("Read", json!({ "file_path": format!("src/m{n}/f{at}.rs") }), cwd))
            .collect();
        calls.push(call("Grep", json!({ "pattern": "fn main", "path": "docs" }), cwd));
        calls.push(call("Bash", json!({ "command": "ls src | head -n 20" }), cwd));
        calls.extend((0..2).map(|n| edit(&format!("src/m{}/f{at}.rs", n + 1), cwd)));
        calls.push(call("WebFetch", json!({ "url": "https://example.com/", "prompt": "x" }), cwd));
        if at.is_multiple_of(5) {
            calls.push(call("Bash", json!({ "command": "cargo test" }), cwd));
        }
        calls
    };
    (0..50).map(batch).collect()
}

/// How long a call of this kind takes, in milliseconds, for the makespans.
fn cost(tool: &str) -> u64 {
    match tool {
        "read" | "glob" | "grep" | "list" => 5,
        "edit" | "write" | "multi_edit" | "patch" => 10,
        "fetch" | "search" => 400,
        _ => 300,
    }
}

async fn permits(turn: &Turn, calls: Vec<ToolCall>) -> Vec<Permit> {
    let mut permits = Vec::new();
    for call in calls {
        permits.extend(turn.judge(call).await.outcome);
    }
    permits
}

fn main() {
    let executor = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let cwd = fs::canonicalize(dir.path()).unwrap();
    for module in 0..100 {
        fs::create_dir_all(cwd.join(format!("src/m{module}"))).unwrap();
    }
    let mut config = Config::default();
    config.plugins.enabled = Some(Vec::new());
    let mut options = HostOptions::new(Compiler::InProcess);
    options.config = config;
    let host = executor.block_on(Host::open(options)).unwrap();
    let turn = host.session("s1").turn();

    let edits = |count: usize| {
        let calls = (0..count).map(|n| edit(&format!("src/m{}/f{}.rs", n % 100, n / 2), &cwd)).collect();
        executor.block_on(permits(&turn, calls))
    };
    let (thousand, hundred) = (edits(1000), edits(100));
    let planned = |permits: &[Permit]| -> BatchPlan {
        executor.block_on(turn.plan(&permits.iter().collect::<Vec<_>>()))
    };
    let shells: Vec<Claim> = (0..1000).map(|_| Claim::exclusive()).collect();
    let waves = |claims: &[Claim]| -> Plan { plan(claims) };
    let mut cases = [
        Case::new("1,000 edits: what they claim, and their waves", 1, || drop(planned(&thousand))),
        Case::new("100 edits", 10, || drop(planned(&hundred))),
        Case::new("the waves of 1,000 exclusive claims", 10, || drop(waves(&shells))),
    ];
    let figures = side_by_side(60, &mut cases);
    print("planning a batch, side by side", &cases, &figures);
    println!("1,000 calls against 100: {:.1} times", ratio(figures[0], figures[1]));

    for (what, batches) in [("recorded calls", recorded(&cwd)), ("looking around and editing", edited(&cwd))]
    {
        let (mut one_by_one, mut at_once, mut in_waves, mut calls, mut behind) = (0, 0, 0, 0, 0);
        for batch in batches {
            let permits = executor.block_on(permits(&turn, batch));
            let plan = planned(&permits);
            let costs: Vec<u64> = plan.calls.iter().map(|call| cost(&call.tool)).collect();
            let longest = |wave: &[usize]| wave.iter().map(|at| costs[*at]).max().unwrap_or_default();
            one_by_one += costs.iter().sum::<u64>();
            at_once += costs.iter().max().copied().unwrap_or_default();
            in_waves += plan.waves.iter().map(|wave| longest(wave)).sum::<u64>();
            calls += costs.len();
            behind += plan.calls.iter().filter(|call| call.behind.is_some()).count();
        }
        let part = in_waves as f64 / one_by_one as f64;
        println!("50 batches of {what}, {calls} calls");
        println!("  one by one   {one_by_one:>6} ms");
        println!("  in waves     {in_waves:>6} ms   {part:.2} of it");
        println!(
            "  all at once  {at_once:>6} ms   {behind} calls would not wait for what they conflict with"
        );
    }
}
