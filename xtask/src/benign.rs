//! `cargo xtask benign` writes `docs/reference/benign-corpus.md` anew: what the
//! bundled guards refuse of the scripts that Debian's packages brought here.

use std::path::Path;

use anyhow::{Context, ensure};

use crate::process;

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    ensure!(args.is_empty(), "benign takes nothing: `{}`", args.join(" "));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the repository")?;
    let cargo = process::which("cargo").context("there is no `cargo` on the path")?;
    let test = "what_is_refused_of_debian_has_been_judged";
    process::run(
        &cargo,
        &["test", "--quiet", "--package", "portcullis-tests", "--test", "debian_scripts", test],
        root,
        &[("PORTCULLIS_WRITE_BENIGN".to_owned(), "1".into())],
    )?;
    process::say("docs/reference/benign-corpus.md: written; judge the rows that say `to be judged`");
    Ok(())
}
