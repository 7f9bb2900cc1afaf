//! `cargo xtask dist` builds the program as it is shipped: optimised as a whole, and
//! on Linux in one piece with the C library, which saves each hook the search for
//! shared libraries. It stays relocatable, so that its addresses cannot be guessed.

use std::path::Path;

use crate::process;

const BUILD: &[&str] =
    &["rustc", "--locked", "--profile", "dist", "--package", "portcullis-cli", "--bin", "portcullis"];
/// For the program alone: what it is made of is the same either way.
const STATIC: &[&str] = &["--", "-C", "target-feature=+crt-static"];

pub(crate) fn run() -> anyhow::Result<()> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."));
    let is_static = cfg!(all(target_os = "linux", target_env = "gnu"));
    let arguments = [BUILD, if is_static { STATIC } else { &[] }].concat();
    process::run(Path::new("cargo"), &arguments, root, &[])
}
