//! `portcullis plugin inspect`.

use anyhow::Context as _;
use portcullis::{Host, Inspection};
use serde_json::{Value, json};

use crate::args::{Common, InspectArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::plugin::list::to_json;
use crate::printer::Printer;

pub(crate) fn run(
    common: &Common,
    verb: &InspectArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let (host, name) = open_with(common, environment, &verb.plugin)?;
    let seen = host.inspect(&name).with_context(|| {
        let known: Vec<_> = host.report().rows.into_iter().map(|row| row.name).collect();
        format!("there is no plugin `{name}`; there are: {}", known.join(", "))
    })?;
    if verb.json {
        printer.line(&serde_json::to_string(&document(&seen))?)?;
    } else {
        printer.line(&page(&seen))?;
    }
    Ok(Exit::Done)
}

/// A host in which `plugin` is turned on, and the plugin's name. A plugin that is
/// a file is named by what it says of itself.
pub(super) fn open_with(
    common: &Common,
    environment: &Environment,
    plugin: &str,
) -> anyhow::Result<(Host, String)> {
    let mut options = open::options(common, environment, None)?;
    let file = std::path::Path::new(plugin);
    if file.extension().is_none_or(|extension| extension != "wasm") {
        let name = portcullis::model::name::PluginName::new(plugin)
            .with_context(|| "a plugin is named by its name, or by a file that ends in `.wasm`".to_owned())?;
        if let Some(list) = &mut options.config.plugins.enabled {
            if !list.contains(&name) {
                list.push(name);
            }
        } else if portcullis::BUNDLED.iter().any(|bundled| bundled.name == plugin && !bundled.default_on) {
            options.config.plugins.enabled = Some(vec![name]);
        }
        return Ok((open::open(options)?, plugin.to_owned()));
    }
    let path = environment.current.as_ref().map_or_else(|| file.to_owned(), |current| current.join(file));
    options.config.plugins.enabled = Some(Vec::new());
    options.plugins = vec![path.clone()];
    let host = open::open(options)?;
    let row =
        host.report().rows.into_iter().find(|row| row.origin.as_ref().and_then(|o| o.path()) == Some(&*path));
    let row = row.with_context(|| format!("`{plugin}` was not looked at"))?;
    match (&row.digest, row.state.reason()) {
        (None, reason) => {
            anyhow::bail!("`{plugin}` cannot be used: {}", reason.unwrap_or("it did not load"))
        }
        (Some(_), _) => Ok((host, row.name)),
    }
}

fn document(seen: &Inspection) -> Value {
    let mut document = to_json(&seen.row);
    let limits = &seen.limits;
    let more = json!({
        "description": seen.description,
        "appendix": seen.appendix,
        "serves": seen.serves,
        "imports": seen.imports,
        "limits": {
            "guard_ms": limits.guard_time.as_millis(),
            "hook_ms": limits.hook_time.as_millis(),
            "command_ms": limits.command_time.as_millis(),
            "tool_ms": limits.tool_time.as_millis(),
            "describe_ms": limits.describe_time.as_millis(),
            "memory_mib": limits.memory >> 20,
            "reason_bytes": limits.reason,
            "appendix_bytes": limits.appendix,
            "tools": limits.tools,
        },
        "grant": {
            "read": seen.grant.read,
            "write": seen.grant.write,
            "env": seen.grant.env,
            "clock": seen.grant.clock,
            "random": seen.grant.random,
            "terminal": seen.grant.terminal,
        },
    });
    if let (Value::Object(document), Value::Object(more)) = (&mut document, more) {
        document.extend(more);
    }
    document
}

/// The same for people: one line for each thing.
fn page(seen: &Inspection) -> String {
    let Value::Object(document) = document(seen) else { return String::new() };
    let width = document.keys().map(String::len).max().unwrap_or(0);
    let mut lines = Vec::new();
    for (key, value) in document {
        let text = match value {
            Value::Null => continue,
            Value::String(text) => text.replace('\n', "\n  "),
            Value::Array(items) if items.is_empty() => "none".to_owned(),
            Value::Array(items) => items.iter().map(plain).collect::<Vec<_>>().join(", "),
            Value::Object(parts) => parts
                .iter()
                .filter(|(_, value)| {
                    !matches!(value, Value::Bool(false)) && value.as_array().is_none_or(|a| !a.is_empty())
                })
                .map(|(key, value)| format!("{key} {}", plain(value)))
                .collect::<Vec<_>>()
                .join(", "),
            other @ (Value::Bool(_) | Value::Number(_)) => plain(&other),
        };
        let text = if text.is_empty() { "none".to_owned() } else { text };
        lines.push(format!("{key:width$}  {text}"));
    }
    lines.join("\n")
}

fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}
