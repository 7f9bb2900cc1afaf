//! One name of a path, or a pattern of such names.

use std::borrow::Cow;
use std::fmt;

/// Above this many pairs of places in two patterns, they count as meeting.
const PRODUCT_MAX: usize = 16 << 10;

/// One name of a path, or a pattern of such names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Segment {
    /// This name.
    Name(Box<str>),
    /// Every name that fits.
    Glob(Box<[Token]>),
}

/// A part of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Token {
    /// This character.
    Char(char),
    /// Any one character.
    One,
    /// Any characters.
    Star,
}

impl Token {
    fn fits(self, other: Self, folds: bool) -> bool {
        match (self, other) {
            (Self::Char(one), Self::Char(other)) => {
                one == other
                    || (folds && (one.eq_ignore_ascii_case(&other) || !one.is_ascii() || !other.is_ascii()))
            }
            (Self::One | Self::Star, _) | (_, Self::One | Self::Star) => true,
        }
    }
}

impl Segment {
    pub(crate) fn name(text: &str) -> Self {
        Self::Name(text.into())
    }

    /// What stands between two slashes of a pattern, read so that every way in which a tool
    /// may read it is within. A class, a choice or a group may be the very name of a file,
    /// so it stands for any characters.
    pub(crate) fn pattern(text: &str) -> Self {
        let any = |open: char, close: char| {
            Some((text.find(open)?, text.rfind(close).map(|end| end + close.len_utf8())))
        };
        let groups =
            [('[', ']'), ('{', '}'), ('(', ')')].into_iter().filter_map(|(open, close)| any(open, close));
        let start = groups.clone().map(|(start, _)| start).min();
        let end = groups.map(|(start, end)| end.filter(|end| *end > start).unwrap_or(text.len())).max();
        let (head, tail) = match (start, end) {
            // What stands before a group may belong to it, such as `+(a)`.
            (Some(start), Some(end)) => {
                let head = text.get(..start).unwrap_or_default();
                (head.strip_suffix(['!', '@', '+']).unwrap_or(head), text.get(end..))
            }
            _ => (text, None),
        };
        if tail.is_none() && !text.contains(['*', '?']) {
            return Self::name(text);
        }
        let mut tokens: Vec<Token> = head.chars().map(token).collect();
        if let Some(tail) = tail {
            tokens.push(Token::Star);
            tokens.extend(tail.chars().map(token));
        }
        tokens.dedup_by(|one, other| *one == Token::Star && *other == Token::Star);
        Self::Glob(tokens.into())
    }

    pub(crate) const fn is_glob(&self) -> bool {
        matches!(self, Self::Glob(_))
    }

    /// The name by which it can be looked up, whatever its case: none when it may be the
    /// same as a name that looks different.
    pub(crate) fn key(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Name(name) if name.bytes().any(|byte| byte.is_ascii_uppercase()) && name.is_ascii() => {
                Some(Cow::Owned(name.to_ascii_lowercase()))
            }
            Self::Name(name) if name.is_ascii() => Some(Cow::Borrowed(name)),
            Self::Name(_) | Self::Glob(_) => None,
        }
    }

    /// Some name may be meant by both.
    pub(crate) fn meets(&self, other: &Self, folds: bool) -> bool {
        match (self, other) {
            (Self::Name(one), Self::Name(other)) => {
                one == other
                    || (folds && (one.eq_ignore_ascii_case(other) || !one.is_ascii() || !other.is_ascii()))
            }
            (Self::Name(name), Self::Glob(glob)) | (Self::Glob(glob), Self::Name(name)) => {
                let name: Vec<Token> = name.chars().map(Token::Char).collect();
                tokens_meet(&name, glob, folds)
            }
            (Self::Glob(one), Self::Glob(other)) => tokens_meet(one, other, folds),
        }
    }

    /// Every name that `other` means is meant by this one.
    pub(crate) fn covers(&self, other: &Self, folds: bool) -> bool {
        match (self, other) {
            (Self::Glob(glob), _) if **glob == [Token::Star] => true,
            (Self::Name(one), Self::Name(other)) => {
                one == other || (folds && one.is_ascii() && one.eq_ignore_ascii_case(other))
            }
            (Self::Glob(glob), Self::Name(name)) => {
                // What meets only because of its case is not known to be the same.
                let name: Vec<Token> = name.chars().map(Token::Char).collect();
                name.len().saturating_mul(glob.len()) <= PRODUCT_MAX && tokens_meet(&name, glob, false)
            }
            (Self::Glob(one), Self::Glob(other)) => one == other,
            (Self::Name(_), Self::Glob(_)) => false,
        }
    }
}

fn token(char: char) -> Token {
    match char {
        '*' => Token::Star,
        '?' => Token::One,
        char => Token::Char(char),
    }
}

/// Some text fits both: the product of the two automata reaches its end.
fn tokens_meet(one: &[Token], other: &[Token], folds: bool) -> bool {
    if one.len().saturating_mul(other.len()) > PRODUCT_MAX {
        return true;
    }
    // Which places of `other` can be reached when this much of `one` is behind us.
    let mut here = vec![false; other.len() + 1];
    if let Some(first) = here.first_mut() {
        *first = true;
    }
    for at in 0..=one.len() {
        let own = one.get(at).copied();
        let mut next = vec![false; other.len() + 1];
        for place in 0..=other.len() {
            if !here.get(place).copied().unwrap_or_default() {
                continue;
            }
            let others = other.get(place).copied();
            let mut reach = |own_goes_on: bool, other_goes_on: bool| {
                let row = if own_goes_on { &mut next } else { &mut here };
                if let Some(cell) = row.get_mut(place + usize::from(other_goes_on)) {
                    *cell = true;
                }
            };
            match (own, others) {
                (Some(Token::Star), _) => {
                    reach(true, false);
                    reach(false, true);
                }
                (_, Some(Token::Star)) => {
                    reach(false, true);
                    reach(own.is_some(), false);
                }
                (Some(own), Some(other)) if own.fits(other, folds) => reach(true, true),
                _ => {}
            }
        }
        if at == one.len() {
            return here.last().copied().unwrap_or_default();
        }
        here = next;
    }
    false
}

impl fmt::Display for Segment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Glob(tokens) => tokens.iter().try_for_each(|token| match token {
                Token::Char(char) => write!(f, "{char}"),
                Token::One => f.write_str("?"),
                Token::Star => f.write_str("*"),
            }),
        }
    }
}
