//! `portcullis install`, `uninstall` and `doctor`, and what the installed entry
//! does when the program in it is not what it was.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use portcullis::agent::Agent;
use serde_json::{Value, json};

use crate::support::{BINARY, Seen, User, fixture};

/// An agent with a hook command, its file, the pointer to the command, how long the
/// command waits for the program, a captured payload.
struct Row(&'static str, &'static str, &'static str, u32, Option<&'static str>);

const AGENTS: [Row; 12] = [
    Row(
        "claude",
        "home/.claude/settings.json",
        "/hooks/PreToolUse/0/hooks/0/command",
        59,
        Some("claude/pre-bash.json"),
    ),
    Row(
        "codex",
        "home/.codex/hooks.json",
        "/hooks/PreToolUse/0/hooks/0/command",
        59,
        Some("codex/pre-bash.json"),
    ),
    Row(
        "gemini",
        "home/.gemini/settings.json",
        "/hooks/BeforeTool/0/hooks/0/command",
        57,
        Some("gemini/pre-run-shell-command.json"),
    ),
    Row("copilot", "home/.copilot/hooks/portcullis.json", "/hooks/preToolUse/0/bash", 27, None),
    Row("cursor", "home/.cursor/hooks.json", "/hooks/preToolUse/0/command", 27, None),
    Row(
        "goose",
        "home/.agents/plugins/portcullis/hooks/hooks.json",
        "/hooks/PreToolUse/0/hooks/0/command",
        27,
        None,
    ),
    Row("crush", "config/crush/crush.json", "/hooks/PreToolUse/0/command", 27, None),
    // The file itself is what is started.
    Row("cline", "home/Documents/Cline/Hooks/PreToolUse", "", 27, Some("cline/pre-run-commands.json")),
    Row("windsurf", "home/.codeium/windsurf/hooks.json", "/hooks/pre_run_command/0/command", 27, None),
    Row("droid", "home/.factory/hooks.json", "/PreToolUse/0/hooks/0/command", 27, None),
    Row("kiro", "home/.kiro/hooks/portcullis.json", "/hooks/0/action/command", 57, None),
    Row(
        "antigravity",
        "home/.gemini/config/hooks.json",
        "/portcullis/PreToolUse/0/hooks/0/command",
        27,
        None,
    ),
];

impl Row {
    fn installed(&self, user: &User) -> String {
        let seen = user.run(&["install", self.0], "");
        assert!(seen.code == Some(0) && seen.stdout.contains("through the entry"), "{seen}");
        let text = fs::read_to_string(user.path(self.1)).unwrap();
        if self.2.is_empty() {
            return text;
        }
        let settings: Value = serde_json::from_str(&text).unwrap();
        settings.pointer(self.2).unwrap().as_str().unwrap().to_owned()
    }

    fn payload(&self) -> String {
        self.4.map_or_else(|| self.0.parse::<Agent>().unwrap().canary("rm -rf build", "/"), fixture)
    }

    /// Whether this agent is kept from running the call, by what its makers say.
    fn is_blocked(&self, seen: &Seen) -> bool {
        let said = serde_json::from_str::<Value>(&seen.stdout).unwrap_or_default();
        let done = seen.code == Some(0);
        let by_code = seen.code == Some(2) && !seen.stderr.trim().is_empty();
        match self.0 {
            "gemini" => by_code || (done && said["decision"] == "deny"),
            "copilot" => by_code || (done && said["permissionDecision"] == "deny"),
            "cursor" => done && said["permission"] == "deny",
            "cline" => said["cancel"] == true,
            "antigravity" => done && said["decision"] == "deny",
            _ => by_code && seen.stdout.is_empty(),
        }
    }

    fn is_passed(&self, seen: &Seen) -> bool {
        let answer = match self.0 {
            "cursor" => "{\"permission\":\"allow\"}",
            "goose" => "{\"decision\":\"allow\"}",
            "cline" => "{\"cancel\":false}",
            "antigravity" => "{\"decision\":\"ask\"}",
            _ => "",
        };
        seen.code == Some(0) && seen.stdout.trim_end() == answer && seen.stderr.is_empty()
    }
}

