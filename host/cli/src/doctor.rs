//! `portcullis doctor`: is everything as it was set up?

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use portcullis::agent::Agent;
use portcullis::config::Problem;
use portcullis::hook::{Event, HookRow};
use portcullis::install::{Installation, Scope, State};
use portcullis::ledger::{self, BreakKind, Ledger, LedgerError};
use portcullis::model::config::FailureMode;
use portcullis::runtime::clock;
use portcullis::{ConfigError, PluginState, Report};
use serde_json::json;

use crate::args::{Common, DoctorArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::install;
use crate::ledger::rates::{DAYS, Rate, Rates};
use crate::open;
use crate::printer::{self, Printer};
use crate::trust::{self, Stands};

/// How one thing stands.
struct Finding {
    level: Level,
    subject: String,
    text: String,
    remedy: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Ok,
    Warn,
    Fail,
}

impl Level {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Warn => "warn",
            Self::Fail => "FAIL",
        }
    }
}

impl Finding {
    fn ok(subject: impl Into<String>, text: impl Into<String>) -> Self {
        Self { level: Level::Ok, subject: subject.into(), text: text.into(), remedy: None }
    }

    fn warn(subject: impl Into<String>, text: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { level: Level::Warn, subject: subject.into(), text: text.into(), remedy: Some(remedy.into()) }
    }

    fn fail(subject: impl Into<String>, text: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { level: Level::Fail, subject: subject.into(), text: text.into(), remedy: Some(remedy.into()) }
    }
}

pub(crate) fn run(
    common: &Common,
    verb: &DoctorArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let (mut findings, hooks) = host(common, environment);
    findings.extend(trust(common, environment));
    findings.extend(places(environment));
    findings.extend(ledger(common, environment));
    findings.extend(of_late(common, environment));
    findings.extend(agents(common, environment, &hooks)?);
    if verb.json {
        let findings: Vec<_> = findings
            .iter()
            .map(|finding| {
                json!({
                    "level": finding.level.as_str().to_lowercase(),
                    "subject": finding.subject,
                    "text": finding.text,
                    "remedy": finding.remedy,
                })
            })
            .collect();
        printer.line(&serde_json::to_string(&json!({ "findings": findings }))?)?;
    } else {
        let rows: Vec<_> = findings
            .iter()
            .map(|finding| {
                let remedy = finding.remedy.as_ref().map(|remedy| format!("; {remedy}")).unwrap_or_default();
                vec![
                    finding.level.as_str().to_owned(),
                    finding.subject.clone(),
                    format!("{}{remedy}", finding.text),
                ]
            })
            .collect();
        printer.line(&printer::table(&["", "WHAT", "HOW IT STANDS"], &rows))?;
    }
    let failed = findings.iter().any(|finding| finding.level == Level::Fail);
    Ok(if failed { Exit::No } else { Exit::Done })
}

/// The configuration and the plugins, as a call would find them.
fn host(common: &Common, environment: &Environment) -> (Vec<Finding>, Vec<HookRow>) {
    let options = match open::options(common, environment, None) {
        Ok(options) => options,
        Err(error) => return (configuration_fails(&error), Vec::new()),
    };
    let mut hooks = Vec::new();
    let mut findings = vec![Finding::ok("configuration", "read whole")];
    let work = open::workspace(common, environment);
    let ignored = open::loaded(common, environment, work.as_deref()).map(|loaded| loaded.ignored);
    findings.extend(ignored.into_iter().flatten().map(|ignored| {
        let hint = ignored.hint.clone().unwrap_or_default();
        Finding::warn("configuration", Problem { hint: None, ..ignored }.to_string(), hint)
    }));
    if !options.config.protect.own_files {
        findings.push(Finding::warn(
            "self-protection",
            "an agent may change the files of Portcullis and its own hooks",
            "take `own_files = false` out of `[protect]`",
        ));
    }
    for lift in open::lifts(common, environment).map(|lifts| lifts.active()).unwrap_or_default() {
        findings.push(Finding::warn(
            format!("refusal of {}", lift.name),
            format!("lifted for a while: {}", lift.reason),
            format!("`portcullis break-glass {} --end` lets it count again", lift.name),
        ));
    }
    match open::open(options) {
        Ok(host) => {
            findings.extend(plugins(common, &host.report()));
            hooks = host.all_hooks().into_iter().filter(HookRow::is_asked).collect();
            findings.extend(hooks.iter().filter(|hook| hook.plugin.is_none()).map(hook));
        }
        Err(error) => findings.push(Finding::fail(
            "plugins",
            format!("every call is refused: {error:#}"),
            "mend that, then look again",
        )),
    }
    (findings, hooks)
}

