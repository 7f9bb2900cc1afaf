//! `portcullis trust remove`: takes trust back, from this moment on.

use anyhow::Context as _;
use portcullis::trust::Workspace;
use serde_json::json;

use crate::args::{Common, TrustRemoveArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::Printer;

pub(super) fn run(
    common: &Common,
    verb: &TrustRemoveArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let store = super::store(common, environment)?;
    // A project that is gone can be named by where it was.
    let root = match super::root(common, verb.project.as_ref(), environment) {
        Ok(root) => root,
        Err(error) => {
            let named = verb.project.clone().ok_or(error)?;
            open::workspace(common, environment).map_or_else(|| named.clone(), |work| work.join(&named))
        }
    };
    let removed: Option<Workspace> = store.remove(&root)?;
    if removed.is_some() {
        let what = format!("The project `{}` is not trusted any more.", root.display());
        super::note(common, environment, what)
            .context("it is not trusted any more, but that is not written down")?;
    }
    if verb.json {
        let answer = json!({ "root": root, "removed": removed.is_some() });
        printer.line(&serde_json::to_string(&answer)?)?;
    } else if removed.is_some() {
        printer.line(&format!("{}: not trusted any more", root.display()))?;
    } else {
        printer.line(&format!("{}: was not trusted", root.display()))?;
    }
    Ok(if removed.is_some() { Exit::Done } else { Exit::No })
}
