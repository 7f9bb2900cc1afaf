//! What Debian's packages do is honest work. Every script of theirs is
//! understood, and what the bundled guards refuse of it has been looked at by
//! somebody: `docs/reference/benign-corpus.md` has the list.
//!
//! `cargo xtask benign` writes the list anew and keeps what was judged.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    clippy::print_stdout,
    reason = "a test ends when anything is wrong; this one asks bash as well, and says when it has nothing to do"
)]

mod debian;
mod place;

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use portcullis_model::judgement::Verdict;
use portcullis_shell::{Limits, analyse, analyse_within};

use crate::debian::{Found, installed, maintainers};
use crate::place::{Place, bash, judge};

/// Fewer say nothing.
const ENOUGH: usize = 50;
/// Both `eval` a text with a quote that only a computed part of it closes.
const NOT_UNDERSTOOD: &[&str] = &["/usr/bin/xzgrep", "/usr/bin/zgrep"];
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/reference/benign-corpus.md");
/// Characters of a refusal that the list shows.
const SAID_MAX: usize = 160;
const UNJUDGED: &str = "to be judged";

/// The corpus, when this machine has one. Where everything has to pass it must.
fn corpus(found: Vec<Found>) -> Vec<Found> {
    if found.len() >= ENOUGH {
        return found;
    }
    assert!(std::env::var_os("CI").is_none(), "only {} scripts of Debian's packages are here", found.len());
    println!("skipped: only {} scripts of Debian's packages are here", found.len());
    Vec::new()
}

#[test]
fn every_script_of_debian_that_bash_accepts_is_understood() {
    let mut not = Vec::new();
    for found in corpus(installed()).into_iter().chain(maintainers()) {
        let known = NOT_UNDERSTOOD.contains(&found.name.as_str());
        if !known && !analyse(&found.text).complete && bash_accepts(&found.text) {
            not.push(found.name);
        }
    }
    assert!(
        not.is_empty(),
        "{} scripts are not understood, and bash accepts them:\n{}",
        not.len(),
        not.join("\n")
    );
}

/// The limits count every unit of work, so this is a test of its growth.
#[test]
fn every_script_of_debian_is_understood_with_work_in_proportion_to_its_length() {
    let mut not = Vec::new();
    for found in corpus(installed()).into_iter().chain(maintainers()) {
        let length = found.text.len() + 64;
        let limits =
            Limits { bytes: 8 * length, words: 8 * length, output: 64 * length, ..Limits::default() };
        if analyse(&found.text).complete && !analyse_within(&found.text, limits).complete {
            not.push(found.name);
        }
    }
    assert!(not.is_empty(), "{} scripts cost too much:\n{}", not.len(), not.join("\n"));
}

#[tokio::test]
async fn what_is_refused_of_debian_has_been_judged() {
    let place = Place::new();
    let host = place.open("[plugins]\nenabled = [\"guard\", \"no-secrets\"]").await;
    let listed = Page::read();
    let mut refused = Vec::new();
    let scripts = corpus(installed());
    for found in &scripts {
        let wire = judge(&host, bash(&found.text)).await;
        if wire.verdict != Verdict::Allow {
            let (code, said) = (wire.code.unwrap(), wire.reason.unwrap());
            refused.push(Row::new(&found.name, &code, &said));
        }
    }
    if std::env::var_os("PORTCULLIS_WRITE_BENIGN").is_some() {
        listed.with(&scripts, refused).write(scripts.len());
        return;
    }
    let unknown: Vec<_> = refused
        .iter()
        .filter(|row| listed.verdict(row).is_none_or(|verdict| verdict == UNJUDGED))
        .map(|row| format!("{} {}: {}", row.script, row.code, row.said))
        .collect();
    assert!(
        unknown.is_empty(),
        "of {} scripts these are refused, and nobody has judged that:\n{}\n\
         hint: run `cargo xtask benign`, and replace `{UNJUDGED}` in docs/reference/benign-corpus.md: `right` when \
         the script does what the guard says, or else mend the guard",
        scripts.len(),
        unknown.join("\n")
    );
}

