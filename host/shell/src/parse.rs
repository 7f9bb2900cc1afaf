//! From text to tree: recursive descent over the shell's grammar.
//!
//! One cursor moves forward and never back, so the time is linear. Nesting is
//! counted, so the stack is bounded. An error does not end the parse: what was
//! understood stays in the tree, the tree is marked broken, and the parse goes
//! on at the point of the error as if a new script began there. So nothing
//! that follows a broken or too deep part is hidden by it.

mod compound;
mod expansion;
mod redirect;
mod simple;
mod word;

use std::{collections::HashMap, rc::Rc};

pub(crate) use compound::identifiers;

use crate::{
    syntax::{Heredoc, Join, List, Pipe, Stage, Tree},
    text::{Span, Text},
};

/// Parses a whole text. `depth` is how much nesting is allowed.
pub(crate) fn parse(text: &Rc<Text>, depth: usize) -> Tree {
    let mut parser = Parser::new(text, depth);
    let list = parser.script();
    Tree {
        list,
        heredocs: parser.heredocs,
        names: parser.names,
        broken: parser.broken,
        cut_short: parser.cut_short,
        #[cfg(test)]
        steps: parser.steps.get(),
    }
}

/// Words that end a list when they stand where a command would.
const CLOSERS: [&str; 8] = ["then", "do", "done", "fi", "esac", "else", "elif", "}"];

/// Commands and levels of nesting in one text. The walk reports no more pipelines
/// than a part of that; the rest would only cost time.
const ROOM: usize = 400_000;

struct Parser<'t> {
    text: &'t Rc<Text>,
    source: &'t str,
    at: usize,
    /// Where the part under parse ends.
    end: usize,
    /// Levels of nesting that are left.
    depth: usize,
    /// Command substitutions around the cursor.
    substitutions: usize,
    /// Heredocs whose bodies follow the next newline.
    pending: Vec<redirect::Pending>,
    heredocs: Vec<Heredoc>,
    names: Vec<String>,
    /// Where `((` opens an arithmetic expression, and where its `))` is.
    arithmetic: HashMap<usize, usize>,
    broken: bool,
    cut_short: bool,
    /// Commands and levels of nesting that may still be parsed.
    room: usize,
    /// An error is on its way to the top.
    failing: bool,
    /// Bytes that were looked at, to show that their number grows linearly.
    #[cfg(test)]
    steps: std::cell::Cell<usize>,
}

impl<'t> Parser<'t> {
    fn new(text: &'t Rc<Text>, depth: usize) -> Self {
        let source = text.raw();
        Self {
            text,
            source,
            at: 0,
            end: source.len(),
            depth,
            substitutions: 0,
            pending: Vec::new(),
            heredocs: Vec::new(),
            names: Vec::new(),
            arithmetic: arithmetic(source),
            broken: false,
            cut_short: false,
            room: ROOM,
            failing: false,
            #[cfg(test)]
            steps: std::cell::Cell::new(0),
        }
    }

    fn script(&mut self) -> List {
        let mut all = List::default();
        loop {
            let before = self.at;
            let mut list = self.list();
            all.pipes.append(&mut list.pipes);
            if self.at >= self.end && !self.failing {
                break;
            }
            // Something that no list can hold: mark it, step over it, go on.
            self.broken = true;
            self.failing = false;
            self.substitutions = 0;
            self.end = self.source.len();
            match self.keyword().filter(|word| CLOSERS.contains(word)) {
                Some(word) => self.at += word.len(),
                None if self.at == before || matches!(self.byte(), Some(b')' | b';' | b'}')) => self.step(),
                None => {}
            }
            if self.at == before && self.at >= self.end {
                break;
            }
        }
        self.bodies();
        if !self.pending.is_empty() {
            self.broken = true;
        }
        all
    }

