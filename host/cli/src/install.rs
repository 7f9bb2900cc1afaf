//! `portcullis install` and `uninstall`: an agent's hook entry.

use std::collections::BTreeSet;

use anyhow::Context as _;
use portcullis::agent::Agent;
use portcullis::hook::{Event, HookRow};
use portcullis::install::{Change, InstallError, Installation, Plan, Scope, State, Trial};
use serde_json::{Value, json};
use similar::TextDiff;

use crate::args::{Common, EventChoice, InstallArguments, UninstallArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::Printer;

/// How often a plan is made again because somebody else wrote to the file.
const ATTEMPTS: usize = 5;

pub(crate) fn install(
    common: &Common,
    verb: &InstallArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    if verb.skills {
        let options =
            ServerOptions { is_wanted: true, project: verb.project, dry_run: verb.dry_run, json: verb.json };
        return server(&verb.agents, options, common, environment, printer);
    }
    let mut exit = Exit::Done;
    // A configuration that cannot be read must not keep an agent without its gate.
    let needed = needed(common, environment).unwrap_or_else(|error| {
        printer.tell(&format!(
            "warning: nobody knows which events a hook listens to, so the entry asks for calls and the end of a turn: {error:#}"
        ));
        BTreeSet::new()
    });
    for agent in agents(&verb.agents)? {
        let mut wanted = installation(agent, scope(verb.project), common, environment)?;
        wanted.events.clone_from(&needed);
        let keeps_all = verb.events.is_none() && asks_for_all(&wanted);
        if verb.events == Some(EventChoice::All) || keeps_all {
            wanted = wanted.with_every_event();
        }
        let changes = carry_out(verb.dry_run, || wanted.plan())?;
        let trial = if verb.dry_run { None } else { Some(wanted.try_out()?) };
        let off = wanted.switched_off()?;
        if !verb.dry_run && (off.is_some() || trial.as_ref().is_some_and(|trial| !trial.holds())) {
            exit = Exit::No;
        }
        if verb.json {
            printer.line(&report(&wanted, &changes, trial.as_ref(), off.as_deref()).to_string())?;
            continue;
        }
        tell(printer, &wanted, &changes, verb.dry_run, "already has the entry")?;
        if let Some(trial) = &trial {
            printer.line(&format!("  {}", verdict(trial)))?;
            printer.line(&format!("  {}", next(agent, wanted.scope)))?;
        }
        if let Some(off) = off {
            printer.line(&format!("  its hooks are SWITCHED OFF: {off}; take that out"))?;
        }
    }
    Ok(exit)
}

pub(crate) fn uninstall(
    common: &Common,
    verb: &UninstallArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    if verb.skills {
        let options =
            ServerOptions { is_wanted: false, project: verb.project, dry_run: verb.dry_run, json: verb.json };
        return server(&verb.agents, options, common, environment, printer);
    }
    for agent in agents(&verb.agents)? {
        let wanted = installation(agent, scope(verb.project), common, environment)?;
        let changes = carry_out(verb.dry_run, || wanted.plan_removal())?;
        if verb.json {
            printer.line(&report(&wanted, &changes, None, None).to_string())?;
        } else {
            tell(printer, &wanted, &changes, verb.dry_run, "has no entry of Portcullis")?;
        }
    }
    Ok(Exit::Done)
}

/// What is said of the skills server in an agent's MCP configuration.
struct ServerOptions {
    is_wanted: bool,
    project: bool,
    dry_run: bool,
    json: bool,
}

/// Writes or removes the skills server.
fn server(
    names: &[String],
    options: ServerOptions,
    common: &Common,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let ServerOptions { is_wanted, project, dry_run, json } = options;
    for agent in agents(names)? {
        let wanted = installation(agent, scope(project), common, environment)?;
        let plan = || if is_wanted { wanted.plan_server() } else { wanted.plan_server_removal() };
        let changes = carry_out(dry_run, plan)?;
        if json {
            printer.line(&report(&wanted, &changes, None, None).to_string())?;
            continue;
        }
        if changes.is_empty() {
            let has = if is_wanted { "already has" } else { "does not have" };
            printer.line(&format!("{agent}: {has} the skills server"))?;
        }
        tell_changes(printer, agent, &changes, dry_run)?;
        if is_wanted && !dry_run && !changes.is_empty() {
            printer.line("  next: start it anew; it reads its MCP servers when it starts")?;
        }
    }
    Ok(Exit::Done)
}

/// What an installation needs to know, from the command line and the environment.
pub(crate) fn installation(
    agent: Agent,
    scope: Scope,
    common: &Common,
    environment: &Environment,
) -> anyhow::Result<Installation> {
    let home = environment.variables.get("HOME").filter(|home| home.starts_with('/'));
    Ok(Installation {
        agent,
        scope,
        program: environment.program.clone().context("this program's own path cannot be had")?,
        home: home.context("HOME is not set to an absolute path, and agents keep their files there")?.into(),
        project: open::workspace(common, environment)
            .context("the current directory is gone; hint: `-C DIR`")?,
        variables: environment.variables.clone(),
        events: BTreeSet::new(),
    })
}

/// The events that a hook listens to.
fn needed(common: &Common, environment: &Environment) -> anyhow::Result<BTreeSet<Event>> {
    let host = open::open(open::options(common, environment, None)?)?;
    Ok(host.all_hooks().into_iter().filter(HookRow::is_asked).map(|hook| hook.event).collect())
}

/// Whether the entry that is there asks for everything already.
pub(crate) fn asks_for_all(wanted: &Installation) -> bool {
    let standing = wanted.with_every_event().standing();
    standing.is_ok_and(|standing| standing.iter().all(|standing| standing.state == State::Current))
}

/// What the trial says, in a line.
pub(crate) fn verdict(trial: &Trial) -> String {
    let how = if trial.through_entry { "through the entry" } else { "asked as its plugin asks" };
    let said = trial.said.as_deref().unwrap_or_default();
    match (trial.stopped, trial.passed) {
        (true, true) => format!(
            "canary: a dangerous call was stopped after {} ms and a harmless one let pass ({how})",
            trial.took.as_millis()
        ),
        (true, false) => format!("canary FAILED: the harmless call was not let pass ({how}): {said}"),
        (false, _) => format!("canary FAILED: the dangerous call was not stopped ({how}): {said}"),
    }
}

const fn scope(project: bool) -> Scope {
    if project { Scope::Project } else { Scope::User }
}

fn agents(names: &[String]) -> anyhow::Result<Vec<Agent>> {
    names
        .iter()
        .map(|name| {
            name.parse::<Agent>().map_err(|error| match error.near {
                Some(near) => anyhow::anyhow!("{error}; hint: `{near}`"),
                None => anyhow::anyhow!("{error}"),
            })
        })
        .collect()
}

/// One file that changed, or would: its path and the two texts.
struct Changed {
    path: String,
    before: Option<String>,
    after: Option<String>,
}

impl From<&Change> for Changed {
    fn from(change: &Change) -> Self {
        Self {
            path: change.path().display().to_string(),
            before: change.before().map(str::to_owned),
            after: change.after().map(str::to_owned),
        }
    }
}

fn carry_out(
    dry_run: bool,
    plan: impl Fn() -> Result<Plan, InstallError>,
) -> Result<Vec<Changed>, InstallError> {
    let mut attempt = 0;
    loop {
        let plan = plan()?;
        let changes = plan.changes().iter().map(Changed::from).collect();
        if dry_run {
            return Ok(changes);
        }
        match plan.apply() {
            Ok(()) => return Ok(changes),
            Err(InstallError::Changed { .. }) if attempt < ATTEMPTS => attempt += 1,
            Err(error) => return Err(error),
        }
    }
}

fn tell(
    printer: &Printer,
    wanted: &Installation,
    changes: &[Changed],
    dry_run: bool,
    unchanged: &str,
) -> anyhow::Result<()> {
    if changes.is_empty() {
        let files: Vec<_> = wanted.standing()?.iter().map(|at| at.path.display().to_string()).collect();
        printer.line(&format!("{}: {unchanged} ({})", wanted.agent, files.join(", ")))?;
    }
    tell_changes(printer, wanted.agent, changes, dry_run)
}

fn tell_changes(printer: &Printer, agent: Agent, changes: &[Changed], dry_run: bool) -> anyhow::Result<()> {
    for change in changes {
        let verb = match (dry_run, change.after.is_some()) {
            (true, _) => "would change",
            (false, true) => "wrote",
            (false, false) => "removed",
        };
        printer.line(&format!("{agent}: {verb} {}", change.path))?;
        if dry_run {
            let (before, after) = (change.before.as_deref(), change.after.as_deref());
            let diff = TextDiff::from_lines(before.unwrap_or_default(), after.unwrap_or_default());
            printer.raw(&diff.unified_diff().context_radius(2).header("before", "after").to_string())?;
        }
    }
    Ok(())
}

/// What is left for the person to do.
fn next(agent: Agent, scope: Scope) -> &'static str {
    match (agent, scope) {
        (Agent::Claude, _) => "next: sessions that are open already keep their hooks; start new ones",
        (Agent::Codex, _) => {
            "next: start Codex and accept the hook with `/hooks`; until then Codex skips it without a word"
        }
        (Agent::Gemini, Scope::User) => "next: start Gemini CLI anew",
        (Agent::Gemini, Scope::Project) => "next: trust the folder in Gemini CLI; it runs no hooks of others",
        (Agent::OpenCode, _) => {
            "next: start opencode anew; `opencode --pure` runs without plugins, this one too"
        }
        (Agent::Copilot, Scope::User) => "next: start Copilot anew",
        (Agent::Copilot, Scope::Project) => {
            "next: start Copilot anew; its cloud agent reads the file too once it is committed, and refuses every call where the program is not there"
        }
        (Agent::Cursor, _) => "next: start Cursor anew",
        (Agent::Goose, _) => "next: start goose anew; before version 1.38 it runs no hooks",
        (Agent::Crush, _) => "next: start Crush anew; it runs no hooks for its sub-agents",
        (Agent::Cline, _) => {
            "next: start Cline anew; where its settings have a switch for hooks, it has to be on"
        }
        (Agent::Windsurf, _) => "next: start Windsurf anew",
        (Agent::Droid, _) => "next: sessions that are open already keep their hooks; start new ones",
        (Agent::Kiro, _) => "next: start Kiro anew; Kiro CLI reads the file from version 3 on",
        (Agent::Antigravity, _) => {
            "next: start Antigravity anew and have it run something that is refused: some versions of its command line were seen not to read the file"
        }
        (Agent::Amp, _) => {
            "next: start Amp anew, with PLUGINS=all where its plugins are off; PLUGINS=off runs without this one too"
        }
    }
}

fn report(wanted: &Installation, changes: &[Changed], trial: Option<&Trial>, off: Option<&str>) -> Value {
    let changes: Vec<_> = changes
        .iter()
        .map(|change| json!({ "path": change.path, "before": change.before, "after": change.after }))
        .collect();
    let canary = trial.map(|trial| {
        json!({
            "holds": trial.holds(),
            "stopped": trial.stopped,
            "passed": trial.passed,
            "through_entry": trial.through_entry,
            "micros": u64::try_from(trial.took.as_micros()).unwrap_or(u64::MAX),
            "said": trial.said,
        })
    });
    json!({ "agent": wanted.agent.as_str(), "changes": changes, "canary": canary, "switched_off": off })
}
