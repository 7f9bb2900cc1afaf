//! `portcullis why`: one judgement, part by part.

use std::io::Read as _;

use portcullis::Explanation;
use portcullis::model::input::strict_value;
use portcullis::model::judgement::{JudgementWire, RefuserKind, Verdict};
use portcullis::model::limits::INPUT_MAX;
use portcullis::model::script::{Command, Script, Word};
use serde_json::{Value, json};

use crate::args::{Common, WhyArguments};
use crate::check;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::{self, Printer};

pub(crate) fn run(
    common: &Common,
    verb: &WhyArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let mut text = String::new();
    std::io::stdin().take(INPUT_MAX as u64 * 2).read_to_string(&mut text)?;
    let cwd = open::workspace(common, environment);
    let cwd = cwd.map(|dir| dir.to_string_lossy().into_owned()).unwrap_or_default();
    let text = match (&verb.command, text.trim()) {
        (Some(command), "") => json!({ "tool": "bash", "input": { "command": command } }).to_string(),
        (Some(_), _) => anyhow::bail!("there is a command and a call on standard input; give one of them"),
        (None, _) => text,
    };
    let call = check::call(&text, &cwd).map_err(|(_, reason)| {
        anyhow::anyhow!("{reason}; hint: `portcullis why 'rm -rf build'`, or a call as `check` reads it")
    })?;
    let options = open::options(common, environment, None)?;
    let input = strict_value(call.input.text()).unwrap_or_default();
    let explanation = open::block_on(async {
        let host = portcullis::Host::open(options).await?;
        anyhow::Ok(host.session(call.session_id.clone()).turn().explain(call).await)
    })??;
    let judgement = explanation.judgement.to_wire();
    if verb.json {
        printer.line(&to_json(&explanation, &judgement, &input).to_string())?;
    } else {
        printer.line(&to_text(&explanation, &judgement))?;
    }
    Ok(if judgement.verdict == Verdict::Allow { Exit::Done } else { Exit::Refused })
}

fn to_text(explanation: &Explanation, judgement: &JudgementWire) -> String {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |title: &str, text: String| {
        // A title stands once.
        let same = rows.iter().rev().find(|row| row.first().is_some_and(|cell| !cell.is_empty()));
        let again = same.is_some_and(|row| row.first().is_some_and(|cell| cell == title));
        rows.push(vec![if again { String::new() } else { title.to_owned() }, text]);
    };
    if let Some(call) = &explanation.call {
        row("tool", call.tool.clone());
        for effect in &call.effects {
            row("effect", format!("{}: {}", effect.kind.as_str(), short(&effect.target)));
        }
        for script in &call.scripts {
            for line in pipelines(script) {
                row("command", short(&line));
            }
            if !script.complete {
                row("command", "(a part of the script is not understood)".to_owned());
            }
        }
    }
    for part in &explanation.parts {
        let said = match &part.refusal {
            None => "does not object".to_owned(),
            Some(refusal) if refusal.code == "policy/ask" => format!("wants consent: {}", refusal.reason),
            Some(refusal) if refusal.fault.is_some() => format!("FAULT {}: {}", refusal.code, refusal.reason),
            Some(refusal) => format!("refuses, {}: {}", refusal.code, refusal.reason),
        };
        row("asked", format!("{}: {said} ({} µs)", part.name, part.took.as_micros()));
    }
    row("verdict", verdict(judgement));
    if let Some(setting) = setting(judgement) {
        for line in setting.lines() {
            row("to change it", line.to_owned());
        }
    }
    printer::aligned(&rows)
}

fn verdict(judgement: &JudgementWire) -> String {
    match (&judgement.by, &judgement.code) {
        (Some(by), Some(code)) => {
            let kind = serde_json::to_value(by.kind).ok();
            let kind = kind.as_ref().and_then(Value::as_str).unwrap_or_default();
            let reason = judgement.reason.as_deref().unwrap_or_default();
            format!("{}, by the {kind} `{}`, code {code}: {reason}", judgement.verdict, by.name)
        }
        _ => "allow".to_owned(),
    }
}

