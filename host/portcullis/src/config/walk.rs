//! From the text of a file to what it says. Everything that is wrong with it is
//! found in one go.

use std::ops::Range;
use std::path::Path;

use portcullis_model::config::key::{Key, Node};
use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::hint;
use super::problem::{Layer, Problem, dotted};
use super::value;
use crate::trust::root_of;

/// One value that a file says.
#[derive(Debug, Clone)]
pub(super) struct Said {
    /// What it is a value of.
    pub(super) key: &'static Key,
    /// Its names, from the top; a plugin's setting has its own behind the key's.
    pub(super) path: Vec<String>,
    pub(super) value: Value,
    pub(super) line: usize,
    pub(super) column: usize,
}

/// All that `text` says.
pub(super) fn read(layer: Layer, file: &Path, text: &str) -> Result<Vec<Said>, Vec<Problem>> {
    // A repository cannot know where it will be, so its programs are told from its root.
    let base = (layer == Layer::Project).then(|| root_of(file)).flatten();
    let mut walk = Walk { layer, file, base, text, path: Vec::new(), said: Vec::new(), problems: Vec::new() };
    let (table, errors) = DeTable::parse_recoverable(text);
    for error in errors {
        let message = format!("not TOML: {}", error.message().replace('\n', ", "));
        walk.problem_at(error.span().unwrap_or_default().start, None, message, None);
    }
    // What a parser makes of a text that is no TOML nobody wrote.
    if walk.problems.is_empty() {
        walk.table(table.get_ref());
    }
    if walk.problems.is_empty() {
        return Ok(walk.said);
    }
    walk.problems.sort_by_key(|problem| problem.at);
    Err(walk.problems)
}

struct Walk<'a> {
    layer: Layer,
    file: &'a Path,
    base: Option<&'a Path>,
    text: &'a str,
    path: Vec<String>,
    said: Vec<Said>,
    problems: Vec<Problem>,
}

impl Walk<'_> {
    fn table(&mut self, table: &DeTable<'_>) {
        for (name, value) in table {
            self.path.push(name.get_ref().clone().into_owned());
            self.entry(name.span(), value);
            self.path.pop();
        }
    }

    fn entry(&mut self, name: Range<usize>, value: &Spanned<DeValue<'_>>) {
        match Node::at(&self.path) {
            None => {
                let hint = hint::unknown(&self.path, value.get_ref().is_table());
                self.problem(name.start, "unknown key".to_owned(), Some(hint));
            }
            Some(Node::Value(key)) => self.value(key, name, value),
            Some(Node::Table | Node::Plugins) => {
                let last = self.path.last().cloned().unwrap_or_default();
                let is_named =
                    self.path.len() > 1 && matches!(Node::at(parent(&self.path)), Some(Node::Plugins));
                let of = if self.path.first().is_some_and(|top| top == "mcp") { "server" } else { "plugin" };
                if is_named && let Err(wrong) = value::table_name(name.clone(), &last, of) {
                    self.problem(name.start, wrong.message, wrong.hint);
                }
                match value.get_ref().as_table() {
                    Some(table) => self.table(table),
                    None => {
                        let message =
                            format!("a table is wanted, and this is {}", value::is(value.get_ref()));
                        let hint = format!("write its keys below `[{}]`", dotted(&self.path));
                        self.problem(value.span().start, message, Some(hint));
                    }
                }
            }
        }
    }

    fn value(&mut self, key: &'static Key, name: Range<usize>, value: &Spanned<DeValue<'_>>) {
        let (line, column) = self.place(name.start);
        let found = match value::read(key, &self.path, value, self.base) {
            Ok(found) => found,
            Err(wrongs) => {
                for value::Wrong { span, below, message, hint } in wrongs {
                    let path: Vec<_> = self.path.iter().cloned().chain(below).collect();
                    self.problem_at(span.start, Some(dotted(&path)), message, hint);
                }
                return;
            }
        };
        for (below, value) in found {
            let path = self.path.iter().cloned().chain(below.names).collect();
            let (line, column) = below.at.map_or((line, column), |at| self.place(at));
            self.said.push(Said { key, path, value, line, column });
        }
    }

    fn problem(&mut self, at: usize, message: String, hint: Option<String>) {
        self.problem_at(at, Some(dotted(&self.path)), message, hint);
    }

    fn problem_at(&mut self, at: usize, key: Option<String>, message: String, hint: Option<String>) {
        let at = Some(self.place(at));
        self.problems.push(Problem { layer: self.layer, file: self.file.to_owned(), at, key, message, hint });
    }

    /// Line and column of a byte, from 1; columns are characters.
    fn place(&self, at: usize) -> (usize, usize) {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
        (before.bytes().filter(|byte| *byte == b'\n').count() + 1, line.chars().count() + 1)
    }
}

fn parent(path: &[String]) -> &[String] {
    path.split_last().map_or(&[], |(_, rest)| rest)
}
