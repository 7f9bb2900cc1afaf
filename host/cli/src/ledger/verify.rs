//! `portcullis ledger verify`.

use portcullis::ledger::{self, Verified};
use serde_json::json;

use crate::args::VerifyArguments;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::printer::Printer;

pub(super) fn run(
    verb: &VerifyArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let dir = super::directory(verb.dir.as_deref(), environment)?;
    let found = ledger::verify(&dir)?;
    if verb.json {
        let mut value = json!({ "dir": dir, "whole": found.broken.is_none() });
        if let (Some(object), serde_json::Value::Object(rest)) =
            (value.as_object_mut(), serde_json::to_value(&found)?)
        {
            object.extend(rest);
        }
        printer.line(&value.to_string())?;
    } else {
        printer.line(&words(&found))?;
        printer.tell(&format!("The ledger is in `{}`.", dir.display()));
    }
    Ok(if found.broken.is_some() { Exit::No } else { Exit::Done })
}

fn words(found: &Verified) -> String {
    let count = |n: u64, one: &str, many: &str| format!("{n} {}", if n == 1 { one } else { many });
    let mut lines = Vec::new();
    match (&found.first, &found.last) {
        (Some(first), Some(last)) => {
            let entries = count(found.entries, "entry", "entries");
            let files = count(found.files as u64, "file", "files");
            let holds = if found.broken.is_some() { "holds up to there" } else { "is whole" };
            lines.push(format!("{entries} in {files}, from {} to {}.", first.time, last.time));
            lines.push(format!("The chain {holds}: the last digest is {}.", last.hash));
            if first.seq > 1 {
                lines.push(format!("It begins at entry {}: older files have gone by rotation.", first.seq));
            }
        }
        _ if found.broken.is_none() => lines.push("The ledger is empty: nothing was written yet.".to_owned()),
        _ => {}
    }
    for spot in &found.torn {
        lines.push(format!("A line that was not finished was set aside: {spot}."));
    }
    if let Some(broken) = &found.broken {
        lines.insert(0, format!("The chain breaks at {}: {}.", broken.spot, broken.what));
    }
    lines.join("\n")
}
