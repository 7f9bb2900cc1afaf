//! News of an extension.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;
use std::task::{Context, Poll};

use super::ExtensionError;

/// Something changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// Whose it is.
    pub extension: String,
    /// What changed.
    pub kind: ChangeKind,
    /// Which one, by its URI; empty when that is not known or it is a whole list.
    pub source: String,
}

impl Change {
    /// A change of a whole list.
    #[must_use]
    pub fn of(extension: impl Into<String>, kind: ChangeKind) -> Self {
        Self { extension: extension.into(), kind, source: String::new() }
    }
}

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ChangeKind {
    /// The tools that there are.
    Tools,
    /// The resources that there are, or the content of one.
    Resources,
    /// The commands that there are.
    Commands,
    /// The skills that there are.
    Skills,
    /// The prompts that there are.
    Prompts,
    /// Something that this version has no name for. It is passed on as it is.
    Other(String),
}

impl ChangeKind {
    const KNOWN: [Self; 5] = [Self::Tools, Self::Resources, Self::Commands, Self::Skills, Self::Prompts];

    /// The stable word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Tools => "tools_changed",
            Self::Resources => "resources_changed",
            Self::Commands => "commands_changed",
            Self::Skills => "skills_changed",
            Self::Prompts => "prompts_changed",
            Self::Other(word) => word,
        }
    }
}

impl fmt::Display for ChangeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ChangeKind {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let known = Self::KNOWN.into_iter().find(|kind| kind.as_str() == text);
        Ok(known.unwrap_or_else(|| Self::Other(text.to_owned())))
    }
}

/// News, one by one.
pub trait Changes: Send {
    /// The next one; none when there will be no more. An error ends it.
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Change, ExtensionError>>>;
}

#[cfg(test)]
mod tests {
    use super::{Change, ChangeKind};

    #[test]
    fn a_kind_that_is_not_known_passes_through() {
        for kind in ChangeKind::KNOWN {
            assert_eq!(kind.as_str().parse(), Ok(kind));
        }
        let other: ChangeKind = "moods_changed".parse().unwrap();
        assert_eq!(other.to_string(), "moods_changed");
        assert_eq!(Change::of("a", other).source, "");
    }
}
