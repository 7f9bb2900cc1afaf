//! The configuration, the plugins and the hooks, as a call would find them.

use portcullis::config::Problem;
use portcullis::hook::HookRow;
use portcullis::model::capability::Standing;
use portcullis::{CapabilityReport, ConfigError, PluginState, Report};

use super::Finding;
use super::hook::hook;
use crate::args::Common;
use crate::environment::Environment;
use crate::open;

/// The configuration and the plugins, as a call would find them.
pub(super) fn host(common: &Common, environment: &Environment) -> (Vec<Finding>, Vec<HookRow>) {
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
            findings.extend(capabilities(&host.capabilities()));
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

/// How many capabilities there are, and each that cannot be used.
fn capabilities(report: &CapabilityReport) -> Vec<Finding> {
    let counted = report.counts.iter().filter(|(_, count)| count.usable > 0);
    let counted: Vec<_> = counted
        .map(|(kind, count)| format!("{} {kind}{}", count.usable, if count.usable == 1 { "" } else { "s" }))
        .collect();
    let usable = if counted.is_empty() { "nothing".to_owned() } else { counted.join(", ") };
    let mut findings = vec![Finding::ok("capabilities", format!("{usable} can be used"))];
    for row in &report.rows {
        let subject = row.capability.id.to_string();
        let text = row.because.clone();
        match &row.capability.standing {
            Standing::Usable if row.usable => {}
            Standing::Broken(_) | Standing::Degraded(_) => {
                let remedy = format!("mend what {} brings, or take it away", row.capability.origin);
                findings.push(Finding::warn(subject, text, remedy));
            }
            Standing::Usable | Standing::Shadowed(_) | Standing::Denied(_) => {
                findings.push(Finding::ok(subject, format!("not used: {text}")));
            }
        }
    }
    findings
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
