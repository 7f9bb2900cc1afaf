//! The cases under `tests/cases`, which a person who writes no Rust can extend.
//!
//! A case is a line `### what it shows`, the script, a line `---`, and the
//! pipelines that are expected, one a line: commands joined by ` | `, each with
//! its `[via]`, assignments, words, `<read`, `>write` and `<<"stdin"`. `?` marks
//! a computed word; a text with anything unusual in it is quoted as Rust does. A
//! first line `INCOMPLETE` says that the script is. Those of `powershell.txt` are
//! in that language.

use std::{fmt::Write, fs, path::Path};

use portcullis_model::script::{Command, Script, Word};

fn text(text: &str) -> String {
    let plain = |c: char| c.is_ascii_graphic() && !"'\"|[]?".contains(c);
    if !text.is_empty() && text.chars().all(plain) { text.to_owned() } else { format!("{text:?}") }
}

fn word(word: &Word) -> String {
    match word {
        Word::Literal(literal) => text(literal),
        Word::Computed(source) => format!("?{}", text(source)),
    }
}

fn command(command: &Command) -> String {
    let mut pieces = Vec::new();
    if !command.via.is_empty() {
        pieces.push(format!("[{}]", command.via.join(" ")));
    }
    pieces.extend(command.assignments.iter().map(|set| format!("{}={}", set.name, word(&set.value))));
    pieces.extend(command.words.iter().map(word));
    pieces.extend(command.reads.iter().map(|file| format!("<{}", word(file))));
    pieces.extend(command.writes.iter().map(|file| format!(">{}", word(file))));
    pieces.extend(command.stdin.iter().map(|stdin| match stdin {
        Word::Literal(text) => format!("<<{text:?}"),
        Word::Computed(source) => format!("<<?{source:?}"),
    }));
    pieces.join(" ")
}

fn render(script: &Script) -> String {
    let mut out = String::new();
    if !script.complete {
        out.push_str("INCOMPLETE\n");
    }
    for pipeline in &script.pipelines {
        let commands: Vec<_> = pipeline.commands.iter().map(command).collect();
        out.push_str(&commands.join(" | "));
        out.push('\n');
    }
    out
}

#[test]
fn every_case_is_taken_apart_as_it_says() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut failures = String::new();
    let mut count = 0;
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    for file in files {
        let cases = fs::read_to_string(&file).unwrap();
        for case in cases.split("### ").skip(1) {
            let (title, rest) = case.split_once('\n').unwrap();
            let (script, expected) =
                rest.split_once("\n---\n").unwrap_or_else(|| panic!("`{title}` has no line `---`"));
            let powershell = file.file_stem().unwrap() == "powershell";
            let analyse =
                if powershell { portcullis_shell::analyse_powershell } else { portcullis_shell::analyse };
            let found = render(&analyse(script));
            count += 1;
            if found.trim_end() != expected.trim_end() {
                let name = file.file_stem().unwrap().to_string_lossy();
                writeln!(failures, "{name}: {title}\n{script}\n-- expected\n{expected}-- found\n{found}")
                    .unwrap();
            }
        }
    }
    assert!(count > 50, "only {count} cases were found");
    assert!(failures.is_empty(), "\n{failures}");
}