/// Starts the entry as an agent does.
fn ask(user: &User, shell: &[&str], entry: &str, payload: &str) -> Seen {
    let mut command = user.command(shell[0]);
    command.args(&shell[1..]).arg(entry).env("PATH", "/usr/bin:/bin");
    user.finish(&mut command, payload.as_bytes())
}

fn harmless(payload: &str) -> String {
    payload.replace("rm -rf build", "npm test").replace("git clean -fdx", "npm test")
}

#[test]
fn an_entry_blocks_and_passes_in_every_shell_that_starts_it() {
    let shells: [&[&str]; 6] = [
        &["/bin/sh", "-c"],
        &["/bin/bash", "-c"],
        &["/bin/bash", "-lc"],
        &["/usr/bin/fish", "-c"],
        &["/bin/zsh", "-c"],
        &["/bin/ksh", "-c"],
    ];
    for row in AGENTS {
        let user = User::new();
        let (agent, entry, payload) = (row.0, row.installed(&user), row.payload());
        for shell in shells.into_iter().filter(|shell| Path::new(shell[0]).exists()) {
            let blocked = ask(&user, shell, &entry, &payload);
            assert!(
                row.is_blocked(&blocked) && blocked.to_string().contains("guard"),
                "{agent} {shell:?}: {blocked}"
            );
            let passed = ask(&user, shell, &entry, &harmless(&payload));
            assert!(row.is_passed(&passed), "{agent} {shell:?}: {passed}");
        }
    }
}

#[test]
fn an_entry_blocks_whatever_has_become_of_the_program() {
    let seal = "portcullis:answered";
    // What is in the program's place, and its permissions.
    let programs: [(&str, Option<String>, u32); 13] = [
        ("missing", None, 0),
        ("empty", Some(String::new()), 0o755),
        ("not executable", Some("#!/bin/sh\nexit 0\n".to_owned()), 0o644),
        ("no program", Some("\u{7f}ELF garbage".to_owned()), 0o755),
        ("a missing interpreter", Some("#!/no/such/interpreter\n".to_owned()), 0o755),
        ("ends with 0", Some("#!/bin/sh\ncat >/dev/null; exit 0\n".to_owned()), 0o755),
        ("ends with 1", Some("#!/bin/sh\ncat >/dev/null; exit 1\n".to_owned()), 0o755),
        ("ends with 2 and says nothing", Some("#!/bin/sh\nexit 2\n".to_owned()), 0o755),
        ("is killed", Some("#!/bin/sh\nkill -9 $$\n".to_owned()), 0o755),
        ("aborts", Some("#!/bin/sh\nkill -ABRT $$\n".to_owned()), 0o755),
        ("says garbage", Some("#!/bin/sh\necho garbage\n".to_owned()), 0o755),
        ("says an allow", Some("#!/bin/sh\necho '{\"decision\":\"allow\"}'\n".to_owned()), 0o755),
        ("says more behind the seal", Some(format!("#!/bin/sh\nprintf '{seal}\\nmore\\n'\n")), 0o755),
    ];
    for row in AGENTS {
        let user = User::new();
        let (agent, entry) = (row.0, row.installed(&user));
        for (what, text, mode) in &programs {
            let fake = user.path("fake");
            drop(fs::remove_file(&fake));
            if let Some(text) = text {
                fs::write(&fake, text).unwrap();
                fs::set_permissions(&fake, fs::Permissions::from_mode(*mode)).unwrap();
            }
            let entry = entry.replace(BINARY, fake.to_str().unwrap());
            for payload in [row.payload(), harmless(&row.payload())] {
                let seen = ask(&user, &["/bin/sh", "-c"], &entry, &payload);
                assert!(row.is_blocked(&seen), "{agent}, {what}: {seen}");
                let said = seen.to_string();
                assert!(said.contains("fault and not a decision") && said.contains("portcullis doctor"));
            }
        }
    }
}