fn bash_accepts(text: &str) -> bool {
    let child = Command::new("bash").arg("-n").stdin(Stdio::piped()).stderr(Stdio::null()).spawn();
    let Ok(mut child) = child else { return false };
    // It may stop reading at the first error.
    let _ = child.stdin.take().unwrap().write_all(text.as_bytes());
    child.wait().unwrap().success()
}

/// One refusal.
struct Row {
    script: String,
    code: String,
    said: String,
    verdict: String,
}

impl Row {
    fn new(script: &str, code: &str, said: &str) -> Self {
        let said = said.split_once(" plugin: ").map_or(said, |(_, own)| own);
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        // What is behind it tells the model what to do.
        let said = said.find("). ").map_or(said.as_str(), |end| &said[..=end]);
        let mut cell: String = said.chars().take(SAID_MAX).collect();
        if cell.len() < said.len() {
            cell.push('…');
        }
        // What would mean something to the page.
        let said =
            ['\\', '`', '<', '*', '|'].iter().fold(cell, |cell, c| cell.replace(*c, &format!("\\{c}")));
        Self { script: script.to_owned(), code: code.to_owned(), said, verdict: UNJUDGED.to_owned() }
    }
}

/// The committed list.
struct Page(Vec<Row>);

impl Page {
    fn read() -> Self {
        let text = std::fs::read_to_string(PAGE).unwrap_or_default();
        let row = |line: &str| {
            let cells: Vec<_> = line.strip_prefix("| /")?.trim_end_matches(" |").split(" | ").collect();
            let [script, code, said, verdict] = cells.as_slice() else {
                panic!("a row without four cells: {line}")
            };
            let [code, said, verdict] = [code, said, verdict].map(|cell| (*cell).to_owned());
            let script = format!("/{script}");
            Some(Row { script, code, said, verdict })
        };
        Self(text.lines().filter_map(row).collect())
    }

    fn verdict(&self, row: &Row) -> Option<&str> {
        let same = |listed: &&Row| listed.script == row.script && listed.code == row.code;
        self.0.iter().find(same).map(|listed| listed.verdict.as_str())
    }

    /// What was found here, with the verdicts that were given before, and the
    /// rows of scripts that are not here.
    fn with(self, scripts: &[Found], mut refused: Vec<Row>) -> Self {
        for row in &mut refused {
            row.verdict = self.verdict(row).unwrap_or(UNJUDGED).to_owned();
        }
        let is_here = |row: &Row| scripts.iter().any(|found| found.name == row.script);
        refused.extend(self.0.into_iter().filter(|row| !is_here(row)));
        refused.sort_by(|a, b| a.script.cmp(&b.script));
        Self(refused)
    }

    fn write(&self, of: usize) {
        let mut codes: BTreeMap<&str, usize> = BTreeMap::new();
        for row in &self.0 {
            *codes.entry(&row.code).or_default() += 1;
        }
        let counts: Vec<_> = codes.iter().map(|(code, count)| format!("{count} × {code}")).collect();
        let mut text = format!(
            "# What the guards refuse of Debian\n\n\
             Written by `cargo xtask benign`, but for the last column. On the machine that wrote it, Debian's packages \
             bring {of} shell scripts below `/usr` and `/etc/init.d`. Each was judged as one call of the shell tool by \
             `guard` and `no-secrets` with default settings. {} are refused: {}.\n\n\
             An agent that is about to run one of them whole is stopped, and the user is asked. That is right when the \
             script really does, on some path through it, what the guard says, and wrong when it does not. `cargo test` \
             fails on a refusal that is not listed, so that nobody makes the guard stricter without looking at what \
             honest scripts do.\n\n\
             | script | code | what the guard says | verdict |\n| --- | --- | --- | --- |\n",
            self.0.len(),
            counts.join(", ")
        );
        for Row { script, code, said, verdict } in &self.0 {
            text.push_str(&format!("| {script} | {code} | {said} | {verdict} |\n"));
        }
        std::fs::write(PAGE, text).unwrap();
    }
}
