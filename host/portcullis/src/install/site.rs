//! Where each agent keeps its hooks, and the entry that goes there: the one table.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::command;
use super::document::{self, Lists};
use super::file::Snapshot;
use super::{InstallError, Installation, Scope};
use crate::agent::{self, Agent};
use crate::hook::Event;

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

    /// Hooks below `hooks`, each event's in a list.
    fn flat(path: PathBuf, entries: Vec<(&'static str, Value)>) -> Self {
        Self::Shared { path, lists: Lists { below: Some("hooks"), beside: Vec::new(), entries } }
    }
}

/// The files of an agent's entry, with the one that is asked before a call first.
///
/// Each gets every event before a call, without a matcher or with the one that
/// really matches all, the end of a turn, and the other events that are wanted.
pub(super) fn of(wanted: &Installation) -> Result<Vec<Site>, InstallError> {
    let before = command::guarded(&wanted.program, wanted.agent)?;
    let plain = command::plain(&wanted.program, wanted.agent)?;
    let prompt = command::guarded_prompt(&wanted.program, wanted.agent)?;
    // Where nobody answers, a prompt is withheld; nothing else is kept from going on.
    let command_of = |event| if event == Event::PromptSubmit { prompt.as_str() } else { plain.as_str() };
    let others: Vec<_> = wanted.others().collect();
    let entries = |first: Vec<(&'static str, Value)>, entry: &dyn Fn(Event, &str) -> Value| {
        let rest = others.iter().map(|(event, name)| (*name, entry(*event, command_of(*event))));
        first.into_iter().chain(rest).collect::<Vec<_>>()
    };
    let seconds = wanted.agent.timeout().as_secs();
    let hook = |command: &str| json!({ "type": "command", "command": command, "timeout": seconds });
    Ok(match wanted.agent {
        Agent::Claude => {
            let path = wanted.place("CLAUDE_CONFIG_DIR", ".claude").join("settings.json");
            // Versions that know `onFailure` block by themselves as well when the
            // hook cannot be started.
            let before = with(hook(&before), "onFailure", "block");
            let first = vec![("PreToolUse", group(before))];
            vec![Site::flat(path, entries(first, &|_, command| group(hook(command))))]
        }
        Agent::Codex => {
            let path = wanted.place("CODEX_HOME", ".codex").join("hooks.json");
            let first = vec![("PreToolUse", group(hook(&before)))];
            vec![Site::flat(path, entries(first, &|_, command| group(hook(command))))]
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
            // Of a session's events a matcher is one exact word.
            let entry = |event, command: &str| {
                let mut entry = every(command);
                let exact = [Event::SessionStart, Event::SessionEnd, Event::PreCompact].contains(&event);
                if let Some(group) = entry.as_object_mut().filter(|_| exact) {
                    group.remove("matcher");
                }
                entry
            };
            vec![Site::flat(path, entries(vec![("BeforeTool", every(&before))], &entry))]
        }
        Agent::Copilot => {
            let directory = match wanted.scope {
                Scope::User => wanted.place("COPILOT_HOME", ".copilot"),
                Scope::Project => wanted.project.join(".github"),
            };
            // `bash` is the one key that the CLI, the cloud agent and VS Code all read.
            let hook = |command: &str| json!({ "type": "command", "bash": command, "timeoutSec": seconds });
            let hooks = entries(vec![("preToolUse", hook(&before))], &|_, command| hook(command));
            let text = pretty(&json!({ "version": 1, "hooks": listed(hooks) }));
            vec![Site::own(directory.join("hooks").join("portcullis.json"), text, Form::Commands)]
        }
        Agent::Cursor => {
            let path = wanted.place("", ".cursor").join("hooks.json");
            // The general event alone: those for commands, MCP tools and files are
            // about the same calls.
            let before = json!({ "command": before, "timeout": seconds, "failClosed": true });
            let entry = |_, command: &str| json!({ "command": command, "timeout": seconds });
            let lists = Lists {
                below: Some("hooks"),
                beside: vec![("version", 1.into())],
                entries: entries(vec![("preToolUse", before)], &entry),
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
            let hooks = entries(vec![("PreToolUse", group(before))], &|_, command| group(hook(command)));
            let hooks = pretty(&json!({ "hooks": listed(hooks) }));
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
                Scope::User => wanted.crush_home(),
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
            let rest = others.iter().map(|(event, name)| (*name, command_of(*event)));
            std::iter::once(("PreToolUse", before.as_str()))
                .chain(rest)
                .map(|(name, command)| {
                    Site::own(directory.join(name), command::script_file(command), Form::Script)
                })
                .collect()
        }
        Agent::Windsurf => {
            let directory = match wanted.scope {
                Scope::User => wanted.home.join(".codeium").join("windsurf"),
                Scope::Project => wanted.project.join(".windsurf"),
            };
            let before = json!({ "command": before, "show_output": true });
            let first = WINDSURF.map(|event| (event, before.clone())).into();
            let entry = |event, command: &str| json!({ "command": command, "show_output": event == Event::PromptSubmit });
            vec![Site::flat(directory.join("hooks.json"), entries(first, &entry))]
        }
        Agent::Droid => {
            let first = vec![("PreToolUse", group(hook(&before)))];
            wanted.droid(entries(first, &|_, command| group(hook(command))))?
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
                    hook("portcullis-after-turn", "Stop", &plain),
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
                entries: vec![("PreToolUse", before), ("Stop", hook(&plain))],
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

/// Each event with a list of the one hook that it has.
fn listed(entries: Vec<(&'static str, Value)>) -> Value {
    entries.into_iter().map(|(event, hook)| (event.to_owned(), json!([hook]))).collect()
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

    /// Crush's directory for the user.
    pub(super) fn crush_home(&self) -> PathBuf {
        self.variable("CRUSH_GLOBAL_CONFIG").unwrap_or_else(|| self.config_home().join("crush"))
    }

    pub(super) fn config_home(&self) -> PathBuf {
        self.variable("XDG_CONFIG_HOME").unwrap_or_else(|| self.home.join(".config"))
    }

    pub(super) fn variable(&self, name: &str) -> Option<PathBuf> {
        self.variables.get(name).map(PathBuf::from).filter(|path| path.is_absolute())
    }
}
