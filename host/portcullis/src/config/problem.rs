//! What is wrong with a configuration, and where.

use std::fmt;
use std::path::PathBuf;

/// No more problems than this are shown in one text.
const SHOWN_MAX: usize = 50;
/// A name or value that is longer than this is cut, in characters.
const QUOTED_MAX: usize = 60;

/// Who says something. A later one goes over an earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Layer {
    /// The user's file.
    User,
    /// The project's file. It can only narrow.
    Project,
}

impl Layer {
    /// A stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Project => "project",
        }
    }
}

/// One thing that is wrong, or that is not taken over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// Whose file it is.
    pub layer: Layer,
    /// The file.
    pub file: PathBuf,
    /// Line and column, from 1, where it is known; columns are characters.
    pub at: Option<(usize, usize)>,
    /// The key, with the names of its tables.
    pub key: Option<String>,
    /// The reason.
    pub message: String,
    /// The way out.
    pub hint: Option<String>,
}

impl Problem {
    /// `FILE:LINE:COLUMN`.
    fn spot(&self) -> String {
        let file = self.file.display();
        self.at.map_or_else(|| file.to_string(), |(line, column)| format!("{file}:{line}:{column}"))
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.spot())?;
        if let Some(key) = &self.key {
            write!(f, "`{key}`: ")?;
        }
        f.write_str(&self.message)?;
        self.hint.as_ref().map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

/// Why a configuration is not taken over. It has every problem of every file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConfigError {
    problems: Vec<Problem>,
}

impl ConfigError {
    pub(super) const fn new(problems: Vec<Problem>) -> Self {
        Self { problems }
    }

    /// All of them, the user's file first, each file from top to bottom.
    #[must_use]
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The same without a word that a project chose: an agent may show its model what
    /// a hook writes down.
    #[must_use]
    pub fn without_words_of_the_project(&self) -> Self {
        let own = |problem: &Problem| match problem.layer {
            Layer::User => problem.clone(),
            Layer::Project => Problem {
                key: None,
                message: "not valid".to_owned(),
                hint: Some("`portcullis config validate` says why".to_owned()),
                ..problem.clone()
            },
        };
        Self { problems: self.problems.iter().map(own).collect() }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the configuration is not valid, so nothing of it is used:")?;
        if let [problem] = self.problems.as_slice() {
            return write!(f, " {problem}");
        }
        for problem in self.problems.iter().take(SHOWN_MAX) {
            write!(f, "\n  {problem}")?;
        }
        let rest = self.problems.len().saturating_sub(SHOWN_MAX);
        if rest > 0 { write!(f, "\n  and {rest} more") } else { Ok(()) }
    }
}

impl std::error::Error for ConfigError {}

/// A text of a file's on one line, without what a terminal would take for a command.
pub(super) fn quoted(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars().take(QUOTED_MAX) {
        if matches!(c, '\'' | '"') {
            out.push(c);
        } else {
            out.extend(c.escape_debug());
        }
    }
    if text.chars().nth(QUOTED_MAX).is_some() {
        out.push('…');
    }
    out
}

/// The names of a key with dots between them, as a file would write it.
pub(super) fn dotted(path: &[String]) -> String {
    let mut out = String::new();
    for name in path {
        if !out.is_empty() {
            out.push('.');
        }
        let bare = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_');
        if !name.is_empty() && name.bytes().all(bare) {
            out.push_str(&quoted(name));
        } else {
            out.push_str(&format!("\"{}\"", quoted(name).replace('"', "\\\"")));
        }
    }
    out
}
