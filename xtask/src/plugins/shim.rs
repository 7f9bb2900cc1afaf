//! Stands in front of rustc while guests are built.
//!
//! Cargo hashes the absolute path of a path dependency that lies outside its
//! workspace, as the SDK does, into the crate's identity. That identity orders
//! symbols, and so the bytes would depend on where the repository lies. Here it
//! becomes the path within the repository.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

use crate::process;

/// Holds the repository's folder when this program is to be rustc.
pub(super) const VARIABLE: &str = "PORTCULLIS_XTASK_SHIM";

/// Runs rustc when this program was started in its place.
pub(crate) fn run_if_asked() -> Option<anyhow::Result<()>> {
    process::variable(VARIABLE).map(|root| run(&PathBuf::from(root)))
}

fn run(root: &Path) -> anyhow::Result<()> {
    let mut args = std::env::args_os().skip(1);
    let rustc = PathBuf::from(args.next().context("cargo names rustc first")?);
    let place = process::variable("CARGO_MANIFEST_DIR").map(PathBuf::from);
    let place = place.as_deref().and_then(|folder| folder.strip_prefix(root).ok());
    let args: Vec<OsString> = match place {
        Some(place) => args.map(|arg| identify(arg, place)).collect(),
        None => args.collect(),
    };
    if process::passes(&rustc, &args)? { Ok(()) } else { bail!("rustc failed") }
}

/// Puts `place` where an argument gives a crate its identity.
fn identify(arg: OsString, place: &Path) -> OsString {
    if arg.to_str().is_some_and(|arg| arg.starts_with("metadata=")) {
        OsString::from(format!("metadata={}", place.to_string_lossy().replace('\\', "/")))
    } else {
        arg
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::identify;

    #[test]
    fn a_crate_of_the_repository_is_known_by_its_place_in_it() {
        let place = Path::new("sdk/rust");
        assert_eq!(identify("metadata=1f2e".into(), place), "metadata=sdk/rust");
        assert_eq!(identify("extra-filename=-1f2e".into(), place), "extra-filename=-1f2e");
    }
}
