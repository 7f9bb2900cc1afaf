//! `portcullis hooks`: who is asked when, and in which order.

use anyhow::Context as _;
use portcullis::config;
use portcullis::hook::HookRow;
use portcullis::model::config::FailureMode;
use serde_json::{Value, json};

use crate::args::{Common, HookSwitchArguments, HooksListArguments, HooksVerb};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::{self, Printer};

pub(crate) fn run(
    common: &Common,
    verb: &HooksVerb,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    match verb {
        HooksVerb::List(arguments) => list(common, arguments, environment, printer),
        HooksVerb::Enable(arguments) => switch(common, arguments, true, environment, printer),
        HooksVerb::Disable(arguments) => switch(common, arguments, false, environment, printer),
    }
}

fn switch(
    common: &Common,
    arguments: &HookSwitchArguments,
    on: bool,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let work = open::workspace(common, environment);
    let files = open::files(common, environment, work.as_deref())?;
    let file = if arguments.project {
        files.project.context("no project has a configuration here; hint: `-C DIR` names its directory")?
    } else {
        files
            .user
            .context("nobody knows where the user's configuration is; hint: set HOME, or `--config FILE`")?
    };
    let changed = config::switch_hook(&file, arguments.project, &arguments.name, on)?;
    let state = if on { "on" } else { "off" };
    let how = if changed { "is" } else { "was already" };
    printer.line(&format!("`{}` {how} {state} in `{}`", arguments.name, file.display()))?;
    Ok(Exit::Done)
}

fn list(
    common: &Common,
    arguments: &HooksListArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let host = open::open(open::options(common, environment, None)?)?;
    let rows = host.all_hooks();
    if arguments.json {
        let rows: Vec<_> = rows.iter().map(json_row).collect();
        printer.line(&json!({ "hooks": rows }).to_string())?;
    } else if rows.is_empty() {
        printer.line("no hooks")?;
    } else {
        let header = ["EVENT", "MATCH", "FROM", "HANDLER", "TIMEOUT", "WHEN IT FAILS", "STATE"];
        let rows: Vec<_> = rows.iter().map(cells).collect();
        printer.line(&printer::table(&header, &rows))?;
    }
    Ok(Exit::Done)
}

/// `open` or `closed`.
pub(crate) const fn mode(mode: FailureMode) -> &'static str {
    match mode {
        FailureMode::Open => "open",
        FailureMode::Closed => "closed",
    }
}

fn cells(row: &HookRow) -> Vec<String> {
    vec![
        row.event.to_string(),
        printer::plain(row.rule.as_deref().unwrap_or("*")),
        if row.plugin.is_some() { "plugin" } else { "script" }.to_owned(),
        printer::plain(&row.handler),
        format!("{} ms", row.time.as_millis()),
        mode(row.failure_mode).to_owned(),
        if row.denied {
            "denied"
        } else if row.enabled {
            "on"
        } else {
            "off"
        }
        .to_owned(),
    ]
}

fn json_row(row: &HookRow) -> Value {
    json!({
        "name": row.name,
        "event": row.event.as_str(),
        "match": row.rule,
        "from": if row.plugin.is_some() { "plugin" } else { "script" },
        "handler": row.handler,
        "timeout_ms": u64::try_from(row.time.as_millis()).unwrap_or(u64::MAX),
        "failure_mode": mode(row.failure_mode),
        "enabled": row.enabled,
        "denied": row.denied,
    })
}
