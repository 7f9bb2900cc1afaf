//! `portcullis doctor` with each thing that can be wrong: one line for it, a level, and a
//! remedy.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use std::fs;
use std::process::Command;

use portcullis_tests::plugin::Plugin;
use serde_json::Value;

use crate::support::{BINARY, Seen, User};

const LS: &str = r#"{"tool":"Bash","input":{"command":"ls"}}"#;
const RM: &str = r#"{"tool":"Bash","input":{"command":"rm -rf build"}}"#;

/// A user whose state is their own, with a protected agent.
struct Patient(User);

impl Patient {
    fn new() -> Self {
        let user = Self(User::new());
        // Compiled components are kept for all tests, under one key.
        let shared = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("state/portcullis/cache.key");
        if let Ok(key) = fs::read(shared) {
            user.0.write("state/portcullis/cache.key", key);
        }
        let seen = user.run(&["install", "claude"], "");
        assert_eq!(seen.code, Some(0), "{seen}");
        user
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.0.command(BINARY);
        command.env("XDG_STATE_HOME", self.0.path("state")).args(arguments);
        command
    }

    fn run(&self, arguments: &[&str], stdin: &str) -> Seen {
        self.0.finish(&mut self.command(arguments), stdin.as_bytes())
    }

    /// What is not as it should be: `LEVEL SUBJECT`, each with its remedy.
    fn complaints(&self, command: &mut Command) -> (Option<i32>, Vec<(String, String)>) {
        let seen = self.0.finish(command.arg("--json"), b"");
        let said: Value = serde_json::from_str(&seen.stdout).unwrap();
        let findings = said["findings"].as_array().unwrap().iter().filter(|finding| finding["level"] != "ok");
        let complaint = |finding: &Value| {
            let word = |key: &str| finding[key].as_str().unwrap_or_default().to_owned();
            (format!("{} {}", word("level"), word("subject")), word("remedy"))
        };
        (seen.code, findings.map(complaint).collect())
    }
}

type Break = fn(&Patient) -> Option<(&'static str, String)>;

/// Each fault: how it comes about, who complains first, what the remedy speaks of, and
/// the exit code. A variable that the break returns is set for `doctor`.
const FAULTS: &[(Break, &str, &str, i32)] = &[
    (
        |user| {
            user.0.config("[plugins]\nenabeld = []\n");
            None
        },
        "fail configuration",
        "enabled",
        1,
    ),
    (
        |user| {
            user.0.plugin("broken.wasm", b"no component");
            None
        },
        "fail plugin broken",
        "replace the file",
        1,
    ),
    (
        |user| {
            user.0.config("plugins.required = [\"house-rules\"]\n");
            None
        },
        "fail plugins",
        "mend",
        1,
    ),
    (
        |user| {
            user.0.config("plugins.enabled = [\"time\"]\n");
            None
        },
        "fail guards",
        "[plugins] enabled",
        1,
    ),
    (
        |user| {
            user.run(&["check"], RM);
            let file = user.0.path("state/portcullis/ledger/ledger.jsonl");
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, text.replacen("rm -rf build", "ls", 1)).unwrap();
            None
        },
        "fail ledger",
        "who changed it",
        1,
    ),
    (
        |user| {
            user.0.config("audit.required = true\n");
            drop(fs::remove_dir_all(user.0.path("state/portcullis/ledger")));
            user.0.write("state/portcullis/ledger", "in its place");
            None
        },
        "fail ledger",
        "[audit]",
        1,
    ),
    (
        |user| {
            let settings = user.0.path("home/.claude/settings.json");
            let text = fs::read_to_string(&settings).unwrap();
            fs::write(&settings, text.replace(BINARY, "/somewhere/else/portcullis")).unwrap();
            None
        },
        "fail claude",
        "portcullis install claude",
        1,
    ),
    (
        |user| {
            user.0.plugin("lost.wasm", &Plugin::new("lost").allows("unreachable").build().unwrap());
            user.run(&["check"], LS);
            None
        },
        "warn guard lost",
        "portcullis ledger show --by lost --fault",
        1,
    ),
    (
        |user| {
            user.0.config("[[hooks]]\nevent = \"pre-tool-use\"\nshell = true\ncommand = \"true\"\n");
            None
        },
        "warn hook pre-tool-use true",
        "failure_mode",
        0,
    ),
    (
        |user| {
            user.0.config("protect.own_files = false\n");
            None
        },
        "warn self-protection",
        "own_files",
        0,
    ),
    (
        |user| {
            user.0.plugin("broken.wasm", b"no component");
            let seen = user.run(&["break-glass", "broken.wasm", "--for", "5m", "--reason", "the test"], "");
            assert_eq!(seen.code, Some(0), "{seen}");
            None
        },
        "warn refusal of broken.wasm",
        "--end",
        1,
    ),
    (
        |user| {
            user.0.write("work/.portcullis/config.toml", "protect.own_files = false\n");
            None
        },
        "warn configuration",
        "the user's file",
        0,
    ),
    (
        |user| Some(("XDG_CACHE_HOME", user.0.write("a-file", "").join("cache").display().to_string())),
        "warn cache",
        "permissions",
        0,
    ),
    (
        |user| {
            let seen = user.run(&["uninstall", "claude"], "");
            assert_eq!(seen.code, Some(0), "{seen}");
            None
        },
        "warn agents",
        "portcullis install AGENT",
        0,
    ),
];

#[test]
fn each_fault_has_its_line_and_its_remedy() {
    let well = Patient::new();
    let complaints = well.complaints(&mut well.command(&["doctor"]));
    assert_eq!(complaints, (Some(0), Vec::new()), "the healthy arm");
    for (come_about, complains, remedy, code) in FAULTS {
        let user = Patient::new();
        let variable = come_about(&user);
        for _ in 0..2 {
            let mut command = user.command(&["doctor"]);
            command.envs(variable.clone());
            let (exit, complaints) = user.complaints(&mut command);
            assert_eq!(exit, Some(*code), "{complains}: {complaints:?}");
            let found = complaints.iter().find(|(subject, _)| subject == complains);
            let (_, told) = found.unwrap_or_else(|| panic!("{complains}: {complaints:?}"));
            assert!(told.contains(remedy), "{complains}: {told}");
            assert!(complaints.iter().all(|(_, remedy)| !remedy.is_empty()), "{complaints:?}");
        }
    }
}
