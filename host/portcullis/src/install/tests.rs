#![allow(clippy::unwrap_used, clippy::panic, reason = "a test ends when anything is wrong")]

use std::fs;
use std::path::PathBuf;
use std::sync::Barrier;

use tempfile::TempDir;

use super::*;

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn write(&self, path: &str, text: &str) {
        fs::create_dir_all(self.at(path).parent().unwrap()).unwrap();
        fs::write(self.at(path), text).unwrap();
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.at(path)).unwrap()
    }

    fn wanted(&self, agent: Agent) -> Installation {
        Installation {
            events: BTreeSet::new(),
            agent,
            scope: Scope::User,
            program: PathBuf::from("/opt/bin/portcullis"),
            home: self.0.path().to_owned(),
            project: self.at("project"),
            variables: BTreeMap::new(),
        }
    }

    fn install(&self, agent: Agent) {
        self.wanted(agent).plan().unwrap().apply().unwrap();
    }

    fn uninstall(&self, agent: Agent) {
        self.wanted(agent).plan_removal().unwrap().apply().unwrap();
    }

    fn states(&self, agent: Agent) -> Vec<State> {
        self.wanted(agent).standing().unwrap().into_iter().map(|standing| standing.state).collect()
    }
}

const SETTINGS: &str = ".claude/settings.json";

const SCOPES: [Scope; 2] = [Scope::User, Scope::Project];

/// Every file below a directory, in order.
fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).into_iter().flatten() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found.sort();
    found
}

#[test]
fn every_agent_is_installed_once_and_removed_without_a_trace() {
    for agent in Agent::ALL {
        for scope in SCOPES {
            let home = Home::new();
            for events in [BTreeSet::new(), BTreeSet::from([Event::PromptSubmit]), Event::ALL.into()] {
                let wanted = Installation { scope, events, ..home.wanted(agent) };
                let all = |state| {
                    let standings = wanted.standing().unwrap();
                    assert!(
                        standings.iter().all(|standing| standing.state == state),
                        "{agent}: {standings:?}"
                    );
                };
                all(State::Absent);
                wanted.plan().unwrap().apply().unwrap();
                all(State::Current);
                assert!(wanted.plan().unwrap().changes().is_empty(), "{agent} is written twice");
                let command = wanted.installed_command().unwrap();
                assert_eq!(command.is_none(), matches!(agent, Agent::OpenCode | Agent::Amp), "{agent}");
                wanted.plan_removal().unwrap().apply().unwrap();
                all(State::Absent);
                assert_eq!(files(&home.at("")), [] as [PathBuf; 0], "{agent}");
                assert!(!home.at(".agents/plugins/portcullis").exists());
            }
            // Fewer events than before leave nothing behind.
            let wanted = Installation { scope, ..home.wanted(agent) };
            wanted.with_every_event().plan().unwrap().apply().unwrap();
            wanted.plan().unwrap().apply().unwrap();
            assert!(wanted.standing().unwrap().iter().all(|standing| standing.state == State::Current));
            let left = files(&home.at("")).len();
            assert_eq!(left, wanted.standing().unwrap().len(), "{agent}");
            wanted.plan_removal().unwrap().apply().unwrap();
        }
    }
}

