//! What is made from the table of keys: the page of the reference, and the schema.

use portcullis_model::config::key::{ANY, HOOK, KEYS, Key, Kind, Node, Project, Trusted};
use portcullis_model::name::PluginName;
use portcullis_model::product;
use serde_json::{Map, Value, json};

const HEAD: &str = "\
# Configuration: every key

Made from the code by `cargo xtask codegen`; [operating](../guides/operating.md#configuration) explains it. An editor that reads JSON schemas can check a file against [config.schema.json](config.schema.json).

Layers, each over the one before: defaults, the user's file, the project's file (`.portcullis/config.toml`, the nearest one upwards from the workspace), the command line. `portcullis config show` prints every value and where it comes from; `portcullis config validate` prints all that is wrong. A file is read whole or not at all: while anything in it is wrong, every call is refused.

A project's file may narrow, and nothing else before the user [trusts](../guides/operating.md#trust) the project. The last column says what it may make of a key, and what a trusted project's may; what it may not is left out, with a warning.

| key | value | default | what it does | in a project's file |
| --- | --- | --- | --- | --- |
";

const HOOKS: &str = "
## Each of the hooks

[Hooks](../guides/hooks.md) explains what they hear and how they answer.

| key | value | default | what it does | in a project's file |
| --- | --- | --- | --- | --- |
";

/// The page `docs/reference/config.md`.
#[must_use]
pub fn reference_page() -> String {
    let mut page = HEAD.to_owned();
    for key in KEYS {
        row(&mut page, key);
    }
    page.push_str(HOOKS);
    for key in HOOK {
        row(&mut page, key);
    }
    page
}

fn row(page: &mut String, key: &Key) {
    {
        let default = if key.default.is_empty() { "absent".to_owned() } else { format!("`{}`", key.default) };
        let project = match key.project {
            Project::Nothing(why) => format!("left out: {why}"),
            Project::Adds => "adds to the list".to_owned(),
            Project::SwitchesOn => "can switch it on".to_owned(),
            Project::Lowers => "can make it less".to_owned(),
            Project::Stricter => "can choose an earlier word".to_owned(),
        };
        let trusted = match key.trusted {
            Trusted::NoMore => "",
            Trusted::Adds => ". Trusted: adds to the list",
            Trusted::OwnPlugins => ". Trusted: for the plugins that the project brings",
        };
        let project = format!("{project}{trusted}");
        let path = key.path.replace(ANY, "NAME");
        page.push_str(&format!("| `{path}` | {} | {default} | {} | {project} |\n", wanted(key), key.meaning));
    }
}

fn wanted(key: &Key) -> String {
    match key.kind {
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Number { least, most, unit } => format!("a whole number of {unit}, {least} to {most}"),
        Kind::Word(words) => {
            words.iter().map(|word| format!("`\"{word}\"`")).collect::<Vec<_>>().join(" or ")
        }
        Kind::Plugins => "a list of plugins' names, none of them twice".to_owned(),
        Kind::Texts => "a list of texts".to_owned(),
        Kind::Rules => "a list of [rules](../guides/permissions.md#rules)".to_owned(),
        Kind::Globs => "a list of names, in which `*` and `?` may stand".to_owned(),
        Kind::Path => "an absolute path".to_owned(),
        Kind::Paths => "a list of absolute paths".to_owned(),
        Kind::Settings => "a table".to_owned(),
        Kind::Variables => "a table of texts".to_owned(),
        Kind::Text => "a text".to_owned(),
        Kind::Hooks => "tables, each written as `[[hooks]]`".to_owned(),
    }
}

/// The JSON schema of a file: `docs/reference/config.schema.json`.
#[must_use]
pub fn schema() -> Value {
    let mut schema = table(&[]);
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("$schema".to_owned(), json!("https://json-schema.org/draft/2020-12/schema"));
        schema.insert("title".to_owned(), json!(format!("A configuration file of {}", product::TITLE)));
        schema.insert("$defs".to_owned(), json!({ "plugin-name": name() }));
    }
    schema
}

fn name() -> Value {
    json!({ "type": "string", "maxLength": PluginName::MAX, "pattern": "^[a-z0-9]+(-[a-z0-9]+)*$" })
}

/// The schema of the table at `path`.
fn table(path: &[&str]) -> Value {
    let below = |name| {
        let path: Vec<_> = path.iter().copied().chain([name]).collect();
        match Node::at(&path) {
            Some(Node::Value(key)) => value(key),
            _ => table(&path),
        }
    };
    if matches!(Node::at(path), Some(Node::Plugins)) {
        let names = json!({ "$ref": "#/$defs/plugin-name" });
        return json!({ "type": "object", "propertyNames": names, "additionalProperties": below(ANY) });
    }
    let properties: Map<_, _> =
        Node::names(path).into_iter().map(|name| (name.to_owned(), below(name))).collect();
    json!({ "type": "object", "additionalProperties": false, "properties": properties })
}

fn value(key: &Key) -> Value {
    let mut schema = match key.kind {
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Number { least, most, .. } => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Word(words) => json!({ "enum": words }),
        Kind::Plugins => {
            json!({ "type": "array", "uniqueItems": true, "items": { "$ref": "#/$defs/plugin-name" } })
        }
        Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
        Kind::Rules | Kind::Globs => {
            json!({ "type": "array", "items": { "type": "string", "minLength": 1 } })
        }
        Kind::Path => json!({ "type": "string", "pattern": "^/" }),
        Kind::Paths => json!({ "type": "array", "items": { "type": "string", "pattern": "^/" } }),
        Kind::Settings => json!({ "type": "object" }),
        Kind::Variables => json!({ "type": "object", "additionalProperties": { "type": "string" } }),
        Kind::Text => json!({ "type": "string" }),
        Kind::Hooks => {
            let properties: Map<_, _> = HOOK.iter().map(|key| (key.name().to_owned(), value(key))).collect();
            let required: Vec<_> =
                HOOK.iter().filter(|key| key.default.is_empty()).map(|key| key.name()).collect();
            json!({ "type": "array", "items": {
                "type": "object", "additionalProperties": false, "properties": properties, "required": required,
            } })
        }
    };
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".to_owned(), json!(key.meaning));
        if let Ok(default) = serde_json::from_str::<Value>(key.default) {
            schema.insert("default".to_owned(), default);
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::{reference_page, schema};

    const AGAIN: &str = "run `cargo xtask codegen`";

    #[test]
    fn the_page_of_the_reference_is_the_code() {
        assert!(
            include_str!("../../../../docs/reference/config.md").trim_end() == reference_page().trim_end(),
            "{AGAIN}"
        );
    }

    #[test]
    fn the_schema_of_the_reference_is_the_code() {
        let page: serde_json::Value =
            serde_json::from_str(include_str!("../../../../docs/reference/config.schema.json")).unwrap();
        assert!(page == schema(), "{AGAIN}");
    }
}
