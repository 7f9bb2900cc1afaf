//! Expressions that are known before the program runs.

use std::collections::HashMap;

use super::language::Language;
use super::token::{Kind, Piece, Token};
use crate::text::Text;

/// What an expression is worth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Text(Text),
    List(Vec<Text>),
    /// Only the program knows; this is its source.
    Unknown(String),
}

impl Value {
    pub(super) fn into_text(self) -> Text {
        match self {
            Self::Text(text) => text,
            Self::List(texts) => spaced(&texts),
            Self::Unknown(source) => Text::hole(&source),
        }
    }

    pub(super) fn into_list(self) -> Vec<Text> {
        match self {
            Self::List(texts) => texts,
            text @ (Self::Text(_) | Self::Unknown(_)) => vec![text.into_text()],
        }
    }
}

fn spaced(texts: &[Text]) -> Text {
    let mut out = Text::default();
    for (index, text) in texts.iter().enumerate() {
        if index > 0 {
            out.push_str(" ");
        }
        out.push(text);
    }
    out
}

/// Calls that hand on what they are given.
const SAME: [&str; 16] = [
    "Path",
    "PosixPath",
    "PurePath",
    "Pathname",
    "String",
    "str",
    "fspath",
    "expanduser",
    "abspath",
    "realpath",
    "resolve",
    "normpath",
    "quote",
    "expand_path",
    "normalize",
    "fileURLToPath",
];
/// Methods that leave a text as it is, as far as a shell cares.
const SAME_METHODS: [&str; 13] = [
    "strip",
    "trim",
    "rstrip",
    "lstrip",
    "chomp",
    "decode",
    "encode",
    "toString",
    "to_s",
    "as_posix",
    "absolute",
    "resolve",
    "expanduser",
];
const JOINS: [&str; 2] = ["join", "joinpath"];
const SPLITS: [&str; 3] = ["split", "shellsplit", "shlex_split"];

/// The source of an expression is cut here, in bytes, so that nested ones cost no
/// more than flat ones.
const SOURCE_MAX: usize = 512;
/// An expression that is nested deeper is unknown, so that the stack is bounded.
const DEPTH_MAX: usize = 32;

/// Evaluates expressions over tokens, within a bound on the tokens that it looks at.
#[derive(Debug)]
pub(super) struct Values<'c> {
    pub(super) language: Language,
    pub(super) code: &'c Text,
    pub(super) tokens: &'c [Token],
    /// For each opening bracket, where its closing one is.
    closes: HashMap<usize, usize>,
    opens: HashMap<usize, usize>,
    /// Names that hold one value; `None` when they hold several.
    constants: HashMap<String, Option<Value>>,
    fuel: usize,
    /// Levels of expressions inside expressions that are left.
    depth: usize,
}

impl<'c> Values<'c> {
    pub(super) fn new(language: Language, code: &'c Text, tokens: &'c [Token]) -> Self {
        let mut stack = Vec::new();
        let mut closes = HashMap::new();
        for (index, token) in tokens.iter().enumerate() {
            let Kind::Punctuation(byte) = token.kind else { continue };
            match byte {
                b'(' | b'[' | b'{' => stack.push(index),
                b')' | b']' | b'}' => {
                    if let Some(open) = stack.pop() {
                        closes.insert(open, index);
                    }
                }
                _ => {}
            }
        }
        let opens = closes.iter().map(|(open, close)| (*close, *open)).collect();
        let fuel = 16 * tokens.len() + 256;
        Self { language, code, tokens, closes, opens, constants: HashMap::new(), fuel, depth: DEPTH_MAX }
    }

