//! The switches by which a person keeps an agent from running hooks.

use std::path::PathBuf;

use serde_json::Value;

use super::file::Snapshot;
use super::{InstallError, Installation, Scope, document, site};
use crate::agent::Agent;

/// What in the agent's own files keeps it from running hooks.
pub(super) fn switched_off(wanted: &Installation) -> Result<Option<String>, InstallError> {
    let switches: Vec<(PathBuf, &str, bool)> = match wanted.agent {
        Agent::Claude => {
            let directory = wanted.place("CLAUDE_CONFIG_DIR", ".claude");
            vec![(directory.join("settings.json"), "/disableAllHooks", true)]
        }
        Agent::Gemini => {
            vec![(wanted.place("", ".gemini").join("settings.json"), "/hooksConfig/enabled", false)]
        }
        Agent::Copilot => {
            let directory = match wanted.scope {
                Scope::User => wanted.place("COPILOT_HOME", ".copilot"),
                Scope::Project => wanted.project.join(".github").join("copilot"),
            };
            vec![(directory.join("settings.json"), "/disableAllHooks", true)]
        }
        Agent::Droid => {
            vec![(wanted.place("", ".factory").join("settings.json"), "/hooksDisabled", true)]
        }
        Agent::Antigravity => site::of(wanted)?
            .iter()
            .map(|site| (site.path().to_owned(), "/portcullis/enabled", false))
            .collect(),
        Agent::Codex => return codex_switched_off(wanted),
        Agent::Cursor
        | Agent::OpenCode
        | Agent::Goose
        | Agent::Crush
        | Agent::Cline
        | Agent::Windsurf
        | Agent::Kiro
        | Agent::Amp => Vec::new(),
    };
    for (path, pointer, off) in switches {
        if document::value_at(&Snapshot::read(&path)?, pointer)? == Some(Value::Bool(off)) {
            let key = pointer.trim_start_matches('/').replace('/', ".");
            return Ok(Some(format!("`{key}` in `{}`", path.display())));
        }
    }
    Ok(None)
}

fn codex_switched_off(wanted: &Installation) -> Result<Option<String>, InstallError> {
    let path = wanted.place("CODEX_HOME", ".codex").join("config.toml");
    // A file that is no TOML is Codex's to complain about.
    let config = Snapshot::read(&path)?.text().and_then(|text| text.parse::<toml::Table>().ok());
    let off = config.is_some_and(|config| {
        config.get("features").and_then(|features| features.get("hooks"))
            == Some(&toml::Value::Boolean(false))
    });
    Ok(off.then(|| format!("`hooks = false` in `{}`", path.display())))
}
