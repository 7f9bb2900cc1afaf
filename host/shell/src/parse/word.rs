//! Words: quotes and what stands between them.

use std::rc::Rc;

use super::Parser;
use crate::syntax::{Part, Word};

impl Parser<'_> {
    /// Whether a word starts at the cursor. Comments were skipped before.
    pub(super) fn at_word(&self) -> bool {
        match self.byte() {
            None | Some(b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'(' | b')') => false,
            Some(b'<' | b'>') => self.byte_at(1) == Some(b'('),
            Some(b'\r') => !matches!(self.byte_at(1), Some(b'\n') | None),
            Some(_) => true,
        }
    }

    pub(super) fn word(&mut self) -> Word {
        let start = self.at;
        let parts = self.word_parts(|parser| !parser.at_word());
        Word { parts, span: self.span(start) }
    }

    /// The pattern behind `=~`, where parentheses and bars are plain.
    pub(super) fn regex(&mut self) -> Word {
        let start = self.at;
        let mut open = 0_usize;
        let parts = self.word_parts(|parser| {
            match parser.byte() {
                Some(b'(') => open += 1,
                Some(b')') if open > 0 => open -= 1,
                Some(b' ' | b'\t') => return open == 0,
                None | Some(b'\n') => return true,
                Some(b')') => return true,
                Some(_) => {}
            }
            false
        });
        Word { parts, span: self.span(start) }
    }

    /// Parts up to where `stop` says so, quotes meaning what they mean in a word.
    pub(super) fn word_parts(&mut self, mut stop: impl FnMut(&Self) -> bool) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut run = self.at;
        while !self.failing {
            let extended = self.byte() == Some(b'(') && self.pattern_prefix(run);
            if !extended && stop(self) {
                break;
            }
            let Some(byte) = self.byte() else { break };
            let special = matches!(byte, b'\\' | b'\'' | b'"' | b'$' | b'`')
                || (matches!(byte, b'<' | b'>') && self.byte_at(1) == Some(b'('))
                || extended;
            if !special {
                self.at += 1;
                continue;
            }
            self.literal(run, self.at, false, &mut parts);
            match byte {
                b'\\' => self.escape(&mut parts),
                b'\'' => self.single(&mut parts),
                b'"' => self.double(&mut parts),
                b'$' => self.dollar(false, &mut parts),
                b'`' => self.backticks(false, &mut parts),
                b'(' => self.pattern(&mut parts),
                _ => self.process(&mut parts),
            }
            run = self.at;
        }
        self.literal(run, self.at, false, &mut parts);
        parts
    }

    /// Parts inside double quotes, up to an unescaped `close` or the end.
    /// Without `close` a double quote is plain, as in a heredoc.
    pub(super) fn quoted_parts(&mut self, close: Option<u8>) -> Vec<Part> {
        let mut parts = Vec::new();
        let mut run = self.at;
        while !self.failing {
            let Some(byte) = self.byte() else { break };
            if Some(byte) == close {
                break;
            }
            if !matches!(byte, b'\\' | b'$' | b'`') {
                self.at += 1;
                continue;
            }
            match (byte, self.byte_at(1)) {
                (b'\\', Some(b'\n')) => {
                    self.literal(run, self.at, true, &mut parts);
                    self.at += 2;
                }
                (b'\\', Some(next)) if matches!(next, b'$' | b'`' | b'\\') || Some(next) == close => {
                    self.literal(run, self.at, true, &mut parts);
                    let from = self.at + 1;
                    self.at += 2;
                    self.literal(from, self.at, true, &mut parts);
                }
                (b'\\', _) => {
                    self.at += 1;
                    if self.byte().is_some_and(|b| b.is_ascii()) {
                        self.at += 1;
                    }
                    continue;
                }
                (b'$', _) => {
                    self.literal(run, self.at, true, &mut parts);
                    self.dollar(true, &mut parts);
                }
                _ => {
                    self.literal(run, self.at, true, &mut parts);
                    self.backticks(true, &mut parts);
                }
            }
            run = self.at;
        }
        self.literal(run, self.at, true, &mut parts);
        parts
    }

    /// Adds the text from `start` to `end`, split at the holes in it.
    pub(super) fn literal(&self, start: usize, end: usize, quoted: bool, parts: &mut Vec<Part>) {
        if start >= end {
            return;
        }
        let holes = self.text.holes();
        let mut from = start;
        let first = holes.partition_point(|(at, _)| *at < start);
        for (at, source) in holes.iter().skip(first).take_while(|(at, _)| *at < end) {
            self.plain(from, *at, quoted, parts);
            parts.push(Part::Hole { source: Rc::clone(source) });
            from = at + self.source.get(*at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        }
        self.plain(from, end, quoted, parts);
    }

    fn plain(&self, start: usize, end: usize, quoted: bool, parts: &mut Vec<Part>) {
        let Some(text) = self.source.get(start..end).filter(|text| !text.is_empty()) else { return };
        match (parts.last_mut(), quoted) {
            (Some(Part::Quoted(last)), true) | (Some(Part::Bare(last)), false) => last.push_str(text),
            (_, true) => parts.push(Part::Quoted(text.to_owned())),
            (_, false) => parts.push(Part::Bare(text.to_owned())),
        }
    }

    fn escape(&mut self, parts: &mut Vec<Part>) {
        self.at += 1;
        if self.byte() == Some(b'\n') {
            self.at += 1;
            return;
        }
        let from = self.at;
        self.step();
        if self.at == from {
            parts.push(Part::Quoted("\\".to_owned()));
        }
        self.literal(from, self.at, true, parts);
    }

    fn single(&mut self, parts: &mut Vec<Part>) {
        self.at += 1;
        let from = self.at;
        let Some(close) = self.find(b'\'') else {
            self.unclosed(from, parts);
            return;
        };
        if close == from {
            parts.push(Part::Quoted(String::new()));
        }
        self.literal(from, close, true, parts);
        self.at = close + 1;
    }

    pub(super) fn double(&mut self, parts: &mut Vec<Part>) {
        self.at += 1;
        let inner = self.nested(|parser| parser.quoted_parts(Some(b'"')));
        if inner.is_empty() {
            parts.push(Part::Quoted(String::new()));
        }
        parts.extend(inner);
        self.expect_byte(b'"');
    }

    /// A quote that nothing closes takes the rest of the text.
    pub(super) fn unclosed(&mut self, from: usize, parts: &mut Vec<Part>) {
        self.at = self.end;
        self.literal(from, self.at, true, parts);
        self.fail();
    }

    /// `?(`, `*(`, `+(`, `@(` or `!(` with the cursor on the parenthesis.
    fn pattern_prefix(&self, run: usize) -> bool {
        let before =
            self.at.checked_sub(1).filter(|at| *at >= run).and_then(|at| self.source.as_bytes().get(at));
        before.is_some_and(|b| matches!(b, b'?' | b'*' | b'+' | b'@' | b'!'))
    }

    fn pattern(&mut self, parts: &mut Vec<Part>) {
        let start = self.at;
        self.at += 1;
        let inner =
            self.nested(|parser| parser.word_parts(|parser| matches!(parser.byte(), None | Some(b')'))));
        self.expect_byte(b')');
        if inner.iter().all(|part| part.literal().is_some()) {
            self.literal(start, self.at, false, parts);
        } else {
            parts.push(Part::Other { inner, quoted: false, span: self.span(start) });
        }
    }
}
