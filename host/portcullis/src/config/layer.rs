//! The layers, one over the other: defaults, the user's file, the project's.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use portcullis_model::config::Config;
use portcullis_model::config::key::{ANY, KEYS, Key, Kind, Project};
use portcullis_model::name::PluginName;
use serde_json::{Map, Value};

use super::problem::{ConfigError, Layer, Problem, dotted};
use super::walk::Said;
use crate::ledger::{REDACTED, Redactor};

/// Where a value was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// Whose file it is.
    pub layer: Layer,
    /// The file.
    pub file: PathBuf,
    /// The line, from 1.
    pub line: usize,
}

/// One value that holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Setting {
    /// The key, with the names of its tables.
    pub key: String,
    /// The value; none where nothing is said and nothing stands for it.
    pub value: Option<Value>,
    /// Who said it. Nobody: it is the default.
    pub origins: Vec<Origin>,
}

impl Setting {
    /// The value for people, without what looks like a secret.
    #[must_use]
    pub fn shown(&self) -> Option<Value> {
        let value = self.value.as_ref()?;
        let text = format!("{}={value}", self.key);
        let clean = Redactor::default().clean(&text, text.len()) == text;
        Some(if clean { value.clone() } else { Value::from(REDACTED) })
    }
}

/// A configuration that was read whole.
#[derive(Debug, Clone, Default)]
pub struct Loaded {
    /// What holds.
    pub config: Config,
    /// What a project's file says and may not, each with the reason.
    pub ignored: Vec<Problem>,
    held: BTreeMap<Vec<String>, Held>,
}

/// A value that a file said.
#[derive(Debug, Clone)]
struct Held {
    value: Value,
    origins: Vec<Origin>,
}

impl Loaded {
    /// Every value that holds, in the order of the reference; those of a plugin for
    /// each plugin that a file names.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting> {
        let mut plugins: Vec<&String> = self.held.keys().filter_map(|path| plugin(path)).collect();
        plugins.dedup();
        let mut settings = Vec::new();
        for key in KEYS.iter().filter(|key| !key.names().any(|name| name == ANY)) {
            self.add(key, key.names().map(str::to_owned).collect(), &mut settings);
        }
        for name in plugins {
            for key in KEYS.iter().filter(|key| key.names().any(|part| part == ANY)) {
                let path = key.names().map(|part| if part == ANY { name.clone() } else { part.to_owned() });
                self.add(key, path.collect(), &mut settings);
            }
        }
        settings
    }

    fn add(&self, key: &Key, path: Vec<String>, settings: &mut Vec<Setting>) {
        let before = settings.len();
        let held = self.held.range(path.clone()..).take_while(|(held, _)| held.starts_with(&path));
        settings.extend(held.map(|(path, held)| Setting {
            key: dotted(path),
            value: Some(held.value.clone()),
            origins: held.origins.clone(),
        }));
        if settings.len() == before {
            let value = serde_json::from_str(key.default).ok();
            settings.push(Setting { key: dotted(&path), value, origins: Vec::new() });
        }
    }
}

fn plugin(path: &[String]) -> Option<&String> {
    path.first().filter(|first| *first == "plugin")?;
    path.get(1)
}

/// Puts what a project says over what the user says.
pub(super) fn merge(
    user: Option<&Path>,
    user_says: Vec<Said>,
    project: Option<&Path>,
    project_says: Vec<Said>,
) -> Result<Loaded, ConfigError> {
    let mut loaded = Loaded::default();
    let mut by_project: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for said in user_says {
        let origins = vec![origin(Layer::User, user, said.line)];
        loaded.held.insert(said.path, Held { value: said.value, origins });
    }
    for said in project_says {
        let own = origin(Layer::Project, project, said.line);
        match narrowed(&said, loaded.held.get(&said.path)) {
            Ok(Some(value)) => {
                let held = loaded
                    .held
                    .entry(said.path)
                    .or_insert_with(|| Held { value: Value::Null, origins: Vec::new() });
                // A list has several who said it; of anything else the last one holds.
                if said.key.project == Project::Adds {
                    by_project.entry(said.key.path).or_default().extend(added(&held.value, &value));
                } else {
                    held.origins.clear();
                }
                held.value = value;
                held.origins.push(own);
            }
            Ok(None) => {}
            Err(why) => loaded.ignored.push(ignored(&said, own, why)),
        }
    }
    // Of a plugin's settings one line is enough.
    loaded.ignored.dedup_by(|one, before| one.key == before.key && one.message == before.message);
    loaded.config = config(&loaded.held)
        .map_err(|message| ConfigError::new(vec![unexplained(user.or(project), message)]))?;
    set_apart(&mut loaded.config, by_project);
    Ok(loaded)
}

