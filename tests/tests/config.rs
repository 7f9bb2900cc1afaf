//! Files that are configurations, and files that are none, each with what is said of
//! it. `BLESS=1 cargo test -p portcullis-tests --test config` writes anew what is said.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test that is told to write by a variable and ends when anything is wrong"
)]

use std::fs;
use std::path::{Path, PathBuf};

use portcullis::config::{self, Files};

fn files(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("config").join(kind);
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    files.sort();
    files
}

/// What is said of a file, with its bare name.
fn said(file: &Path) -> String {
    let folder = format!("{}/", file.parent().unwrap().display());
    portcullis::read_config(file).unwrap_err().to_string().replace(&folder, "") + "\n"
}

#[test]
fn every_valid_file_is_taken_over_whole() {
    let files = files("valid");
    assert!(files.len() >= 12);
    for file in files {
        let loaded = config::load(&Files { user: Some(file.clone()), ..Files::default() });
        let loaded = loaded.unwrap_or_else(|error| panic!("{error}"));
        // As a project's file it is one as well, though little of it is taken.
        config::load(&Files { project: Some(file), ..Files::default() }).unwrap();
        assert!(loaded.ignored.is_empty());
    }
}

#[test]
fn every_invalid_file_is_refused_with_all_that_is_wrong() {
    let files = files("invalid");
    assert!(files.len() >= 40);
    let mut wrong = Vec::new();
    for file in files {
        let said = said(&file);
        let expected = file.with_extension("stderr");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&expected, &said).unwrap();
        }
        if fs::read_to_string(&expected).unwrap_or_default() != said {
            wrong.push(said);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_problem_has_a_place_and_none_holds_a_control_character() {
    for file in files("invalid") {
        let name = file.file_stem().unwrap().to_str().unwrap().to_owned();
        let error = portcullis::read_config(&file).unwrap_err();
        assert!(!error.problems().is_empty(), "{name}");
        for problem in error.problems() {
            assert!(problem.at.is_some(), "{problem}");
            assert!(!problem.to_string().contains(char::is_control), "{problem:?}");
            // What the parser says of a text that is no TOML is all that there is.
            assert!(problem.hint.is_some() || problem.key.is_none(), "{problem}");
        }
    }
}

/// The reader with the table of keys and the one that the types have agree.
#[test]
fn every_valid_file_says_what_the_types_read_in_it() {
    for file in files("valid") {
        let text = fs::read_to_string(&file).unwrap();
        let plain: portcullis_model::config::Config = toml::from_str(&text).unwrap();
        assert_eq!(portcullis::read_config(&file).unwrap(), plain, "{}", file.display());
    }
}
