//! How the time of a judgement grows with its script, and how the worst scripts
//! fare: each is answered or refused within the guard's deadline.
//!
//! Goal: linear from 1 KB to 8 MiB (the most that a call may hold, as JSON), and 100 KB in under 5 ms.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a benchmark prints, and ends when anything is wrong"
)]

/// The one of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod call;

use std::hint::black_box;
use std::time::{Duration, Instant};

use call::call;
use portcullis::{Host, HostOptions};
use portcullis_runtime::Compiler;

const LINE: &str = "printf '%s\\n' 'some words of a long script' >> log.txt\n";
const KIB: usize = 1 << 10;

fn main() {
    let executor = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    // The components are our own, so they may be compiled in this process.
    let host = executor.block_on(Host::open(HostOptions::new(Compiler::InProcess))).unwrap();
    let turn = host.session("bench").turn();
    let judge = |script: &str| {
        let judgement = executor.block_on(turn.judge(call(script)));
        match judgement.outcome {
            Ok(_) => "allow".to_owned(),
            Err(refusal) => refusal.code,
        }
    };
    println!("{:<34} {:>12} {:>14} {:>14}  verdict", "script", "analysis", "judgement", "per KiB");
    for kib in [1, 10, 100, 1024, 7 * 1024] {
        let script = LINE.repeat(kib * KIB / LINE.len()) + "rm -rf build\n";
        row(&format!("{kib} KiB of plain lines"), &script, &judge);
    }
    for (name, script) in [
        ("100,000 nested `$(`", "$(".repeat(100_000)),
        ("100,000 words", format!("echo {}", "word ".repeat(100_000))),
        ("50,000 pipelines", "a | b\n".repeat(50_000)),
        ("10,000 heredocs", "cat <<E\nx\nE\n".repeat(10_000)),
        ("8 MiB in one word", "x".repeat((8 << 20) - KIB)),
        ("8 MiB of `;`", ";".repeat((8 << 20) - KIB)),
        ("8 MiB of `$(`", "$(".repeat((4 << 20) - KIB)),
        ("8 MiB of `a;`", "a;".repeat((4 << 20) - KIB)),
        ("1 MiB of `{a,b}`", "{a,b}".repeat(1 << 18)),
        ("1 MiB of inline code", format!("python3 -c \"{}\"", "os.system('a');".repeat(1 << 16))),
        ("20,000 calls of a function", format!("f(){{ rm $1; }}\n{}", "f a\n".repeat(20_000))),
    ] {
        row(name, &script, &judge);
    }
}

fn row(name: &str, script: &str, judge: &impl Fn(&str) -> String) {
    let analysis = best(script.len(), || {
        black_box(portcullis_shell::analyse(black_box(script)));
    });
    let mut verdict = String::new();
    let judgement = best(script.len(), || verdict = judge(script));
    let kib = script.len() as f64 / KIB as f64;
    println!(
        "{name:<34} {:>9.2} ms {:>11.2} ms {:>11.2} µs  {verdict}",
        millis(analysis),
        millis(judgement),
        millis(judgement) * 1e3 / kib
    );
}

/// The best of several runs, fewer for a long one.
fn best(size: usize, mut run: impl FnMut()) -> Duration {
    let runs = (10_000_000 / size.max(1)).clamp(2, 200);
    (0..runs)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .min()
        .unwrap()
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
