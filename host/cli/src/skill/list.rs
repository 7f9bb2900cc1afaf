//! `portcullis skill list`.

use portcullis::skill::{Effect, Load, Skill, SkillState};
use serde_json::{Value, json};

use crate::args::{Common, SkillListArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::printer::{self, Printer};

pub(super) fn run(
    common: &Common,
    verb: &SkillListArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let catalog = super::catalog(common, environment)?;
    let is_shown = |skill: &&Skill| verb.all || !matches!(skill.state, SkillState::Shadowed { .. });
    let skills: Vec<&Skill> = catalog.all().iter().filter(is_shown).collect();
    if verb.json {
        let rows: Vec<Value> = skills.iter().map(|skill| to_json(skill)).collect();
        let answer = json!({ "skills": rows, "problems": catalog.problems, "whole": catalog.is_whole });
        printer.line(&answer.to_string())?;
    } else if skills.is_empty() {
        printer.line("no skills")?;
    } else {
        let rows: Vec<Vec<String>> = skills.iter().map(|skill| to_cells(skill)).collect();
        printer.line(&printer::table(&["SKILL", "STATE", "FROM", "NOTES"], &rows))?;
    }
    if !verb.json {
        super::tell(&catalog.problems, printer);
    }
    Ok(Exit::Done)
}

pub(super) fn to_json(skill: &Skill) -> Value {
    let document = skill.document.as_deref();
    let why = match &skill.state {
        SkillState::Shadowed { why, .. } | SkillState::Denied { why } => Some(why.as_str()),
        SkillState::Usable | SkillState::Untrusted | SkillState::Skipped => None,
    };
    let by = match &skill.state {
        SkillState::Shadowed { by, .. } => Some(by),
        SkillState::Usable | SkillState::Untrusted | SkillState::Skipped | SkillState::Denied { .. } => None,
    };
    json!({
        "skill": skill.slug,
        "name": document.and_then(|document| document.name.as_deref()),
        "description": document.and_then(|document| document.description.as_deref()),
        "state": skill.state.as_str(),
        "why": why,
        "shadowed_by": by,
        "from": skill.origin,
        "root": skill.root,
        "directory": skill.directory,
        "load": document.map(|_| skill.load()),
        "conforming": skill.is_conforming(),
        "digest": skill.digest.map(|digest| digest.to_string()),
        "findings": skill.all_findings().collect::<Vec<_>>(),
    })
}

fn to_cells(skill: &Skill) -> Vec<String> {
    let state = match (&skill.state, skill.load()) {
        (SkillState::Usable, Load::Warn) => "usable, with warnings",
        (state, _) => state.as_str(),
    };
    vec![
        printer::plain(&skill.slug),
        state.to_owned(),
        skill.origin.to_string(),
        printer::plain(&notes(skill)),
    ]
}

/// What it is for, or why it cannot be used.
fn notes(skill: &Skill) -> String {
    match &skill.state {
        SkillState::Usable => shortened(skill.description()),
        SkillState::Shadowed { by, why } => format!("{why}: {}", by.display()),
        SkillState::Untrusted => "waits for `portcullis trust add`".to_owned(),
        SkillState::Denied { why } => why.clone(),
        SkillState::Skipped => {
            let worst = skill.all_findings().filter(|finding| finding.effect == Effect::Skip);
            worst.map(|finding| finding.message.clone()).collect::<Vec<_>>().join("; ")
        }
    }
}

/// As much of a description as a line of a table has room for.
fn shortened(text: &str) -> String {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", text.get(..at).unwrap_or_default()),
        None => text.to_owned(),
    }
}
