//! Hooks in a list, for people and programs.

use std::time::Duration;

use portcullis_model::config::FailureMode;

use super::handler::ComponentHook;
use super::{Event, ScriptHook};

/// One hook, and one thing that it listens to.
#[derive(Debug, Clone)]
pub struct HookRow {
    /// Its name, as refusals and channels have it.
    pub name: String,
    /// When it is asked.
    pub event: Event,
    /// The rule that says which calls it is about.
    pub rule: Option<String>,
    /// The program with its arguments, or the plugin's name.
    pub handler: String,
    /// The plugin that it belongs to; none for a script.
    pub plugin: Option<String>,
    /// The program that a script hook starts.
    pub program: Option<std::path::PathBuf>,
    /// How long it may take.
    pub time: Duration,
    /// What it means when it fails.
    pub failure_mode: FailureMode,
    /// False: it stays in the file, and is not asked.
    pub enabled: bool,
    /// The operator's channels keep it from being asked.
    pub denied: bool,
}

impl HookRow {
    /// Whether it is asked at all.
    #[must_use]
    pub const fn is_asked(&self) -> bool {
        self.enabled && !self.denied
    }
}

impl ScriptHook {
    /// It, in a list.
    #[must_use]
    pub fn row(&self) -> HookRow {
        let program = self.program.to_string_lossy().into_owned();
        let line: Vec<_> = std::iter::once(program).chain(self.arguments.iter().cloned()).collect();
        HookRow {
            name: self.name(),
            denied: false,
            event: self.listening.event,
            rule: self.listening.rule.as_ref().map(ToString::to_string),
            handler: line.join(" "),
            plugin: None,
            program: Some(self.program.clone()),
            time: self.time,
            failure_mode: self.failure_mode,
            enabled: self.enabled,
        }
    }
}

impl ComponentHook {
    pub(crate) fn rows(&self) -> impl Iterator<Item = HookRow> {
        self.listens.iter().map(|listening| HookRow {
            name: format!("{} {}", listening.event, self.plugin),
            denied: false,
            event: listening.event,
            rule: listening.rule.as_ref().map(ToString::to_string),
            handler: self.plugin.to_string(),
            plugin: Some(self.plugin.to_string()),
            program: None,
            time: self.guest.limits().hook_time,
            failure_mode: FailureMode::Closed,
            enabled: true,
        })
    }
}