/// A line for each problem.
fn configuration_fails(error: &anyhow::Error) -> Vec<Finding> {
    const WHAT: &str = "configuration";
    const REMEDY: &str = "mend the file, then look again";
    let Some(error) = error.downcast_ref::<ConfigError>() else {
        return vec![Finding::fail(WHAT, format!("every call is refused: {error:#}"), REMEDY)];
    };
    let finding = |problem: &Problem| {
        let remedy = problem.hint.clone().unwrap_or_else(|| REMEDY.to_owned());
        let text = Problem { hint: None, ..problem.clone() };
        Finding::fail(WHAT, format!("every call is refused: {text}"), remedy)
    };
    error.problems().iter().map(finding).collect()
}

/// A script hook. Of those that fail open only the ones before calls are worth a warning:
/// whoever is asked there is asked for a reason.
fn hook(hook: &HookRow) -> Finding {
    let subject = format!("hook {}", printer::plain(&hook.name));
    let program = hook.program.as_deref().and_then(|program| cannot_start(program));
    match (hook.failure_mode, program) {
        (FailureMode::Closed, Some(why)) => {
            Finding::fail(subject, format!("it fails whenever it is asked: {why}"), "mend its `command`")
        }
        (FailureMode::Open, Some(why)) => {
            Finding::warn(subject, format!("it is never asked: {why}"), "mend its `command`")
        }
        (FailureMode::Closed, None) => Finding::ok(subject, "asked; its failure blocks"),
        (FailureMode::Open, None) if hook.event == Event::PreToolUse => Finding::warn(
            subject,
            "calls go on when it fails",
            "`failure_mode = \"closed\"` in its `[[hooks]]` refuses them",
        ),
        (FailureMode::Open, None) => Finding::ok(subject, "asked; its failure is told and blocks nothing"),
    }
}

/// Why this program cannot be started, if that shows.
fn cannot_start(program: &Path) -> Option<&'static str> {
    use std::os::unix::fs::PermissionsExt as _;
    match std::fs::metadata(program) {
        Err(_) => Some("its program is not there"),
        Ok(meta) if !meta.is_file() => Some("its program is no file"),
        Ok(meta) if meta.permissions().mode() & 0o111 == 0 => Some("its program is not executable"),
        Ok(_) => None,
    }
}

/// The hooks that listen to what this agent's entry does not tell of, and never can.
fn unheard(agent: Agent, subject: &str, hooks: &[HookRow]) -> Vec<Finding> {
    let events: BTreeSet<_> = hooks.iter().map(|hook| hook.event).collect();
    let deaf = events.into_iter().filter(|event| !Installation::can_ask_for(agent, *event));
    deaf.map(|event| {
        let text = format!("hooks listen to `{event}`, and no entry of {agent} tells of it");
        Finding::warn(subject, text, "rely on another event, such as `pre-tool-use`")
    })
    .collect()
}

fn plugins(common: &Common, report: &Report) -> Vec<Finding> {
    let mut findings = Vec::new();
    for row in &report.rows {
        let subject = format!("plugin {}", row.name);
        let reason = row.state.reason().unwrap_or_default();
        match &row.state {
            PluginState::Broken { .. } | PluginState::Unresolved => findings.push(Finding::fail(
                subject,
                format!("{}: {reason}", row.state.as_str()),
                "replace the file, or leave the plugin out of `[plugins] enabled`",
            )),
            PluginState::Active => findings.push(Finding::ok(subject, "active")),
            PluginState::Stale(_)
            | PluginState::Kept
            | PluginState::Inactive
            | PluginState::Shadowed
            | PluginState::Settling => {}
        }
    }
    findings.extend(report.standing.iter().map(|standing| {
        Finding::fail("plugins", format!("every call is refused, because {standing}"), "mend that")
    }));
    let guards = report.rows.iter().filter(|row| {
        matches!(row.state, PluginState::Active) && row.kinds.iter().any(|kind| kind.as_str() == "guard")
    });
    if guards.count() == 0 {
        let remedy =
            if common.no_plugins { "leave `--no-plugins` out" } else { "name one in `[plugins] enabled`" };
        findings.push(Finding::fail("guards", "no guard is active, so nothing is judged", remedy));
    }
    findings
}

