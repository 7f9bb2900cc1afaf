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

#[test]
fn every_agent_is_installed_once_and_removed_without_a_trace() {
    for agent in Agent::ALL {
        let home = Home::new();
        assert!(home.states(agent).iter().all(|state| *state == State::Absent), "{agent}");
        home.install(agent);
        assert!(home.states(agent).iter().all(|state| *state == State::Current), "{agent}");
        assert!(home.wanted(agent).plan().unwrap().changes().is_empty(), "{agent} is written twice");
        home.uninstall(agent);
        assert!(home.states(agent).iter().all(|state| *state == State::Absent), "{agent}");
        for site in site::of(&home.wanted(agent)).unwrap() {
            let left = fs::read_to_string(site.path()).unwrap_or_default();
            assert!(!left.contains("portcullis"), "{agent} leaves {left}");
        }
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
