//! Where each agent keeps its hooks, and the entry that goes there: the one table.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::command;
use super::document::{self, Lists};
use super::file::Snapshot;
use super::{InstallError, Installation, Scope};
use crate::agent::{self, Agent};

/// One file of an agent's entry.
#[derive(Debug)]
pub(super) enum Site {
    /// A JSON document that others write to as well.
    Shared { path: PathBuf, lists: Lists },
    /// A file of ours alone. `directory` is one that goes with it when it is empty.
    Own { path: PathBuf, text: String, form: Form, directory: Option<PathBuf> },
}

/// What a file of ours is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// JSON with the commands that the agent starts.
    Commands,
    /// What the agent starts itself.
    Script,
    /// Code that the agent loads, or what tells it of our commands.
    Plugin,
}

impl Site {
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Shared { path, .. } | Self::Own { path, .. } => path,
        }
    }

    const fn own(path: PathBuf, text: String, form: Form) -> Self {
        Self::Own { path, text, form, directory: None }
    }

    /// Groups of hooks below `hooks`, as Claude Code introduced them.
    fn groups(path: PathBuf, before: (&'static str, Value), end: (&'static str, Value)) -> Self {
        Self::flat(path, vec![(before.0, group(before.1)), (end.0, group(end.1))])
    }

    /// Hooks below `hooks`, each event's in a list.
    fn flat(path: PathBuf, entries: Vec<(&'static str, Value)>) -> Self {
        Self::Shared { path, lists: Lists { below: Some("hooks"), beside: Vec::new(), entries } }
    }
}

/// The files of an agent's entry, with the one that is asked before a call first.
///
/// Each gets every event before a call, without a matcher or with the one that
/// really matches all, and the end of a turn, which is not judged.
pub(super) fn of(wanted: &Installation) -> Result<Vec<Site>, InstallError> {
    let before = command::guarded(&wanted.program, wanted.agent)?;
    let end = command::plain(&wanted.program, wanted.agent)?;
    let seconds = wanted.agent.timeout().as_secs();
    let hook = |command: &str| json!({ "type": "command", "command": command, "timeout": seconds });
    Ok(match wanted.agent {
        Agent::Claude => {
            let path = wanted.place("CLAUDE_CONFIG_DIR", ".claude").join("settings.json");
            // Versions that know `onFailure` block by themselves as well when the
            // hook cannot be started.
            let before = with(hook(&before), "onFailure", "block");
            vec![Site::groups(path, ("PreToolUse", before), ("Stop", hook(&end)))]
        }
        Agent::Codex => {
            let path = wanted.place("CODEX_HOME", ".codex").join("hooks.json");
            vec![Site::groups(path, ("PreToolUse", hook(&before)), ("Stop", hook(&end)))]
        }
        Agent::Gemini => {
            let path = wanted.place("", ".gemini").join("settings.json");
            // Its timeouts are milliseconds.
            let every = |command: &str| {
                let hook = json!({
                    "name": "portcullis", "type": "command", "command": command, "timeout": seconds * 1000,
                });
                json!({ "matcher": "*", "hooks": [hook] })
            };
            vec![Site::flat(path, vec![("BeforeTool", every(&before)), ("AfterAgent", every(&end))])]
        }
        Agent::Copilot => {
            let directory = match wanted.scope {
                Scope::User => wanted.place("COPILOT_HOME", ".copilot"),
                Scope::Project => wanted.project.join(".github"),
            };
            // `bash` is the one key that the CLI, the cloud agent and VS Code all read.
            let hook = |command: &str| json!({ "type": "command", "bash": command, "timeoutSec": seconds });
            let text = pretty(&json!({
                "version": 1,
                "hooks": { "preToolUse": [hook(&before)], "agentStop": [hook(&end)] },
            }));
            vec![Site::own(directory.join("hooks").join("portcullis.json"), text, Form::Commands)]
        }
        Agent::Cursor => {
            let path = wanted.place("", ".cursor").join("hooks.json");
            // The general event alone: those for commands, MCP tools and files are
            // about the same calls.
            let before = json!({ "command": before, "timeout": seconds, "failClosed": true });
            let end = json!({ "command": end, "timeout": seconds });
            let lists = Lists {
                below: Some("hooks"),
                beside: vec![("version", 1.into())],
                entries: vec![("preToolUse", before), ("stop", end)],
            };
            vec![Site::Shared { path, lists }]
        }
        Agent::OpenCode => {
            let directory = match wanted.scope {
                Scope::User => wanted.config_home().join("opencode"),
                Scope::Project => wanted.project.join(".opencode"),
            };
            let text = agent::opencode_plugin(&wanted.program.to_string_lossy());
            vec![Site::own(directory.join("plugins").join("portcullis.js"), text, Form::Plugin)]
        }
        Agent::Goose => {
            let directory = wanted.place("", ".agents").join("plugins").join("portcullis");
            // A matcher of `*` is no regular expression, and skips the hook without a word.
            let before = with(hook(&before), "on_failure", "block");
            let hooks = pretty(&json!({
                "hooks": { "PreToolUse": [group(before)], "Stop": [group(hook(&end))] },
            }));
            let plugin = pretty(&json!({
                "name": "portcullis",
                "version": "1.0.0",
                "description": "Asks `portcullis hook --agent goose` before every tool call",
            }));
            let own = |path, text, form| Site::Own { path, text, form, directory: Some(directory.clone()) };
            vec![
                own(directory.join("hooks").join("hooks.json"), hooks, Form::Commands),
                own(directory.join("plugin.json"), plugin, Form::Plugin),
            ]
        }
        Agent::Crush => {
            let directory = match wanted.scope {
                Scope::User => wanted
                    .variable("CRUSH_GLOBAL_CONFIG")
                    .unwrap_or_else(|| wanted.config_home().join("crush")),
                Scope::Project => wanted.project.clone(),
            };
            // An event that it does not know is an error of its whole configuration,
            // and no version is sure to know one for the end of a turn.
            let before = json!({ "command": before, "timeout": seconds });
            vec![Site::flat(directory.join("crush.json"), vec![("PreToolUse", before)])]
        }
        Agent::Cline => {
            let directory = match wanted.scope {
                Scope::User => wanted.home.join("Documents").join("Cline").join("Hooks"),
                Scope::Project => wanted.project.join(".clinerules").join("hooks"),
            };
            [("PreToolUse", before), ("TaskComplete", end)]
                .map(|(event, command)| {
                    Site::own(directory.join(event), command::script_file(&command), Form::Script)
                })
                .into()
        }
        Agent::Windsurf => {
            let directory = match wanted.scope {
                Scope::User => wanted.home.join(".codeium").join("windsurf"),
                Scope::Project => wanted.project.join(".windsurf"),
            };
            let before = json!({ "command": before, "show_output": true });
            let mut entries: Vec<_> = WINDSURF.map(|event| (event, before.clone())).into();
            entries.push(("post_cascade_response", json!({ "command": end, "show_output": false })));
            vec![Site::flat(directory.join("hooks.json"), entries)]
        }
        Agent::Droid => {
            let entries = vec![("PreToolUse", group(hook(&before))), ("Stop", group(hook(&end)))];
            wanted.droid(entries)?
        }
        Agent::Kiro => {
            let hook = |name: &str, trigger: &str, command: &str| {
                json!({
                    "name": name, "trigger": trigger,
                    "action": { "type": "command", "command": command }, "timeout": seconds,
                })
            };
            let text = pretty(&json!({
                "version": "v1",
                "hooks": [
                    hook("portcullis", "PreToolUse", &before),
                    hook("portcullis-after-turn", "Stop", &end),
                ],
            }));
            let path = wanted.place("", ".kiro").join("hooks").join("portcullis.json");
            vec![Site::own(path, text, Form::Commands)]
        }
        Agent::Antigravity => {
            let directory = match wanted.scope {
                Scope::User => wanted.home.join(".gemini").join("config"),
                Scope::Project => wanted.project.join(".agents"),
            };
            // Every hook has a name, and only events about a tool have groups with a matcher.
            let before = json!({ "matcher": "*", "hooks": [hook(&before)] });
            let lists = Lists {
                below: Some("portcullis"),
                beside: Vec::new(),
                entries: vec![("PreToolUse", before), ("Stop", hook(&end))],
            };
            vec![Site::Shared { path: directory.join("hooks.json"), lists }]
        }
        Agent::Amp => {
            let directory = match wanted.scope {
                Scope::User => wanted.config_home().join("amp"),
                Scope::Project => wanted.project.join(".amp"),
            };
            let text = agent::amp_plugin(&wanted.program.to_string_lossy());
            vec![Site::own(directory.join("plugins").join("portcullis.ts"), text, Form::Plugin)]
        }
    })
}

