//! The compile helper can go wrong in any way, and the result is a fault that
//! names it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]
#![cfg(unix)]

mod place;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use portcullis::Host;
use portcullis_runtime::{Allocation, CompileLimits, Compiler, LoadError, Runtime, RuntimeOptions};
use portcullis_tests::plugin::Plugin;
use tempfile::TempDir;

use crate::place::{Place, ls, standing};

fn guard() -> Vec<u8> {
    Plugin::new("strict").refuses("no", "no").build().unwrap()
}

fn script(dir: &TempDir, text: &str) -> Compiler {
    let file = dir.path().join("helper.sh");
    fs::write(&file, text).unwrap();
    Compiler::Helper { program: "/bin/sh".into(), arguments: vec![file.to_string_lossy().into_owned()] }
}

/// What becomes of a component with this helper, which is given `time`.
fn load(compiler: Compiler, time: Duration) -> Result<(), LoadError> {
    let mut options = RuntimeOptions::new(compiler);
    options.allocation = Allocation::OnDemand;
    options.compile_limits = CompileLimits { time, memory: 4 << 30 };
    Runtime::new(options).unwrap().load(&guard()).map(drop)
}

const LONG: Duration = Duration::from_secs(60);
const SHORT: Duration = Duration::from_millis(300);

#[test]
fn a_helper_that_fails_is_named_with_what_it_said() {
    let dir = tempfile::tempdir().unwrap();
    let missing = Compiler::Helper { program: PathBuf::from("/nowhere/helper"), arguments: Vec::new() };
    let error = load(missing, LONG).unwrap_err();
    assert!(
        error.to_string().starts_with("the compile helper failed: `/nowhere/helper` cannot be run"),
        "{error}"
    );
    for (text, said) in [
        ("exit 7", "the compile helper failed: exit status: 7"),
        ("echo 'no more memory' >&2; exit 1", "the compile helper failed: no more memory"),
        ("kill -9 $$", "the compile helper failed: signal: 9 (SIGKILL)"),
        ("echo 'refused: a bad component' >&2; exit 1", "it does not compile: a bad component"),
        ("exit 0", "the compile helper failed: its answer is for another engine"),
        ("cat", "the compile helper failed: its answer is for another engine"),
        ("head -c 100000 /dev/urandom", "the compile helper failed: its answer is for another engine"),
        (
            "printf '\\177ELF'; cat /dev/zero | head -c 4096",
            "the compile helper failed: its answer is for another engine",
        ),
        ("exec <&-; exit 3", "the compile helper failed: exit status: 3"),
        ("yes >&2; exit 4", "the compile helper failed: y"),
    ] {
        let error = load(script(&dir, text), LONG).unwrap_err();
        assert!(error.to_string().starts_with(said), "{text}: {error}");
    }
}

#[test]
fn a_helper_that_hangs_is_ended_with_everything_that_it_started() {
    let dir = tempfile::tempdir().unwrap();
    for text in [
        "while :; do :; done",
        // A child that holds the pipes.
        "sleep 600",
        "sleep 600 & wait",
        // It has answered, and does not end.
        "exec >&-; sleep 600",
        "exec >&- 2>&-; sleep 600",
        // It talks, and does not come to an end.
        "while :; do echo; done",
        "trap '' TERM INT HUP; while :; do sleep 1; done",
    ] {
        let error = load(script(&dir, text), SHORT).unwrap_err();
        assert!(matches!(error, LoadError::CompileTime(_)), "{text}: {error}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_component_that_cannot_be_compiled_within_the_memory_is_refused() {
    let mut options = RuntimeOptions::new(place::compiler());
    options.allocation = Allocation::OnDemand;
    options.compile_limits = CompileLimits { time: LONG, memory: 16 << 20 };
    let error = Runtime::new(options).unwrap().load(&guard()).unwrap_err();
    assert!(matches!(error, LoadError::Helper(_)), "{error}");
}

#[tokio::test]
async fn a_host_whose_helper_fails_refuses_every_call_until_it_works() {
    let dir = tempfile::tempdir().unwrap();
    let place = Place::new();
    place.put("strict.wasm", &guard());
    let mut options = place.options("[plugins]\nenabled = [\"strict\"]");
    options.cache = None;
    options.watch = true;
    options.compiler = script(&dir, "echo 'no more memory' >&2; exit 1");
    let host = Host::open(options).await.unwrap();
    let (code, reason) = standing(&host).await;
    assert_eq!(code, "load/helper");
    assert!(
        reason.contains("strict.wasm") && reason.contains("the compile helper failed: no more memory"),
        "{reason}"
    );

    // The file is as it was, and is tried again all the same.
    let Compiler::Helper { program, .. } = place::compiler() else { unreachable!() };
    script(&dir, &format!("exec '{}' \"$@\"", program.display()));
    host.refresh();
    assert_eq!(ls(&host).await, "strict");
}
