//! A shell script, taken apart. The crate `portcullis-shell` fills these.

/// One script and everything that it can run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Script {
    /// The text as the agent sent it.
    pub source: String,
    /// False when a part could not be understood.
    pub complete: bool,
    /// A limit was passed: something of the script was not looked at, and no guard
    /// can have seen it. The gate refuses such a call.
    pub cut_short: bool,
    /// Every pipeline that can run, in source order, wherever it hides.
    pub pipelines: Vec<Pipeline>,
}

/// Commands joined by `|`, first one first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pipeline {
    /// At least one.
    pub commands: Vec<Command>,
}

/// One program with its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Command {
    /// Program and arguments, wrappers taken off.
    pub words: Vec<Word>,
    /// Variables that it sets for itself.
    pub assignments: Vec<Assignment>,
    /// Files that its redirections read.
    pub reads: Vec<Word>,
    /// Files that its redirections write.
    pub writes: Vec<Word>,
    /// What a heredoc or here-string feeds it.
    pub stdin: Option<Word>,
    /// The wrappers that were taken off, outermost first; `f()` for a command in
    /// the body of the function `f`.
    pub via: Vec<String>,
    /// As it was written.
    pub source: String,
}

/// `NAME=value` before a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// What it is set to.
    pub value: Word,
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Word {
    /// Known before the shell runs; quotes and escapes are resolved.
    Literal(String),
    /// Holds a part that only the shell can compute; this is its source text.
    Computed(String),
}

impl Word {
    /// The text when it is known before the shell runs.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Computed(_) => None,
        }
    }
}
