//! One value of a file: is it what its key wants?

use std::ops::Range;
use std::path::Path;

use portcullis_model::config::key::{HOOK, Key, Kind};
use portcullis_model::config::{FailureMode, HookConfig};
use portcullis_model::name::PluginName;
use serde_json::{Map, Number, Value, json};
use toml::Spanned;
use toml::de::{DeInteger, DeValue};

use super::hint;
use super::problem::quoted;
use crate::hook::{HookError, ScriptHook};
use crate::rule::{Name, Rule};

/// What is wrong with a value or a part of it.
#[derive(Debug)]
pub(super) struct Wrong {
    pub(super) span: Range<usize>,
    /// The names behind the key's.
    pub(super) below: Vec<String>,
    pub(super) message: String,
    pub(super) hint: Option<String>,
}

impl Wrong {
    fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self { span, below: Vec::new(), message: message.into(), hint: None }
    }

    fn hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }
}

/// Where a part of a value is: the names behind the key's, and where it was written.
#[derive(Debug, Default)]
pub(super) struct Below {
    pub(super) names: Vec<String>,
    pub(super) at: Option<usize>,
}

type Parts = Vec<(Below, Value)>;

/// The value as JSON; a table of settings in its parts. Programs of hooks that are told
/// from `base` get their whole path.
pub(super) fn read(
    key: &Key,
    path: &[String],
    value: &Spanned<DeValue<'_>>,
    base: Option<&Path>,
) -> Result<Parts, Vec<Wrong>> {
    let span = value.span();
    let one = |value: Value| vec![(Below::default(), value)];
    let other = |wanted: &str| {
        let message = format!("{wanted} is wanted, and this is {}", is(value.get_ref()));
        Wrong::new(span.clone(), message)
    };
    let name = path.last().map_or("", String::as_str);
    match (key.kind, value.get_ref()) {
        (Kind::Flag, DeValue::Boolean(flag)) => Ok(one(json!(flag))),
        (Kind::Flag, _) => {
            Err(vec![other("`true` or `false`").hint(format!("write `{name} = true` or `{name} = false`"))])
        }
        (Kind::Number { least, most, unit }, DeValue::Integer(number)) => integer(number)
            .filter(|number| (least..=most).contains(number))
            .map(|number| one(json!(number)))
            .ok_or_else(|| {
                let message =
                    format!("out of range: {least} to {most} {unit}, not `{}`", quoted(&number.to_string()));
                vec![Wrong::new(span.clone(), message).hint(default(key))]
            }),
        (Kind::Number { unit, .. }, _) => Err(vec![
            other("a whole number").hint(format!("it counts {unit}: write `{name} = {}`", key.default)),
        ]),
        (Kind::Word(words), DeValue::String(text)) if words.contains(&&**text) => Ok(one(json!(text))),
        (Kind::Word(words), DeValue::String(text)) => {
            let hint = match hint::near(text, words) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("write {}", list(words)),
            };
            Err(vec![Wrong::new(span, format!("unknown value: `{}`", quoted(text))).hint(hint)])
        }
        (Kind::Word(words), _) => Err(vec![other("a text").hint(format!("write {}", list(words)))]),
        (Kind::Text, DeValue::String(text)) => Ok(one(json!(text))),
        (Kind::Text, _) => Err(vec![other("a text").hint("put it in quotes")]),
        (Kind::Hooks, DeValue::Array(items)) => {
            let mut hooks = Vec::new();
            let mut wrongs = Vec::new();
            for (at, item) in items.iter().enumerate() {
                match hook(item, base) {
                    Ok(hook) => hooks.push(hook),
                    Err(found) => wrongs.extend(found.into_iter().map(|mut wrong| {
                        wrong.below.insert(0, (at + 1).to_string());
                        wrong
                    })),
                }
            }
            if wrongs.is_empty() { Ok(one(Value::Array(hooks))) } else { Err(wrongs) }
        }
        (Kind::Hooks, _) => Err(vec![other("a list of tables").hint("write each as `[[hooks]]`")]),
        (Kind::Path, DeValue::String(text)) => {
            absolute(span, text).map(|path| one(json!(path))).map_err(|wrong| vec![wrong])
        }
        (Kind::Path, _) => Err(vec![other("a path").hint(format!("write `{name} = \"/…\"`"))]),
        (Kind::Plugins | Kind::Texts | Kind::Paths | Kind::Rules | Kind::Globs, DeValue::Array(items)) => {
            let mut found = Vec::new();
            let mut wrongs = Vec::new();
            for item in items {
                match element(key.kind, item) {
                    Ok(text) if key.kind == Kind::Plugins && found.contains(&text) => {
                        let message = format!("named twice: `{text}`");
                        wrongs.push(Wrong::new(item.span(), message).hint("name it once"));
                    }
                    Ok(text) => found.push(text),
                    Err(wrong) => wrongs.push(wrong),
                }
            }
            if wrongs.is_empty() { Ok(one(json!(found))) } else { Err(wrongs) }
        }
        (Kind::Plugins | Kind::Texts | Kind::Paths | Kind::Rules | Kind::Globs, _) => {
            Err(vec![other("a list").hint(format!("write `{name} = [\"…\"]`"))])
        }
        (Kind::Settings, DeValue::Table(_)) => {
            let mut parts = Vec::new();
            let mut wrongs = Vec::new();
            settings(value, &mut Vec::new(), None, &mut parts, &mut wrongs);
            if wrongs.is_empty() { Ok(parts) } else { Err(wrongs) }
        }
        (Kind::Variables, DeValue::Table(table)) => {
            let mut parts = Vec::new();
            let mut wrongs = Vec::new();
            for (name, value) in table {
                let (names, at) = (vec![name.get_ref().to_string()], Some(name.span().start));
                if let Some(text) = value.get_ref().as_str() {
                    parts.push((Below { names, at }, json!(text)));
                } else {
                    let message = format!("a text is wanted, and this is {}", is(value.get_ref()));
                    let wrong = Wrong::new(value.span(), message).hint("put it in quotes");
                    wrongs.push(Wrong { below: names, ..wrong });
                }
            }
            if table.is_empty() {
                parts.push((Below::default(), json!({})));
            }
            if wrongs.is_empty() { Ok(parts) } else { Err(wrongs) }
        }
        (Kind::Settings | Kind::Variables, _) => Err(vec![
            other("a table").hint(format!("write the settings below `[{}]`", super::problem::dotted(path))),
        ]),
    }
}

