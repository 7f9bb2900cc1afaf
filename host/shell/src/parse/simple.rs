//! Simple commands, and the functions that begin like one.

use super::Parser;
use crate::syntax::{Assignment, Compound, Kind, Part, Simple, Stage, Word};

/// Commands whose arguments may assign.
const DECLARING: [&str; 6] = ["declare", "typeset", "local", "export", "readonly", "integer"];

/// Commands whose arguments name variables that they change.
const NAMING: [&str; 13] = [
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "integer",
    "read",
    "mapfile",
    "readarray",
    "unset",
    "getopts",
    "printf",
    "let",
];

impl Parser<'_> {
    pub(super) fn simple(&mut self) -> Option<Stage> {
        let start = self.at;
        let mut command = Simple {
            assignments: Vec::new(),
            words: Vec::new(),
            redirects: Vec::new(),
            span: self.span(start),
        };
        let mut finish = start;
        while !self.failing {
            self.blanks();
            if let Some(redirect) = self.redirect() {
                command.redirects.push(redirect);
            } else if self.at_word() {
                let assigns = command.words.is_empty() || declares(&command);
                match self
                    .assignment_prefix()
                    .filter(|prefix| assigns && (command.words.is_empty() || prefix.array))
                {
                    Some(prefix) if command.words.is_empty() => {
                        let assignment = self.assignment(&prefix);
                        command.assignments.push(assignment);
                    }
                    Some(prefix) => {
                        let word = self.declared_array(&prefix);
                        command.words.push(word);
                    }
                    None => command.words.push(self.word()),
                }
            } else if self.byte() == Some(b'(') {
                if let Some(name) = function_name(&command) {
                    return Some(self.function_after_name(start, name));
                }
                self.fail();
            } else {
                break;
            }
            finish = self.at;
        }
        if command.words.is_empty() && command.assignments.is_empty() && command.redirects.is_empty() {
            return None;
        }
        self.name_changes(&command);
        command.span.end = if self.failing { self.at } else { finish };
        Some(Stage::Simple(command))
    }

    fn function_after_name(&mut self, start: usize, name: String) -> Stage {
        self.at += 1;
        self.blanks();
        self.expect_byte(b')');
        self.function_body(start, name)
    }

    pub(super) fn function_body(&mut self, start: usize, name: String) -> Stage {
        self.gap_without_separators();
        let from = self.names.len();
        let body = if self.failing { None } else { self.nested(Self::stage) };
        let Some(body) = body else {
            self.fail();
            let words = Vec::new();
            let (assignments, redirects) = (Vec::new(), Vec::new());
            return Stage::Simple(Simple { assignments, words, redirects, span: self.span(start) });
        };
        let names = from..self.names.len();
        let kind = Kind::Function { name, body: Box::new(body), names };
        Stage::Compound(Compound {
            kind,
            redirects: Vec::new(),
            span: self.span(start),
            tail: self.span(self.at),
        })
    }

    fn assignment(&mut self, prefix: &Prefix) -> Assignment {
        let start = self.at + prefix.length;
        self.at = start;
        let value = if prefix.array {
            let array = self.array();
            Word { parts: vec![array], span: self.span(start) }
        } else if self.at_word() {
            self.word()
        } else {
            Word { parts: vec![Part::Quoted(String::new())], span: self.span(start) }
        };
        self.names.push(prefix.name.clone());
        Assignment { name: prefix.name.clone(), value, whole: prefix.whole }
    }

    fn declared_array(&mut self, prefix: &Prefix) -> Word {
        let start = self.at;
        self.at += prefix.length;
        self.names.push(prefix.name.clone());
        let array = self.array();
        let parts = vec![Part::Bare(format!("{}=", prefix.name)), array];
        Word { parts, span: self.span(start) }
    }

    fn array(&mut self) -> Part {
        self.at += 1;
        let words = self.nested(|parser| {
            let mut words = Vec::new();
            while !parser.failing {
                parser.gap_without_separators();
                if !parser.at_word() {
                    break;
                }
                words.push(parser.word());
            }
            words
        });
        self.expect_byte(b')');
        Part::Array(words)
    }

    /// `name=`, `name+=` or `name[...]=` at the cursor.
    fn assignment_prefix(&self) -> Option<Prefix> {
        let rest = self.source.get(self.at..self.end)?;
        let bytes = rest.as_bytes();
        let name_length = bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
        if name_length == 0 || bytes.first().is_some_and(u8::is_ascii_digit) {
            return None;
        }
        let mut length = name_length;
        let mut whole = true;
        if bytes.get(length) == Some(&b'[') {
            // A subscript is short; a longer one is read as part of a word.
            let close = bytes.iter().skip(length).take(256).position(|b| matches!(b, b']' | b'\n'))?;
            length += close + 1;
            whole = false;
        }
        if bytes.get(length) == Some(&b'+') {
            length += 1;
            whole = false;
        }
        if bytes.get(length) != Some(&b'=') {
            return None;
        }
        length += 1;
        let name = rest.get(..name_length)?.to_owned();
        Some(Prefix { name, length, whole, array: bytes.get(length) == Some(&b'(') })
    }

    fn name_changes(&mut self, command: &Simple) {
        let Some(program) = command.words.first() else { return };
        let names = match program.bare() {
            Some(name) => NAMING.contains(&name),
            None => NAMING.contains(&program.unquoted().0.as_str()),
        };
        if !names {
            return;
        }
        for word in command.words.iter().skip(1) {
            let (text, _) = word.unquoted();
            let length = text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
            if let Some(name) = text.get(..length).filter(|name| !name.is_empty()) {
                self.names.push(name.to_owned());
            }
        }
    }
}

struct Prefix {
    name: String,
    length: usize,
    whole: bool,
    array: bool,
}

fn declares(command: &Simple) -> bool {
    command.words.first().and_then(Word::bare).is_some_and(|name| DECLARING.contains(&name))
}

fn function_name(command: &Simple) -> Option<String> {
    match command.words.as_slice() {
        [word] if command.assignments.is_empty() && command.redirects.is_empty() => Some(word.unquoted().0),
        _ => None,
    }
}
