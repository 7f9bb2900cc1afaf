//! The tokens of inline code.

use crate::text::Text;

/// One token, and where it stands.
#[derive(Debug, Clone)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) start: usize,
    pub(super) end: usize,
}

#[derive(Debug, Clone)]
pub(super) enum Kind {
    /// A name, with its sigil.
    Name(String),
    /// A text in quotes.
    Text(Vec<Piece>),
    /// A text in backticks that the language runs.
    Backticks(Vec<Piece>),
    /// A list of words, as `qw(a b)` makes.
    Words(Vec<Text>),
    Number(String),
    Punctuation(u8),
    /// The end of a line or of a statement.
    End,
    /// Something unknown before the code was put together, or not looked into.
    Other,
}

/// A part of a text in quotes.
#[derive(Debug, Clone)]
pub(super) enum Piece {
    Known(Text),
    /// An expression inside the text.
    Inner(String),
}

impl Token {
    pub(super) fn name(&self) -> Option<&str> {
        if let Kind::Name(name) = &self.kind { Some(name) } else { None }
    }

    pub(super) fn is(&self, byte: u8) -> bool {
        matches!(self.kind, Kind::Punctuation(found) if found == byte)
    }
}