/// One element of a list.
fn element(kind: Kind, item: &Spanned<DeValue<'_>>) -> Result<String, Wrong> {
    let DeValue::String(text) = item.get_ref() else {
        let message = format!("a text is wanted in the list, and this is {}", is(item.get_ref()));
        return Err(Wrong::new(item.span(), message).hint("put it in quotes"));
    };
    match kind {
        Kind::Paths => absolute(item.span(), text),
        Kind::Plugins => table_name(item.span(), text, "plugin"),
        Kind::Rules => rule(item.span(), text),
        Kind::Globs => Name::new(text).map(|name| name.text().to_owned()).map_err(|wrong| {
            Wrong::new(item.span(), wrong).hint("write a name, with `*` for any characters")
        }),
        Kind::Flag
        | Kind::Number { .. }
        | Kind::Word(_)
        | Kind::Text
        | Kind::Texts
        | Kind::Path
        | Kind::Settings
        | Kind::Variables
        | Kind::Hooks => Ok(text.to_string()),
    }
}

/// One hook, whole. What runs hooks reads the same and has the last word.
fn hook(item: &Spanned<DeValue<'_>>, base: Option<&Path>) -> Result<Value, Vec<Wrong>> {
    let Some(table) = item.get_ref().as_table() else {
        let message = format!("a table is wanted in the list, and this is {}", is(item.get_ref()));
        return Err(vec![Wrong::new(item.span(), message).hint("write each hook as `[[hooks]]`")]);
    };
    let mut said = Map::new();
    let mut wrongs = Vec::new();
    let names: Vec<_> = HOOK.iter().map(Key::name).collect();
    for (name, value) in table {
        let below = vec![name.get_ref().to_string()];
        let Some(key) = HOOK.iter().find(|key| key.name() == name.get_ref()) else {
            let hint = match hint::near(name.get_ref(), &names) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known here: {}", list(&names)),
            };
            wrongs.push(Wrong { below, ..Wrong::new(name.span(), "unknown key").hint(hint) });
            continue;
        };
        match read(key, &below, value, None) {
            Ok(parts) => said.extend(parts.into_iter().map(|(_, value)| (key.name().to_owned(), value))),
            Err(found) => {
                wrongs.extend(found.into_iter().map(|wrong| Wrong { below: below.clone(), ..wrong }));
            }
        }
    }
    let missing = HOOK.iter().filter(|key| key.default.is_empty() && !table.contains_key(key.name()));
    wrongs.extend(missing.map(|key| {
        let example = if let Kind::Word([first, ..]) = key.kind { first } else { "/…" };
        let hint = format!("write `{} = \"{example}\"`", key.name());
        Wrong::new(item.span(), format!("`{}` is missing", key.name())).hint(hint)
    }));
    if !wrongs.is_empty() {
        return Err(wrongs);
    }
    let is_line = said.get("shell").and_then(Value::as_bool).unwrap_or(false);
    if let (Some(base), Some(Value::String(command)), false) = (base, said.get_mut("command"), is_line)
        && !command.trim().is_empty()
    {
        *command = base.join(command.trim_start_matches("./")).to_string_lossy().into_owned();
    }
    let said = Value::Object(said);
    // The types agree with the table of keys; what runs hooks has the last word.
    let defined = match serde_json::from_value::<HookConfig>(said.clone()) {
        Ok(hook) => ScriptHook::new(&hook, FailureMode::Open).map(drop),
        Err(error) => Err(HookError { reason: error.to_string(), hint: "see the reference".to_owned() }),
    };
    match defined {
        Ok(()) => Ok(said),
        Err(wrong) => Err(vec![Wrong::new(item.span(), quoted(&wrong.reason)).hint(wrong.hint)]),
    }
}

