//! The clients of the wire in other languages, with their own tests, against the binary.
//!
//! They need programs that not every machine has; `.ci/run clients` does not go on without.

#![allow(
    clippy::disallowed_methods,
    clippy::print_stderr,
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that runs the tests of others"
)]

use std::path::Path;
use std::process::Command;

/// Runs `program` in `sdk/NAME`, when it is there and as new as that.
fn run(name: &str, program: &str, is_new_enough: &[&str], arguments: &[&str]) {
    let there = Command::new(program).args(is_new_enough).output();
    if !there.is_ok_and(|output| output.status.success()) {
        eprintln!("not run: no {program} that is new enough");
        return;
    }
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let output = Command::new(program)
        .args(arguments)
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk").join(name))
        .env("PORTCULLIS_BIN", env!("CARGO_BIN_EXE_portcullis"))
        // Compiled components are shared by all tests, because they are the same.
        .env("PORTCULLIS_TEST_CACHE", shared.join("cache"))
        .env("PORTCULLIS_TEST_STATE", shared.join("state"))
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert!(output.status.success(), "{said}");
}

#[test]
fn the_client_in_typescript_holds_against_the_binary() {
    let is_new_enough = ["-e", "process.exit(parseInt(process.versions.node) < 20 ? 1 : 0)"];
    run(
        "typescript",
        "node",
        &is_new_enough,
        &["--test", "test/fake.test.js", "test/readme.test.js", "test/real.test.js"],
    );
}

#[test]
fn the_client_in_python_holds_against_the_binary() {
    let is_new_enough = ["-c", "import sys; sys.exit(sys.version_info < (3, 11))"];
    run("python", "python3", &is_new_enough, &["-B", "-m", "unittest"]);
}
