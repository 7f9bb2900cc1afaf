//! `portcullis trust status`: what is trusted, what waits, and what changed since.

use std::path::Path;

use portcullis::trust::{Held, Workspace};
use serde_json::json;

use super::survey::{Item, survey};
use crate::args::{Common, TrustStatusArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::printer::{self, Printer};

/// One file of a project.
pub(crate) struct Part {
    pub(crate) path: String,
    pub(crate) stands: Stands,
    pub(crate) what: Vec<String>,
}

/// How it stands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stands {
    /// As it was trusted.
    Trusted,
    /// Nobody has looked at it yet.
    Waits,
    /// It changed since it was trusted, and lost what it brought.
    Changed,
    /// A program that changed: what was trusted acts on.
    Kept,
    /// It was trusted, and brings nothing now.
    Gone,
    /// It cannot be trusted.
    Broken,
}

impl Stands {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Trusted => "trusted",
            Self::Waits => "waits",
            Self::Changed => "changed",
            Self::Kept => "kept",
            Self::Gone => "gone",
            Self::Broken => "broken",
        }
    }

    /// What it means, for people.
    pub(crate) const fn meaning(self) -> &'static str {
        match self {
            Self::Trusted => "as it was trusted",
            Self::Waits => "waits for trust",
            Self::Changed => "it changed since it was trusted, and lost what it brought",
            Self::Kept => "it changed since it was trusted; the version that was trusted acts on",
            Self::Gone => "it was trusted, and brings nothing now",
            Self::Broken => "it cannot be trusted as it is",
        }
    }

    /// It is not as somebody wanted it.
    const fn is_off(self) -> bool {
        matches!(self, Self::Changed | Self::Kept | Self::Broken)
    }
}

/// Everything that the project at `root` brings, and whether another directory was
/// trusted in its place.
pub(super) fn overview(
    common: &Common,
    environment: &Environment,
    root: &Path,
) -> anyhow::Result<(Vec<Part>, bool)> {
    let held = super::store(common, environment)?.workspace(root)?;
    let (trusted, replaced) = match held {
        Held::Nothing => (None, false),
        Held::Replaced(_) => (None, true),
        Held::Trusted(workspace) => (Some(workspace), false),
    };
    let found = survey(common, environment, root)?;
    let mut parts: Vec<Part> = found.items.iter().map(|item| part(item, trusted.as_ref())).collect();
    let known = |path: &String| found.items.iter().any(|item| item.covered.path == *path);
    let trusted = trusted.iter().flat_map(|workspace| workspace.files.keys());
    parts.extend(trusted.filter(|path| !known(path)).map(|path| Part {
        path: path.clone(),
        stands: Stands::Gone,
        what: Vec::new(),
    }));
    parts.extend(found.problems.into_iter().map(|problem| {
        let (path, why) = problem.split_once(": ").unwrap_or((&problem, ""));
        Part { path: path.to_owned(), stands: Stands::Broken, what: vec![why.to_owned()] }
    }));
    Ok((parts, replaced))
}

fn part(item: &Item, trusted: Option<&Workspace>) -> Part {
    let path = &item.covered.path;
    let is_known = trusted.is_some_and(|workspace| workspace.files.contains_key(path));
    let is_same = trusted.is_some_and(|workspace| workspace.covers(path, &item.covered.digest.to_string()));
    let stands = match (is_known, is_same, item.covered.program.is_some()) {
        (_, true, _) => Stands::Trusted,
        (true, false, true) => Stands::Kept,
        (true, false, false) => Stands::Changed,
        (false, false, _) => Stands::Waits,
    };
    Part { path: path.clone(), stands, what: item.what.clone() }
}

pub(super) fn run(
    common: &Common,
    verb: &TrustStatusArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let root = super::root(common, verb.project.as_ref(), environment)?;
    let (parts, replaced) = overview(common, environment, &root)?;
    let off = replaced || parts.iter().any(|part| part.stands.is_off());
    if verb.json {
        let files: Vec<_> = parts
            .iter()
            .map(|part| json!({ "path": part.path, "stands": part.stands.as_str(), "what": part.what }))
            .collect();
        let answer = json!({ "root": root, "replaced": replaced, "files": files });
        printer.line(&serde_json::to_string(&answer)?)?;
    } else if parts.is_empty() {
        printer.line(&format!("{}: brings nothing that waits for trust", root.display()))?;
    } else {
        let rows: Vec<_> = parts
            .iter()
            .map(|part| {
                let what = printer::plain(&part.what.join("; "));
                vec![printer::plain(&part.path), part.stands.as_str().to_owned(), what]
            })
            .collect();
        printer.line(&printer::table(&["FILE", "STANDS", "WHAT"], &rows))?;
        if replaced {
            printer.tell("Another directory was trusted, which stood here before: nothing of this one is.");
        }
        if parts.iter().any(|part| matches!(part.stands, Stands::Waits | Stands::Changed | Stands::Kept)) {
            printer.tell("`portcullis trust add` shows what waits or changed, and trusts it.");
        }
    }
    Ok(if off { Exit::No } else { Exit::Done })
}
