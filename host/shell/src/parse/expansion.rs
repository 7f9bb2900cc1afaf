//! What `$`, backticks and `<(` begin.

use std::rc::Rc;

use super::{Parser, parse};
use crate::{
    syntax::{Body, Operator, OperatorKind, Part, Variable},
    text::Text,
};

impl Parser<'_> {
    /// The cursor is on `$`.
    pub(super) fn dollar(&mut self, quoted: bool, parts: &mut Vec<Part>) {
        let start = self.at;
        match self.byte_at(1) {
            Some(b'(') => self.parenthesis(quoted, parts),
            Some(b'{') => {
                let part = self.nested(|parser| Some(parser.brace(quoted)));
                parts.extend(part);
            }
            Some(b'[') => {
                self.at += 2;
                let inner = self.nested(|parser| parser.quoted_parts(Some(b']')));
                self.expect_byte(b']');
                parts.push(Part::Other { inner, quoted, span: self.span(start) });
            }
            Some(b'\'') if !quoted => self.ansi(parts),
            Some(b'"') if !quoted => {
                self.at += 1;
                self.double(parts);
            }
            Some(b) if b.is_ascii_alphabetic() || b == b'_' => {
                self.at += 1;
                while self.byte().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
                    self.at += 1;
                }
                self.variable(start, quoted, parts);
            }
            Some(b'0'..=b'9' | b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => {
                self.at += 2;
                self.variable(start, quoted, parts);
            }
            _ => {
                self.at += 1;
                self.literal(start, self.at, quoted, parts);
            }
        }
    }

    fn variable(&self, start: usize, quoted: bool, parts: &mut Vec<Part>) {
        let name = self.source.get(start + 1..self.at).unwrap_or_default().to_owned();
        let all = matches!(name.as_str(), "@" | "*");
        parts.push(Part::Variable(Variable { name, all, operator: None, quoted, span: self.span(start) }));
    }

    fn parenthesis(&mut self, quoted: bool, parts: &mut Vec<Part>) {
        let start = self.at;
        if let Some(close) = self.arithmetic.get(&(self.at + 1)).copied().filter(|close| *close <= self.end) {
            self.at += 3;
            let inner = self.nested(|parser| parser.within(close, |parser| parser.quoted_parts(None)));
            if !self.failing {
                self.at = close + 2;
            }
            parts.push(Part::Other { inner, quoted, span: self.span(start) });
            return;
        }
        self.at += 2;
        let list = self.nested(|parser| {
            parser.substitutions += 1;
            let list = parser.list();
            parser.substitutions = parser.substitutions.saturating_sub(1);
            list
        });
        self.expect_byte(b')');
        parts.push(Part::Command { body: Body::List(list), quoted, span: self.span(start) });
    }

    /// `<(` or `>(` at the cursor.
    pub(super) fn process(&mut self, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at += 2;
        let body = self.nested(Self::list);
        self.expect_byte(b')');
        parts.push(Part::Process { body, span: self.span(start) });
    }

    /// `${` at the cursor.
    fn brace(&mut self, quoted: bool) -> Part {
        let start = self.at;
        self.at += 2;
        let from = self.at;
        match self.byte() {
            Some(b) if b.is_ascii_alphabetic() || b == b'_' => {
                while self.byte().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
                    self.at += 1;
                }
            }
            Some(b'0'..=b'9') => {
                while self.byte().is_some_and(|b| b.is_ascii_digit()) {
                    self.at += 1;
                }
            }
            Some(b'@' | b'*') => self.at += 1,
            _ => {}
        }
        let name = self.source.get(from..self.at).unwrap_or_default().to_owned();
        let mut all = matches!(name.as_str(), "@" | "*");
        let rest = self.source.get(self.at..self.end).unwrap_or_default();
        if rest.starts_with("[@]") || rest.starts_with("[*]") {
            all = true;
            self.at += 3;
        }
        if name.is_empty() {
            return self.other(start, quoted);
        }
        let colon = self.byte() == Some(b':');
        let kind = match if colon { self.byte_at(1) } else { self.byte() } {
            Some(b'-') => Some(OperatorKind::Default),
            Some(b'=') => Some(OperatorKind::Assign),
            Some(b'+') => Some(OperatorKind::Alternative),
            Some(b'?') => Some(OperatorKind::Required),
            _ => None,
        };
        let operator = match (kind, self.byte()) {
            (None, Some(b'}')) => None,
            (None, _) => return self.other(start, quoted),
            (Some(kind), _) => {
                self.at += 1 + usize::from(colon);
                if kind == OperatorKind::Assign {
                    self.names.push(name.clone());
                }
                Some(Operator { kind, colon, word: self.brace_parts(quoted) })
            }
        };
        self.expect_byte(b'}');
        Part::Variable(Variable { name, all, operator, quoted, span: self.span(start) })
    }

    /// An expansion that is kept as it is written.
    fn other(&mut self, start: usize, quoted: bool) -> Part {
        let inner = self.brace_parts(quoted);
        self.expect_byte(b'}');
        Part::Other { inner, quoted, span: self.span(start) }
    }

    fn brace_parts(&mut self, quoted: bool) -> Vec<Part> {
        if !quoted {
            return self.word_parts(|parser| matches!(parser.byte(), None | Some(b'}')));
        }
        // Inside double quotes a further double quote opens a quote of its own.
        let mut parts = Vec::new();
        while !self.failing {
            let run = self.at;
            while self.byte().is_some_and(|b| !matches!(b, b'}' | b'"' | b'\\' | b'$' | b'`')) {
                self.at += 1;
            }
            self.literal(run, self.at, true, &mut parts);
            match self.byte() {
                Some(b'"') => self.double(&mut parts),
                Some(b'$') => self.dollar(true, &mut parts),
                Some(b'`') => self.backticks(true, &mut parts),
                Some(b'\\') => {
                    let keep = matches!(self.byte_at(1), Some(b'$' | b'`' | b'\\' | b'"' | b'}'));
                    let from = self.at + usize::from(keep);
                    self.at += 1;
                    self.step();
                    self.literal(from, self.at, true, &mut parts);
                }
                _ => break,
            }
        }
        parts
    }

    /// The cursor is on a backtick.
    pub(super) fn backticks(&mut self, quoted: bool, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at += 1;
        let mut body = Text::default();
        let mut run = self.at;
        let closed = loop {
            match self.byte() {
                None => break false,
                Some(b'`') => break true,
                Some(b'\\') => {
                    let escapes = match self.byte_at(1) {
                        Some(b'$' | b'`' | b'\\') => true,
                        Some(b'"') => quoted,
                        _ => false,
                    };
                    if escapes {
                        body.push(&self.slice(run, self.at));
                        run = self.at + 1;
                    }
                    self.at += 1;
                    self.step();
                }
                Some(_) => self.at += 1,
            }
        };
        body.push(&self.slice(run, self.at));
        let tree = self.nested(|parser| parse(&Rc::new(body), parser.depth));
        self.broken |= tree.broken;
        self.cut_short |= tree.cut_short;
        #[cfg(test)]
        self.count(tree.steps);
        // A loop or a function around this sees what the inner text assigns.
        self.names.extend(tree.names.iter().cloned());
        if closed {
            self.at += 1;
        } else {
            self.fail();
        }
        let body = Body::Tree(Box::new(tree));
        parts.push(Part::Command { body, quoted, span: self.span(start) });
    }

    fn slice(&self, start: usize, end: usize) -> Text {
        crate::text::Span { text: Rc::clone(self.text), start, end }.slice()
    }

    /// `$'...'`, the cursor on `$`. What a zero byte stands before is dropped.
    fn ansi(&mut self, parts: &mut Vec<Part>) {
        self.at += 2;
        let from = self.at;
        let Some(end) = self.ansi_end() else {
            self.at = self.end;
            self.unclosed(from, parts);
            return;
        };
        let mut out: Vec<u8> = Vec::new();
        // A hole here would be decoded as plain text; it is kept as a part instead.
        let holes = self.text.holes();
        while self.at < end {
            let rest = self.source.as_bytes().get(self.at..end).unwrap_or_default();
            match rest {
                [b'\\', rest @ ..] => {
                    let from = out.len();
                    self.at += 1 + crate::escape::decode(rest, crate::escape::Reader::Quote, &mut out);
                    if out.get(from) == Some(&0) {
                        out.truncate(from);
                        break;
                    }
                }
                [byte, ..] => {
                    if let Ok(index) = holes.binary_search_by_key(&self.at, |(at, _)| *at)
                        && let Some((_, source)) = holes.get(index)
                    {
                        parts.push(Part::Quoted(
                            String::from_utf8_lossy(&std::mem::take(&mut out)).into_owned(),
                        ));
                        parts.push(Part::Hole { source: Rc::clone(source) });
                        self.step();
                        continue;
                    }
                    out.push(*byte);
                    self.at += 1;
                }
                [] => break,
            }
        }
        self.at = end + 1;
        parts.push(Part::Quoted(String::from_utf8_lossy(&out).into_owned()));
    }

    /// Where the quote ends that begins here. A backslash keeps whatever follows
    /// it, before anything is decoded.
    fn ansi_end(&self) -> Option<usize> {
        let bytes = self.source.as_bytes().get(self.at..self.end).unwrap_or_default();
        self.count(bytes.len());
        let mut bytes = bytes.iter().enumerate();
        while let Some((offset, byte)) = bytes.next() {
            match byte {
                b'\\' => drop(bytes.next()),
                b'\'' => return Some(self.at + offset),
                _ => {}
            }
        }
        None
    }
}
