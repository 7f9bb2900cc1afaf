//! The host's own refusal: no call changes Portcullis's files, its program, or the
//! hooks through which agents ask it.
//!
//! It is no plugin, so no list of plugins can drop it, and only the user's own
//! file can switch it off. A call is looked at for what it writes, removes, moves,
//! links or makes unreadable: `table.rs` says which paths are protected, `touch.rs`
//! what a command changes, `verb.rs` which commands change Portcullis by themselves.
//! Reading is never refused.
//!
//! Paths are compared name by name, first as they are written and then where their
//! links lead, also when nothing is there yet. The disk is asked about nothing but
//! paths that a call would change.

mod arguments;
mod change;
mod disk;
mod name;
mod place;
mod rule;
mod site;
mod table;
mod text;
mod touch;
mod verb;
mod windows;
mod word;

#[cfg(test)]
mod tests;

use std::collections::HashSet;

use portcullis_model::call::EffectKind;
use portcullis_model::script::{Command, Pipeline, Script, Word};
use portcullis_runtime::CallView;

use change::{Reach, Touch};
pub(crate) use disk::resolve;
pub(crate) use place::{PLUGIN, Places, Protection};
pub(crate) use rule::Code;
use rule::Rule;
use site::Site;
use word::Named;

/// A text this long is the content of a file and no path.
const PATH_MAX: usize = 4096;

/// The changes of one script that are looked at. No honest script has more, and
/// each may cost some questions to the disk.
const CHANGES_MAX: usize = 10_000;

/// Why a call must not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Objection {
    pub(crate) code: Code,
    /// The path or the command, as the model has it.
    pub(crate) named: String,
    /// Whose it is, for people.
    pub(crate) what: &'static str,
}

impl Protection {
    /// What this call would change, if it is protected.
    pub(crate) fn objection(&self, call: &dyn CallView) -> Option<Objection> {
        let site = Site::new(call.cwd());
        self.effects(call, &site)
            .or_else(|| call.scripts().iter().find_map(|script| self.script(script, call.cwd())))
    }

    fn effects(&self, call: &dyn CallView, site: &Site) -> Option<Objection> {
        let mut writes = false;
        for effect in call.effects() {
            let reach = match effect.kind {
                EffectKind::Write => Reach::Become(None),
                EffectKind::Delete => Reach::Remove(None),
                EffectKind::Run
                | EffectKind::Read
                | EffectKind::Fetch
                | EffectKind::Mcp
                | EffectKind::Opaque => continue,
            };
            writes = true;
            let touch = Touch { word: Word::Literal(effect.target.clone()), reach };
            if let Some(rule) = self.meets(&touch, site) {
                return Some(objection(rule, self.without_home(&effect.target)));
            }
        }
        // Effects have their `..` folded as text. A tool that leaves that to the
        // system ends where the link before it leads.
        if !writes || !call.input().contains("..") {
            return None;
        }
        let input: serde_json::Value = serde_json::from_str(call.input()).ok()?;
        let mut texts = Vec::new();
        climbing(&input, &mut texts);
        texts.into_iter().find_map(|text| {
            let touch = Touch { word: Word::Literal(text.clone()), reach: Reach::Remove(None) };
            self.meets(&touch, site).map(|rule| objection(rule, text))
        })
    }

    fn script(&self, script: &Script, cwd: &str) -> Option<Objection> {
        let mut site = Site::new(cwd);
        let mut seen = HashSet::new();
        let mut changes = 0_usize;
        for pipeline in &script.pipelines {
            let removed = removes_its_input(pipeline);
            for command in &pipeline.commands {
                if verb::changes(command, &self.programs) {
                    let named = command.source.chars().take(200).collect();
                    return Some(Objection { code: Code::Command, named, what: "Portcullis itself" });
                }
                if let Some(directory) = started_in(command) {
                    site.enter(&directory);
                    seen.clear();
                }
                for touch in touch::touches(command, removed) {
                    if seen.contains(&touch) {
                        continue;
                    }
                    changes = changes.saturating_add(1);
                    if changes > CHANGES_MAX {
                        return Some(Objection { code: Code::TooMany, named: String::new(), what: "" });
                    }
                    if let Some(rule) = self.meets(&touch, &site) {
                        return Some(objection(rule, arguments::written(&touch.word).to_owned()));
                    }
                    seen.insert(touch);
                }
                if let Some(directory) = entered(command)
                    && let Some(named) = word::path(directory, &self.variables, site.here())
                {
                    site.enter(&named);
                    seen.clear();
                }
            }
        }
        if script.complete { None } else { self.text(&script.source, cwd) }
    }

    fn text(&self, text: &str, cwd: &str) -> Option<Objection> {
        let site = Site::new(cwd);
        text::paths(text).into_iter().find_map(|path| {
            let word =
                if path.contains('$') { Word::Computed(path.clone()) } else { Word::Literal(path.clone()) };
            // In a text of any language `.*/` is hardly a path.
            let reach = if name::is_pattern(&path) { Reach::Write } else { Reach::Spoil };
            self.meets(&Touch { word, reach }, &site).map(|rule| objection(rule, path))
        })
    }
}

fn objection(rule: &Rule, named: String) -> Objection {
    Objection { code: rule.code, named, what: rule.what }
}

/// Where `cd` and its like go.
fn entered(command: &Command) -> Option<&Word> {
    let (first, words) = command.words.split_first()?;
    let enters = matches!(first.literal(), Some("cd" | "pushd" | "chdir"));
    words.iter().find(|word| !word.literal().is_some_and(|text| text.starts_with('-'))).filter(|_| enters)
}

/// The directory that `env -C DIR` and `sudo -D DIR` start a program in. The analysis
/// takes their options off, so the command's own text has to tell.
fn started_in(command: &Command) -> Option<Named> {
    if !command.via.iter().any(|via| via == "env" || via == "sudo") {
        return None;
    }
    let words: Vec<&str> = command.source.split_whitespace().collect();
    let value = words.windows(2).find_map(|pair| match pair {
        ["-C" | "-D" | "--chdir", directory] => Some(*directory),
        [word, _] => word.strip_prefix("--chdir="),
        _ => None,
    })?;
    let text = value.trim_matches(['"', '\'']).to_owned();
    Some(Named { text, somewhere: false })
}

/// `find … | xargs rm`
fn removes_its_input(pipeline: &Pipeline) -> bool {
    let mut commands = pipeline.commands.iter();
    commands.any(|command| {
        command.via.iter().any(|via| via == "xargs" || via == "parallel") && touch::removes(command)
    })
}

/// Every text that could be a path with `..` in it.
fn climbing(value: &serde_json::Value, texts: &mut Vec<String>) {
    match value {
        serde_json::Value::String(text) => {
            if text.len() <= PATH_MAX && text.contains("..") && text.contains('/') && !text.contains('\n') {
                texts.push(text.clone());
            }
        }
        serde_json::Value::Array(items) => items.iter().for_each(|item| climbing(item, texts)),
        serde_json::Value::Object(object) => object.values().for_each(|item| climbing(item, texts)),
        serde_json::Value::Null | serde_json::Value::Bool(_) | serde_json::Value::Number(_) => {}
    }
}
