//! The repository's own tasks: `cargo xtask TASK`.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a tool for developers: it prints, starts programs and reads the environment"
)]

mod agents;
mod process;

use anyhow::{Result, bail};

const USAGE: &str = "usage: cargo xtask TASK

tasks:
  agents   run real agents against a scripted model, with and without the hook";

fn main() -> Result<()> {
    let mut args = std::env::args().skip(1);
    match args.next().as_deref() {
        Some("agents") => agents::run(args),
        Some("help" | "--help" | "-h") => {
            println!("{USAGE}");
            Ok(())
        }
        Some(other) => bail!("no such task: `{other}`\n\n{USAGE}"),
        None => bail!("{USAGE}"),
    }
}
