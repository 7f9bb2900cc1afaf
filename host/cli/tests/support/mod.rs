//! Runs the binary as a user of its own would, and shows what it said.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod agent;

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A user with a home directory and a workspace.
#[derive(Debug)]
pub(crate) struct User {
    dir: TempDir,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The exit code; none when a signal ended it.
    pub(crate) code: Option<i32>,
    /// All of standard output.
    pub(crate) stdout: String,
    /// All of standard error.
    pub(crate) stderr: String,
}

impl User {
    /// With nothing of their own.
    pub(crate) fn new() -> Self {
        let user = Self { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(user.path("work")).unwrap();
        user
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// Writes a file below the user's directory.
    pub(crate) fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        path
    }

    /// Writes the user's configuration.
    pub(crate) fn config(&self, text: &str) {
        self.write("config/portcullis/config.toml", text);
    }

    /// Puts a file into the user's plugin directory, as if it had been there for an hour.
    pub(crate) fn plugin(&self, name: &str, bytes: &[u8]) {
        old(&self.write(&format!("data/portcullis/plugins/{name}"), bytes));
    }

    /// The same for the workspace's.
    pub(crate) fn project_plugin(&self, name: &str, bytes: &[u8]) {
        old(&self.write(&format!("work/.portcullis/plugins/{name}"), bytes));
    }

    /// A command with this user's environment, in the workspace.
    pub(crate) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        // Compiled components are shared by all tests, because they are the same.
        let shared = Path::new(env!("CARGO_TARGET_TMPDIR"));
        #[allow(clippy::disallowed_methods, reason = "this test runs the binary")]
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.path("home"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("XDG_DATA_HOME", self.path("data"))
            .env("XDG_CACHE_HOME", shared.join("cache"))
            .env("XDG_STATE_HOME", shared.join("state"))
            .env("TZ", "UTC")
            .current_dir(self.path("work"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the binary.
    pub(crate) fn run(&self, arguments: &[&str], stdin: impl AsRef<[u8]>) -> Seen {
        let mut command = self.command(BINARY);
        command.args(arguments);
        self.finish(&mut command, stdin.as_ref())
    }

    /// Runs `command` with `stdin`.
    pub(crate) fn finish(&self, command: &mut Command, stdin: &[u8]) -> Seen {
        let mut child = command.spawn().unwrap();
        let mut pipe = child.stdin.take().unwrap();
        let output = std::thread::scope(|scope| {
            // It may end without having read everything.
            scope.spawn(move || drop(pipe.write_all(stdin)));
            child.wait_with_output().unwrap()
        });
        self.seen(&output)
    }

    /// What `output` shows, with the user's directory as `[user]`.
    pub(crate) fn seen(&self, output: &Output) -> Seen {
        let own = self.dir.path().to_string_lossy();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).replace(&*own, "[user]");
        Seen { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) }
    }
}

/// The binary under test: the one that cargo built beside the tests, or the one that they are built to test.
pub(crate) const BINARY: &str = match option_env!("PORTCULLIS_TESTED") {
    Some(program) => program,
    None => env!("CARGO_BIN_EXE_portcullis"),
};

/// The hook payload in `tests/fixtures/agents`.
pub(crate) fn fixture(name: &str) -> String {
    fs::read_to_string(fixtures().join(name)).unwrap()
}

/// The folder with hook payloads of real agents.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/agents")
}

fn old(path: &Path) {
    let file = fs::File::options().write(true).open(path).unwrap();
    let then = file.metadata().unwrap().modified().unwrap() - std::time::Duration::from_secs(3600);
    file.set_modified(then).unwrap();
}

impl std::fmt::Display for Seen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.code {
            Some(code) => writeln!(f, "exit {code}")?,
            None => writeln!(f, "ended by a signal")?,
        }
        for (name, text) in [("out", &self.stdout), ("err", &self.stderr)] {
            for line in text.lines() {
                writeln!(f, "{name}: {line}")?;
            }
        }
        Ok(())
    }
}

/// Compares what was seen with an inline snapshot; times are left out.
#[macro_export]
macro_rules! seen {
    ($seen:expr, @$snapshot:literal) => {{
        let mut settings = insta::Settings::clone_current();
        settings.add_filter(r#""micros":\d+"#, r#""micros":0"#);
        settings.add_filter(r"[0-9a-f]{64}", "[digest]");
        let _bound = settings.bind_to_scope();
        insta::assert_snapshot!($seen.to_string(), @$snapshot);
    }};
}
