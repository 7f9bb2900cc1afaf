//! `cargo xtask codegen` writes the pages of `docs/reference` that are made from
//! code. A test beside the code fails when one is out of date.

use std::fs;
use std::path::Path;

use anyhow::{Context, ensure};

use crate::process;

/// Each page, and the example of the crate `portcullis` that prints it. The
/// tasks themselves do not depend on the library, so that they can build what
/// the library embeds.
const PAGES: &[(&str, &str)] = &[
    ("docs/reference/tools.md", "reference"),
    ("docs/reference/config.md", "config_reference"),
    ("docs/reference/config.schema.json", "config_schema"),
];

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    ensure!(args.is_empty(), "codegen takes nothing: `{}`", args.join(" "));
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("xtask lies in the repository")?;
    let cargo = process::which("cargo").context("there is no `cargo` on the path")?;
    let manifest = root.join("Cargo.toml");
    for (page, example) in PAGES {
        let manifest = manifest.to_string_lossy();
        let text = process::output(
            &cargo,
            &[
                "run",
                "--quiet",
                "--manifest-path",
                &manifest,
                "--package",
                "portcullis",
                "--example",
                example,
            ],
        )?;
        fs::write(root.join(page), format!("{text}\n"))?;
        process::say(&format!("{page}: written"));
    }
    Ok(())
}
