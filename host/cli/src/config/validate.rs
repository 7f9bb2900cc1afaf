//! `portcullis config validate`: everything that is wrong, by the reader that a call
//! is judged with.

use portcullis::config::{self, Files, Loaded, Problem};
use portcullis::model::product;
use serde_json::{Value, json};

use crate::args::{Common, ConfigValidateArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::{self, Printer};

pub(super) fn run(
    common: &Common,
    verb: &ConfigValidateArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let files = match &verb.file {
        Some(file) => {
            anyhow::ensure!(
                file.symlink_metadata().is_ok(),
                "the configuration `{}` is not there",
                file.display()
            );
            let of_project = std::fs::canonicalize(file)
                .unwrap_or_else(|_| file.clone())
                .parent()
                .is_some_and(|dir| dir.ends_with(product::PROJECT_DIR));
            if of_project {
                Files { project: Some(file.clone()), ..Files::default() }
            } else {
                Files { user: Some(file.clone()), ..Files::default() }
            }
        }
        None => open::files(common, environment, open::workspace(common, environment).as_deref())?,
    };
    let (problems, ignored) = match config::load(&files) {
        Ok(Loaded { ignored, .. }) => (Vec::new(), ignored),
        Err(error) => (error.problems().to_vec(), Vec::new()),
    };
    let read: Vec<_> =
        [&files.user, &files.project].into_iter().flatten().filter(|file| file.is_file()).collect();
    if verb.json {
        let answer = json!({
            "valid": problems.is_empty(),
            "files": read,
            "problems": problems.iter().map(to_json).collect::<Vec<_>>(),
            "ignored": ignored.iter().map(to_json).collect::<Vec<_>>(),
        });
        printer.line(&serde_json::to_string(&answer)?)?;
    } else {
        for problem in &problems {
            printer.line(&printer::plain(&problem.to_string()))?;
        }
        for ignored in &ignored {
            printer.line(&printer::plain(&format!("warning: {ignored}")))?;
        }
        if problems.is_empty() {
            for file in &read {
                printer.line(&printer::plain(&format!("{}: valid", file.display())))?;
            }
            if read.is_empty() {
                printer.line("There is no configuration file, so the defaults hold.")?;
            }
        } else {
            let count = problems.len();
            let what = if count == 1 { "1 problem".to_owned() } else { format!("{count} problems") };
            printer
                .tell(&format!("{what}: nothing of the configuration is used, and every call is refused."));
        }
    }
    Ok(if problems.is_empty() { Exit::Done } else { Exit::No })
}

pub(super) fn to_json(problem: &Problem) -> Value {
    json!({
        "layer": problem.layer.as_str(),
        "file": problem.file,
        "line": problem.at.map(|(line, _)| line),
        "column": problem.at.map(|(_, column)| column),
        "key": problem.key,
        "message": problem.message,
        "hint": problem.hint,
    })
}
