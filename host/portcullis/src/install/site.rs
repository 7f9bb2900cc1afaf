//! Where each agent keeps its hooks, and the entry that goes there.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::command::{self, Refusal, TIMEOUT};
use super::document::{self, Lists};
use super::file::Snapshot;
use super::{InstallError, Installation, Scope};
use crate::agent::{self, Agent};

/// One file of an agent's entry.
#[derive(Debug)]
pub(super) enum Site {
    /// A JSON document that others write to as well.
    Shared { path: PathBuf, lists: Lists },
    /// A file of ours alone.
    Own { path: PathBuf, text: String, executable: bool },
}

impl Site {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Shared { path, .. } | Self::Own { path, .. } => path,
        }
    }
}

/// The files of an agent's entry.
pub(super) fn of(wanted: &Installation) -> Result<Vec<Site>, InstallError> {
    let name = wanted.agent.as_str();
    let guarded = command::guarded(&wanted.program, name, Refusal::Exit2)?;
    let plain = command::plain(&wanted.program, name)?;
    Ok(match wanted.agent {
        Agent::Claude => {
            let dir = wanted.place("CLAUDE_CONFIG_DIR", ".claude");
            // Versions that know `onFailure` block by themselves as well when the
            // hook cannot be started.
            let before =
                json!({ "type": "command", "command": guarded, "timeout": TIMEOUT, "onFailure": "block" });
            let end = json!({ "type": "command", "command": plain, "timeout": TIMEOUT });
            let entries = vec![("PreToolUse", group(before)), ("Stop", group(end))];
            vec![shared(dir.join("settings.json"), entries)]
        }
        Agent::Codex => {
            let dir = wanted.place("CODEX_HOME", ".codex");
            let hook = |command| json!({ "type": "command", "command": command, "timeout": TIMEOUT });
            let entries = vec![("PreToolUse", group(hook(guarded))), ("Stop", group(hook(plain)))];
            vec![shared(dir.join("hooks.json"), entries)]
        }
        Agent::Gemini => {
            let dir = wanted.place("", ".gemini");
            // Its timeouts are milliseconds.
            let hook = |command| json!({ "name": "portcullis", "type": "command", "command": command, "timeout": TIMEOUT * 1000 });
            let every = |hook| json!({ "matcher": "*", "hooks": [hook] });
            let entries = vec![("BeforeTool", every(hook(guarded))), ("AfterAgent", every(hook(plain)))];
            vec![shared(dir.join("settings.json"), entries)]
        }
        Agent::OpenCode => {
            let dir = match wanted.scope {
                Scope::User => wanted.config_home().join("opencode"),
                Scope::Project => wanted.project.join(".opencode"),
            };
            let program = wanted.program.to_string_lossy();
            let text = agent::opencode_plugin(&program);
            vec![Site::Own { path: dir.join("plugins").join("portcullis.js"), text, executable: false }]
        }
        Agent::Copilot
        | Agent::Cursor
        | Agent::Goose
        | Agent::Crush
        | Agent::Cline
        | Agent::Windsurf
        | Agent::Droid
        | Agent::Kiro
        | Agent::Antigravity
        | Agent::Amp => return Err(InstallError::ByHand { agent: wanted.agent }),
    })
}

/// What in the agent's own files keeps it from running hooks.
pub(super) fn switched_off(wanted: &Installation) -> Result<Option<String>, InstallError> {
    let (path, key) = match wanted.agent {
        Agent::Claude => {
            (wanted.place("CLAUDE_CONFIG_DIR", ".claude").join("settings.json"), "disableAllHooks")
        }
        Agent::Codex => (wanted.place("CODEX_HOME", ".codex").join("config.toml"), "hooks = false"),
        Agent::Gemini
        | Agent::OpenCode
        | Agent::Copilot
        | Agent::Cursor
        | Agent::Goose
        | Agent::Crush
        | Agent::Cline
        | Agent::Windsurf
        | Agent::Droid
        | Agent::Kiro
        | Agent::Antigravity
        | Agent::Amp => return Ok(None),
    };
    let held = Snapshot::read(&path)?;
    let off = if wanted.agent == Agent::Claude {
        document::is_on(&held, key)?
    } else {
        // A file that is no TOML is Codex's to complain about.
        held.text().and_then(|text| text.parse::<toml::Table>().ok()).is_some_and(|config| {
            config.get("features").and_then(|features| features.get("hooks"))
                == Some(&toml::Value::Boolean(false))
        })
    };
    Ok(off.then(|| format!("`{key}` in `{}`", path.display())))
}

fn shared(path: PathBuf, entries: Vec<(&'static str, Value)>) -> Site {
    Site::Shared { path, lists: Lists { below: "hooks", entries } }
}

/// A group without a matcher: it is asked about every tool.
fn group(hook: Value) -> Value {
    json!({ "hooks": [hook] })
}

impl Installation {
    /// The agent's own directory: `variable`'s, or the usual one at home, or the
    /// project's.
    fn place(&self, variable: &str, name: &str) -> PathBuf {
        match self.scope {
            Scope::Project => self.project.join(name),
            Scope::User => self.variable(variable).unwrap_or_else(|| self.home.join(name)),
        }
    }

    fn config_home(&self) -> PathBuf {
        self.variable("XDG_CONFIG_HOME").unwrap_or_else(|| self.home.join(".config"))
    }

    fn variable(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }
}
