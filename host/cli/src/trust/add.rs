//! `portcullis trust add`: shows what would be allowed, asks, and binds it to its bytes.

use std::io::{self, BufRead as _, IsTerminal as _};

use anyhow::Context as _;
use portcullis::trust::{Covered, Held};
use serde_json::json;

use super::survey::{Survey, survey};
use crate::args::{Common, TrustAddArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::printer::{self, Printer};

pub(super) fn run(
    common: &Common,
    verb: &TrustAddArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let store = super::store(common, environment)?;
    let root = super::root(common, verb.project.as_ref(), environment)?;
    // Before anybody reads a page and says yes.
    store.read()?;
    let found = survey(common, environment, &root)?;
    if found.items.is_empty() {
        tell(&found, printer);
        printer.line(&format!("{}: brings nothing that waits for trust", root.display()))?;
        if !matches!(store.workspace(&root)?, Held::Nothing) {
            printer.tell("`portcullis trust remove` forgets what was trusted of it.");
        }
        return Ok(if found.problems.is_empty() { Exit::Done } else { Exit::No });
    }
    if !verb.json {
        printer.line(&printer::plain(&format!("{} would be allowed:", root.display())))?;
        for item in &found.items {
            printer
                .line(&printer::plain(&format!("  {}  sha256 {}", item.covered.path, item.covered.digest)))?;
            for what in &item.what {
                printer.line(&printer::plain(&format!("    {what}")))?;
            }
        }
    }
    tell(&found, printer);
    if !verb.yes && !asked(printer)? {
        printer.tell("Nothing is trusted.");
        return Ok(Exit::No);
    }
    let files: Vec<Covered> = found.items.into_iter().map(|item| item.covered).collect();
    let named = |file: &Covered| format!("{} sha256 {}", file.path, file.digest);
    let list: Vec<_> = files.iter().map(named).collect();
    // Before it counts: what cannot be looked up later does not happen.
    let what = format!("The project `{}` is trusted with {}.", root.display(), list.join(", "));
    super::note(common, environment, what)
        .context("nothing is trusted, because the ledger cannot be written")?;
    let trusted = store.add(&root, &files).context("nothing is trusted")?;
    if verb.json {
        let answer = json!({ "root": trusted.root, "files": trusted.files, "problems": found.problems });
        printer.line(&serde_json::to_string(&answer)?)?;
    } else {
        let count = trusted.files.len();
        let files = if count == 1 { "1 file".to_owned() } else { format!("{count} files") };
        printer.line(&format!("{}: trusted, {files}", root.display()))?;
        printer.tell("A file that changes loses what it brought, until you trust it again.");
    }
    Ok(if found.problems.is_empty() { Exit::Done } else { Exit::No })
}

fn tell(found: &Survey, printer: &Printer) {
    for problem in &found.problems {
        printer.tell(&printer::plain(&format!("not trusted: {problem}")));
    }
    for never in &found.never {
        printer.tell(&printer::plain(&format!("warning: {never}")));
    }
}

/// Asks the person at the terminal.
fn asked(printer: &Printer) -> anyhow::Result<bool> {
    anyhow::ensure!(
        io::stdin().is_terminal() && io::stderr().is_terminal(),
        "there is nobody to ask; hint: look at what is listed, then say `--yes`"
    );
    printer.tell_raw("Trust these files, as they are now? [y/N] ");
    let mut answer = String::new();
    io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}