    fn list(&mut self) -> List {
        let mut list = List::default();
        let mut join = Join::Always;
        while !self.failing {
            self.gap();
            if self.ends_list() {
                // `a &&` with nothing behind it.
                if join != Join::Always {
                    self.fail();
                }
                break;
            }
            let Some(mut pipe) = self.pipe(join) else { break };
            self.blanks();
            join = Join::Always;
            match (self.byte(), self.byte_at(1)) {
                (Some(b'&'), Some(b'&')) => {
                    self.at += 2;
                    join = Join::And;
                }
                (Some(b'|'), Some(b'|')) => {
                    self.at += 2;
                    join = Join::Or;
                }
                (Some(b'&'), _) => {
                    self.at += 1;
                    pipe.background = true;
                }
                (Some(b';'), Some(b';' | b'&')) | (Some(b'\n'), _) => {}
                (Some(b';'), _) => self.at += 1,
                (Some(b')') | None, _) => {}
                _ => self.fail_unless_closer(),
            }
            list.pipes.push(pipe);
        }
        list
    }

    /// Behind a compound command a closing word needs no separator.
    fn fail_unless_closer(&mut self) {
        if !self.ends_list() {
            self.fail();
        }
    }

    fn ends_list(&self) -> bool {
        match self.byte() {
            None | Some(b')') => true,
            Some(b';') => matches!(self.byte_at(1), Some(b';' | b'&')),
            Some(_) => self.keyword().is_some_and(|word| CLOSERS.contains(&word)),
        }
    }

    fn pipe(&mut self, join: Join) -> Option<Pipe> {
        let mut pipe = Pipe { stages: Vec::new(), join, background: false };
        loop {
            self.blanks();
            while self.byte() == Some(b'!')
                && matches!(self.byte_at(1), None | Some(b' ' | b'\t' | b'\n' | b'('))
            {
                self.at += 1;
                self.blanks();
            }
            let Some(stage) = self.stage() else {
                // `!` alone is a command; `a |` is not.
                if !pipe.stages.is_empty() || !self.ends_list() {
                    self.fail();
                }
                break;
            };
            pipe.stages.push(stage);
            if self.failing {
                break;
            }
            self.blanks();
            if self.byte() != Some(b'|') || self.byte_at(1) == Some(b'|') {
                break;
            }
            self.at += if self.byte_at(1) == Some(b'&') { 2 } else { 1 };
            self.gap_without_separators();
        }
        (!pipe.stages.is_empty()).then_some(pipe)
    }

    fn stage(&mut self) -> Option<Stage> {
        self.take_room();
        match self.compound() {
            Some(compound) => Some(Stage::Compound(compound)),
            None => self.simple(),
        }
    }

    /// Blanks, comments, newlines and single semicolons.
    fn gap(&mut self) {
        loop {
            self.gap_without_separators();
            if self.byte() == Some(b';') && !matches!(self.byte_at(1), Some(b';' | b'&')) {
                // An empty command: bash refuses it, other shells do not.
                self.broken = true;
                self.at += 1;
            } else {
                break;
            }
        }
    }

    fn gap_without_separators(&mut self) {
        loop {
            self.blanks();
            if self.byte() != Some(b'\n') {
                break;
            }
            self.at += 1;
            self.bodies();
        }
    }

    /// Blanks, line continuations, and a comment when one starts here.
    fn blanks(&mut self) {
        loop {
            match self.byte() {
                Some(b' ' | b'\t') => self.at += 1,
                Some(b'\\') if self.byte_at(1) == Some(b'\n') => self.at += 2,
                Some(b'\\') if self.byte_at(1) == Some(b'\r') && self.byte_at(2) == Some(b'\n') => {
                    self.at += 3
                }
                Some(b'\r') if matches!(self.byte_at(1), Some(b'\n') | None) => self.at += 1,
                Some(b'#') => self.at = self.find(b'\n').unwrap_or(self.end),
                _ => break,
            }
        }
    }

