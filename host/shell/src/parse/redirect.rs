//! Redirections and the bodies of heredocs.

use std::rc::Rc;

use super::Parser;
use crate::{
    syntax::{Heredoc, Redirect, Target},
    text::Text,
};

/// A heredoc whose body was not reached yet.
#[derive(Debug)]
pub(super) struct Pending {
    index: usize,
    delimiter: String,
    /// The body is taken as it is.
    quoted: bool,
    /// Tabs at the start of a line are taken off.
    tabs: bool,
    substitutions: usize,
}

/// Two or three bytes of an operator, and what it does.
const OPERATORS: [(&str, Operation); 12] = [
    ("&>>", Operation::Write),
    ("<<<", Operation::Herestring),
    ("<<-", Operation::Heredoc { tabs: true }),
    ("&>", Operation::Write),
    ("<<", Operation::Heredoc { tabs: false }),
    ("<&", Operation::Duplicate { writes: false }),
    ("<>", Operation::ReadWrite),
    (">>", Operation::Write),
    (">|", Operation::Write),
    (">&", Operation::Duplicate { writes: true }),
    ("<", Operation::Read),
    (">", Operation::Write),
];

#[derive(Clone, Copy)]
enum Operation {
    Read,
    Write,
    ReadWrite,
    Duplicate { writes: bool },
    Heredoc { tabs: bool },
    Herestring,
}

