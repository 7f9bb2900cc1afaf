//! The repository's own tasks. `cargo xtask` lists them.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a tool for developers: it prints, starts programs and reads the environment"
)]

mod agents;
mod benign;
mod codegen;
mod conformance;
mod dist;
mod plugins;
mod process;
mod tidy;
mod wit;

use anyhow::bail;

const HELP: &str = "\
cargo xtask plugins [--check [--sources]]   build the bundled plugins and the test guests
cargo xtask wit [--check]                   the lock of the released contract
cargo xtask codegen                         the pages of docs/reference that are made from code
cargo xtask benign                          what the guards refuse of Debian's own scripts
cargo xtask dist                            the program as it is shipped, in target/dist
cargo xtask tidy                            the rules of the house; a test runs them too
cargo xtask conformance [--claude]          the skills server against the suites of the protocol's makers
cargo xtask agents [--only CLIENT]…         real agents against a scripted model, with and without the hook";

fn main() -> anyhow::Result<()> {
    if let Some(done) = plugins::shim::run_if_asked() {
        return done;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.split_first() {
        Some((task, rest)) => match task.as_str() {
            "plugins" => plugins::run(rest),
            "wit" => wit::run(rest),
            "codegen" => codegen::run(rest),
            "benign" => benign::run(rest),
            "dist" => dist::run(),
            "tidy" => tidy::run(rest),
            "conformance" => conformance::run(rest),
            "agents" => agents::run(rest.iter().cloned()),
            _ => bail!("no such task: `{task}`\n\n{HELP}"),
        },
        None => bail!("say which task\n\n{HELP}"),
    }
}