    /// The reserved-looking word at the cursor, when it stands alone.
    fn keyword(&self) -> Option<&'t str> {
        let rest = self.source.as_bytes().get(self.at..self.end)?;
        let limit = rest.len().min(10);
        let length = rest.iter().take(limit).position(|b| {
            matches!(b, b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')')
        });
        let length = match length {
            Some(length) => length,
            None if rest.len() < 10 => rest.len(),
            None => return None,
        };
        self.source.get(self.at..self.at + length).filter(|word| !word.is_empty())
    }

    fn take_keyword(&mut self, word: &str) -> bool {
        let found = self.keyword() == Some(word);
        if found {
            self.at += word.len();
        }
        found
    }

    fn expect_keyword(&mut self, word: &str) {
        if !self.failing && !self.take_keyword(word) {
            self.fail();
        }
    }

    fn expect_byte(&mut self, byte: u8) {
        if self.failing {
            return;
        }
        if self.byte() == Some(byte) {
            self.at += 1;
        } else {
            self.fail();
        }
    }

    /// Counts one node. Without room for it the text ends here.
    fn take_room(&mut self) {
        match self.room.checked_sub(1) {
            Some(room) => self.room = room,
            None => {
                self.cut_short = true;
                self.at = self.source.len();
                self.end = self.at;
            }
        }
    }

    fn fail(&mut self) {
        self.broken = true;
        self.failing = true;
    }

    /// Runs `inner` one level deeper, or fails when there is no level left.
    fn nested<T: Default>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let Some(depth) = self.depth.checked_sub(1) else {
            self.cut_short = true;
            self.fail();
            return T::default();
        };
        self.take_room();
        self.depth = depth;
        let out = inner(self);
        self.depth += 1;
        out
    }

    /// Runs `inner` as if the text ended at `end`, then stands there.
    fn within<T>(&mut self, end: usize, inner: impl FnOnce(&mut Self) -> T) -> T {
        let outer = std::mem::replace(&mut self.end, end);
        let out = inner(self);
        self.end = outer;
        if !self.failing {
            self.at = end;
        }
        out
    }

    fn byte(&self) -> Option<u8> {
        self.byte_at(0)
    }

    fn byte_at(&self, offset: usize) -> Option<u8> {
        self.count(1);
        let at = self.at + offset;
        if at < self.end { self.source.as_bytes().get(at).copied() } else { None }
    }

    /// Steps over one character.
    fn step(&mut self) {
        let rest = self.source.get(self.at..self.end).unwrap_or_default();
        self.at += rest.chars().next().map_or(0, char::len_utf8);
    }

    fn find(&self, byte: u8) -> Option<usize> {
        let rest = self.source.as_bytes().get(self.at..self.end)?;
        let found = rest.iter().position(|b| *b == byte);
        self.count(found.unwrap_or(rest.len()));
        found.map(|offset| self.at + offset)
    }

    #[cfg(test)]
    fn count(&self, steps: usize) {
        self.steps.set(self.steps.get() + steps);
    }

    #[cfg(not(test))]
    fn count(&self, _steps: usize) {}

    fn span(&self, start: usize) -> Span {
        Span { text: Rc::clone(self.text), start, end: self.at.max(start) }
    }
}

/// Finds each `((` whose two parentheses are closed by adjacent ones. Those are
/// arithmetic; any other `((` is a subshell in a subshell. Quotes are not looked
/// at: where that misleads, the text is parsed as commands, or the expression
/// ends early and the rest is.
fn arithmetic(source: &str) -> HashMap<usize, usize> {
    let mut found = HashMap::new();
    if !source.contains("((") {
        return found;
    }
    let mut open: Vec<usize> = Vec::new();
    let mut inner: Option<(usize, usize)> = None;
    let mut escaped = false;
    for (at, byte) in source.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'(' => open.push(at),
            b')' => {
                let Some(start) = open.pop() else { continue };
                if let Some((inner_start, inner_end)) = inner
                    && inner_end + 1 == at
                    && inner_start == start + 1
                {
                    found.insert(start, inner_end);
                }
                inner = Some((start, at));
            }
            _ => {}
        }
    }
    found
}