impl Parser<'_> {
    /// A redirection, when one starts here.
    pub(super) fn redirect(&mut self) -> Option<Redirect> {
        let descriptor_length = self.descriptor();
        let rest = self.source.get(self.at + descriptor_length..self.end)?;
        let (operator, operation) = OPERATORS.iter().find(|(operator, _)| rest.starts_with(operator))?;
        let after = rest.get(operator.len()..).unwrap_or_default();
        // `<(` is a process substitution, which is a word.
        if descriptor_length == 0 && operator.len() == 1 && after.starts_with('(') {
            return None;
        }
        let descriptor = self.source.get(self.at..self.at + descriptor_length).map(str::to_owned);
        let descriptor = descriptor.filter(|text| !text.is_empty());
        self.at += descriptor_length + operator.len();
        self.blanks();
        if !self.at_word() {
            self.fail();
            return None;
        }
        let word = self.word();
        let target = match *operation {
            Operation::Read => Target::Read(word),
            Operation::Write => Target::Write(word),
            Operation::ReadWrite => Target::ReadWrite(word),
            Operation::Herestring => Target::Herestring(word),
            Operation::Duplicate { writes } => {
                let names_descriptor = word
                    .bare()
                    .is_some_and(|text| text.trim_end_matches('-').bytes().all(|b| b.is_ascii_digit()));
                if names_descriptor || !writes { Target::Duplicate(word) } else { Target::Write(word) }
            }
            Operation::Heredoc { tabs } => {
                let (delimiter, quoted) = word.unquoted();
                let index = self.heredocs.len();
                self.heredocs.push(Heredoc::default());
                let substitutions = self.substitutions;
                self.pending.push(Pending { index, delimiter, quoted, tabs, substitutions });
                Target::Heredoc(index)
            }
        };
        Some(Redirect { descriptor, appends: operator.ends_with(">>"), target })
    }

    /// How long the `2` of `2>` or the `{name}` of `{name}>` is.
    fn descriptor(&self) -> usize {
        let rest = self.source.as_bytes().get(self.at..self.end).unwrap_or_default();
        let digits = rest.iter().take(10).take_while(|b| b.is_ascii_digit()).count();
        let length = if digits > 0 {
            digits
        } else if rest.first() == Some(&b'{') {
            let name = rest
                .iter()
                .skip(1)
                .take(256)
                .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
                .count();
            if rest.get(name + 1) == Some(&b'}') { name + 2 } else { 0 }
        } else {
            0
        };
        if matches!(rest.get(length), Some(b'<' | b'>')) { length } else { 0 }
    }

    /// Reads the bodies that follow the newline before the cursor.
    pub(super) fn bodies(&mut self) {
        for pending in std::mem::take(&mut self.pending) {
            self.body(&pending);
        }
    }

    fn body(&mut self, pending: &Pending) {
        let start = self.at;
        let mut finish = self.end;
        let mut closed = false;
        while self.at < self.end {
            let line_start = self.at;
            let line = self.logical_line(pending.quoted);
            let line = if pending.tabs { line.trim_start_matches('\t') } else { &line };
            let line = line.strip_suffix('\r').unwrap_or(line);
            if line == pending.delimiter {
                finish = line_start;
                closed = true;
                break;
            }
            // Older shells end a body here when a substitution ends behind the delimiter.
            if pending.substitutions > 0
                && line.strip_prefix(pending.delimiter.as_str()).is_some_and(|rest| rest.starts_with(')'))
            {
                let indent = self.source.get(line_start..self.end).unwrap_or_default();
                let indent =
                    if pending.tabs { indent.len() - indent.trim_start_matches('\t').len() } else { 0 };
                self.at = line_start + indent + pending.delimiter.len();
                self.broken = true;
                finish = line_start;
                closed = true;
                break;
            }
        }
        if !closed {
            self.broken = true;
        }
        let after = self.at;
        let heredoc = self.contents(pending, start, finish);
        self.at = after;
        if let Some(slot) = self.heredocs.get_mut(pending.index) {
            *slot = heredoc;
        }
    }

    fn contents(&mut self, pending: &Pending, start: usize, finish: usize) -> Heredoc {
        if pending.quoted {
            let mut parts = Vec::new();
            let mut from = start;
            while from < finish {
                let rest = self.source.get(from..finish).unwrap_or_default();
                let length = rest.find('\n').map_or(rest.len(), |at| at + 1);
                let tabs = if pending.tabs { rest.len() - rest.trim_start_matches('\t').len() } else { 0 };
                self.literal(from + tabs.min(length), from + length, true, &mut parts);
                from += length;
            }
            return Heredoc { parts, own: None };
        }
        if pending.tabs && self.source.get(start..finish).is_some_and(|text| text.contains('\t')) {
            let stripped = self.without_tabs(start, finish);
            return self.foreign(stripped);
        }
        self.at = start;
        let failing = self.failing;
        let parts = self.nested(|parser| parser.within(finish, |parser| parser.quoted_parts(None)));
        // The delimiter ends a body whatever is open in it.
        self.failing = failing;
        Heredoc { parts, own: None }
    }

    fn without_tabs(&self, start: usize, finish: usize) -> Text {
        let mut out = Text::default();
        let mut from = start;
        while from < finish {
            let rest = self.source.get(from..finish).unwrap_or_default();
            let length = rest.find('\n').map_or(rest.len(), |at| at + 1);
            let tabs = rest.bytes().take_while(|b| *b == b'\t').count().min(length);
            let text = Rc::clone(self.text);
            out.push(&crate::text::Span { text, start: from + tabs, end: from + length }.slice());
            from += length;
        }
        out
    }

    /// Parses a body that is not a stretch of this text.
    fn foreign(&mut self, body: Text) -> Heredoc {
        let Some(depth) = self.depth.checked_sub(1) else {
            self.cut_short = true;
            return Heredoc::default();
        };
        let text = Rc::new(body);
        let mut inner = Parser::new(&text, depth);
        let parts = inner.quoted_parts(None);
        self.broken |= inner.broken;
        self.cut_short |= inner.cut_short;
        self.names.append(&mut inner.names);
        Heredoc { parts, own: Some(inner.heredocs) }
    }

    /// One line, with continued lines joined unless the heredoc is quoted; the
    /// cursor moves behind its newline.
    fn logical_line(&mut self, quoted: bool) -> String {
        let mut line = String::new();
        loop {
            let stop = self.find(b'\n').unwrap_or(self.end);
            let piece = self.source.get(self.at..stop).unwrap_or_default();
            self.at = (stop + 1).min(self.end);
            let slashes = piece.len() - piece.trim_end_matches('\\').len();
            if quoted || slashes % 2 == 0 || stop >= self.end {
                line.push_str(piece);
                return line;
            }
            line.push_str(piece.get(..piece.len() - 1).unwrap_or_default());
        }
    }
}
