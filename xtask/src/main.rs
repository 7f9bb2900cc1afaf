//! The repository's own tasks. `cargo xtask` lists them.

mod plugins;
mod process;
mod wit;

use anyhow::bail;

const HELP: &str = "\
cargo xtask plugins [--check [--sources]]   build the bundled plugins and the test guests
cargo xtask wit [--check]                   the lock of the released contract";

fn main() -> anyhow::Result<()> {
    if let Some(done) = plugins::shim::run_if_asked() {
        return done;
    }
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.split_first() {
        Some((task, rest)) => match task.as_str() {
            "plugins" => plugins::run(rest),
            "wit" => wit::run(rest),
            _ => bail!("no such task: `{task}`\n\n{HELP}"),
        },
        None => bail!("say which task\n\n{HELP}"),
    }
}