#[test]
fn an_entry_blocks_when_the_program_hangs_and_leaves_nothing_running() {
    for row in AGENTS {
        let user = User::new();
        let entry = row.installed(&user);
        let wait = format!("sleep {} ", row.3);
        assert!(entry.contains(&wait), "it is between the program's deadline and the agent's: {entry}");
        let fake = user.write("fake", "#!/bin/sh\necho $$ > pid; exec sleep 1000\n");
        fs::set_permissions(&fake, fs::Permissions::from_mode(0o755)).unwrap();
        let entry = entry.replace(BINARY, fake.to_str().unwrap()).replace(&wait, "sleep 0.3 ");
        let seen = ask(&user, &["/bin/sh", "-c"], &entry, &row.payload());
        assert!(row.is_blocked(&seen), "{}: {seen}", row.0);
        let pid = fs::read_to_string(user.path("work/pid")).unwrap();
        assert!(!Path::new("/proc").join(pid.trim()).exists(), "the program still runs");
    }
}

#[test]
fn no_agent_may_change_a_file_that_an_install_writes() {
    let user = User::new();
    let own = user.path("");
    let (mut calls, mut files) = (String::new(), Vec::new());
    for agent in Agent::ALL {
        for arguments in [vec!["install", agent.as_str()], vec!["install", agent.as_str(), "--project"]] {
            let seen = user.run(&[&arguments[..], &["--json", "--dry-run"]].concat(), "");
            let report: Value = serde_json::from_str(&seen.stdout).unwrap();
            for change in report["changes"].as_array().unwrap() {
                let file = change["path"]
                    .as_str()
                    .unwrap()
                    .replace("[user]", own.to_str().unwrap().trim_end_matches('/'));
                let call = json!({ "tool": "Write", "input": { "file_path": file, "content": "" } });
                calls += &format!("{call}\n");
                files.push(file);
            }
        }
    }
    assert!(files.len() > 2 * Agent::ALL.len());
    let seen = user.run(&["check"], calls);
    for (file, line) in files.iter().zip(seen.stdout.lines()) {
        let judgement: Value = serde_json::from_str(line).unwrap();
        assert_eq!(judgement["code"], "self/hooks", "{file}: {line}");
    }
    assert_eq!(seen.stdout.lines().count(), files.len());
}

#[test]
fn an_agent_without_hook_processes_is_asked_for_as_its_plugin_asks() {
    let user = User::new();
    for agent in ["opencode", "amp"] {
        let seen = user.run(&["install", agent], "");
        assert!(seen.code == Some(0) && seen.stdout.contains("asked as its plugin asks"), "{seen}");
    }
}

#[test]
fn a_script_of_somebody_else_is_left_alone() {
    let user = User::new();
    let mine = "#!/bin/sh\necho '{}'\n";
    let file = user.write("home/Documents/Cline/Hooks/PreToolUse", mine);
    let seen = user.run(&["install", "cline"], "");
    assert!(seen.code == Some(1) && seen.stderr.contains("is not ours; move it away"), "{seen}");
    assert_eq!(fs::read_to_string(file).unwrap(), mine);
    assert!(!user.path("home/Documents/Cline/Hooks/TaskComplete").exists());
}