/// What is trusted of the project, and what of that is not as it was.
fn trust(common: &Common, environment: &Environment) -> Vec<Finding> {
    const AGAIN: &str = "`portcullis trust add` shows it, and trusts it as it is now";
    let (parts, replaced) = match trust::overview_here(common, environment) {
        Ok(Some(seen)) => seen,
        Ok(None) => return Vec::new(),
        Err(error) if error.is::<ConfigError>() => return Vec::new(),
        Err(error) => {
            let remedy =
                "mend that; until then no project is trusted, and `portcullis trust status` looks again";
            return vec![Finding::fail("trust", format!("{error:#}"), remedy)];
        }
    };
    let mut findings = Vec::new();
    if replaced {
        let text = "another directory was trusted, which stood here before; nothing of this one is";
        findings.push(Finding::fail("trust", text, AGAIN));
    }
    findings.extend(parts.iter().map(|part| {
        let (subject, text) = (format!("trust in {}", printer::plain(&part.path)), part.stands.meaning());
        match part.stands {
            Stands::Trusted => Finding::ok(subject, text),
            Stands::Waits => {
                Finding::warn(subject, text, "`portcullis trust add` shows what it would do, and asks")
            }
            Stands::Changed | Stands::Kept => Finding::fail(subject, text, AGAIN),
            Stands::Gone => Finding::warn(subject, text, "`portcullis trust add` or `remove` forgets it"),
            Stands::Broken => Finding::warn(subject, text, "`portcullis trust status` says why"),
        }
    }));
    findings
}

/// The directories that have to be written to.
fn places(environment: &Environment) -> Vec<Finding> {
    let places = [
        ("state", environment.state.as_ref(), "plugins keep nothing from one call to the next"),
        ("cache", environment.cache.as_ref(), "every call compiles its plugins anew, which takes far longer"),
    ];
    let mut findings = Vec::new();
    for (what, place, otherwise) in places {
        let Some(place) = place else {
            findings.push(Finding::warn(
                what,
                format!("there is no place for it: {otherwise}"),
                "set HOME to an absolute path",
            ));
            continue;
        };
        let tried = std::fs::create_dir_all(place).and_then(|()| {
            let probe = place.join(format!(".doctor-{}", std::process::id()));
            std::fs::write(&probe, b"")?;
            std::fs::remove_file(probe)
        });
        findings.push(match tried {
            Ok(()) => Finding::ok(what, format!("`{}` can be written", place.display())),
            Err(error) => Finding::warn(
                what,
                format!("`{}` cannot be written ({error}): {otherwise}", place.display()),
                "mend its permissions",
            ),
        });
    }
    findings
}

/// Can the ledger be written, and has nobody changed it?
fn ledger(common: &Common, environment: &Environment) -> Vec<Finding> {
    const WHAT: &str = "ledger";
    // A configuration that cannot be read has its own finding.
    let work = open::workspace(common, environment);
    let audit = open::loaded(common, environment, work.as_deref())
        .map(|loaded| loaded.config.audit)
        .unwrap_or_default();
    let lost = |reason: String| {
        if audit.required {
            let text = format!("every call is refused: {reason}");
            Finding::fail(WHAT, text, "mend that, or take `required = true` out of `[audit]`")
        } else {
            Finding::warn(WHAT, format!("what is refused is not written down: {reason}"), "mend that")
        }
    };
    let Some(options) = open::ledger(common, environment, None) else {
        let told = audit.required.then(|| lost(LedgerError::NoPlace.to_string()));
        return told.into_iter().collect();
    };
    let found = match ledger::verify(&options.dir) {
        Err(error) => return vec![lost(error.to_string())],
        Ok(found) => found,
    };
    if let Err(error) = Ledger::new(options, audit, &environment.variables).check() {
        return vec![lost(error.to_string())];
    }
    let finding = match found.broken {
        None => {
            Finding::ok(WHAT, format!("can be written; {} entries follow from one another", found.entries))
        }
        Some(broken) if broken.kind == BreakKind::Unfinished => {
            let text = format!("{} is not finished, as after a crash", broken.spot);
            Finding::warn(WHAT, text, "nothing: the next entry sets it aside")
        }
        Some(broken) => Finding::fail(
            WHAT,
            format!("the chain breaks at {}: {}", broken.spot, broken.what),
            "find out who changed it, then move its directory away",
        ),
    };
    vec![finding]
}

