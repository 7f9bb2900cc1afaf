//! Tools of the loop's own: a shell that is not there, and notes.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use portcullis::model::capability::Domain;
use portcullis::model::extension::{
    Answer, Content, Extension, ToolEntry, ToolProvider, ToolResult, ToolTraits,
};
use serde_json::{Value, json};

/// Notes that last as long as the process.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    kept: Mutex<Vec<String>>,
}

impl Extension for Notes {
    fn name(&self) -> &str {
        "notes"
    }

    fn tools(&self) -> Option<&dyn ToolProvider> {
        Some(self)
    }
}

fn entry(name: &str, description: &str, argument: Option<&str>, serves: Domain) -> ToolEntry {
    let properties = argument.map(|name| json!({ name: { "type": "string" } }));
    ToolEntry {
        name: name.to_owned(),
        description: description.to_owned(),
        schema: json!({
            "type": "object",
            "properties": properties.unwrap_or_else(|| json!({})),
            "required": argument.into_iter().collect::<Vec<_>>(),
        }),
        traits: ToolTraits { serves: BTreeSet::from([serves]), ..ToolTraits::default() },
    }
}

impl ToolProvider for Notes {
    fn list(&self) -> Answer<'_, Vec<ToolEntry>> {
        let tools = vec![
            // Guards know what a shell is by its name.
            entry("bash", "Runs a command.", Some("command"), Domain::Filesystem),
            entry(
                "write_note",
                "Keeps a note. Notes last as long as the process.",
                Some("text"),
                Domain::Memory,
            ),
            entry("read_notes", "Gives back what was kept.", None, Domain::Filesystem),
        ];
        Box::pin(async move { Ok(tools) })
    }

    fn call<'a>(&'a self, name: &'a str, arguments: &'a Value) -> Answer<'a, ToolResult> {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let text = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
        let (answer, is_error) = match name {
            "write_note" => {
                kept.push(text("text").to_owned());
                ("kept".to_owned(), false)
            }
            "read_notes" => (kept.join("\n"), false),
            // It is never asked to: the only command of the script is refused.
            other => (format!("`{other}` is not wired up in this example"), true),
        };
        Box::pin(async move { Ok(ToolResult { content: Content::Text(answer), is_error }) })
    }
}
