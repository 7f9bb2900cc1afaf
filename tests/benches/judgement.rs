//! One whole judgement of `rm -rf build` by the bundled plugins, side by side with
//! a spawned shell hook that looks for the same command.
//!
//! Goal: p50 under 40 µs, p99 under 250 µs, and at least 20 times faster than the
//! spawned hook. The last line is the ratio.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a benchmark prints, starts the peer that it is measured against, and ends when anything is wrong"
)]

/// The one of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod call;
mod measure;

use std::io::Write as _;
use std::process::{Command, Stdio};

use call::call;
use measure::{Case, print, ratio, side_by_side};
use portcullis::{Host, HostOptions};
use portcullis_runtime::Compiler;

const HOOK: &str = r#"read -r line
case "$line" in
*'rm -rf'*) echo 'refused' >&2; exit 2 ;;
esac
"#;

fn main() {
    let executor = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    // The components are our own, so they may be compiled in this process.
    let host = executor.block_on(Host::open(HostOptions::new(Compiler::InProcess))).unwrap();
    let turn = host.session("bench").turn();
    let dir = tempfile::tempdir().unwrap();
    let hook = dir.path().join("hook.sh");
    std::fs::write(&hook, HOOK).unwrap();
    let long = format!(
        "echo start\n{}rm -rf build\n",
        "printf '%s\\n' 'some words of a long script' >> log.txt\n".repeat(1900)
    );
    let judge = |command: &str, blocks: bool| {
        let judgement = executor.block_on(turn.judge(call(command)));
        assert_eq!(judgement.outcome.is_err(), blocks, "{:?}", judgement.outcome);
    };
    let spawn = || {
        let mut child = Command::new("/bin/sh")
            .arg(&hook)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(br#"{"tool_input":{"command":"rm -rf build"}}"#).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(2));
    };
    // Between two calls an agent thinks, and the executor has the time to make the
    // next instance.
    let pause = || executor.block_on(async { tokio::task::yield_now().await });
    let mut cases = [
        Case {
            before: Box::new(pause),
            ..Case::new("judge `rm -rf build`: block", 1, || judge("rm -rf build", true))
        },
        Case {
            before: Box::new(pause),
            ..Case::new("judge `npm test`: allow", 1, || judge("npm test", false))
        },
        Case::new("judge `npm test` ten times without a pause: allow", 10, || judge("npm test", false)),
        Case::new("judge a script of 100 KB: block", 1, || judge(&long, true)),
        Case::new("spawned /bin/sh hook", 1, spawn),
    ];
    let figures = side_by_side(300, &mut cases);
    print("one whole judgement, bundled plugins, side by side", &cases, &figures);
    println!(
        "goal: p50 under 40 µs, p99 under 250 µs, at least 20 times faster than the spawned hook\nratio: the spawned \
         hook takes {:.1} times as long",
        ratio(figures[4], figures[0])
    );
}
