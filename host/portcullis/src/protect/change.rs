//! One change to a file, in the words of whoever makes it.

use portcullis_model::script::Word;

/// How far a change reaches.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Reach {
    /// The one file.
    Write,
    /// The file, or a directory that is nothing but a way to it.
    Spoil,
    /// A directory that is made or filled, from another one where that is known.
    Fill(Option<Word>),
    /// The same, unless a directory is there already, which is then the one that is
    /// filled.
    Become(Option<Word>),
    /// All that is there and below. With patterns, the files of such names alone.
    Remove(Option<Vec<String>>),
    /// The files below a directory that is nothing but a way to them, by their names.
    Among(Option<Vec<String>>),
}

/// Something that is changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Touch {
    pub(super) word: Word,
    pub(super) reach: Reach,
}
