//! `portcullis skill`: which skills there are, and what is wrong with one.

mod list;
mod show;
mod validate;

use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use portcullis::SkillChannel;
use portcullis::model::config::Config;
use portcullis::skill::{Catalog, Finding, Problem, ScanLimits, Scanner, SkillRoot};

use crate::args::{Common, SkillVerb};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::printer::{self, Printer};

pub(crate) fn run(
    common: &Common,
    verb: &SkillVerb,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    match verb {
        SkillVerb::List(verb) => list::run(common, verb, environment, printer),
        SkillVerb::Show(verb) => show::run(common, verb, environment, printer),
        SkillVerb::Validate(verb) => validate::run(common, verb, environment, printer),
    }
}

/// Where the skills of this workspace and of this user are.
pub(crate) fn roots(common: &Common, environment: &Environment) -> anyhow::Result<(Vec<SkillRoot>, Config)> {
    let work = open::workspace(common, environment);
    let work = work.map(|work| std::fs::canonicalize(&work).unwrap_or(work));
    let config = open::loaded(common, environment, work.as_deref())?.config;
    let roots = open::local(common, environment).skills.configured(&config.skills);
    let roots = roots.map_err(|why| anyhow!("`[skills]` cannot be used: {why}"));
    Ok((roots?, config))
}

/// All skills of this workspace and of this user.
fn catalog(common: &Common, environment: &Environment) -> anyhow::Result<Catalog> {
    let (roots, config) = roots(common, environment)?;
    let channel = SkillChannel::new(&config.channels).context("`[channels]` cannot be used")?;
    let mut catalog = Arc::unwrap_or_clone(Scanner::new(roots, ScanLimits::default()).look());
    catalog.permit(&channel);
    Ok(catalog)
}

/// What is wrong with places is for people.
fn tell(problems: &[Problem], printer: &Printer) {
    for problem in problems {
        let Problem { path, code, message, remedy } = problem;
        let text = format!("warning: {}: {code}: {message}; hint: {remedy}", path.display());
        printer.tell(&printer::plain(&text));
    }
}

/// A finding on one line, behind whatever it is about.
fn line(finding: &Finding) -> String {
    let Finding { code, message, remedy, fix, .. } = finding;
    let fix = fix.as_ref().map(|fix| format!(": `{fix}`")).unwrap_or_default();
    printer::plain(&format!("{code}: {message}; {remedy}{fix}"))
}
