//! What the one `mcp` tool says: a few words for each tool of all servers, and all of it
//! for the one that is asked about.

use std::fmt::Write as _;
use std::sync::OnceLock;

use portcullis_model::extension::{ExtensionError, ToolEntry};
use serde_json::{Map, Value, json};

use super::catalogue::near;
use crate::schema::Schema;

/// The tool in front of all servers.
pub(crate) const MCP: &str = "mcp";

/// What a model is told of it: the same, however many servers there are.
pub(crate) const DESCRIPTION: &str = "Lists and calls the tools of MCP servers. `action`: `list` names \
     the tools of all servers, or of `server`; `search` finds tools by `query`; `describe` shows how `tool` \
     of `server` is called; `call` calls it with `arguments`. A server is started when it is needed.";

/// Characters of a description in a list.
const SUMMARY_MAX: usize = 100;

/// Tools that one search gives.
const FOUND_MAX: usize = 20;

/// One server and its tools, as far as they could be had.
pub(crate) type Row = (String, Result<Vec<ToolEntry>, ExtensionError>);

/// What `mcp` is asked.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Request<'a> {
    /// The tools of all servers, or of one.
    List(Option<&'a str>),
    /// The tools that these words mean.
    Search(&'a str, Option<&'a str>),
    /// How a tool is called.
    Describe { server: Option<&'a str>, tool: &'a str },
    /// A tool is to be called.
    Call { server: Option<&'a str>, tool: &'a str, arguments: Value },
    /// None of them.
    Unclear,
}

impl<'a> Request<'a> {
    pub(crate) fn read(input: &'a Value) -> Self {
        let text = |name: &str| input.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
        let (server, tool) = (text("server"), text("tool"));
        match (text("action"), tool) {
            (Some("list"), _) => Self::List(server),
            (Some("search"), _) => Self::Search(text("query").unwrap_or_default(), server),
            (Some("describe"), Some(tool)) => Self::Describe { server, tool },
            (Some("call") | None, Some(tool)) => {
                let arguments = match input.get("arguments") {
                    None | Some(Value::Null) => Value::Object(Map::new()),
                    // Some models write an object as a text.
                    Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
                    Some(arguments) => arguments.clone(),
                };
                Self::Call { server, tool, arguments }
            }
            _ => Self::Unclear,
        }
    }
}

/// The schema of its arguments.
pub(crate) fn schema() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        Schema::new(json!({
            "type": "object",
            "properties": {
                "action": { "enum": ["list", "search", "describe", "call"] },
                "server": { "type": "string" },
                "tool": { "type": "string" },
                "arguments": { "type": "object", "description": "of the tool" },
                "query": { "type": "string", "description": "a few words" },
            },
            "required": ["action"],
            "additionalProperties": false,
        }))
    })
}

/// The tools of these servers, each in one line; a server that failed with its reason.
pub(crate) fn listed(rows: &[Row]) -> String {
    let mut text = String::new();
    for (server, tools) in rows {
        // Writing to a text does not fail.
        let _ = match tools {
            Ok(tools) if tools.is_empty() => writeln!(text, "{server}: it has no tools"),
            Ok(tools) => tools.iter().try_for_each(|tool| writeln!(text, "{}", line(server, tool))),
            Err(error) => writeln!(text, "{server}: not available: {error}"),
        };
    }
    if text.is_empty() { "There are no MCP servers.".to_owned() } else { text }
}

fn line(server: &str, tool: &ToolEntry) -> String {
    let words = tool.description.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut short: String = words.chars().take(SUMMARY_MAX).collect();
    if short.len() < words.len() {
        short.push('…');
    }
    format!("{server}/{}: {short}", tool.name)
}

