//! A guard that is not in Rust sees what the host handed over.
//!
//! `guests/c-guard` refuses with one line for each pipeline that it was shown.
//! The same lines are made here of what `portcullis_shell` says.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

mod place;

use std::fs;
use std::path::Path;

use portcullis::Host;
use portcullis_model::script::{Command, Script, Word};
use serde_json::json;

use crate::place::{Place, bash, call, judge, outcome};

/// Beyond it, the guard tells the length and a digest.
const REASON_MAX: usize = 4000;

/// Every form that a pipeline can take in the contract.
const SCRIPTS: &[&str] = &[
    "ls",
    "ls -la | grep x | wc -l; pwd && cd .. || exit 1",
    "sudo -u root env A=b nohup timeout 5 rm -rf build",
    "sh -c 'sudo bash -lc \"git reset --hard\"'",
    "find . -name '*.o' -exec rm -f {} + | xargs -0 ls",
    "rm -rf \"$DIR\" $(cat list) `pwd` $((1 + 2)) ~ *.o",
    "X=rm; Y='a b'; $X -rf \"$Y\" ${Z:-z}",
    "PAGER=cat GIT_DIR=$(pwd) git log",
    "cat <<'END' > out.txt\nrm -rf /\n$HOME\nEND\n",
    "bash <<END\nrm -rf \"$1\"\necho done\nEND\n",
    "psql <<< 'DROP TABLE t' 2>> err.log < in.sql",
    "diff <(sort a) >(tee b) > \"$OUT\" 2>&1",
    "f() { rm -rf \"$1\"; }; f build; trap 'rm -f x' EXIT",
    "for x in a b; do case $x in a) echo \"$x\" ;; esac; done; while true; do :; done",
    "git commit -m 'π ≠ \u{1F980} \"quoted\" back\\slash' && echo $'tab\\tnul \\x01 \\n'",
    "> only-a-redirection; A=only-an-assignment",
    ":(){ :|:& };:",
    "echo \u{fffc} \u{7f} 'line\nbreak' ''",
    "echo cm0gLXJmIHg= | base64 -d | sh",
    "echo $(rm -rf inner",
    "rm 'never closed",
    "",
];

async fn c_guard(place: &Place) -> Host {
    let dist = Path::new(env!("CARGO_MANIFEST_DIR")).join("guests/dist/c-guard.wasm");
    place.put("c-guard.wasm", &fs::read(dist).unwrap());
    place.open("[plugins]\nenabled = [\"c-guard\"]").await
}

/// What the guard must say of `text`.
fn expected(text: &str) -> String {
    let seen = lines(&portcullis_shell::analyse(text));
    let told = if seen.len() > REASON_MAX { digest(&seen) } else { seen };
    format!("Blocked by the c-guard plugin: {told}")
}

#[tokio::test]
async fn a_guard_in_c_sees_the_pipelines_that_the_host_sees() {
    let place = Place::new();
    let host = c_guard(&place).await;
    for text in SCRIPTS {
        let wire = judge(&host, bash(text)).await;
        assert_eq!(wire.code.as_deref(), Some("c-guard/seen"), "{text}: {wire:?}");
        assert_eq!(wire.reason.unwrap(), expected(text), "{text}");
    }
}

#[tokio::test]
async fn a_guard_in_c_sees_a_long_script_to_its_end() {
    let place = Place::new();
    let host = c_guard(&place).await;
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let ours = fs::read_to_string(sources.join(".ci/run")).unwrap();
    let many: String = (0..2_000).map(|i| format!("sudo echo \"$A\" {i} π | cat > f{i}\n")).collect();
    for text in [ours, many, "word ".repeat(20_000)] {
        let wire = judge(&host, bash(&text)).await;
        assert_eq!(wire.reason.unwrap(), expected(&text));
    }
}

#[tokio::test]
async fn a_guard_in_c_has_no_objection_to_a_call_without_a_script() {
    let place = Place::new();
    let host = c_guard(&place).await;
    assert_eq!(outcome(&judge(&host, call("Read", json!({ "file_path": "/tmp/x" }))).await), "allow");
}

fn lines(script: &Script) -> String {
    let mut text = if script.complete { "complete" } else { "incomplete" }.to_owned();
    for pipeline in &script.pipelines {
        let commands: Vec<_> = pipeline.commands.iter().map(command).collect();
        text.push('\n');
        text.push_str(&commands.join(" | "));
    }
    text
}

fn command(command: &Command) -> String {
    let words = |mark: &str, words: &[Word]| -> String {
        words.iter().map(|shown| format!(" {mark}{}", word(shown))).collect()
    };
    let via: String = command.via.iter().map(|via| format!(" via {}", quote(via))).collect();
    let assignments = command.assignments.iter();
    let set: String =
        assignments.map(|set| format!(" set {} {}", quote(&set.name), word(&set.value))).collect();
    let stdin = command.stdin.as_ref().map_or_else(String::new, |fed| format!(" <<{}", word(fed)));
    [
        quote(&command.source),
        via,
        set,
        words("", &command.words),
        words("<", &command.reads),
        words(">", &command.writes),
        stdin,
    ]
    .concat()
}

fn word(word: &Word) -> String {
    match word {
        Word::Literal(text) => quote(text),
        Word::Computed(text) => format!("${}", quote(text)),
    }
}

fn quote(text: &str) -> String {
    let escape = |c: char| match c {
        '"' | '\\' => format!("\\{c}"),
        '\0'..='\x1f' | '\x7f' => format!("\\x{:02x}", u32::from(c)),
        _ => c.to_string(),
    };
    format!("\"{}\"", text.chars().map(escape).collect::<String>())
}

/// The length, and FNV-1a.
fn digest(text: &str) -> String {
    let step = |sum: u64, byte: u8| (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    format!("{:08x} {:016x}", text.len(), text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}
