//! The corpus of commands that guards get wrong, judged by the bundled guards.
//!
//! `tests/fixtures/corpus/guard.jsonl` holds one call a line, with the verdict that
//! it ought to get and the report that it comes from. A row that is disputed has a
//! lean instead. `cargo test -p portcullis-tests --test corpus -- --nocapture` prints
//! the report by category.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test ends when anything is wrong, and this one reports"
)]

mod place;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use portcullis_model::call::ToolCall;
use portcullis_model::input::Input;
use portcullis_model::judgement::Verdict;
use serde_json::Value;

use crate::place::{Place, judge};

const CORPUS: &str = include_str!("../fixtures/corpus/guard.jsonl");

/// Disputed rows whose lean is not followed, and why. No undisputed row may be here.
const AGAINST_THE_LEAN: &[(&str, &str)] = &[];

struct Row {
    id: String,
    category: String,
    disputed: bool,
    block: bool,
    tool: String,
    input: Value,
    cwd: String,
}

#[tokio::test]
async fn every_undisputed_row_gets_its_verdict_and_nine_of_ten_disputed_ones_their_lean() {
    let place = Place::new();
    let host = place.open("").await;
    let mut categories: BTreeMap<String, [usize; 2]> = BTreeMap::new();
    let (mut wrong, mut against, mut disputed) = (String::new(), Vec::new(), 0);
    for row in rows() {
        let blocked = match Input::from_value(row.input.clone()) {
            Ok(input) => {
                let call = ToolCall {
                    id: row.id.clone(),
                    tool: row.tool.clone(),
                    input,
                    cwd: row.cwd.clone(),
                    session_id: "corpus".to_owned(),
                };
                judge(&host, call).await.verdict == Verdict::Block
            }
            // What is no call's input is refused before anything judges it.
            Err(_) => true,
        };
        let [right, all] = categories.entry(row.category.clone()).or_default();
        *all += 1;
        disputed += usize::from(row.disputed);
        if blocked == row.block {
            *right += 1;
        } else if row.disputed {
            against.push(row.id);
        } else {
            let verdict = if blocked { "blocked" } else { "allowed" };
            writeln!(wrong, "{} was {verdict}: {} {}", row.id, row.tool, row.input).unwrap();
        }
    }
    for (category, [right, all]) in categories {
        println!("{category:<22} {right:>3} of {all:>3}");
    }
    println!("against the lean: {against:?}");
    assert!(wrong.is_empty(), "\n{wrong}");
    assert!(against.len() * 10 <= disputed, "{against:?} of {disputed}");
    let known: Vec<_> = AGAINST_THE_LEAN.iter().map(|(id, _)| (*id).to_owned()).collect();
    assert_eq!(against, known, "say in AGAINST_THE_LEAN why, or take the row out");
}

fn rows() -> Vec<Row> {
    CORPUS.lines().map(|line| serde_json::from_str(line).unwrap()).map(|row| row_of(&row)).collect()
}

fn row_of(row: &Value) -> Row {
    let text = |key: &str| row.get(key).and_then(Value::as_str).unwrap().to_owned();
    Row {
        id: text("id"),
        category: text("category"),
        disputed: row.get("disputed") == Some(&Value::Bool(true)),
        block: text("expect") == "block",
        tool: text("tool"),
        input: row.get("input").cloned().unwrap(),
        cwd: row.get("cwd").and_then(Value::as_str).unwrap_or("/home/dev/app").to_owned(),
    }
}
