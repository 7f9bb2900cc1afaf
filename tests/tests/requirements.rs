//! The table of requirements names the test that proves each row, and it cannot rot.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Each row: what it is about, and its last cell.
fn rows() -> Vec<(String, String)> {
    let table = fs::read_to_string(root().join("docs/reference/requirements.md")).unwrap();
    table
        .lines()
        .filter_map(|line| {
            let cells: Vec<_> =
                line.trim().strip_prefix('|')?.strip_suffix('|')?.split('|').map(str::trim).collect();
            let [row, _, proof] = cells.as_slice() else { panic!("not three cells: {line}") };
            let id = row.split('-').next_back()?.trim_start_matches(char::is_alphabetic);
            (!id.is_empty() && id.bytes().all(|b| b.is_ascii_digit()))
                .then(|| ((*row).to_owned(), (*proof).to_owned()))
        })
        .collect()
}

/// Every source file of the repository, the components' included.
fn sources(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() && name != "target" && !name.starts_with('.') {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs" || extension == "toml") {
            found.push(path);
        }
    }
}

#[test]
fn every_row_is_in_the_table_once() {
    let rows: Vec<String> = rows().into_iter().map(|(row, _)| row).collect();
    let number =
        |prefix: &'static str, numbers: Vec<u32>| numbers.into_iter().map(move |n| format!("{prefix}{n:02}"));
    let expected: Vec<String> = number("P-", (1..=61).collect())
        .chain(number("D-", (1..=4).collect()))
        .chain(number("G", vec![1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 17, 18, 19, 21, 22, 23]))
        .chain(number("RG", vec![1, 2, 3, 4, 5, 7, 8, 9, 11, 12, 13]))
        .chain(number("H-", (1..=32).collect()))
        .chain(["CF-02", "CF-30"].map(str::to_owned))
        .chain(number("H", vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]))
        .chain(["CF-09", "G-15", "D02", "D04", "D09", "L02", "L05", "L07"].map(str::to_owned))
        .chain(
            [
                "T-24", "T-25", "G-30", "G10", "G14", "CF-21", "CF-35", "L03", "L04", "L01", "G13", "G15",
                "G16", "G25",
            ]
            .map(str::to_owned),
        )
        .chain(number("E-", (1..=30).chain([33, 38, 39, 40, 41]).collect()))
        .chain(number("G-", vec![1, 2, 3, 9, 10, 13, 14, 20, 22, 23, 24, 26]))
        .chain(["T-15", "T-22"].map(str::to_owned))
        .chain(["G-32", "G-34"].map(str::to_owned))
        .chain(number("T-", vec![1, 2, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]))
        .chain(["G-18", "G-21", "D05", "L06"].map(str::to_owned))
        .chain(number("D", vec![1, 3, 8, 10, 12]))
        .chain(number("S-", (1..=31).chain([33, 34, 35, 37, 38]).collect()))
        .chain(number("K-", (1..=82).collect()))
        .chain(number("G-", vec![4, 5, 6, 7, 8, 11, 12, 16, 17, 19, 25, 27, 28, 29, 31, 33, 35, 36]))
        .chain(number("T-", vec![3, 16, 17, 18, 19, 20, 21, 23, 26, 27, 28]))
        .chain(number("E-", vec![31, 34, 35, 36, 37]))
        .chain(["RG06", "RG10", "RG16", "RG14", "RG15", "T05", "T08"].map(str::to_owned))
        .chain(number("C-", (1..=20).collect()))
        .chain(["S-32", "S-36", "E-32", "E-42"].map(str::to_owned))
        .chain(["S01", "S03", "S04", "S05", "S06", "S07", "S10", "M12", "M14"].map(str::to_owned))
        .chain(number("R-", (1..=18).collect()))
        .chain(number("C", (1..=14).collect()))
        .chain(number("M-", (1..=35).collect()))
        .chain(number("M", vec![1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 18]))
        .collect();
    assert_eq!(rows, expected);
}

#[test]
fn every_test_that_the_table_names_exists() {
    let mut files = Vec::new();
    for folder in ["host", "plugins", "sdk", "tests", "xtask"] {
        sources(&root().join(folder), &mut files);
    }
    let texts: Vec<(String, String)> = files
        .into_iter()
        .map(|path| (path.to_string_lossy().replace('\\', "/"), fs::read_to_string(&path).unwrap()))
        .collect();
    let mut named = BTreeSet::new();
    for (row, proof) in rows() {
        let tests: Vec<&str> =
            proof.split('`').skip(1).step_by(2).filter(|word| word.contains("::")).collect();
        assert!(
            !tests.is_empty() || proof.contains("issue "),
            "{row} names neither a test nor an issue: {proof}"
        );
        for test in tests {
            let (file, name) = test.split_once("::").unwrap();
            let is_there = texts.iter().any(|(path, text)| {
                path.ends_with(&format!("/{file}"))
                    && (text.contains(&format!("fn {name}(")) || text.contains(&format!("name = \"{name}\"")))
            });
            assert!(is_there, "{row}: there is no test `{test}`");
            named.insert(test.to_owned());
        }
    }
    assert!(named.len() > 60, "{}", named.len());
}