/// What Windsurf has instead of one event before every call.
const WINDSURF: [&str; 4] = ["pre_run_command", "pre_write_code", "pre_read_code", "pre_mcp_tool_use"];

/// A group without a matcher: it is asked about every tool.
fn group(hook: Value) -> Value {
    json!({ "hooks": [hook] })
}

fn with(mut hook: Value, key: &str, value: &str) -> Value {
    if let Some(hook) = hook.as_object_mut() {
        hook.insert(key.to_owned(), value.into());
    }
    hook
}

fn pretty(document: &Value) -> String {
    format!("{document:#}\n")
}

impl Installation {
    /// Droid's file, and the place where an entry of ours would do nothing. Without
    /// the file it reads the hooks of its settings, which a new file would silence: so
    /// where there are some, ours join them.
    fn droid(&self, entries: Vec<(&'static str, Value)>) -> Result<Vec<Site>, InstallError> {
        let directory = self.place("", ".factory");
        let (own, settings) = (directory.join("hooks.json"), directory.join("settings.json"));
        let hooks = document::value_at(&Snapshot::read(&settings)?, "/hooks")?;
        let others = hooks.as_ref().and_then(Value::as_object).is_some_and(|hooks| !hooks.is_empty());
        let joins = others && Snapshot::read(&own)?.text().is_none();
        let at = |path, below, here: bool| Site::Shared {
            path,
            lists: Lists {
                below,
                beside: Vec::new(),
                entries: if here { entries.clone() } else { Vec::new() },
            },
        };
        let mut sites = vec![at(own, None, !joins), at(settings, Some("hooks"), joins)];
        if joins {
            sites.reverse();
        }
        Ok(sites)
    }

    /// The agent's own directory: `variable`'s, or the usual one at home, or the
    /// project's.
    pub(super) fn place(&self, variable: &str, name: &str) -> PathBuf {
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
