//! `portcullis trust`: what of a project may act besides its guards.

mod add;
mod remove;
mod status;
mod survey;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use portcullis::ledger::{Entry, EntryKind, Ledger};
use portcullis::model::product;
use portcullis::skill::SkillPlaces;
use portcullis::trust::TrustStore;

use crate::args::{Common, TrustVerb};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::Printer;

pub(crate) use status::{Part, Stands};

pub(crate) fn run(
    common: &Common,
    verb: &TrustVerb,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    match verb {
        TrustVerb::Status(verb) => status::run(common, verb, environment, printer),
        TrustVerb::Add(verb) => add::run(common, verb, environment, printer),
        TrustVerb::Remove(verb) => remove::run(common, verb, environment, printer),
    }
}

const PLACE: &str =
    "nobody knows where the state is, or `--isolated` was given; hint: set HOME or XDG_STATE_HOME";

fn store(common: &Common, environment: &Environment) -> anyhow::Result<TrustStore> {
    open::trust(common, environment).context(PLACE)
}

/// The root of the project that is named, or of the one that the workspace lies in.
fn root(common: &Common, named: Option<&PathBuf>, environment: &Environment) -> anyhow::Result<PathBuf> {
    let work = open::workspace(common, environment);
    let start = match (named, work) {
        (Some(named), Some(work)) => work.join(named),
        (Some(named), None) => named.clone(),
        (None, work) => work.context("nobody knows the current directory; hint: name the project's")?,
    };
    let real = std::fs::canonicalize(&start);
    let start = real.with_context(|| format!("there is no directory `{}`", start.display()))?;
    let own = start.ancestors().find(|dir| dir.join(product::PROJECT_DIR).is_dir()).map(Path::to_path_buf);
    let own = own.or_else(|| SkillPlaces::project_of(&start, home(environment).as_deref()));
    own.with_context(|| {
        format!(
            "there is no `{}` and no skills of a project in `{}` or above it, so there is nothing to trust",
            product::PROJECT_DIR,
            start.display()
        )
    })
}

/// The user's home, as a path without links.
fn home(environment: &Environment) -> Option<PathBuf> {
    environment.home.as_ref().and_then(|home| std::fs::canonicalize(home).ok())
}

/// How the project of the workspace stands, and whether another directory was trusted in
/// its place. None without a project, or when no file of the user's is read.
pub(crate) fn overview_here(
    common: &Common,
    environment: &Environment,
) -> anyhow::Result<Option<(Vec<Part>, bool)>> {
    let Some(store) = open::trust(common, environment) else { return Ok(None) };
    store.read()?;
    match root(common, None, environment) {
        Ok(root) => status::overview(common, environment, &root).map(Some),
        Err(_) => Ok(None),
    }
}

/// Writes a change of trust down.
fn note(common: &Common, environment: &Environment, what: String) -> anyhow::Result<()> {
    let options = open::ledger(common, environment, None).context(PLACE)?;
    // A configuration that cannot be read is no reason to keep trust that is taken back.
    let audit = open::loaded(common, environment, None).map(|loaded| loaded.config.audit).unwrap_or_default();
    let ledger = Ledger::new(options, audit, &environment.variables);
    ledger.append(Entry::new(EntryKind::Trust, what))?;
    Ok(())
}
