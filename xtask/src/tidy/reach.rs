//! Who prints, exits, starts processes, reads the environment and the clock, and
//! what nobody does.

use super::names::Name;
use super::tree::{File, Tree};

/// Something that few may name.
struct Reserved {
    what: &'static [&'static str],
    /// True for a file that may.
    may: fn(&File) -> bool,
    instead: &'static str,
}

const RESERVED: &[Reserved] = &[
    Reserved {
        what: &["print", "println", "eprint", "eprintln", "dbg", "std::process::exit", "std::process::abort"],
        may: |file| file.path.starts_with("host/cli/") || file.path.starts_with("xtask/") || file.is_aside(),
        instead: "only host/cli and xtask print or exit, so return it, or log it with `tracing`",
    },
    Reserved {
        what: &["std::process::Command", "tokio::process"],
        may: |file| is_called(file, "process.rs") || !is_product(file),
        instead: "processes are started in process.rs of each crate, where each has an owner and a deadline",
    },
    Reserved {
        what: &[
            "std::env::var",
            "std::env::var_os",
            "std::env::vars",
            "std::env::vars_os",
            "std::env::args",
            "std::env::args_os",
            "std::env::current_dir",
            "std::env::current_exe",
            "std::env::set_current_dir",
            "std::env::set_var",
            "std::env::remove_var",
            "std::env::home_dir",
            "std::env::temp_dir",
        ],
        // A program of its own has no `cli` that could hand it in.
        may: |file| is_called(file, "environment.rs") || file.path.contains("/src/bin/") || !is_product(file),
        instead: "the environment is read in host/cli/src/environment.rs and handed in",
    },
    Reserved {
        what: &["std::time::SystemTime::now", "jiff::ZonedDateTime::now", "jiff::Timestamp::now"],
        may: |file| is_called(file, "clock.rs"),
        instead: "the time of day comes through portcullis_runtime::clock",
    },
    Reserved {
        what: &["std::thread::sleep"],
        may: |_| false,
        instead: "wait for what is to happen, with a deadline",
    },
    Reserved { what: &["todo", "unimplemented"], may: |_| false, instead: "write it, or leave it out" },
];

/// Nothing is reached but from where it may be.
pub(super) fn outside(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, rust) in tree.rust() {
        for name in &rust.names {
            let hit = RESERVED
                .iter()
                .find(|reserved| reserved.what.iter().any(|what| is(name, what)) && !(reserved.may)(file));
            if let Some(reserved) = hit {
                problems.push(format!(
                    "{}:{}: names `{}`; {}",
                    file.path,
                    name.line,
                    name.text(),
                    reserved.instead
                ));
            }
        }
    }
    problems
}

fn is(name: &Name, what: &str) -> bool {
    if what.contains("::") {
        // `thread::sleep` of a crate that calls its own module `thread` is not meant.
        return name.root() != "crate" && name.reaches(what);
    }
    name.is_macro && (name.text() == what || name.text() == format!("std::{what}"))
}

/// What people run: not the tests, and not the tasks of those who build it.
fn is_product(file: &File) -> bool {
    ["host/", "sdk/", "plugins/"].iter().any(|start| file.path.starts_with(start)) && !file.is_aside()
}

fn is_called(file: &File, name: &str) -> bool {
    file.path.rsplit('/').next() == Some(name)
}

#[cfg(test)]
mod tests {
    use super::outside;
    use crate::tidy::tests::broken;

    #[test]
    fn what_reaches_outside_from_the_wrong_place_is_told() {
        let file = "host/portcullis/src/turn.rs";
        for (bad, part) in [
            ("fn f() { println!(\"x\") }", "only host/cli and xtask print"),
            ("fn f() { if x { std::process::exit(1) } }", "only host/cli and xtask print"),
            ("use std::process::{self, Command};", "processes are started in process.rs"),
            ("use std::env; fn f() { env::var(\"HOME\") }", "the environment is read in"),
            ("use std::time::SystemTime; fn f() { SystemTime::now() }", "portcullis_runtime::clock"),
            ("use std::thread; fn f() { thread::sleep(d) }", "wait for what is to happen"),
            ("fn f() { todo!() }", "write it, or leave it out"),
            ("fn f() { assert!(std::env::var(\"x\").is_ok()) }", "the environment is read in"),
        ] {
            let problems = broken(outside, &[(file, bad)]);
            assert_eq!(problems.len(), 1, "{bad}: {problems:?}");
            assert!(
                problems[0].starts_with(&format!("{file}:1: ")) && problems[0].contains(part),
                "{problems:?}"
            );
        }
    }

    #[test]
    fn the_places_that_may_are_left_alone() {
        for (file, good) in [
            ("host/cli/src/main.rs", "fn f() { eprintln!(\"x\") }"),
            ("host/runtime/src/process.rs", "use std::process::Command;"),
            ("host/cli/src/environment.rs", "fn f() { std::env::var_os(\"x\") }"),
            ("host/runtime/src/clock.rs", "fn f() { std::time::SystemTime::now() }"),
            ("host/runtime/src/guest.rs", "use std::process::ExitCode; fn print() { print() }"),
        ] {
            assert_eq!(broken(outside, &[(file, good)]), [""; 0]);
        }
    }
}