/// The setting that would change the verdict, in the user's configuration.
fn setting(judgement: &JudgementWire) -> Option<String> {
    let (by, code) = (judgement.by.as_ref()?, judgement.code.as_deref()?);
    let category = code.split_once('/').map(|(_, category)| category)?;
    Some(match by.kind {
        RefuserKind::Guard if judgement.fault.is_some() => {
            format!("[plugin.{}.limits], or `portcullis plugin inspect {}`", by.name, by.name)
        }
        RefuserKind::Guard if by.name == "guard" => {
            format!("[plugin.guard.settings.categories]\n{category} = \"allow\"")
        }
        RefuserKind::Guard => format!("the settings of the plugin: [plugin.{}.settings]", by.name),
        // Set by whoever runs the loop, and not by a file.
        RefuserKind::Path if code == "path/direct-write" => return None,
        RefuserKind::Path => "[protect]\nown_files = false".to_owned(),
        RefuserKind::Input if code == "input/unknown-tool" => format!("[tools]\nknown = [{:?}]", by.name),
        RefuserKind::Standing => "mend what is named, see `portcullis doctor`".to_owned(),
        RefuserKind::Policy if code == "policy/channel" => "[channels]".to_owned(),
        RefuserKind::Policy => "[permissions], see `portcullis config show`".to_owned(),
        RefuserKind::Input | RefuserKind::Hook | RefuserKind::Schema => return None,
    })
}

fn pipelines(script: &Script) -> impl Iterator<Item = String> {
    script
        .pipelines
        .iter()
        .map(|pipeline| pipeline.commands.iter().map(command).collect::<Vec<_>>().join(" | "))
}

fn command(command: &Command) -> String {
    let words = command.words.iter().map(word).collect::<Vec<_>>().join(" ");
    let writes: String = command.writes.iter().map(|file| format!(" >{}", word(file))).collect();
    let via =
        if command.via.is_empty() { String::new() } else { format!(" (by {})", command.via.join(", ")) };
    format!("{words}{writes}{via}")
}

fn word(word: &Word) -> String {
    match word {
        Word::Literal(text) if text.is_empty() || text.contains(char::is_whitespace) => format!("{text:?}"),
        Word::Literal(text) => text.clone(),
        Word::Computed(source) => format!("?{source}"),
    }
}

/// A line of a table, cut to a length that a person reads.
fn short(text: &str) -> String {
    const MAX: usize = 160;
    let line = text.replace('\n', "⏎");
    if line.chars().count() <= MAX { line } else { line.chars().take(MAX).chain(['…']).collect() }
}

fn to_json(explanation: &Explanation, judgement: &JudgementWire, input: &Value) -> Value {
    let call = explanation.call.as_ref().map(|call| {
        let effects: Vec<_> = call
            .effects
            .iter()
            .map(|effect| json!({ "kind": effect.kind.as_str(), "target": effect.target }))
            .collect();
        let scripts: Vec<_> = call
            .scripts
            .iter()
            .map(|script| {
                json!({ "complete": script.complete, "pipelines": pipelines(script).collect::<Vec<_>>() })
            })
            .collect();
        json!({ "tool": call.tool, "input": input, "effects": effects, "scripts": scripts })
    });
    let parts: Vec<_> = explanation
        .parts
        .iter()
        .map(|part| {
            json!({
                "name": part.name,
                "code": part.refusal.as_ref().map(|refusal| &refusal.code),
                "fault": part.refusal.as_ref().and_then(|refusal| refusal.fault),
                "reason": part.refusal.as_ref().map(|refusal| &refusal.reason),
                "micros": u64::try_from(part.took.as_micros()).unwrap_or(u64::MAX),
            })
        })
        .collect();
    json!({ "judgement": judgement, "call": call, "parts": parts, "setting": setting(judgement) })
}
