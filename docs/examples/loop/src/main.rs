//! A whole agent loop: a model that is scripted, tools of the loop's own, and Portcullis
//! between them.
//!
//! `cargo run -p portcullis-example-loop` prints what happens. Replace `model::Scripted` by
//! a client of your provider, and `notes::Notes` by your tools.

mod model;
mod notes;

use std::sync::Arc;

use portcullis::extension::{Level, Scope};
use portcullis::model::call::ToolCall;
use portcullis::model::capability::Domain;
use portcullis::model::input::Input;
use portcullis::runtime::{Allocation, Compiler, Content};
use portcullis::surface::Reading;
use portcullis::{Called, Host, HostOptions, Prompted, Session, Started, Stopped, Turn};
use serde_json::{Value, json};

use crate::model::{Reply, Scripted};

type Error = Box<dyn std::error::Error>;

const CWD: &str = "/home/dev/app";

#[allow(clippy::print_stdout, reason = "an example shows what happens")]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Error> {
    for line in conversation().await? {
        println!("{line}");
    }
    Ok(())
}

/// One conversation of one turn, line by line.
async fn conversation() -> Result<Vec<String>, Error> {
    let mut options = HostOptions::new(Compiler::InProcess);
    options.allocation = Allocation::OnDemand;
    let host = Host::open(options).await?;
    // The loop's own tools. They are judged like any other.
    host.register(Arc::new(notes::Notes::default()), Level::Pool, &Scope::new(), None).await?;

    let session = host.session("example");
    let mut told = Vec::new();
    if let Started::Refused(refusal) = session.start(CWD).await.outcome {
        return Err(format!("no session: {}", refusal.reason).into());
    }
    turn(&session, "Clean up, and write down what you did.", &mut told).await?;
    session.end(CWD).await;
    Ok(told)
}

/// From the user's words to the model's last.
async fn turn(session: &Session, prompt: &str, told: &mut Vec<String>) -> Result<(), Error> {
    // Whoever reads what a turn is about says so here; without it everything is shown.
    let turn = session.turn().about(Reading { needs: [Domain::Filesystem].into(), ..Reading::default() });
    if let Prompted::Withheld(refusal) = turn.prompt(CWD, prompt).await.outcome {
        told.push(format!("not handed on: {}", refusal.reason));
        turn.end().await;
        return Ok(());
    }
    told.push(format!("user: {prompt}"));
    let mut model = Scripted::new();
    let mut messages = vec![json!({ "role": "user", "content": prompt })];
    loop {
        let request = json!({
            "system": turn.standing().await.text,
            "tools": turn.surface().definitions(false),
            "messages": messages,
        });
        match model.answer(&request) {
            Reply::Calls(calls) => {
                for (name, input) in calls {
                    let answer = run(&turn, &name, input).await?;
                    told.push(format!("{name}: {}", answer.split(". ").next().unwrap_or(&answer)));
                    messages.push(json!({ "role": "tool", "name": name, "content": answer }));
                }
            }
            Reply::Says(words) => {
                told.push(format!("model: {words}"));
                match turn.stop(CWD, Some(&words)).await.outcome {
                    Stopped::GoesOn(refusal) => {
                        messages.push(json!({ "role": "user", "content": refusal.reason }));
                    }
                    Stopped::Ends | Stopped::AtTheLimit(_) => break,
                }
            }
        }
    }
    told.push(format!("tools that nobody foresaw: {}", turn.surface().misreads()));
    turn.end().await;
    Ok(())
}

/// What the model reads of one call. There is always something.
async fn run(turn: &Turn, name: &str, input: Value) -> Result<String, Error> {
    let call = ToolCall {
        id: String::new(),
        tool: name.to_owned(),
        input: Input::from_value(input)?,
        cwd: CWD.to_owned(),
        session_id: "example".to_owned(),
    };
    let Called { output, .. } = turn.call(call).await;
    let text = |part: &Content| match part {
        Content::Text(text) => text.clone(),
        Content::Binary { mime_type, bytes } => format!("[{} bytes of {mime_type}]", bytes.len()),
    };
    Ok(output.content.iter().map(text).collect::<Vec<_>>().join("\n"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends when anything is wrong")]
mod tests {
    use super::conversation;

    #[tokio::test]
    async fn the_loop_runs_to_its_end() {
        let told = conversation().await.unwrap();
        let expected = [
            "user: Clean up, and write down what you did.",
            "bash: Blocked by the guard plugin: refusing \"rm -rf build\" (recursive or forced delete)",
            "launch_rocket: there is no tool `launch_rocket` in this turn",
            "write_note: The tool `write_note` was not run, because its arguments do not fit its schema: \
             \"text\" is a required property",
            "find_tools: write_note: Keeps a note",
            "write_note: kept",
            "read_notes: The build directory is left to the user.",
            "model: I could not delete the build directory. It is in the notes.",
            "tools that nobody foresaw: 1",
        ];
        assert_eq!(told.len(), expected.len(), "{told:#?}");
        for (told, expected) in told.iter().zip(expected) {
            assert!(told.starts_with(expected), "{told}\n{expected}");
        }
    }
}
