//! The tree that the parser makes. Quotes are resolved; nothing is expanded.

use std::{ops::Range, rc::Rc};

use crate::text::Span;

/// One parsed text.
#[derive(Debug, Default)]
pub(crate) struct Tree {
    pub(crate) list: List,
    pub(crate) heredocs: Vec<Heredoc>,
    /// Each name that an assignment sets, in source order.
    pub(crate) names: Vec<String>,
    /// A part was not understood.
    pub(crate) broken: bool,
    /// A limit was passed.
    pub(crate) cut_short: bool,
    /// Bytes that the parser looked at.
    #[cfg(test)]
    pub(crate) steps: usize,
}

/// Pipelines, one after another.
#[derive(Debug, Default)]
pub(crate) struct List {
    pub(crate) pipes: Vec<Pipe>,
}

/// What must hold for a pipeline to run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Join {
    /// Nothing: it follows `;`, `&`, a newline, or comes first.
    Always,
    /// It follows `&&`.
    And,
    /// It follows `||`.
    Or,
}

#[derive(Debug)]
pub(crate) struct Pipe {
    pub(crate) stages: Vec<Stage>,
    pub(crate) join: Join,
    /// Runs in a shell of its own, behind `&`.
    pub(crate) background: bool,
}

#[derive(Debug)]
pub(crate) enum Stage {
    Simple(Simple),
    Compound(Compound),
}

#[derive(Debug)]
pub(crate) struct Simple {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) words: Vec<Word>,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) value: Word,
    /// The value of the variable becomes exactly `value`: no `+=`, no subscript.
    pub(crate) whole: bool,
}

#[derive(Debug)]
pub(crate) struct Compound {
    pub(crate) kind: Kind,
    pub(crate) redirects: Vec<Redirect>,
    pub(crate) span: Span,
    /// The redirections behind it.
    pub(crate) tail: Span,
}

#[derive(Debug)]
pub(crate) enum Kind {
    Group(List),
    Subshell(List),
    /// Conditions and branches in source order; only the first list surely runs.
    If(Vec<List>),
    Loop(Loop),
    Case {
        subject: Word,
        arms: Vec<(Vec<Word>, List)>,
    },
    Function {
        name: String,
        body: Box<Stage>,
        names: Range<usize>,
    },
    /// `[[ ... ]]`, brackets included.
    Test(Vec<Word>),
    /// `(( ... ))`.
    Arithmetic(Vec<Part>, Span),
    Coprocess(Box<Stage>),
}

/// `for`, `select`, `while`, `until`.
#[derive(Debug)]
pub(crate) struct Loop {
    /// The variable that takes each word in turn; no words means `"$@"`.
    pub(crate) variable: Option<(String, Option<Vec<Word>>)>,
    /// The three expressions of an arithmetic `for`.
    pub(crate) header: Vec<Part>,
    pub(crate) lists: Vec<List>,
    /// Where in `Tree::names` the names are that the loop sets.
    pub(crate) names: Range<usize>,
}

#[derive(Debug)]
pub(crate) struct Redirect {
    /// The descriptor, when it is written.
    pub(crate) descriptor: Option<String>,
    /// It is `>>`, and keeps what was there.
    pub(crate) appends: bool,
    pub(crate) target: Target,
}

#[derive(Debug)]
pub(crate) enum Target {
    Read(Word),
    Write(Word),
    ReadWrite(Word),
    /// `2>&1` and its like, where the word is a descriptor.
    Duplicate(Word),
    Heredoc(usize),
    Herestring(Word),
}

#[derive(Debug, Default)]
pub(crate) struct Heredoc {
    pub(crate) parts: Vec<Part>,
    /// The heredocs inside the body, when it was parsed as a text of its own.
    pub(crate) own: Option<Vec<Heredoc>>,
}

#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) parts: Vec<Part>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum Part {
    /// Outside of quotes: braces, globs and tildes still mean something.
    Bare(String),
    Quoted(String),
    Variable(Variable),
    /// `$(...)` or backticks, with the tree of a backtick's own text.
    Command {
        body: Body,
        quoted: bool,
        span: Span,
    },
    /// `<(...)` or `>(...)`.
    Process {
        body: List,
        span: Span,
    },
    /// An expansion that is not resolved, with whatever can run inside it.
    Other {
        inner: Vec<Part>,
        quoted: bool,
        span: Span,
    },
    /// Something that was unknown before this text was put together.
    Hole {
        source: Rc<str>,
    },
    /// `(a b c)` as the value of an assignment.
    Array(Vec<Word>),
}

#[derive(Debug)]
pub(crate) enum Body {
    /// Parsed in place.
    List(List),
    /// Backticks: a text of its own.
    Tree(Box<Tree>),
}

/// `$x` or `${x...}`.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    /// `[@]` or `[*]` behind the name.
    pub(crate) all: bool,
    pub(crate) operator: Option<Operator>,
    pub(crate) quoted: bool,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) struct Operator {
    pub(crate) kind: OperatorKind,
    /// With a colon an empty value counts as none.
    pub(crate) colon: bool,
    pub(crate) word: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OperatorKind {
    /// `-`
    Default,
    /// `=`
    Assign,
    /// `+`
    Alternative,
    /// `?`
    Required,
}

impl Word {
    /// The text, when it is plain and not quoted at all.
    pub(crate) fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Bare(text)] => Some(text),
            _ => None,
        }
    }

    /// The text with quotes taken off and nothing expanded; whether there were quotes.
    pub(crate) fn unquoted(&self) -> (String, bool) {
        let mut text = String::new();
        let mut quoted = false;
        for part in &self.parts {
            let Some(piece) = part.literal() else { return (self.span.rendered(), quoted) };
            text.push_str(piece);
            quoted |= matches!(part, Part::Quoted(_));
        }
        (text, quoted)
    }
}

impl Part {
    pub(crate) fn variable(&self) -> Option<&Variable> {
        if let Self::Variable(variable) = self { Some(variable) } else { None }
    }

    /// The text, when it is there already.
    pub(crate) fn literal(&self) -> Option<&str> {
        match self {
            Self::Bare(text) | Self::Quoted(text) => Some(text),
            Self::Variable(_)
            | Self::Command { .. }
            | Self::Process { .. }
            | Self::Other { .. }
            | Self::Hole { .. }
            | Self::Array(_) => None,
        }
    }
}