    pub(super) fn at(&self, index: usize) -> Option<&'c Token> {
        self.tokens.get(index)
    }

    pub(super) fn is(&self, index: usize, byte: u8) -> bool {
        self.at(index).is_some_and(|token| token.is(byte))
    }

    pub(super) fn close(&self, open: usize) -> Option<usize> {
        self.closes.get(&open).copied()
    }

    /// The source between two tokens, both included.
    pub(super) fn source(&self, from: usize, to: usize) -> String {
        let (Some(first), Some(last)) = (self.at(from), self.at(to)) else { return String::new() };
        let most = first.start + SOURCE_MAX;
        let end = if last.end <= most { last.end } else { self.code.raw().floor_char_boundary(most) };
        self.code.slice(first.start, end).rendered()
    }

    /// A name is given a value.
    pub(super) fn assign(&mut self, name: &str, value: Value) {
        let known = self.constants.entry(name.to_owned()).or_insert_with(|| Some(value.clone()));
        if known.as_ref() != Some(&value) {
            *known = None;
        }
    }

    /// The value of what a method is called on, when that stands just before `dot`.
    pub(super) fn receiver(&mut self, dot: usize) -> Option<Value> {
        let last = dot.checked_sub(1)?;
        let mut first = match self.opens.get(&last) {
            Some(open) if self.is(last, b')') => open.checked_sub(1)?,
            _ => last,
        };
        while first >= 2 && self.is(first - 1, b'.') && self.at(first - 2).is_some_and(|t| t.name().is_some())
        {
            first -= 2;
        }
        match self.operand(first, dot)?.0 {
            Value::Unknown(_) => None,
            known @ (Value::Text(_) | Value::List(_)) => Some(known),
        }
    }

    /// The expression at `at`, and where it ends: at a comma, or at `end`.
    pub(super) fn expression(&mut self, at: usize, end: usize) -> (Value, usize) {
        let mut stop = at;
        while stop < end && !self.is(stop, b',') {
            if self.fuel == 0 {
                break;
            }
            self.fuel -= 1;
            stop = self.close(stop).map_or(stop, |close| close.min(end)) + 1;
        }
        let stop = stop.min(end);
        let value = match self.sum(at, stop) {
            Some(value) => value,
            None => Value::Unknown(self.source(at, stop.saturating_sub(1).max(at))),
        };
        (value, stop)
    }

    /// Operands joined by what joins texts, up to `end` exactly.
    fn sum(&mut self, at: usize, end: usize) -> Option<Value> {
        let (mut value, mut next) = self.operand(at, end)?;
        while next < end {
            let slash = self.is(next, b'/');
            let joins = self.is(next, b'+')
                || (slash && self.language == Language::Python)
                || (self.is(next, b'.') && self.language.joins_with_dot());
            let dots = self.language == Language::Lua && self.is(next, b'.') && self.is(next + 1, b'.');
            if !joins && !dots {
                // Whatever is done to the value here, its known words may still be in it.
                if !matches!(value, Value::List(_)) {
                    let mut text = value.into_text();
                    text.push_hole(&self.source(next, end.saturating_sub(1)));
                    value = Value::Text(text);
                }
                break;
            }
            let from = next + if dots { 2 } else { 1 };
            let (right, after) = match self.operand(from, end) {
                Some(found) => found,
                None => (Value::Unknown(self.source(from, end.saturating_sub(1))), end),
            };
            value = match (value, right) {
                (Value::List(mut left), Value::List(right)) => {
                    left.extend(right);
                    Value::List(left)
                }
                (left, right) => {
                    let mut text = left.into_text();
                    if slash {
                        text.push_str("/");
                    }
                    text.push(&right.into_text());
                    Value::Text(text)
                }
            };
            next = after;
        }
        Some(value)
    }

    fn operand(&mut self, at: usize, end: usize) -> Option<(Value, usize)> {
        if at >= end {
            return None;
        }
        self.fuel = self.fuel.checked_sub(1)?;
        // Every way into an expression inside an expression leads through here.
        self.depth = self.depth.checked_sub(1)?;
        let found = self.operand_here(at, end);
        self.depth += 1;
        found
    }

    fn operand_here(&mut self, at: usize, end: usize) -> Option<(Value, usize)> {
        let token = self.at(at)?;
        let (value, next) = match &token.kind {
            Kind::Text(pieces) => self.texts(pieces, at, end),
            Kind::Words(words) => (Value::List(words.clone()), at + 1),
            Kind::Number(text) => (Value::Text(Text::known(text.as_str())), at + 1),
            Kind::Punctuation(b'[' | b'(') => {
                let close = self.close(at).filter(|close| *close < end)?;
                let mut items = self.items(at + 1, close);
                let value = match (items.len(), token.is(b'(')) {
                    (1, true) => items.remove(0),
                    _ => Value::List(items.into_iter().flat_map(Value::into_list).collect()),
                };
                (value, close + 1)
            }
            Kind::Name(name) if matches!(name.as_str(), "new" | "await" | "my" | "not") => {
                return self.operand(at + 1, end);
            }
            Kind::Name(_) => self.named(at, end)?,
            Kind::Punctuation(_) | Kind::Backticks(_) | Kind::End | Kind::Other => return None,
        };
        Some(self.methods(value, at, next, end))
    }

    /// A text, and those that stand right behind it, as some languages join them.
    fn texts(&self, pieces: &[Piece], at: usize, end: usize) -> (Value, usize) {
        let mut text = self.joined(pieces);
        let mut next = at + 1;
        while let Some(Kind::Text(more)) = self.at(next).map(|token| &token.kind)
            && next < end
        {
            text.push(&self.joined(more));
            next += 1;
        }
        (Value::Text(text), next)
    }

    /// The pieces of a text, with constants in the place of their names.
    pub(super) fn joined(&self, pieces: &[Piece]) -> Text {
        let mut out = Text::default();
        for piece in pieces {
            match piece {
                Piece::Known(text) => out.push(text),
                Piece::Inner(source) => {
                    let sigil = if self.language.sigils() { "$" } else { "" };
                    match self.constants.get(&format!("{sigil}{source}")) {
                        Some(Some(value)) => out.push(&value.clone().into_text()),
                        _ => out.push_hole(source),
                    }
                }
            }
        }
        out
    }

    /// A constant, or a call of something that hands on its arguments.
    fn named(&mut self, at: usize, end: usize) -> Option<(Value, usize)> {
        let mut last = at;
        while last + 2 < end && self.is(last + 1, b'.') && self.at(last + 2)?.name().is_some() {
            if self.language.joins_with_dot() || self.constants.contains_key(self.at(last)?.name()?) {
                break;
            }
            last += 2;
        }
        let name = self.at(last)?.name()?;
        if !self.is(last + 1, b'(') {
            let value = match self.constants.get(name) {
                Some(Some(value)) if last == at => value.clone(),
                _ => Value::Unknown(self.source(at, last)),
            };
            return Some((value, last + 1));
        }
        let close = self.close(last + 1).filter(|close| *close < end)?;
        let value = if SAME.contains(&name) || JOINS.contains(&name) {
            let texts: Vec<Text> =
                self.items(last + 2, close).into_iter().flat_map(Value::into_list).collect();
            Value::Text(slashed(&texts))
        } else if SPLITS.contains(&name) {
            let first = self.expression(last + 2, close).0;
            Value::List(first.into_text().split().1)
        } else {
            Value::Unknown(self.source(at, close))
        };
        Some((value, close + 1))
    }

    /// Goes on through subscripts, fields and methods behind the operand at `start`.
    fn methods(&mut self, value: Value, start: usize, at: usize, end: usize) -> (Value, usize) {
        let (mut value, mut next) = (value, at);
        while next < end {
            if self.is(next, b'[')
                && let Some(close) = self.close(next).filter(|close| *close < end)
            {
                value = Value::Unknown(self.source(start, close));
                next = close + 1;
                continue;
            }
            let Some(name) = self.at(next + 1).and_then(Token::name).filter(|_| next + 1 < end) else {
                break;
            };
            if !self.is(next, b'.') || self.language.joins_with_dot() {
                break;
            }
            let Some(close) = self.close(next + 2).filter(|close| self.is(next + 2, b'(') && *close < end)
            else {
                value = Value::Unknown(self.source(start, next + 1));
                next += 2;
                continue;
            };
            value = match (name, value) {
                (name, value) if SAME_METHODS.contains(&name) => value,
                ("split", Value::Text(text)) => Value::List(text.split().1),
                ("join", Value::Text(separator)) => {
                    let items = self.expression(next + 3, close).0.into_list();
                    Value::Text(joined_by(&items, &separator))
                }
                ("join", Value::List(items)) => {
                    let separator = self.expression(next + 3, close).0.into_text();
                    Value::Text(joined_by(&items, &separator))
                }
                ("concat", Value::Text(mut text)) => {
                    text.push(&self.expression(next + 3, close).0.into_text());
                    Value::Text(text)
                }
                (_, _) => Value::Unknown(self.source(start, close)),
            };
            next = close + 1;
        }
        (value, next)
    }

    /// Every expression between two tokens, keywords of arguments left out.
    pub(super) fn items(&mut self, from: usize, to: usize) -> Vec<Value> {
        let mut items = Vec::new();
        let mut at = from;
        while at < to && self.fuel > 0 {
            let (value, next) = self.expression(at, to);
            let keyword = self.at(at).is_some_and(|token| token.name().is_some())
                && (self.is(at + 1, b'=') || self.is(at + 1, b':'));
            if !keyword && !self.is(at, b'{') {
                items.push(value);
            }
            at = next + 1;
        }
        items
    }
}

fn joined_by(items: &[Text], separator: &Text) -> Text {
    let mut out = Text::default();
    for (index, text) in items.iter().enumerate() {
        if index > 0 {
            out.push(separator);
        }
        out.push(text);
    }
    out
}

fn slashed(texts: &[Text]) -> Text {
    joined_by(texts, &Text::known("/"))
}
