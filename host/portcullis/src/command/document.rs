//! One file of a command: what it says, and what is odd about it.

use portcullis_runtime::Digest;
use serde::Deserialize;

use super::dialect::Dialect;
use super::expand::{self, ExpandError};
use super::template::{self, Template};
use crate::frontmatter::{self, Flaw, Node, NodeKind, Pair};

/// The most bytes of a file.
pub const COMMAND_FILE_MAX: usize = 256 << 10;

/// The most characters of a description.
const DESCRIPTION_MAX: usize = 200;

/// One command's file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandDocument {
    /// What it is for: as it says, or its first line.
    pub description: String,
    /// A hint at what can be typed behind it; empty when it says none.
    pub argument_hint: String,
    /// What is odd about it, each in a sentence, by line.
    pub notes: Vec<(Option<usize>, String)>,
    /// Of its bytes.
    pub digest: Digest,
    dialect: Dialect,
    names: Vec<String>,
    template: Template,
}

/// Why a file is no command.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CommandError {
    /// It has too many bytes.
    #[error("it has more than {COMMAND_FILE_MAX} bytes; write less, or let it point at a file with `@`")]
    TooBig,
    /// It is not UTF-8.
    #[error("it is not UTF-8; save it as UTF-8")]
    NotUtf8,
    /// There is nothing in it.
    #[error("it has no text below its fields; write what the model is asked")]
    Empty,
    /// A file of Gemini CLI's that is not what it should be.
    #[error("it is not as Gemini CLI wants it: {0}")]
    Toml(String),
    /// A line for a shell is never closed.
    #[error("`!{{` is never closed; put a `}}` behind the command")]
    Open,
}

impl CommandDocument {
    /// What these bytes say.
    ///
    /// # Errors
    /// When they are no command. Any bytes give an answer, and none takes long.
    pub fn read(bytes: &[u8], dialect: Dialect) -> Result<Self, CommandError> {
        if bytes.len() > COMMAND_FILE_MAX {
            return Err(CommandError::TooBig);
        }
        let text = std::str::from_utf8(bytes).map_err(|_| CommandError::NotUtf8)?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let digest = Digest::of(bytes);
        if dialect == Dialect::Gemini {
            Self::of_toml(text, digest)
        } else {
            Ok(Self::of_markdown(text, digest, dialect)?)
        }
    }

    fn of_markdown(text: &str, digest: Digest, dialect: Dialect) -> Result<Self, CommandError> {
        let mut flaws = Vec::new();
        let begins_with_fields =
            text.lines().find(|line| !line.trim().is_empty()).is_some_and(|line| line.trim_end() == "---");
        let parts = begins_with_fields.then(|| frontmatter::split(text.as_bytes(), &mut flaws)).flatten();
        let (pairs, body) = match &parts {
            // A text may begin with a rule, so what is no frontmatter is a part of it.
            None => (Vec::new(), text),
            Some(parts) => (frontmatter::read(parts, &mut flaws).unwrap_or_default(), parts.body),
        };
        if body.trim().is_empty() {
            return Err(CommandError::Empty);
        }
        let field = |name: &str| pairs.iter().find(|pair| is_key(pair, name)).map(|pair| &pair.value);
        let written = field("description").map(Node::as_written).filter(|text| !text.trim().is_empty());
        let names = field("arguments").map(names).unwrap_or_default();
        let notes = flaws
            .into_iter()
            .map(|Flaw { line, message, remedy, .. }| (line, format!("{message}; {remedy}")));
        Ok(Self {
            description: one_line(written.as_deref().unwrap_or_else(|| first_line(body))),
            argument_hint: one_line(&field("argument-hint").map(Node::as_written).unwrap_or_default()),
            notes: notes.collect(),
            digest,
            dialect,
            template: template::parse(body, dialect, &names),
            names,
        })
    }

    fn of_toml(text: &str, digest: Digest) -> Result<Self, CommandError> {
        #[derive(Deserialize)]
        struct Gemini {
            prompt: String,
            #[serde(default)]
            description: String,
        }
        let dialect = Dialect::Gemini;
        let own: Gemini =
            toml::from_str(text).map_err(|error| CommandError::Toml(error.message().to_owned()))?;
        if own.prompt.trim().is_empty() {
            return Err(CommandError::Empty);
        }
        let template = template::parse(&own.prompt, dialect, &[]);
        if template.open.is_some() {
            return Err(CommandError::Open);
        }
        let description =
            if own.description.trim().is_empty() { first_line(&own.prompt) } else { &own.description };
        Ok(Self {
            description: one_line(description),
            argument_hint: String::new(),
            notes: Vec::new(),
            digest,
            dialect,
            names: Vec::new(),
            template,
        })
    }

    /// How its placeholders are written.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// The text that a model is asked, for what somebody typed behind `typed`, which is the
    /// command's name.
    ///
    /// # Errors
    /// When nothing comes of it.
    pub fn expand(&self, typed: &str, arguments: &str) -> Result<String, ExpandError> {
        expand::expand(&self.template, self.dialect, self.names.len(), typed, arguments)
    }
}

fn is_key(pair: &Pair, name: &str) -> bool {
    pair.key.scalar().is_some_and(|key| key.text == name)
}

/// The names of the arguments: a list, or words.
fn names(value: &Node) -> Vec<String> {
    match &value.kind {
        NodeKind::List(items) => {
            items.iter().filter_map(Node::scalar).map(|item| item.text.trim().to_owned()).collect()
        }
        NodeKind::Scalar(scalar) => {
            let words = scalar.text.split(|c: char| c.is_whitespace() || c == ',');
            words.filter(|word| !word.is_empty()).map(str::to_owned).collect()
        }
        NodeKind::Map(_) => Vec::new(),
    }
}

/// The first line with something on it, without the marks of a heading.
fn first_line(text: &str) -> &str {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let heading = line.trim_start_matches('#');
    if heading.starts_with(' ') { heading.trim() } else { line }
}

/// As a list shows it: on one line, not too long, without what hides or turns other text.
fn one_line(text: &str) -> String {
    let line = crate::frontmatter::one_line(text);
    match line.char_indices().nth(DESCRIPTION_MAX) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}
