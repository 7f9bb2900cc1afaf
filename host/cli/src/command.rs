//! `portcullis command`: which commands there are, and what becomes of one.

use portcullis::command::{Command, CommandCatalog, CommandState, mentions};
use portcullis::model::extension::CommandEntry;
use portcullis::{Host, Turn};
use serde_json::{Value, json};

use crate::args::{CommandExpandArguments, CommandListArguments, CommandVerb, Common};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::{self, Printer};

pub(crate) fn run(
    common: &Common,
    verb: &CommandVerb,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    match verb {
        CommandVerb::List(verb) => list(common, verb, environment, printer),
        CommandVerb::Expand(verb) => expand(common, verb, environment, printer),
    }
}

/// A turn of nobody's, in which a person looks around.
async fn turn(common: &Common, environment: &Environment) -> anyhow::Result<Turn> {
    let mut options = open::options(common, environment, None)?;
    options.local = Some(open::local(common, environment));
    let host = Host::open(options).await?;
    Ok(host.session("command").turn())
}

fn list(
    common: &Common,
    verb: &CommandListArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let mut places = open::local(common, environment).commands;
    places.compatible = open::loaded(common, environment, open::workspace(common, environment).as_deref())?
        .config
        .commands
        .compat;
    let catalog = CommandCatalog::look(&places);
    let entries = open::block_on(async { anyhow::Ok(turn(common, environment).await?.commands()) })??;
    let left: Vec<_> =
        catalog.all().iter().filter(|own| verb.all && own.state != CommandState::Usable).collect();
    if verb.json {
        let rows = entries.iter().map(row).chain(left.iter().map(|own| row_of_file(own)));
        let answer = json!({ "commands": rows.collect::<Vec<_>>(), "problems": catalog.problems });
        printer.line(&answer.to_string())?;
        return Ok(Exit::Done);
    }
    let rows = entries.iter().map(|own| cells(&typed(own), "usable", &own.from, &own.description));
    let left = left.iter().map(|own| {
        cells(
            &format!("/{}", own.name),
            own.state.as_str(),
            &own.origin.to_string(),
            &why(own).unwrap_or_default(),
        )
    });
    let rows: Vec<_> = rows.chain(left).collect();
    if rows.is_empty() {
        printer.line("no commands")?;
    } else {
        printer.line(&printer::table(&["COMMAND", "STATE", "FROM", "NOTES"], &rows))?;
    }
    for problem in &catalog.problems {
        printer.tell(&printer::plain(&format!("warning: {problem}")));
    }
    Ok(Exit::Done)
}

/// As somebody types it.
fn typed(entry: &CommandEntry) -> String {
    let arguments = Some(&entry.arguments).filter(|own| !own.is_empty());
    arguments.map_or_else(|| format!("/{}", entry.name), |own| format!("/{} {own}", entry.name))
}

fn cells(name: &str, state: &str, from: &str, notes: &str) -> Vec<String> {
    [name, state, from, notes].map(printer::plain).to_vec()
}

fn row(entry: &CommandEntry) -> Value {
    json!({
        "command": entry.name,
        "arguments": entry.arguments,
        "from": entry.from,
        "description": entry.description,
        "state": "usable",
    })
}

fn row_of_file(command: &Command) -> Value {
    json!({
        "command": command.name,
        "from": command.origin,
        "file": command.file,
        "state": command.state.as_str(),
        "why": why(command),
    })
}

/// Why it cannot be typed.
fn why(command: &Command) -> Option<String> {
    match &command.state {
        CommandState::Usable => None,
        CommandState::Shadowed { by } => Some(format!("another one comes first: {}", by.display())),
        CommandState::Untrusted => Some("waits for `portcullis trust add`".to_owned()),
        CommandState::Skipped { why } => Some(format!("{why}: {}", command.file.display())),
    }
}

fn expand(
    common: &Common,
    verb: &CommandExpandArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let name = verb.name.strip_prefix('/').unwrap_or(&verb.name);
    let cwd = open::workspace(common, environment);
    let cwd = cwd.map(|cwd| cwd.to_string_lossy().into_owned()).unwrap_or_default();
    let text = open::block_on(async {
        let turn = turn(common, environment).await?;
        anyhow::Ok(turn.expand(name, &verb.arguments.join(" "), &cwd).await?)
    })??;
    if verb.json {
        let mentions = mentions(&text);
        printer.line(&json!({ "command": name, "text": text, "mentions": mentions }).to_string())?;
    } else {
        printer.raw(&text)?;
        if !text.ends_with('\n') {
            printer.raw("\n")?;
        }
    }
    Ok(Exit::Done)
}