/// What is written into an empty home and an empty project, for a reviewer to read.
#[test]
#[allow(clippy::disallowed_methods, reason = "whoever runs the test says whether to write")]
fn every_agent_gets_the_documents_that_are_committed() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/install");
    for agent in Agent::ALL {
        let mut text = String::new();
        let mut user = Vec::new();
        for (scope, root) in SCOPES.into_iter().zip(["HOME", "PROJECT"]) {
            let home = Home::new();
            let program = PathBuf::from("/PATH/portcullis");
            let wanted = Installation { scope, program, ..home.wanted(agent) };
            wanted.plan().unwrap().apply().unwrap();
            let top = if scope == Scope::User { home.at("") } else { home.at("project") };
            let mut contents = Vec::new();
            let written = files(&home.at(""));
            for file in &written {
                let executable = Snapshot::read(file).unwrap().executable();
                let mark = if executable { " (executable)" } else { "" };
                text += &format!("== {root}/{}{mark}\n", file.strip_prefix(&top).unwrap().display());
                let content = fs::read_to_string(file).unwrap();
                if user.contains(&content) {
                    text += "as above\n";
                } else {
                    text += &content;
                }
                contents.push(content);
            }
            user = contents;
        }
        // The same with every event that it can ask for.
        let home = Home::new();
        let wanted = Installation { program: PathBuf::from("/PATH/portcullis"), ..home.wanted(agent) };
        wanted.with_every_event().plan().unwrap().apply().unwrap();
        for file in files(&home.at("")) {
            let content = fs::read_to_string(&file).unwrap();
            if !user.contains(&content) {
                let shown = file.strip_prefix(home.at("")).unwrap().display();
                text += &format!("== HOME/{shown} with `--events all`\n{content}");
            }
        }
        let path = Path::new(folder).join(format!("{agent}.txt"));
        if std::env::var_os("PORTCULLIS_WRITE_INSTALL").is_some() {
            fs::write(&path, &text).unwrap();
        }
        assert!(
            fs::read_to_string(&path).unwrap_or_default() == text,
            "PORTCULLIS_WRITE_INSTALL=1 writes `{}` anew; install writes now:\n{text}",
            path.display()
        );
    }
}

/// The page says where a hook's block counts, and what an entry asks for.
#[test]
fn the_reference_says_where_a_block_counts() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/reference/agents.md");
    let page = fs::read_to_string(page).unwrap();
    for agent in Agent::ALL {
        let cells = Event::ALL.map(|event| {
            let (hears, heeds) = (agent.hears(event), agent.heeds(event));
            match (hears, heeds, Installation::can_ask_for(agent, event)) {
                (false, ..) => "none",
                (true, true, true) => "**blocks**",
                (true, true, false) => "blocks, by hand",
                (true, false, true) => "told",
                (true, false, false) => "told, by hand",
            }
        });
        let row = format!("| `{agent}` | {} |", cells.join(" | "));
        assert!(page.lines().any(|line| line == row), "the page lacks:\n{row}");
    }
}

#[test]
fn an_entry_waits_longer_than_the_hook_and_less_than_the_agent() {
    for agent in Agent::ALL {
        let home = Home::new();
        home.install(agent);
        let Some(command) = home.wanted(agent).installed_command().unwrap() else { continue };
        let command = if command.starts_with("/bin/sh") {
            command
        } else {
            fs::read_to_string(command.trim_matches('\'')).unwrap()
        };
        let (_, rest) = command.split_once("(sleep ").unwrap();
        let seconds = rest.split_once(' ').unwrap().0.parse().unwrap();
        let watch = std::time::Duration::from_secs(seconds);
        assert!(agent.deadline() < watch && watch < agent.timeout(), "{agent}: {seconds}");
        // Only the script, the program and the refusal are quoted, and nothing in them ends a quote.
        let quotes = command.lines().last().unwrap().matches('\'').count();
        let said = matches!(agent, Agent::Cursor | Agent::Cline | Agent::Antigravity);
        assert_eq!(quotes, if said { 6 } else { 4 }, "{agent}: {command}");
        assert!(!command.lines().last().unwrap().contains('\\'), "{agent}: {command}");
    }
}

#[test]
fn a_version_that_an_agent_wants_is_put_there_and_goes_when_nothing_else_is_left() {
    let file = ".cursor/hooks.json";
    for (before, version) in [
        ("{}", "1"),
        ("{\"hooks\": {}}", "1"),
        ("{\"version\": 2}", "2"),
        ("{\"hooks\": {\"stop\": [{\"command\": \"./mine.sh\"}]}}", "1"),
    ] {
        let home = Home::new();
        home.write(file, before);
        home.install(Agent::Cursor);
        let value: serde_json::Value = serde_json::from_str(&home.read(file)).unwrap();
        assert_eq!(value["version"].to_string(), version, "{before}");
        assert_eq!(value["hooks"]["preToolUse"][0]["failClosed"], true);
        home.uninstall(Agent::Cursor);
        let others = before.contains("mine") || before.contains('2');
        assert_eq!(home.at(file).exists(), others, "{before}");
        assert!(!others || !home.read(file).contains("portcullis"));
    }
    let home = Home::new();
    home.install(Agent::Cursor);
    home.write(file, &home.read(file).replace("\"version\": 1,", ""));
    assert_eq!(home.states(Agent::Cursor), [State::Outdated]);
}