/// What a project added is kept apart: words that it chose never reach a model.
fn set_apart(config: &mut Config, mut by_project: BTreeMap<&str, Vec<String>>) {
    let mut take = |key: &str| by_project.remove(key).unwrap_or_default();
    let names = take("plugins.required").into_iter().filter_map(|name| PluginName::new(name).ok()).collect();
    config.plugins.required_by_project = names;
    let own = &config.plugins.required_by_project;
    config.plugins.required.retain(|name| !own.contains(name));
    let permissions = &mut config.permissions;
    permissions.ask_by_project = take("permissions.ask");
    permissions.deny_by_project = take("permissions.deny");
    permissions.ask.retain(|rule| !permissions.ask_by_project.contains(rule));
    permissions.deny.retain(|rule| !permissions.deny_by_project.contains(rule));
}

fn origin(layer: Layer, file: Option<&Path>, line: usize) -> Origin {
    Origin { layer, file: file.unwrap_or(Path::new("")).to_owned(), line }
}

/// What a project's word makes of a value: another value, nothing, or why it may not.
fn narrowed(said: &Said, held: Option<&Held>) -> Result<Option<Value>, String> {
    let default = || serde_json::from_str(said.key.default).unwrap_or(Value::Null);
    let now = held.map_or_else(default, |held| held.value.clone());
    match said.key.project {
        Project::Nothing(why) => Err(why.to_owned()),
        Project::SwitchesOn => match (said.value.as_bool(), now.as_bool()) {
            (Some(true), Some(false)) => Ok(Some(said.value.clone())),
            (Some(false), Some(true)) => Err("a project does not switch it off".to_owned()),
            _ => Ok(None),
        },
        Project::Lowers => match (said.value.as_i64(), now.as_i64()) {
            (Some(wanted), Some(now)) if wanted < now => Ok(Some(said.value.clone())),
            (Some(wanted), Some(now)) if wanted == now => Ok(None),
            _ => Err(format!("a project makes a limit no wider than it is: {now}")),
        },
        Project::Stricter => {
            let Kind::Word(words) = said.key.kind else {
                return Err("a project does not choose it".to_owned());
            };
            let rank = |value: &Value| words.iter().position(|word| value.as_str() == Some(*word));
            let (wanted, now) = (rank(&said.value), rank(&now));
            if wanted < Some(now.unwrap_or(words.len())) {
                Ok(Some(said.value.clone()))
            } else if wanted == now {
                Ok(None)
            } else {
                Err("a project chooses nothing that permits more".to_owned())
            }
        }
        Project::Adds => {
            let mut all = now.as_array().cloned().unwrap_or_default();
            let before = all.len();
            let more = said.value.as_array().into_iter().flatten();
            let more: Vec<_> = more.filter(|name| !all.contains(name)).cloned().collect();
            all.extend(more);
            Ok((all.len() > before).then_some(Value::Array(all)))
        }
    }
}

/// The texts that `value` has and `before` has not.
fn added<'v>(before: &Value, value: &'v Value) -> impl Iterator<Item = String> + use<'v> {
    let before = before.as_array().cloned().unwrap_or_default();
    let texts = value.as_array().into_iter().flatten().filter(move |text| !before.contains(text));
    texts.filter_map(|text| text.as_str().map(str::to_owned))
}

fn ignored(said: &Said, origin: Origin, why: String) -> Problem {
    let path: Vec<_> = said.path.iter().take(said.key.names().count()).cloned().collect();
    Problem {
        layer: origin.layer,
        file: origin.file,
        at: Some((said.line, said.column)),
        key: Some(dotted(&path)),
        message: format!("not taken from a project: {why}"),
        hint: Some("say it in the user's file".to_owned()),
    }
}

/// The types' own reader has the last word. It agrees with the table of keys; a test
/// holds that.
fn config(held: &BTreeMap<Vec<String>, Held>) -> Result<Config, String> {
    let mut tree = Map::new();
    for (path, held) in held {
        let Some((last, tables)) = path.split_last() else { continue };
        let mut table = &mut tree;
        for name in tables {
            let next = table.entry(name.clone()).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(next) = next else {
                return Err(format!("`{}` is a value and a table", dotted(path)));
            };
            table = next;
        }
        table.insert(last.clone(), held.value.clone());
    }
    serde_json::from_value(Value::Object(tree)).map_err(|error| error.to_string())
}

fn unexplained(file: Option<&Path>, message: String) -> Problem {
    Problem {
        layer: Layer::User,
        file: file.unwrap_or(Path::new("")).to_owned(),
        at: None,
        key: None,
        message,
        hint: None,
    }
}
