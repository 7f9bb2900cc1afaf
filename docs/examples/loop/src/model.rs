//! A model that says what is written here, and looks at what it is shown.

use serde_json::{Value, json};

/// What a model answers.
#[derive(Debug)]
pub(crate) enum Reply {
    /// Tools, with their arguments.
    Calls(Vec<(String, Value)>),
    /// Its last words.
    Says(String),
}

/// A model that follows a script.
#[derive(Debug)]
pub(crate) struct Scripted {
    step: usize,
}

impl Scripted {
    pub(crate) const fn new() -> Self {
        Self { step: 0 }
    }

    /// The answer to a request. A tool whose definition is not in it is looked for first,
    /// as a model would.
    pub(crate) fn answer(&mut self, request: &Value) -> Reply {
        let shown = |name: &str| {
            let tools = request.get("tools").and_then(Value::as_array);
            tools.is_some_and(|tools| tools.iter().any(|tool| tool.get("name") == Some(&json!(name))))
        };
        self.step += 1;
        let calls = |calls: &[(&str, Value)]| {
            Reply::Calls(calls.iter().map(|(name, input)| ((*name).to_owned(), input.clone())).collect())
        };
        match self.step {
            1 => calls(&[("bash", json!({ "command": "rm -rf build" })), ("launch_rocket", json!({}))]),
            2 => calls(&[("write_note", json!({}))]),
            3 if !shown("write_note") => calls(&[("find_tools", json!({ "query": "keep a note" }))]),
            4 => calls(&[
                ("write_note", json!({ "text": "The build directory is left to the user." })),
                ("read_notes", json!({})),
            ]),
            _ => Reply::Says("I could not delete the build directory. It is in the notes.".to_owned()),
        }
    }
}
