//! Inside `host/portcullis/src`: one folder a duty, and who may not know whom.

use super::circle::resolve;
use super::tree::Tree;

const LIBRARY: &str = "host/portcullis/src/";

/// Folders, what they never import, and why.
const APART: &[(&[&str], &[&str], &str)] = &[
    (DUTIES, DUTIES, "they meet in turn.rs"),
    (
        &["agent"],
        &["gate", "plugin", "host", "session", "turn"],
        "an agent's dialect is data in, data out, and judges nothing",
    ),
    (
        &["tool"],
        &["plugin", "gate", "agent", "host", "session", "turn"],
        "what a call does is a pure function of the call",
    ),
    (&["plugin"], &["agent", "gate", "session", "turn"], "a plugin's life knows no agent and no call"),
    (
        &["protect"],
        &["agent", "plugin", "gate", "host", "session", "turn"],
        "what is protected holds whatever plugins and agents there are",
    ),
    (
        &["ledger"],
        &["agent", "tool", "plugin", "protect", "gate", "record", "host", "session", "turn"],
        "what is written is handed to it, and it decides nothing",
    ),
    (
        &["gate"],
        &["agent", "ledger", "record", "host", "session", "turn"],
        "the gate is given all that it decides by",
    ),
];

const DUTIES: &[&str] = &["hook", "skill", "command", "broker", "schedule", "worker"];

/// What reaches outside the process.
const OUTSIDE: &[&str] = &[
    "std::fs",
    "std::net",
    "std::process",
    "std::env",
    "std::io",
    "tokio::fs",
    "tokio::net",
    "tokio::process",
];

/// No folder of the library imports one that it may not know.
pub(super) fn imports(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, rust) in tree.rust() {
        let Some((module, own)) = module(&file.path) else { continue };
        let rules: Vec<_> = APART.iter().filter(|(folders, ..)| folders.contains(&own.as_str())).collect();
        for name in rust.names.iter().filter(|name| !name.test) {
            let Some(path) = resolve(&module, name) else { continue };
            let Some(other) = path.first().filter(|other| **other != own) else { continue };
            if let Some((.., why)) = rules.iter().find(|(_, never, _)| never.contains(&other.as_str())) {
                problems.push(format!(
                    "{}:{}: `{own}` imports `{other}` (`{}`); {why}, so move what both need below them or hand it in",
                    file.path,
                    name.line,
                    name.text()
                ));
            }
        }
    }
    problems
}

/// The gate reaches nothing outside: the same call and the same answers give the
/// same judgement.
pub(super) fn gate_is_pure(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, rust) in tree.rust().filter(|(file, _)| file.path.starts_with("host/portcullis/src/gate/")) {
        for name in &rust.names {
            if OUTSIDE.iter().any(|outside| name.reaches(outside)) {
                problems.push(format!(
                    "{}:{}: the gate names `{}`; it does no I/O, so hand in what it is to decide by",
                    file.path,
                    name.line,
                    name.text()
                ));
            }
        }
    }
    problems
}

/// The module of a file of the library, and its folder.
fn module(path: &str) -> Option<(Vec<String>, String)> {
    let path = path.strip_prefix(LIBRARY)?;
    let module = super::circle::module_path(path);
    let own = module.first()?.clone();
    Some((module, own))
}

#[cfg(test)]
mod tests {
    use super::{gate_is_pure, imports};
    use crate::tidy::tests::broken;

    #[test]
    fn a_folder_that_imports_what_it_may_not_know_is_told() {
        let problems = broken(
            imports,
            &[
                (
                    "host/portcullis/src/agent/claude.rs",
                    "use crate::gate::Permit; use super::super::turn::Turn;",
                ),
                ("host/portcullis/src/hook/mod.rs", "fn f() { crate::skill::load() }"),
                ("host/portcullis/src/tool.rs", "use crate::{error::E, plugin};"),
                (
                    "host/portcullis/src/plugin/mod.rs",
                    "use crate::tool; #[cfg(test)] mod tests { use crate::agent; }",
                ),
            ],
        );
        assert_eq!(problems.len(), 4, "{problems:?}");
        for part in [
            "`agent` imports `gate`",
            "`agent` imports `turn`",
            "`hook` imports `skill`",
            "`tool` imports `plugin`",
        ] {
            assert!(problems.iter().any(|problem| problem.contains(part)), "{part} in {problems:?}");
        }
    }

    #[test]
    fn a_gate_that_looks_at_files_is_told() {
        let file = "host/portcullis/src/gate/path.rs";
        let problems = broken(
            gate_is_pure,
            &[(file, "use std::{fs, sync::Arc}; use tokio::net::*; fn f() { fs::read(x) }")],
        );
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(problems[0].contains("gate/path.rs:1: the gate names `std::fs`"));
        assert!(broken(gate_is_pure, &[(file, "use std::time::Instant;")]).is_empty());
    }
}