#[test]
fn a_document_that_is_kept_elsewhere_stays_when_it_is_empty() {
    let home = Home::new();
    home.write("dotfiles/hooks.json", "{}");
    fs::create_dir_all(home.at(".cursor")).unwrap();
    std::os::unix::fs::symlink(home.at("dotfiles/hooks.json"), home.at(".cursor/hooks.json")).unwrap();
    home.install(Agent::Cursor);
    home.uninstall(Agent::Cursor);
    assert!(home.at("dotfiles/hooks.json").exists());
}

#[test]
fn a_script_of_ours_is_started_or_mended_and_one_of_others_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let file = "Documents/Cline/Hooks/PreToolUse";
    let home = Home::new();
    home.install(Agent::Cline);
    fs::set_permissions(home.at(file), fs::Permissions::from_mode(0o644)).unwrap();
    assert_eq!(home.states(Agent::Cline), [State::Outdated, State::Current]);
    home.install(Agent::Cline);
    assert_eq!(home.states(Agent::Cline), [State::Current, State::Current]);

    let mine = "#!/bin/sh\necho '{\"cancel\":false}'\n";
    home.write(file, mine);
    assert!(matches!(home.wanted(Agent::Cline).plan(), Err(InstallError::Foreign { .. })));
    assert_eq!(
        home.wanted(Agent::Cline).installed_command().unwrap().map(|text| text.contains("Pre")),
        Some(false)
    );
    home.uninstall(Agent::Cline);
    assert_eq!(home.read(file), mine);
    assert!(!home.at("Documents/Cline/Hooks/TaskComplete").exists());
}

/// A new file of hooks would keep Droid from reading those in its settings.
#[test]
fn droids_entry_joins_the_hooks_that_it_reads() {
    let (own, settings) = (".factory/hooks.json", ".factory/settings.json");
    let mine = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"./mine.sh"}]}]}}"#;
    let home = Home::new();
    home.write(settings, mine);
    home.install(Agent::Droid);
    assert!(!home.at(own).exists() && home.read(settings).contains("./mine.sh"));
    assert_eq!(home.states(Agent::Droid), [State::Current]);
    // With the file, the entry in the settings is dead.
    home.write(own, "{}");
    assert_eq!(home.states(Agent::Droid), [State::Absent, State::Outdated]);
    home.install(Agent::Droid);
    assert!(home.read(own).contains("hook --agent") && !home.read(settings).contains("portcullis"));
    assert_eq!(home.states(Agent::Droid), [State::Current]);
    home.uninstall(Agent::Droid);
    assert!(!home.at(own).exists() && home.read(settings).contains("./mine.sh"));
}

