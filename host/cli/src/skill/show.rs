//! `portcullis skill show`.

use std::sync::Arc;

use portcullis::registry::ContentStore;
use portcullis::skill::{Bundle, Catalog, Skill, SkillLoader, SkillState, UnknownSkill, references};
use serde_json::{Value, json};

use super::list;
use crate::args::{Common, SkillShowArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::printer::{self, Printer};

pub(super) fn run(
    common: &Common,
    verb: &SkillShowArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let catalog = super::catalog(common, environment)?;
    if verb.text {
        let loader = SkillLoader::new(Arc::new(ContentStore::new(0)));
        printer.raw(&loader.load(&catalog, &verb.name)?.body)?;
        return Ok(Exit::Done);
    }
    let skill = find(&catalog, &verb.name)?;
    // Nobody looks into what is not trusted.
    let bundle = skill.document.as_ref().map(|_| Bundle::of(skill)).transpose()?.unwrap_or_default();
    if verb.json {
        printer.line(&to_json(skill, &bundle).to_string())?;
    } else {
        for line in lines(skill, &bundle) {
            printer.line(&line)?;
        }
    }
    Ok(if skill.state == SkillState::Usable { Exit::Done } else { Exit::No })
}

/// The skill that is meant, or else one of that path that cannot be used.
fn find<'c>(catalog: &'c Catalog, name: &str) -> Result<&'c Skill, UnknownSkill> {
    catalog.named(name).or_else(|unknown| {
        let there = catalog.all().iter().find(|skill| skill.slug == name);
        there.ok_or(unknown)
    })
}

fn to_json(skill: &Skill, bundle: &Bundle) -> Value {
    let mut value = list::to_json(skill);
    let Some(document) = &skill.document else { return value };
    let fields = &document.fields;
    let references: Vec<Value> = references(skill)
        .iter()
        .map(|own| {
            let (file, why) = (own.file.as_ref().ok(), own.file.as_ref().err());
            json!({ "declared": own.declared, "file": file, "why": why, "copy": own.copy })
        })
        .collect();
    let more = json!({
        "allowed_tools": fields.allowed_tools,
        "serves": fields.serves,
        "always_active": fields.always_active,
        "hidden_from_model": fields.hidden_from_model,
        "argument_hint": fields.argument_hint,
        "references": references,
        "files": bundle.files,
        "left_out": bundle.left_out.iter().map(|(path, why)| json!({ "path": path, "why": why })).collect::<Vec<_>>(),
        "excess": bundle.excess,
    });
    if let (Some(value), Value::Object(more)) = (value.as_object_mut(), more) {
        value.extend(more);
    }
    value
}

fn lines(skill: &Skill, bundle: &Bundle) -> Vec<String> {
    let mut rows: Vec<(&str, String)> = vec![
        ("skill", skill.slug.clone()),
        ("state", state(skill)),
        ("from", format!("{} {}", skill.origin, skill.directory.display())),
    ];
    if let Some(digest) = skill.digest {
        rows.push(("digest", format!("sha256 {digest}")));
    }
    let mut lines = Vec::new();
    if let Some(document) = &skill.document {
        let conforming = if skill.is_conforming() == Some(true) { "yes" } else { "no" };
        rows.push(("conforming", conforming.to_owned()));
        rows.extend(document.name.clone().map(|name| ("name", name)));
        rows.extend(document.description.clone().map(|text| ("description", text)));
        let fields = &document.fields;
        let list = |items: Vec<String>| (!items.is_empty()).then(|| items.join(", "));
        rows.extend(list(fields.serves.iter().map(ToString::to_string).collect()).map(|own| ("serves", own)));
        let tools = list(fields.allowed_tools.clone());
        rows.extend(tools.map(|own| ("allowed-tools", format!("{own} (grants nothing)"))));
        rows.extend(fields.argument_hint.clone().map(|own| ("arguments", own)));
        if fields.always_active {
            rows.push(("always active", "yes".to_owned()));
        }
        if fields.hidden_from_model {
            rows.push(("hidden", "the model is not told of it".to_owned()));
        }
        let excess = bundle.excess.as_ref().map(|own| format!("{own}; other hosts may refuse it"));
        rows.extend(excess.map(|own| ("too much", own)));
        for finding in skill.all_findings() {
            let at = finding.line.map(|line| format!("line {line}: ")).unwrap_or_default();
            lines.push(format!("  {at}{}", super::line(finding)));
        }
        lines.extend(bundle.files.iter().map(|file| format!("  {} {} bytes", file.path, file.bytes)));
        lines.extend(bundle.left_out.iter().map(|(path, why)| format!("  {path} left out: {why}")));
        lines.extend(references(skill).iter().map(|own| match &own.file {
            Ok(file) => format!("  {} -> {}", own.declared, file.display()),
            Err(why) => format!("  {} -> {why}", own.declared),
        }));
    }
    let cells: Vec<Vec<String>> =
        rows.iter().map(|(key, value)| vec![(*key).to_owned(), printer::plain(value)]).collect();
    let mut all: Vec<String> = printer::aligned(&cells).lines().map(str::to_owned).collect();
    all.extend(lines.iter().map(|line| printer::plain(line)));
    all
}

fn state(skill: &Skill) -> String {
    let why = match &skill.state {
        SkillState::Shadowed { by, why } => format!(": {why}: {}", by.display()),
        SkillState::Denied { why } => format!(": {why}"),
        SkillState::Untrusted => {
            ": its project is not trusted with it as it is; look at it, then `portcullis trust add`"
                .to_owned()
        }
        SkillState::Usable | SkillState::Skipped => String::new(),
    };
    format!("{}{why}", skill.state.as_str())
}
