//! The entries of agents, tried out.

use std::collections::BTreeSet;

use portcullis::agent::Agent;
use portcullis::hook::HookRow;
use portcullis::install::{Installation, Scope, State};

use super::Finding;
use super::hook::unheard;
use crate::args::Common;
use crate::environment::Environment;
use crate::install;

/// Every agent's entry, tried out where there is one.
pub(super) fn agents(
    common: &Common,
    environment: &Environment,
    hooks: &[HookRow],
) -> anyhow::Result<Vec<Finding>> {
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