/// The tools that `query` means, the best first.
pub(crate) fn found(rows: &[Row], query: &str) -> String {
    let words: Vec<String> = query
        .split(|own: char| !own.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
        .collect();
    let mut scored: Vec<(usize, String)> = Vec::new();
    for (server, tools) in rows {
        for tool in tools.iter().flatten() {
            let (name, description) = (tool.name.to_lowercase(), tool.description.to_lowercase());
            let score = |word: &String| {
                3 * usize::from(name.contains(word.as_str()))
                    + usize::from(description.contains(word.as_str()))
                    + usize::from(server.contains(word.as_str()))
            };
            let score: usize = words.iter().map(score).sum();
            if score > 0 {
                scored.push((score, line(server, tool)));
            }
        }
    }
    scored.sort_by(|one, other| other.0.cmp(&one.0).then_with(|| one.1.cmp(&other.1)));
    let mut text: String = scored.iter().take(FOUND_MAX).map(|(_, line)| format!("{line}\n")).collect();
    for (server, tools) in rows {
        if let Err(error) = tools {
            // Writing to a text does not fail.
            let _ = writeln!(text, "{server}: not available: {error}");
        }
    }
    if text.is_empty() { "No tool fits these words.".to_owned() } else { text }
}

/// How `tool` is called; none when no such tool is there, with the names that are near.
pub(crate) fn described(rows: &[Row], tool: &str) -> Result<String, Vec<String>> {
    let all =
        || rows.iter().flat_map(|(server, tools)| tools.iter().flatten().map(move |tool| (server, tool)));
    let told: Vec<String> = all()
        .filter(|(_, own)| own.name == tool)
        .map(|(server, own)| format!("{server}/{}: {}\narguments: {}", own.name, own.description, own.schema))
        .collect();
    if told.is_empty() {
        return Err(near(tool, all().map(|(_, own)| own.name.as_str())));
    }
    Ok(told.join("\n\n"))
}

#[cfg(test)]
mod tests {
    use portcullis_model::extension::{ExtensionError, ToolEntry, ToolTraits};
    use serde_json::{Value, json};

    use super::{Request, Row, SUMMARY_MAX, described, found, listed};

    fn row(server: &str, tools: &[(&str, &str)]) -> Row {
        let entry = |(name, description): &(&str, &str)| ToolEntry {
            name: (*name).to_owned(),
            description: (*description).to_owned(),
            schema: json!({ "type": "object" }),
            traits: ToolTraits::default(),
        };
        (server.to_owned(), Ok(tools.iter().map(entry).collect()))
    }

    fn down(server: &str) -> Row {
        let (reason, remedy) = ("it is gone".to_owned(), "install it".to_owned());
        let code = "server/ended".to_owned();
        (
            server.to_owned(),
            Err(ExtensionError::Failed { extension: server.to_owned(), code, reason, remedy }),
        )
    }

    #[test]
    fn a_list_is_short_and_a_server_that_failed_says_why() {
        let long = "x".repeat(10_000);
        let text = listed(&[row("a", &[("one", &long), ("two", "b\n c")]), down("d"), row("e", &[])]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[0].chars().count(), "a/one: ".len() + SUMMARY_MAX + 1);
        assert_eq!(lines[1], "a/two: b c");
        assert!(lines[2].contains("d: not available") && lines[2].contains("install it"), "{}", lines[2]);
        assert_eq!(lines[3..], ["e: it has no tools"]);
    }

    #[test]
    fn words_find_tools_and_a_name_shows_one() {
        let rows =
            [row("git", &[("create_issue", "Opens an issue."), ("list", "")]), row("b", &[("x", "issue")])];
        assert_eq!(found(&rows, "create issue").lines().next(), Some("git/create_issue: Opens an issue."));
        assert_eq!(found(&rows, "issue").lines().count(), 2);
        assert_eq!(found(&rows, "weather"), "No tool fits these words.");
        assert!(described(&rows, "list").unwrap().contains("arguments: {\"type\":\"object\"}"));
        assert_eq!(described(&rows, "create_isue").unwrap_err(), ["create_issue"]);
    }

    #[test]
    fn a_request_is_read_as_models_write_it() {
        let read = |value: &Value| format!("{:?}", Request::read(value));
        let call = json!({ "action": "call", "server": "a", "tool": "t", "arguments": "{\"x\":1}" });
        assert!(read(&call).contains("Number(1)"), "{}", read(&call));
        assert!(read(&json!({ "tool": "t" })).starts_with("Call"));
        assert!(read(&json!({ "action": "list", "server": "" })).contains("List(None)"));
        for unclear in [json!({}), json!({ "action": "describe" }), json!({ "action": "drop", "tool": "t" })]
        {
            assert_eq!(read(&unclear), "Unclear");
        }
    }
}