#[test]
fn a_switch_that_keeps_an_agent_from_running_hooks_is_named() {
    for (agent, file, text, key) in [
        (Agent::Claude, SETTINGS, r#"{"disableAllHooks":true}"#, "disableAllHooks"),
        (Agent::Codex, ".codex/config.toml", "[features]\nhooks = false\n", "hooks = false"),
        (
            Agent::Gemini,
            ".gemini/settings.json",
            r#"{"hooksConfig":{"enabled":false}}"#,
            "hooksConfig.enabled",
        ),
        (Agent::Copilot, ".copilot/settings.json", r#"{"disableAllHooks":true}"#, "disableAllHooks"),
        (Agent::Droid, ".factory/settings.json", r#"{"hooksDisabled":true}"#, "hooksDisabled"),
        (
            Agent::Antigravity,
            ".gemini/config/hooks.json",
            r#"{"portcullis":{"enabled":false}}"#,
            "portcullis.enabled",
        ),
    ] {
        let home = Home::new();
        assert_eq!(home.wanted(agent).switched_off().unwrap(), None, "{agent}");
        home.write(file, text);
        let said = home.wanted(agent).switched_off().unwrap().unwrap();
        assert!(said.contains(&format!("`{key}`")), "{agent}: {said}");
        home.write(file, &text.replace("true", "null").replace("false", "true"));
        assert_eq!(home.wanted(agent).switched_off().unwrap(), None, "{agent}");
    }
}

#[test]
fn what_others_wrote_stays_as_it_is() {
    let home = Home::new();
    let before = "{\n    // mine\n    \"model\": \"opus\",\n    \"hooks\": {\n        \"PreToolUse\": [\n            \
                  { \"matcher\": \"Bash\", \"hooks\": [{ \"type\": \"command\", \"command\": \"./mine.sh\" }] }\n        \
                  ],\n        \"Notification\": []\n    },\n}\n";
    home.write(SETTINGS, before);
    home.install(Agent::Claude);
    let with = home.read(SETTINGS);
    for line in
        ["    // mine", "    \"model\": \"opus\",", "./mine.sh", "\"Notification\": []", "    },\n}\n"]
    {
        assert!(with.contains(line), "{line:?} is gone from {with}");
    }
    assert!(with.contains("hook --agent"), "{with}");
    home.uninstall(Agent::Claude);
    let left: String = home.read(SETTINGS).split_whitespace().collect();
    assert_eq!(left.replace(",}", "}"), before.split_whitespace().collect::<String>().replace(",}", "}"));
}

#[test]
fn an_entry_of_another_version_is_replaced_and_one_of_the_readme_too() {
    let home = Home::new();
    home.write(
        SETTINGS,
        r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/old/portcullis hook --agent claude"},{"type":"command","command":"./mine.sh"}]}]}}"#,
    );
    assert_eq!(home.states(Agent::Claude), [State::Outdated]);
    home.install(Agent::Claude);
    let text = home.read(SETTINGS);
    assert!(!text.contains("/old/") && text.contains("./mine.sh"), "{text}");
    assert_eq!(text.matches("PreToolUse").count(), 1);
    assert_eq!(home.states(Agent::Claude), [State::Current]);
}

#[test]
fn a_file_that_cannot_be_understood_is_left_alone() {
    for (text, said) in [
        ("{\"hooks\": ", "not valid JSON"),
        ("{\"a\": 1} {", "not valid JSON"),
        ("[]", "`the document` in"),
        ("{\"hooks\": []}", "`hooks` in"),
        ("{\"hooks\": {\"PreToolUse\": {}}}", "`hooks.PreToolUse` in"),
        ("{\"hooks\": {}, \"hooks\": {}}", "occurs twice"),
        ("{\"a\": {\"b\": 1, \"b\": 2}}", "occurs twice"),
        ("{'hooks': {}}", "not valid JSON"),
    ] {
        let home = Home::new();
        home.write(SETTINGS, text);
        let error = home.wanted(Agent::Claude).plan().map(|_| ()).unwrap_err().to_string();
        assert!(error.contains(said) && error.contains("left as it is"), "{text}: {error}");
        // There is nothing of ours in it, or nobody knows.
        assert!(home.wanted(Agent::Claude).plan_removal().map_or(true, |plan| plan.changes().is_empty()));
        assert_eq!(home.read(SETTINGS), text);
    }
}

#[test]
fn an_empty_file_and_one_that_is_not_there_become_a_document() {
    for text in [None, Some(""), Some("\n"), Some("{}")] {
        let home = Home::new();
        if let Some(text) = text {
            home.write(SETTINGS, text);
        }
        home.install(Agent::Claude);
        let value: serde_json::Value = serde_json::from_str(&home.read(SETTINGS)).unwrap();
        let hook = value.pointer("/hooks/PreToolUse/0/hooks/0").unwrap();
        assert_eq!(hook.get("onFailure").unwrap(), "block");
        assert_eq!(hook.get("timeout").unwrap(), 60);
        assert!(value.pointer("/hooks/PreToolUse/0/matcher").is_none(), "every tool is judged");
    }
}

#[test]
fn a_change_by_somebody_else_is_kept_and_reported() {
    for (first, second) in [(None, Some("{\"a\":1}")), (Some("{}"), Some("{\"a\":1}"))] {
        let home = Home::new();
        if let Some(first) = first {
            home.write(SETTINGS, first);
        }
        let plan = home.wanted(Agent::Claude).plan().unwrap();
        home.write(SETTINGS, second.unwrap());
        assert!(matches!(plan.apply(), Err(InstallError::Changed { .. })));
        assert_eq!(home.read(SETTINGS), second.unwrap());
        assert_eq!(fs::read_dir(home.at(".claude")).unwrap().count(), 1, "nothing is left beside it");
    }
    let home = Home::new();
    home.install(Agent::OpenCode);
    let plan = home.wanted(Agent::OpenCode).plan_removal().unwrap();
    home.write(".config/opencode/plugins/portcullis.js", "// mine now");
    assert!(matches!(plan.apply(), Err(InstallError::Changed { .. })));
    assert_eq!(home.read(".config/opencode/plugins/portcullis.js"), "// mine now");
}

/// D05: two writers and a third that edits by hand.
#[test]
fn many_writers_lose_nothing() {
    let home = Home::new();
    home.write(SETTINGS, "{}");
    let writers = 8;
    let start = Barrier::new(writers);
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let (home, start) = (&home, &start);
            scope.spawn(move || {
                start.wait();
                for round in 0..5 {
                    let key = format!("w{writer}r{round}");
                    loop {
                        let held = Snapshot::read(&home.at(SETTINGS)).unwrap();
                        let mut value: serde_json::Value =
                            serde_json::from_str(held.text().unwrap()).unwrap();
                        value.as_object_mut().unwrap().insert(key.clone(), 1.into());
                        match held.replace(Some(&value.to_string()), false) {
                            Ok(()) => break,
                            Err(InstallError::Changed { .. }) => {}
                            Err(error) => panic!("{error}"),
                        }
                    }
                }
            });
        }
    });
    let value: serde_json::Value = serde_json::from_str(&home.read(SETTINGS)).unwrap();
    assert_eq!(value.as_object().unwrap().len(), writers * 5);
}

