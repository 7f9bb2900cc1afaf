//! The one place where a task starts a process, looks at the environment, and
//! prints.

#![allow(clippy::disallowed_methods, clippy::print_stderr, reason = "this is the one place")]

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail};

/// Tells the person what happens.
pub(crate) fn say(line: &str) {
    eprintln!("{line}");
}

/// One variable of the environment.
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Where a program is, by `PATH`.
pub(crate) fn which(program: &str) -> Option<PathBuf> {
    let path = variable("PATH")?;
    std::env::split_paths(&path).map(|dir| dir.join(program)).find(|file| file.is_file())
}

/// What a program prints on standard output.
pub(crate) fn output(program: &Path, args: &[&str]) -> anyhow::Result<String> {
    let output =
        clean(program).args(args).output().with_context(|| format!("cannot run `{}`", program.display()))?;
    if !output.status.success() {
        bail!(
            "`{} {}` failed: {}",
            program.display(),
            args.join(" "),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(String::from_utf8(output.stdout)?.trim().to_owned())
}

/// What a program makes of a file.
pub(crate) fn filtered(program: &Path, args: &[&str], input: &Path) -> anyhow::Result<Vec<u8>> {
    let input = std::fs::File::open(input).with_context(|| format!("cannot open `{}`", input.display()))?;
    let output = clean(program).args(args).stdin(input).output();
    let output = output.with_context(|| format!("cannot run `{}`", program.display()))?;
    if !output.status.success() {
        bail!("`{}` failed: {}", program.display(), String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.stdout)
}

/// Runs a program in a directory, and waits for it.
pub(crate) fn run(
    program: &Path,
    args: &[&str],
    dir: &Path,
    environment: &[(String, OsString)],
) -> anyhow::Result<()> {
    let status = clean(program)
        .args(args)
        .current_dir(dir)
        .envs(environment.iter().map(|(name, value)| (name, value)))
        .status()
        .with_context(|| format!("cannot run `{}`", program.display()))?;
    if !status.success() {
        bail!("`{} {}` failed: {status}", program.display(), args.join(" "));
    }
    Ok(())
}

/// Runs a program just so; answers whether it succeeded.
pub(crate) fn passes(program: &Path, args: &[OsString]) -> anyhow::Result<bool> {
    let status = Command::new(program).args(args).status();
    Ok(status.with_context(|| format!("cannot run `{}`", program.display()))?.success())
}

/// A command without what the surrounding `cargo` and `rustup`, or the person's
/// own flags, would add to a build.
fn clean(program: &Path) -> Command {
    let mut command = Command::new(program);
    for name in [
        "RUSTFLAGS",
        "CARGO_ENCODED_RUSTFLAGS",
        "CARGO_BUILD_RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "CARGO_INCREMENTAL",
        "RUSTC",
        "RUSTC_WRAPPER",
        "RUSTC_WORKSPACE_WRAPPER",
        "LD_LIBRARY_PATH",
    ] {
        command.env_remove(name);
    }
    command
}
