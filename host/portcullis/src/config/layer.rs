//! The layers, one over the other: defaults, the user's file, the project's.

use std::collections::BTreeMap;
use std::path::Path;

use portcullis_model::config::Config;
use portcullis_model::config::key::{Kind, Project, Trusted};
use portcullis_model::name::PluginName;
use serde_json::{Map, Value};

use super::loaded::{Held, Loaded, Origin, ignored};
use super::problem::{ConfigError, Layer, Problem, dotted};
use super::walk::Said;
use super::widen::Widening;
use crate::trust::Workspace;

/// Puts what a project says over what the user says.
pub(super) fn merge(
    user: Option<&Path>,
    user_says: Vec<Said>,
    project: Option<&Path>,
    project_says: Vec<Said>,
    trust: Option<&Workspace>,
) -> Result<Loaded, ConfigError> {
    let mut loaded = Loaded { trusted: trust.is_some(), ..Loaded::default() };
    let mut widening = Widening::new(&user_says, project, trust);
    let mut by_project: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for said in user_says {
        let origins = vec![origin(Layer::User, user, said.line)];
        loaded.held.insert(said.path, Held { value: said.value, origins, of_project: false });
    }
    for said in project_says {
        let own = origin(Layer::Project, project, said.line);
        if said.key.trusted != Trusted::NoMore {
            widening.take(said, own, &mut loaded);
            continue;
        }
        match narrowed(&said, loaded.held.get(&said.path)) {
            Ok(Some(value)) => {
                let held = loaded.held.entry(said.path).or_insert_with(|| Held {
                    value: Value::Null,
                    origins: Vec::new(),
                    of_project: false,
                });
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
            Err(why) => loaded.ignored.push(ignored(&said, own, &why, "say it in the user's file")),
        }
    }
    // Of a plugin's settings one line is enough.
    loaded.ignored.dedup_by(|one, before| {
        one.key == before.key && one.message == before.message && one.hint == before.hint
    });
    let read = |of_project| {
        config(&loaded.held, of_project)
            .map_err(|message| ConfigError::new(vec![unexplained(user.or(project), message)]))
    };
    let of_project = if trust.is_some() { read(true)?.plugin } else { BTreeMap::new() };
    loaded.config = read(false)?;
    set_apart(&mut loaded.config, by_project);
    widening.finish(&mut loaded.config, of_project);
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

/// The types' own reader has the last word. It agrees with the table of keys; a test
/// holds that.
fn config(held: &BTreeMap<Vec<String>, Held>, of_project: bool) -> Result<Config, String> {
    let mut tree = Map::new();
    for (path, held) in held.iter().filter(|(_, held)| held.of_project == of_project) {
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