#[test]
fn installing_twice_changes_nothing_and_uninstalling_leaves_what_was_there() {
    let user = User::new();
    let before = "{\n  \"model\": \"opus\"\n}\n";
    let file = user.write("home/.claude/settings.json", before);
    let dry = user.run(&["install", "claude", "--dry-run"], "");
    assert!(dry.code == Some(0) && dry.stdout.contains("+  \"hooks\""), "{dry}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before, "a dry run writes nothing");
    let first = user.run(&["install", "claude"], "");
    assert!(
        first.stdout.contains("wrote") && first.stdout.contains("a dangerous call was stopped"),
        "{first}"
    );
    let with = fs::read_to_string(&file).unwrap();
    let second = user.run(&["install", "claude"], "");
    assert!(second.code == Some(0) && second.stdout.contains("already has the entry"), "{second}");
    assert_eq!(fs::read_to_string(&file).unwrap(), with);
    let gone = user.run(&["uninstall", "claude"], "");
    assert!(gone.code == Some(0) && gone.stdout.contains("wrote"), "{gone}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    let again = user.run(&["uninstall", "claude"], "");
    assert!(again.stdout.contains("has no entry of Portcullis"), "{again}");
}

#[test]
fn a_settings_file_that_cannot_be_parsed_is_left_alone() {
    let user = User::new();
    let file = user.write("home/.claude/settings.json", "{\"hooks\": ");
    for verb in ["install", "uninstall"] {
        let seen = user.run(&[verb, "claude"], "");
        assert!(seen.code == Some(1) && seen.stderr.contains("left as it is"), "{seen}");
        assert_eq!(fs::read_to_string(&file).unwrap(), "{\"hooks\": ");
    }
    let unknown = user.run(&["install", "claud"], "");
    assert!(unknown.code == Some(1) && unknown.stderr.contains("hint: `claude`"), "{unknown}");
}

#[test]
fn an_agent_whose_hooks_are_switched_off_is_told() {
    let user = User::new();
    let file = user.write("home/.factory/settings.json", "{\"hooksDisabled\": true}\n");
    let off = user.run(&["install", "droid"], "");
    assert!(off.code == Some(1) && off.stdout.contains("SWITCHED OFF: `hooksDisabled`"), "{off}");
    fs::write(file, "{}").unwrap();
    let on = user.run(&["install", "droid"], "");
    assert!(on.code == Some(0) && !on.stdout.contains("SWITCHED"), "{on}");
}

#[test]
fn a_canary_that_is_not_stopped_is_told() {
    let user = User::new();
    user.config("[plugins]\nenabled = []\n[protect]\nown_files = false\n");
    let seen = user.run(&["install", "claude"], "");
    assert!(seen.code == Some(1) && seen.stdout.contains("the dangerous call was not stopped"), "{seen}");
    let doctor = user.run(&["doctor"], "");
    assert_eq!(doctor.code, Some(1), "{doctor}");
    for said in ["no guard is active", "canary FAILED", "own_files"] {
        assert!(doctor.stdout.contains(said), "{said}: {doctor}");
    }
}

#[test]
fn doctor_is_content_with_what_was_installed_and_names_what_is_not_so() {
    let user = User::new();
    let none = user.run(&["doctor"], "");
    assert!(none.code == Some(0) && none.stdout.contains("no agent has an entry"), "{none}");
    user.run(&["install", "claude", "opencode"], "");
    let well = user.run(&["doctor"], "");
    assert!(well.code == Some(0) && !well.stdout.contains("FAIL"), "{well}");
    assert_eq!(well.stdout.matches("a dangerous call was stopped").count(), 2, "{well}");

    let settings = user.path("home/.claude/settings.json");
    let good = fs::read_to_string(&settings).unwrap();
    for (from, to, said) in [
        (BINARY, "/somewhere/else/portcullis", "holds another entry"),
        ("\"onFailure\"", "\"onfailure\"", "holds another entry"),
        ("{\n  \"hooks\"", "{\n  \"disableAllHooks\": true,\n  \"hooks\"", "switched off"),
        ("{\n", "{{\n", "not valid JSON"),
    ] {
        fs::write(&settings, good.replace(from, to)).unwrap();
        let seen = user.run(&["doctor"], "");
        assert!(seen.code == Some(1) && seen.stdout.contains(said), "{from}: {seen}");
        assert!(seen.stdout.contains("FAIL  claude"), "{seen}");
    }
    fs::write(&settings, &good).unwrap();

    user.plugin("broken.wasm", b"not a component");
    let broken = user.run(&["doctor"], "");
    assert!(broken.code == Some(1) && broken.stdout.contains("FAIL  plugin broken"), "{broken}");
    user.config("[plugins]\nenabeld = []\n");
    let config = user.run(&["doctor", "--json"], "");
    let findings: Value = serde_json::from_str(&config.stdout).unwrap();
    assert_eq!(findings["findings"][0]["level"], "fail", "{config}");
    assert!(config.stdout.contains("enabeld"), "{config}");
}
