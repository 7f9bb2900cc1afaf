//! `cargo xtask tidy`: the rules of the house that no compiler checks. It runs
//! as a test as well, so `cargo test --workspace` fails when one is broken.
//!
//! Each rule is a function from the repository's files to sentences: what is
//! wrong, where, and what to do.

mod attribute;
mod circle;
mod dependency;
mod folder;
mod names;
mod page;
mod permit;
mod reach;
mod signature;
mod text;
mod tree;

use std::path::Path;

use anyhow::{bail, ensure};

use crate::process;
use tree::Tree;

/// A rule: its name, and what finds the places where it is broken.
type Rule = (&'static str, fn(&Tree) -> Vec<String>);

const RULES: &[Rule] = &[
    ("dependencies by manifest", dependency::by_manifest),
    ("dependencies by name", dependency::by_name),
    ("folders of the library", folder::imports),
    ("the gate does no I/O", folder::gate_is_pure),
    ("no circles", circle::circles),
    ("one constructor of a permit", permit::one_constructor),
    ("the runtime hides its engine", signature::no_engine_in_public),
    ("who reaches outside", reach::outside),
    ("attributes", attribute::attributes),
    ("short files", text::short_files),
    ("no machine paths", text::no_machine_paths),
    ("codes are documented", page::codes_are_listed),
    ("tests that pages name", page::named_tests_exist),
];

pub(crate) fn run(args: &[String]) -> anyhow::Result<()> {
    ensure!(args.is_empty(), "tidy takes nothing: `{}`", args.join(" "));
    let tree = Tree::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))?;
    for warning in text::long_files(&tree) {
        process::say(&format!("warning: {warning}"));
    }
    let problems = problems(&tree);
    for problem in &problems {
        process::say(problem);
    }
    if !problems.is_empty() {
        bail!("{} rules of the house are broken; see ARCHITECTURE.md for why they are there", problems.len());
    }
    process::say(&format!("{} rules hold in {} files", RULES.len(), tree.files.len()));
    Ok(())
}

fn problems(tree: &Tree) -> Vec<String> {
    let found = |(name, rule): &Rule| {
        rule(tree).into_iter().map(|problem| format!("{name}: {problem}")).collect::<Vec<_>>()
    };
    RULES.iter().flat_map(found).collect()
}

#[cfg(test)]
mod tests {
    use super::tree::Tree;

    /// What `rule` says of a repository of these files.
    pub(super) fn broken(rule: fn(&Tree) -> Vec<String>, files: &[(&str, &str)]) -> Vec<String> {
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        rule(&Tree::new(files).unwrap())
    }

    #[test]
    fn the_house_is_tidy() {
        super::run(&[]).unwrap();
    }
}
