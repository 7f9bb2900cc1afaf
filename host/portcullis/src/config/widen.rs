//! What a trusted project may say besides: its own plugins' tables, tools that it
//! vouches for, and hooks that are programs of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use portcullis_model::config::key::{Kind, Project, Trusted};
use portcullis_model::config::{Config, HookConfig, PluginConfig};
use portcullis_model::name::PluginName;
use serde_json::Value;

use super::loaded::{Held, Loaded, Origin, Setting, Wish, ignored};
use super::problem::{Problem, dotted};
use super::walk::Said;
use crate::plugin::BUNDLED;
use crate::trust::{Workspace, below, root_of};

/// What becomes of a wish while the project is not trusted.
const WAITS: &str = "`portcullis trust add` shows it, and allows it";

/// Collects what only trust allows.
pub(super) struct Widening<'a> {
    root: Option<&'a Path>,
    trust: Option<&'a Workspace>,
    /// The plugins that the user's file has a table for.
    users: BTreeSet<String>,
    /// How many of the hooks are the user's.
    hooks: usize,
    /// The kept programs of those behind.
    programs: Vec<PathBuf>,
    known: Vec<String>,
}

impl<'a> Widening<'a> {
    pub(super) fn new(user_says: &[Said], project: Option<&'a Path>, trust: Option<&'a Workspace>) -> Self {
        let tables = user_says.iter().filter(|said| said.path.first().is_some_and(|top| top == "plugin"));
        let hooks = user_says.iter().find(|said| said.key.kind == Kind::Hooks);
        Self {
            root: project.and_then(root_of),
            trust,
            users: tables.filter_map(|said| said.path.get(1).cloned()).collect(),
            hooks: hooks.and_then(|said| said.value.as_array()).map_or(0, Vec::len),
            programs: Vec::new(),
            known: Vec::new(),
        }
    }

    /// Takes what the project says over when it is trusted, and says so when it waits.
    pub(super) fn take(&mut self, said: Said, origin: Origin, loaded: &mut Loaded) {
        match said.key.trusted {
            Trusted::NoMore => {}
            Trusted::OwnPlugins => self.own_plugin(said, origin, loaded),
            Trusted::Adds if said.key.kind == Kind::Hooks => self.hooks(&said, &origin, loaded),
            Trusted::Adds => self.list(said, origin, loaded),
        }
    }

    /// Puts apart what the project said.
    pub(super) fn finish(self, config: &mut Config, plugin: BTreeMap<PluginName, PluginConfig>) {
        let mut hooks = config.hooks.split_off(self.hooks.min(config.hooks.len()));
        for (hook, program) in hooks.iter_mut().zip(self.programs) {
            hook.command = program.to_string_lossy().into_owned();
        }
        config.tools.known.retain(|tool| !self.known.contains(tool));
        config.of_project.plugin = plugin;
        config.of_project.hooks = hooks;
        config.of_project.known_tools = self.known;
    }

    /// The table of a plugin. One that the project does not bring is not its business.
    fn own_plugin(&self, said: Said, origin: Origin, loaded: &mut Loaded) {
        let name = said.path.get(1).map(String::as_str).unwrap_or_default();
        if self.users.contains(name) || BUNDLED.iter().any(|bundled| bundled.name == name) {
            loaded.ignored.push(refused(&said, origin, "say it in the user's file"));
            return;
        }
        loaded.wishes.push(wish(dotted(&said.path), said.value.clone(), &origin, None));
        if self.trust.is_none() {
            loaded.ignored.push(refused(&said, origin, WAITS));
            return;
        }
        let held = Held { value: said.value, origins: vec![origin], of_project: true };
        loaded.held.insert(said.path, held);
    }

    fn list(&mut self, said: Said, origin: Origin, loaded: &mut Loaded) {
        let held = loaded.held.get(&said.path).and_then(|held| held.value.as_array()).cloned();
        let more = said.value.as_array().into_iter().flatten();
        let more: Vec<_> =
            more.filter(|item| !held.as_ref().is_some_and(|held| held.contains(item))).cloned().collect();
        if more.is_empty() {
            return;
        }
        loaded.wishes.push(wish(dotted(&said.path), Value::Array(more.clone()), &origin, None));
        if self.trust.is_none() {
            loaded.ignored.push(refused(&said, origin, WAITS));
            return;
        }
        self.known.extend(more.iter().filter_map(Value::as_str).map(str::to_owned));
        add(loaded, said.path, more, &origin);
    }

    /// Each of the hooks: a program in the project, by its bytes.
    fn hooks(&mut self, said: &Said, origin: &Origin, loaded: &mut Loaded) {
        for (at, value) in said.value.as_array().into_iter().flatten().enumerate() {
            let program = match self.program(value) {
                Ok(program) => program,
                Err(hint) => {
                    loaded.ignored.push(refused(said, origin.clone(), hint));
                    continue;
                }
            };
            let key = format!("{}.{}", dotted(&said.path), at + 1);
            loaded.wishes.push(wish(key, value.clone(), origin, Some(program.clone())));
            match self.trust.and_then(|trust| trust.program(&program)) {
                Some(kept) => {
                    self.programs.push(kept);
                    add(loaded, said.path.clone(), vec![value.clone()], origin);
                }
                None => loaded.ignored.push(refused(said, origin.clone(), WAITS)),
            }
        }
    }

    /// Where a hook's program is, from the root; what is told when trust could not be
    /// bound to it.
    fn program(&self, hook: &Value) -> Result<String, &'static str> {
        const HINT: &str = "name a program in the project, such as `command = \"tools/hook\"`, so that trust is bound to its bytes";
        let hook: HookConfig = serde_json::from_value(hook.clone()).map_err(|_| HINT)?;
        let command = Path::new(&hook.command);
        self.root.filter(|_| !hook.shell).and_then(|root| below(root, command)).ok_or(HINT)
    }
}

fn refused(said: &Said, origin: Origin, hint: &str) -> Problem {
    let why = match said.key.project {
        Project::Nothing(why) => why,
        Project::Adds | Project::SwitchesOn | Project::Lowers | Project::Stricter => "it waits for trust",
    };
    ignored(said, origin, why, hint)
}

fn wish(key: String, value: Value, origin: &Origin, program: Option<String>) -> Wish {
    Wish { setting: Setting { key, value: Some(value), origins: vec![origin.clone()] }, program }
}

/// Puts `more` behind what is held of a list.
fn add(loaded: &mut Loaded, path: Vec<String>, more: Vec<Value>, origin: &Origin) {
    let empty = || Held { value: Value::Array(Vec::new()), origins: Vec::new(), of_project: false };
    let held = loaded.held.entry(path).or_insert_with(empty);
    if let Value::Array(items) = &mut held.value {
        items.extend(more);
    }
    if held.origins.last() != Some(origin) {
        held.origins.push(origin.clone());
    }
}
