//! A guarded tool that makes a file, and the host that guards it.

#![allow(dead_code, reason = "each file of tests uses a part")]

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Waker};

use portcullis::{Host, HostOptions, Session};
use portcullis_model::call::ToolCall;
use portcullis_model::input::Input;
use portcullis_model::judgement::JudgementWire;
use portcullis_runtime::{CacheDir, Compiler, Terminal};
use tempfile::TempDir;

/// The guard's time in these tests, long enough for a machine that is busy.
pub(crate) const GUARD_MS: u32 = 400;

/// The compile helper that cargo built beside this test.
pub(crate) fn compiler() -> Compiler {
    Compiler::Helper { program: PathBuf::from(env!("CARGO_BIN_EXE_compile-helper")), arguments: Vec::new() }
}

/// Options with a cache that the tests share, and no bundled plugin.
pub(crate) fn options() -> HostOptions {
    let shared = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let mut options = HostOptions::new(compiler());
    options.cache =
        Some(CacheDir { dir: shared.join("components"), key: shared.join("state").join("cache.key") });
    options.config.plugins.enabled = Some(Vec::new());
    options
}

/// One guard, in front of one tool.
#[derive(Debug)]
pub(crate) struct Bench {
    dir: TempDir,
    session: Session,
    made: AtomicUsize,
}

/// What became of a call.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The tool ran: its file is there.
    pub(crate) ran: bool,
    /// What the gate said.
    pub(crate) wire: JudgementWire,
}

impl Bench {
    pub(crate) async fn with(component: &[u8]) -> Self {
        Self::open(component, options(), "").await
    }

    pub(crate) async fn with_panicking_bell(component: &[u8]) -> Self {
        let mut options = options();
        options.terminal = Arc::new(PanickingBell);
        Self::open(component, options, "[plugin.probe.grant]\nterminal = true").await
    }

    async fn open(component: &[u8], mut options: HostOptions, config: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("probe.wasm");
        std::fs::write(&file, component).unwrap();
        let text = format!(
            "[plugins]\nenabled = []\n[plugin.probe.limits]\nguard_ms = {GUARD_MS}\nmemory_mib = 32\n{config}"
        );
        let path = dir.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        options.config = portcullis::read_config(&path).unwrap();
        options.plugins = vec![file];
        let host = Host::open(options).await.unwrap();
        let standing = host.report().standing;
        assert!(standing.is_empty(), "{standing:?}");
        Self { dir, session: host.session("test"), made: AtomicUsize::new(0) }
    }

    /// Judges a call of the tool, and runs the tool when there is a permit.
    pub(crate) async fn call(&self, command: &str) -> Seen {
        let marker = self.dir.path().join(self.made.fetch_add(1, Ordering::SeqCst).to_string());
        let judgement = self.session.turn().judge(call(command)).await;
        let wire = judgement.to_wire();
        if let Ok(permit) = judgement.outcome {
            std::fs::write(&marker, permit.input()).unwrap();
        }
        Seen { ran: marker.exists(), wire }
    }

    /// Begins a judgement, and drops it after it was polled `polls` times.
    pub(crate) async fn call_and_drop(&self, command: &str, polls: usize) {
        let turn = self.session.turn();
        let mut judgement = pin!(turn.judge(call(command)));
        for _ in 0..polls {
            let ready = judgement.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready();
            if ready {
                return;
            }
            tokio::task::yield_now().await;
        }
    }
}

/// A call of the shell tool.
pub(crate) fn call(command: &str) -> ToolCall {
    ToolCall {
        id: "c1".to_owned(),
        tool: "Bash".to_owned(),
        input: Input::from_value(serde_json::json!({ "command": command })).unwrap(),
        cwd: "/home/dev/app".to_owned(),
        session_id: "test".to_owned(),
    }
}

#[derive(Debug)]
struct PanickingBell;

impl Terminal for PanickingBell {
    fn bell(&self) {
        panic!("a bell that panics");
    }
}
