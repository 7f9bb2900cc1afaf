//! What inline code of an interpreter does to files and processes.
//!
//! `python -c`, `node -e` and their like run a program in another language. It is
//! not parsed whole: its strings, its calls and its constants are enough to see
//! that it runs a shell text, removes a tree or writes a file. What it does is
//! reported as the command that does the same, so that a guard needs to know one
//! vocabulary: `shutil.rmtree("x")` is `rm -r x`.

mod call;
mod language;
mod lexer;
mod token;
mod value;

pub(crate) use self::language::Language;

use crate::text::Text;

/// Something that a program does, in source order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Deed {
    /// It gives a text to a shell.
    Shell(Text),
    /// It starts a program.
    Start(Vec<Text>),
    /// It does itself what a command does.
    Command { words: Vec<Text>, source: String },
    /// It opens a file to write it.
    Write { path: Text, source: String },
    /// It opens a file to read it.
    Read { path: Text, source: String },
    /// It runs a text of its own language.
    Eval(Text),
}

/// What `code` does. The time is linear in its length.
pub(crate) fn deeds(language: Language, code: &Text) -> Vec<Deed> {
    let tokens = lexer::tokens(language, code);
    call::Scan::new(language, code, &tokens).deeds()
}

#[cfg(test)]
mod tests;
