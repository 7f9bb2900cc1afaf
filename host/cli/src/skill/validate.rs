//! `portcullis skill validate`.

use std::io;

use anyhow::Context as _;
use portcullis::skill::{Checked, Effect, Finding, Problem, ScanCode, check};
use serde_json::{Value, json};

use crate::args::{Common, SkillValidateArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::{self, Printer};

pub(super) fn run(
    common: &Common,
    verb: &SkillValidateArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let (skills, problems) = looked(common, verb, environment)?;
    let wrong = skills.iter().filter(|skill| !skill.is_conforming()).count();
    let missing = problems.iter().any(|problem| problem.code == ScanCode::DirectoryUnreadable);
    if verb.json {
        let rows: Vec<Value> = skills.iter().map(to_json).collect();
        printer.line(&json!({ "skills": rows, "problems": problems }).to_string())?;
    } else {
        for skill in &skills {
            for finding in &skill.findings {
                printer.line(&to_line(skill, finding))?;
            }
        }
        super::tell(&problems, printer);
        let skills = skills.len();
        printer.tell(&match (skills, wrong) {
            (0, _) => "no skills".to_owned(),
            (1, 0) => "1 skill, and it conforms".to_owned(),
            (_, 0) => format!("{skills} skills, and all conform"),
            (1, _) => "1 skill, and it does not conform".to_owned(),
            _ => format!("{skills} skills, and {wrong} of them do not conform"),
        });
    }
    Ok(if wrong > 0 || missing { Exit::No } else { Exit::Done })
}

fn looked(
    common: &Common,
    verb: &SkillValidateArguments,
    environment: &Environment,
) -> anyhow::Result<(Vec<Checked>, Vec<Problem>)> {
    let (mut skills, mut problems) = (Vec::new(), Vec::new());
    if verb.paths.is_empty() {
        for root in super::roots(common, environment)?.0 {
            match check(&root.path()) {
                Ok((own, told)) => {
                    skills.extend(own);
                    problems.extend(told);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound && !root.expected => {}
                Err(error) => {
                    let what = format!("`{}` cannot be looked at", root.path().display());
                    return Err(error).context(what);
                }
            }
        }
    }
    let work = open::workspace(common, environment).unwrap_or_default();
    for path in &verb.paths {
        // Shown as it was said, and looked for from the workspace.
        let (own, told) =
            check(&work.join(path)).with_context(|| format!("`{}` cannot be looked at", path.display()))?;
        skills.extend(own.into_iter().map(|skill| {
            let file = skill.file.strip_prefix(&work).unwrap_or(&skill.file).to_owned();
            Checked { file, ..skill }
        }));
        problems.extend(told);
    }
    Ok((skills, problems))
}

fn to_json(skill: &Checked) -> Value {
    json!({
        "file": skill.file,
        "name": skill.document.name,
        "description": skill.document.description,
        "conforming": skill.is_conforming(),
        "load": skill.load(),
        "findings": skill.findings,
    })
}

fn to_line(skill: &Checked, finding: &Finding) -> String {
    let at = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
    let weight = match (finding.effect, finding.code.is_conforming()) {
        (Effect::Skip, _) | (Effect::Note | Effect::Warn, false) => "error",
        (Effect::Warn, true) => "warning",
        (Effect::Note, true) => "note",
    };
    let file = printer::plain(&skill.file.to_string_lossy());
    format!("{file}{at}: {weight}: {}", super::line(finding))
}
