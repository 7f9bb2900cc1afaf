//! `portcullis ledger`: what was decided, and whether anybody changed it.

pub(crate) mod rates;
mod show;
mod verify;

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::args::LedgerVerb;
use crate::environment::Environment;
use crate::exit::Exit;
use crate::printer::Printer;

pub(crate) fn run(verb: &LedgerVerb, environment: &Environment, printer: &Printer) -> anyhow::Result<Exit> {
    match verb {
        LedgerVerb::Show(verb) => show::run(verb, environment, printer),
        LedgerVerb::Verify(verb) => verify::run(verb, environment, printer),
    }
}

/// The directory that is named, or the user's ledger.
fn directory(named: Option<&Path>, environment: &Environment) -> anyhow::Result<PathBuf> {
    match named {
        Some(dir) => {
            anyhow::ensure!(dir.is_dir(), "there is no directory `{}`", dir.display());
            Ok(dir.to_owned())
        }
        None => environment
            .ledger()
            .context("nobody knows where the ledger is; hint: set HOME or XDG_STATE_HOME, or name its directory with `--dir`"),
    }
}
