//! `portcullis server call`.

use anyhow::Context as _;
use portcullis::model::call::ToolCall;
use portcullis::model::input::Input;
use portcullis::runtime::Content;
use serde_json::{Value, json};

use crate::args::{Common, ServerCallArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::Printer;

pub(super) fn run(
    common: &Common,
    verb: &ServerCallArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let arguments: Value = serde_json::from_str(&verb.arguments)
        .context("the arguments are no JSON object, such as `{\"a\": 1}`")?;
    anyhow::ensure!(arguments.is_object(), "the arguments are no JSON object, such as `{{\"a\": 1}}`");
    let cwd = open::workspace(common, environment).unwrap_or_else(|| "/".into());
    let input = json!({ "action": "call", "server": verb.server, "tool": verb.tool, "arguments": arguments });
    let call = ToolCall {
        id: "call".to_owned(),
        tool: "mcp".to_owned(),
        input: Input::from_value(input)?,
        cwd: cwd.to_string_lossy().into_owned(),
        session_id: "server-call".to_owned(),
    };
    super::with_host(common, environment, async |host| {
        let called = host.session("server-call").turn().call(call).await;
        let text = |content: &Content| match content {
            Content::Text(text) => text.clone(),
            Content::Binary { mime_type, bytes } => format!("[{mime_type}, {} bytes]", bytes.len()),
        };
        let text = called.output.content.iter().map(text).collect::<Vec<_>>().join("\n");
        let code = called.error.as_ref().map(|error| error.code.clone());
        let is_refused = called.error.as_ref().is_some_and(|error| error.refusal.is_some());
        if verb.json {
            let answer = json!({ "text": text, "is_error": called.output.is_error, "code": code });
            printer.line(&answer.to_string())?;
        } else if called.error.is_some() {
            printer.tell(&text);
        } else {
            printer.line(&text)?;
        }
        Ok(if is_refused {
            Exit::Refused
        } else if called.output.is_error {
            Exit::No
        } else {
            Exit::Done
        })
    })
}
