//! Compound commands.

use super::Parser;
use crate::syntax::{Compound, Kind, List, Loop, Part, Redirect, Stage, Word};

impl Parser<'_> {
    /// A compound command, when one starts here.
    pub(super) fn compound(&mut self) -> Option<Compound> {
        let start = self.at;
        if self.byte() == Some(b'(') {
            let kind = match self.arithmetic.get(&self.at).copied().filter(|close| *close <= self.end) {
                Some(close) => self.nested(|parser| Some(parser.arithmetic_command(close))),
                None => self.nested(|parser| {
                    parser.at += 1;
                    let list = parser.list();
                    parser.expect_byte(b')');
                    Some(Kind::Subshell(list))
                }),
            };
            return Some(self.finish(start, kind));
        }
        let word = self.keyword()?;
        let parse: fn(&mut Self) -> Option<Kind> = match word {
            "{" => Self::group,
            "if" => Self::conditional,
            "while" | "until" => Self::condition_loop,
            "for" | "select" => Self::word_loop,
            "case" => Self::case,
            "[[" => Self::test,
            "function" => Self::function,
            "coproc" => Self::coprocess,
            _ => return None,
        };
        self.at += word.len();
        let kind = self.nested(parse);
        Some(self.finish(start, kind))
    }

    fn finish(&mut self, start: usize, kind: Option<Kind>) -> Compound {
        let mut redirects: Vec<Redirect> = Vec::new();
        self.blanks();
        let from = self.at;
        while !self.failing {
            self.blanks();
            let Some(redirect) = self.redirect() else { break };
            redirects.push(redirect);
        }
        let kind = kind.unwrap_or(Kind::Group(List::default()));
        Compound { kind, redirects, span: self.span(start), tail: self.span(from) }
    }

    fn group(&mut self) -> Option<Kind> {
        let list = self.list();
        self.expect_keyword("}");
        Some(Kind::Group(list))
    }

    fn conditional(&mut self) -> Option<Kind> {
        let mut lists = vec![self.list()];
        self.expect_keyword("then");
        while !self.failing {
            lists.push(self.list());
            if self.failing || self.take_keyword("fi") {
                break;
            }
            if self.take_keyword("elif") {
                lists.push(self.list());
                self.expect_keyword("then");
            } else {
                self.expect_keyword("else");
                if !self.failing {
                    lists.push(self.list());
                    self.expect_keyword("fi");
                }
                break;
            }
        }
        Some(Kind::If(lists))
    }

    fn condition_loop(&mut self) -> Option<Kind> {
        let from = self.names.len();
        let mut lists = vec![self.list()];
        self.expect_keyword("do");
        if !self.failing {
            lists.push(self.list());
            self.expect_keyword("done");
        }
        let names = from..self.names.len();
        Some(Kind::Loop(Loop { variable: None, header: Vec::new(), lists, names }))
    }

    fn word_loop(&mut self) -> Option<Kind> {
        let from = self.names.len();
        self.blanks();
        let mut header = Vec::new();
        let mut variable = None;
        if let Some(close) = self.arithmetic.get(&self.at).copied().filter(|close| *close <= self.end) {
            if let Kind::Arithmetic(parts, span) = self.arithmetic_command(close) {
                self.names.extend(identifiers(span.raw()));
                header = parts;
            }
        } else {
            if !self.at_word() {
                self.fail();
                return None;
            }
            let (name, _) = self.word().unquoted();
            self.names.push(name.clone());
            self.gap_without_separators();
            let mut words = None;
            if self.take_keyword("in") {
                let mut list = Vec::new();
                self.blanks();
                while !self.failing && self.at_word() {
                    list.push(self.word());
                    self.blanks();
                }
                words = Some(list);
            }
            variable = Some((name, words));
        }
        self.blanks();
        if self.byte() == Some(b';') {
            self.at += 1;
        }
        self.gap_without_separators();
        let mut lists = Vec::new();
        if !self.failing {
            let close = if self.take_keyword("{") { "}" } else { "done" };
            if close == "done" {
                self.expect_keyword("do");
            }
            if !self.failing {
                lists.push(self.list());
                self.expect_keyword(close);
            }
        }
        let names = from..self.names.len();
        Some(Kind::Loop(Loop { variable, header, lists, names }))
    }

    fn case(&mut self) -> Option<Kind> {
        self.blanks();
        if !self.at_word() {
            self.fail();
            return None;
        }
        let subject = self.word();
        self.gap_without_separators();
        self.expect_keyword("in");
        let mut arms = Vec::new();
        while !self.failing {
            self.gap_without_separators();
            if self.take_keyword("esac") {
                break;
            }
            if self.byte() == Some(b'(') {
                self.at += 1;
                self.blanks();
            }
            let mut patterns = Vec::new();
            while !self.failing && self.at_word() {
                patterns.push(self.word());
                self.blanks();
                if self.byte() == Some(b'|') {
                    self.at += 1;
                    self.gap_without_separators();
                }
            }
            if patterns.is_empty() {
                self.fail();
                break;
            }
            self.expect_byte(b')');
            let list = self.list();
            arms.push((patterns, list));
            if !self.failing && self.byte() == Some(b';') {
                self.at += 1;
                while matches!(self.byte(), Some(b';' | b'&')) {
                    self.at += 1;
                }
            } else if !self.failing && !self.take_keyword("esac") {
                self.fail();
            } else {
                break;
            }
        }
        Some(Kind::Case { subject, arms })
    }

    fn test(&mut self) -> Option<Kind> {
        let mut words: Vec<Word> = Vec::new();
        let mut regex = false;
        while !self.failing {
            self.gap_without_separators();
            if self.take_keyword("]]") {
                return Some(Kind::Test(words));
            }
            let start = self.at;
            match self.byte() {
                None => self.fail(),
                Some(b'&' | b'|' | b'<' | b'>' | b'(' | b')') if !regex && !self.at_word() => {
                    self.at += 1;
                    let text = self.span(start).rendered();
                    words.push(Word { parts: vec![Part::Quoted(text)], span: self.span(start) });
                }
                Some(_) => {
                    let word = if regex { self.regex() } else { self.word() };
                    regex = word.bare() == Some("=~");
                    words.push(word);
                    if self.at == start {
                        self.fail();
                    }
                }
            }
        }
        Some(Kind::Test(words))
    }

    fn function(&mut self) -> Option<Kind> {
        self.blanks();
        if !self.at_word() {
            self.fail();
            return None;
        }
        let start = self.at;
        let (name, _) = self.word().unquoted();
        self.blanks();
        if self.byte() == Some(b'(') {
            self.at += 1;
            self.blanks();
            self.expect_byte(b')');
        }
        match self.function_body(start, name) {
            Stage::Compound(compound) => Some(compound.kind),
            Stage::Simple(_) => None,
        }
    }

    fn coprocess(&mut self) -> Option<Kind> {
        self.blanks();
        if let Some(compound) = self.compound() {
            return Some(Kind::Coprocess(Box::new(Stage::Compound(compound))));
        }
        // `coproc NAME compound`: the name is no command when a compound follows it.
        let mark = self.at;
        while self.byte().is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
            self.at += 1;
        }
        if self.at > mark && matches!(self.byte(), Some(b' ' | b'\t')) {
            self.blanks();
            if let Some(compound) = self.compound() {
                return Some(Kind::Coprocess(Box::new(Stage::Compound(compound))));
            }
        }
        self.at = mark;
        self.simple().map(|stage| Kind::Coprocess(Box::new(stage)))
    }

    fn arithmetic_command(&mut self, close: usize) -> Kind {
        let start = self.at;
        self.at += 2;
        let parts = self.within(close, |parser| parser.quoted_parts(None));
        if !self.failing {
            self.at = close + 2;
        }
        Kind::Arithmetic(parts, self.span(start))
    }
}

/// The names in an arithmetic expression.
pub(crate) fn identifiers(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|name| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
        .map(str::to_owned)
}