#[test]
fn a_link_stays_a_link_and_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    let home = Home::new();
    home.write("dotfiles/claude.json", "{}");
    fs::set_permissions(home.at("dotfiles/claude.json"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::create_dir_all(home.at(".claude")).unwrap();
    symlink(home.at("dotfiles/claude.json"), home.at(SETTINGS)).unwrap();
    home.install(Agent::Claude);
    assert!(fs::symlink_metadata(home.at(SETTINGS)).unwrap().is_symlink());
    assert!(home.read("dotfiles/claude.json").contains("hook --agent"));
    let mode = fs::metadata(home.at("dotfiles/claude.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    // A link that leads nowhere is not written through.
    let broken = Home::new();
    fs::create_dir_all(broken.at(".claude")).unwrap();
    symlink(broken.at("gone"), broken.at(SETTINGS)).unwrap();
    assert!(matches!(broken.wanted(Agent::Claude).plan(), Err(InstallError::Read { .. })));
}

#[test]
fn somebody_elses_plugin_is_not_overwritten() {
    let home = Home::new();
    home.write(".config/opencode/plugins/portcullis.js", "export const Mine = 1;");
    assert!(matches!(home.wanted(Agent::OpenCode).plan(), Err(InstallError::Foreign { .. })));
    home.uninstall(Agent::OpenCode);
    assert_eq!(home.read(".config/opencode/plugins/portcullis.js"), "export const Mine = 1;");
}

#[test]
fn a_program_that_cannot_stand_in_a_command_is_refused() {
    for program in
        ["bin/portcullis", "/a'b/portcullis", "/a\\b/portcullis", "/a!b/portcullis", "/a\nb/portcullis"]
    {
        let home = Home::new();
        let wanted = Installation { program: PathBuf::from(program), ..home.wanted(Agent::Claude) };
        assert!(matches!(wanted.plan(), Err(InstallError::Program { .. })), "{program}");
    }
}

#[test]
fn variables_and_the_project_put_files_elsewhere() {
    let home = Home::new();
    let mut wanted = home.wanted(Agent::Claude);
    wanted.variables.insert("CLAUDE_CONFIG_DIR".to_owned(), "/elsewhere/claude".to_owned());
    let path = |wanted: &Installation| wanted.standing().unwrap().first().unwrap().path.clone();
    assert_eq!(path(&wanted), PathBuf::from("/elsewhere/claude/settings.json"));
    wanted.scope = Scope::Project;
    assert_eq!(path(&wanted), home.at("project/.claude/settings.json"));
}
