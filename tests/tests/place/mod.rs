//! A user and a project with their plugin directories, and a host over both.

#![allow(dead_code, reason = "each test file uses a part of it")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use portcullis::config::Files;
use portcullis::{Host, HostOptions, PluginRow, PluginState};
use portcullis_model::call::ToolCall;
use portcullis_model::fault::FaultKind;
use portcullis_model::input::Input;
use portcullis_model::judgement::{JudgementWire, RefuserKind, Verdict};
use portcullis_runtime::{CacheDir, Compiler, Terminal};
use serde_json::{Value, json};
use tempfile::TempDir;

/// A user and a project.
#[derive(Debug)]
pub(crate) struct Place {
    dir: TempDir,
    pub(crate) bell: Arc<Bell>,
}

impl Place {
    /// With empty plugin directories.
    pub(crate) fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap(), bell: Arc::default() };
        fs::create_dir_all(place.user()).unwrap();
        fs::create_dir_all(place.project()).unwrap();
        place
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn user(&self) -> PathBuf {
        self.path("user")
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.path("project")
    }

    /// Puts a file into the user's plugin directory, as if it had been there for an hour.
    pub(crate) fn put(&self, name: &str, bytes: &[u8]) {
        put(&self.user().join(name), bytes);
    }

    /// The same for the project's.
    pub(crate) fn put_project(&self, name: &str, bytes: &[u8]) {
        put(&self.project().join(name), bytes);
    }

    /// The options of a host whose configuration is `config`.
    pub(crate) fn options(&self, config: &str) -> HostOptions {
        let path = self.path("config.toml");
        fs::write(&path, config).unwrap();
        let shared = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let mut options = HostOptions::new(compiler());
        options.cache =
            Some(CacheDir { dir: shared.join("components"), key: shared.join("state").join("cache.key") });
        options.config = portcullis::read_config(&path).unwrap();
        options.plugin_dir = Some(self.user());
        options.project_plugin_dir = Some(self.project());
        options.terminal = Arc::clone(&self.bell) as _;
        options
    }

    pub(crate) async fn open(&self, config: &str) -> Host {
        Host::open(self.options(config)).await.unwrap()
    }

    /// A host that follows the directories and its configuration file.
    pub(crate) async fn follow(&self, config: &str) -> Host {
        let mut options = self.options("");
        self.configure(config);
        let files = Files { user: Some(self.path("config.toml")), ..Files::default() };
        options.configure(files.clone(), portcullis::config::load(&files).unwrap());
        options.watch = true;
        Host::open(options).await.unwrap()
    }

    /// Writes the configuration file as an editor does that replaces it, an hour ago.
    pub(crate) fn configure(&self, config: &str) {
        let temporary = self.path("config.tmp");
        fs::write(&temporary, config).unwrap();
        age(&temporary);
        fs::rename(&temporary, self.path("config.toml")).unwrap();
    }

    /// A host that follows the directories.
    pub(crate) async fn watch(&self, config: &str) -> Host {
        let mut options = self.options(config);
        options.watch = true;
        Host::open(options).await.unwrap()
    }
}

/// The compile helper that cargo built beside this test.
pub(crate) fn compiler() -> Compiler {
    Compiler::Helper { program: PathBuf::from(env!("CARGO_BIN_EXE_compile-helper")), arguments: Vec::new() }
}

fn put(path: &Path, bytes: &[u8]) {
    fs::write(path, bytes).unwrap();
    age(path);
}

/// Puts a file in place the way an editor or a package manager does.
pub(crate) fn rename_into(path: &Path, bytes: &[u8]) {
    let temporary = path.with_extension("tmp");
    fs::write(&temporary, bytes).unwrap();
    fs::rename(&temporary, path).unwrap();
}

/// Makes a file look as if nobody had touched it for an hour.
pub(crate) fn age(path: &Path) {
    let file = File::options().write(true).open(path).unwrap();
    let then = file.metadata().unwrap().modified().unwrap() - Duration::from_secs(3600);
    file.set_modified(then).unwrap();
}

/// Makes a file look as if it were written at this moment, whenever that was.
pub(crate) fn in_the_making(path: &Path) {
    File::options().append(true).open(path).unwrap().set_len(fs::metadata(path).unwrap().len()).unwrap();
}

/// Counts how often it was rung.
#[derive(Debug, Default)]
pub(crate) struct Bell(AtomicUsize);

impl Bell {
    /// How often since the last time that this was asked.
    pub(crate) fn rung(&self) -> usize {
        self.0.swap(0, Ordering::SeqCst)
    }
}

impl Terminal for Bell {
    fn bell(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A call of `tool` with `input`.
pub(crate) fn call(tool: &str, input: Value) -> ToolCall {
    ToolCall {
        id: "c1".to_owned(),
        tool: tool.to_owned(),
        input: Input::from_value(input).unwrap(),
        cwd: "/home/dev/app".to_owned(),
        session_id: "s1".to_owned(),
    }
}

/// A call of the shell tool.
pub(crate) fn bash(command: &str) -> ToolCall {
    call("Bash", json!({ "command": command }))
}

/// Judges a call in a turn of its own.
pub(crate) async fn judge(host: &Host, call: ToolCall) -> JudgementWire {
    host.session("s1").turn().judge(call).await.to_wire()
}

/// What became of `ls`: `allow`, or who refused it, `GUARD` or `GUARD!FAULT`.
pub(crate) async fn ls(host: &Host) -> String {
    outcome(&judge(host, bash("ls")).await)
}

/// `allow`, or who refused, `NAME` or `NAME!FAULT`.
pub(crate) fn outcome(wire: &JudgementWire) -> String {
    match (wire.verdict, &wire.by, wire.fault) {
        (Verdict::Allow, None, None) => "allow".to_owned(),
        (Verdict::Block, Some(by), None) => by.name.clone(),
        (Verdict::Block, Some(by), Some(fault)) => format!("{}!{fault}", by.name),
        other => format!("{other:?}"),
    }
}

/// Asserts that every call is refused until something is mended; the code and the reason.
pub(crate) async fn standing(host: &Host) -> (String, String) {
    let wire = judge(host, bash("ls")).await;
    assert_eq!(wire.verdict, Verdict::Block, "{wire:?}");
    assert_eq!(wire.by.as_ref().map(|by| by.kind), Some(RefuserKind::Standing), "{wire:?}");
    assert_eq!(wire.fault, Some(FaultKind::Load), "{wire:?}");
    (wire.code.unwrap(), wire.reason.unwrap())
}

/// The names of the plugins that act, in order.
pub(crate) fn active(host: &Host) -> Vec<String> {
    let acts = |row: &PluginRow| {
        matches!(row.state, PluginState::Active | PluginState::Stale(_) | PluginState::Kept)
    };
    host.report().rows.into_iter().filter(acts).map(|row| row.name).collect()
}

/// The row of `name` that is in `state`.
pub(crate) fn row(host: &Host, name: &str, state: &str) -> PluginRow {
    let rows = host.report().rows;
    let found = rows.iter().find(|row| row.name == name && row.state.as_str() == state);
    found.cloned().unwrap_or_else(|| panic!("no `{name}` that is {state} in {rows:#?}"))
}
