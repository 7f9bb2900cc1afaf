//! `portcullis doctor`: is everything as it was set up?

mod agent;
mod hook;
mod host;
mod ledger;
mod place;

use serde_json::json;

use crate::args::{Common, DoctorArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::printer::{self, Printer};

use agent::agents;
use host::host;
use ledger::{ledger, of_late};
use place::{places, trust};

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