/// How the guards fared in the last days.
fn of_late(common: &Common, environment: &Environment) -> Vec<Finding> {
    let now = Timestamp::from_second(clock::now().seconds).ok();
    let (Some(options), Some(now)) = (open::ledger(common, environment, None), now) else {
        return Vec::new();
    };
    // A ledger that cannot be read has its own finding.
    let Ok(rates) = Rates::read(&options.dir, now) else { return Vec::new() };
    let of_all = match rates.allowed {
        0 => String::new(),
        allowed => format!(" of {}", allowed.saturating_add(rates.refused)),
    };
    let finding = |Rate { guard, refused, failed, p50, p99 }: Rate| {
        let millis = |micros: u64| format!("{}.{:02}", micros / 1000, micros % 1000 / 10);
        let text = format!(
            "in the last {DAYS} days it refused {refused}{of_all} calls and failed at {failed}; such judgements took \
             {} ms, and {} ms at most for 99 in 100",
            millis(p50),
            millis(p99)
        );
        let subject = format!("guard {guard}");
        if failed == 0 {
            return Finding::ok(subject, text);
        }
        let remedy = format!("`portcullis ledger show --by {guard} --fault` shows them");
        Finding::warn(subject, text, remedy)
    };
    rates.of_guards().into_iter().map(finding).collect()
}

/// Every agent's entry, tried out where there is one.
fn agents(common: &Common, environment: &Environment, hooks: &[HookRow]) -> anyhow::Result<Vec<Finding>> {
    let needed: BTreeSet<_> = hooks.iter().map(|hook| hook.event).collect();
    let mut findings = Vec::new();
    let mut installed = false;
    for agent in Agent::ALL {
        let mut files = Vec::new();
        for scope in [Scope::User, Scope::Project] {
            let mut wanted = install::installation(agent, scope, common, environment)?;
            wanted.events.clone_from(&needed);
            if install::asks_for_all(&wanted) {
                wanted = wanted.with_every_event();
            }
            let (subject, again) = match scope {
                Scope::User => (agent.to_string(), format!("run `portcullis install {agent}`")),
                Scope::Project => {
                    (format!("{agent} (project)"), format!("run `portcullis install {agent} --project`"))
                }
            };
            let standings = match wanted.standing() {
                Ok(standings) => standings,
                Err(error) => {
                    findings.push(Finding::fail(subject, error.to_string(), again));
                    continue;
                }
            };
            let paths: Vec<_> = standings.iter().map(|standing| standing.path.clone()).collect();
            // At home both can be the same file.
            if standings.iter().all(|standing| standing.state == State::Absent) || files == paths {
                continue;
            }
            files = paths;
            installed = true;
            match wanted.switched_off() {
                Ok(None) => {}
                Ok(Some(reason)) => {
                    let text = format!("its hooks are switched off: {reason}");
                    findings.push(Finding::fail(&subject, text, "take that out"));
                }
                Err(error) => findings.push(Finding::fail(&subject, error.to_string(), "mend the file")),
            }
            if let Some(standing) = standings.iter().find(|standing| standing.state != State::Current) {
                let fewer = Installation { events: BTreeSet::new(), ..wanted.clone() };
                let would_do = fewer.standing()?.iter().all(|standing| standing.state == State::Current);
                let what = match standing.state {
                    State::Absent | State::Outdated if would_do => {
                        "does not ask for every event that a hook listens to, so that hook is not asked"
                    }
                    State::Absent => "lacks its part of the entry",
                    State::Outdated | State::Current => "holds another entry than this program writes",
                };
                findings.push(Finding::fail(
                    &subject,
                    format!("`{}` {what}", standing.path.display()),
                    &again,
                ));
                continue;
            }
            findings.extend(unheard(agent, &subject, hooks));
            findings.push(match wanted.try_out() {
                Ok(trial) if trial.holds() => Finding::ok(&subject, install::verdict(&trial)),
                Ok(trial) => Finding::fail(&subject, install::verdict(&trial), again),
                Err(error) => Finding::fail(&subject, error.to_string(), again),
            });
        }
    }
    if !installed {
        let names = Agent::ALL.map(Agent::as_str).join(", ");
        findings.push(Finding::warn(
            "agents",
            "no agent has an entry, so no call is judged",
            format!("run `portcullis install AGENT` ({names})"),
        ));
    }
    Ok(findings)
}