/// The name of a plugin.
pub(super) fn table_name(span: Range<usize>, text: &str, of: &str) -> Result<String, Wrong> {
    PluginName::new(text).map(|name| name.to_string()).map_err(|_| {
        Wrong::new(span, format!("not the name of a {of}: `{}`", quoted(text)))
            .hint("a name is lowercase letters, digits and single hyphens, 1 to 64 characters")
    })
}

/// A rule that means calls which there can be. What judges by it reads the same.
fn rule(span: Range<usize>, text: &str) -> Result<String, Wrong> {
    match text.parse::<Rule>().map(|rule| rule.near_miss()) {
        Ok(None) => Ok(text.to_owned()),
        Ok(Some(near)) => {
            let message = format!("it names no tool and no effect that is known: `{}`", quoted(text));
            Err(Wrong::new(span, message).hint(format!("did you mean `{near}`?")))
        }
        Err(error) => {
            Err(Wrong::new(span, format!("not a rule, because {}: `{}`", error.reason, quoted(text)))
                .hint("write `TOOL`, `TOOL(pattern)` or `EFFECT(pattern)`"))
        }
    }
}

/// A path that depends on where the program was started would name one file today
/// and another tomorrow.
fn absolute(span: Range<usize>, text: &str) -> Result<String, Wrong> {
    if Path::new(text).is_absolute() {
        return Ok(text.to_owned());
    }
    let hint = if text.starts_with('~') {
        "`~` means nothing here: write the path of your home"
    } else {
        "write it from the root"
    };
    Err(Wrong::new(span, format!("not an absolute path: `{}`", quoted(text))).hint(hint))
}

/// A table of settings, part by part, so that each is known by its line.
fn settings(
    value: &Spanned<DeValue<'_>>,
    names: &mut Vec<String>,
    at: Option<usize>,
    parts: &mut Parts,
    wrongs: &mut Vec<Wrong>,
) {
    match value.get_ref().as_table() {
        Some(table) if !table.is_empty() => {
            for (name, value) in table {
                names.push(name.get_ref().clone().into_owned());
                settings(value, names, Some(name.span().start), parts, wrongs);
                names.pop();
            }
        }
        _ => match plain(value) {
            Ok(value) => parts.push((Below { names: names.clone(), at }, value)),
            Err(wrong) => wrongs.push(Wrong { below: names.clone(), ..wrong }),
        },
    }
}

/// Any value, as JSON.
fn plain(value: &Spanned<DeValue<'_>>) -> Result<Value, Wrong> {
    let none = |what: &str| {
        Err(Wrong::new(value.span(), format!("a plugin is handed JSON, and that has no {what}"))
            .hint("write a text"))
    };
    match value.get_ref() {
        DeValue::String(text) => Ok(json!(text)),
        DeValue::Boolean(flag) => Ok(json!(flag)),
        DeValue::Integer(number) => integer(number).map_or_else(
            || Err(Wrong::new(value.span(), "more than 64 bits").hint("write a text")),
            |number| Ok(json!(number)),
        ),
        DeValue::Float(number) => match number.as_str().parse().ok().and_then(Number::from_f64) {
            Some(number) => Ok(Value::Number(number)),
            None => none("infinite number"),
        },
        DeValue::Datetime(_) => none("dates"),
        DeValue::Array(items) => items.iter().map(plain).collect::<Result<Vec<_>, _>>().map(Value::Array),
        DeValue::Table(table) => {
            let entries = table.iter().map(|(name, value)| Ok((name.get_ref().to_string(), plain(value)?)));
            entries.collect::<Result<Map<_, _>, _>>().map(Value::Object)
        }
    }
}

fn integer(number: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

/// What a value is, in a sentence.
pub(super) const fn is(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a text",
        DeValue::Integer(_) => "a whole number",
        DeValue::Float(_) => "a number with a fraction",
        DeValue::Boolean(_) => "`true` or `false`",
        DeValue::Datetime(_) => "a date",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn default(key: &Key) -> String {
    format!("without it, it is {}", key.default)
}

fn list(words: &[&str]) -> String {
    let words: Vec<_> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
    words.join(" or ")
}
