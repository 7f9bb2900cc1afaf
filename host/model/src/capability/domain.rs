//! What a capability is good for, in words that everybody shares.

use std::convert::Infallible;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What a capability is good for. Words that this version does not know are kept, and
/// mean themselves.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", from = "String")]
pub enum Domain {
    /// What is true now: weather, prices, departures.
    LiveData,
    /// The web.
    Web,
    /// Files.
    Filesystem,
    /// Running code.
    CodeExec,
    /// What was learnt before.
    Memory,
    /// Sending messages.
    Messaging,
    /// Documents.
    Documents,
    /// Other agents.
    Orchestration,
    /// Version control.
    Vcs,
    /// Logs, traces and metrics.
    Observability,
    /// Any other.
    Custom(String),
}

impl Domain {
    /// Those with a name of their own.
    pub const KNOWN: [Self; 10] = [
        Self::LiveData,
        Self::Web,
        Self::Filesystem,
        Self::CodeExec,
        Self::Memory,
        Self::Messaging,
        Self::Documents,
        Self::Orchestration,
        Self::Vcs,
        Self::Observability,
    ];

    /// The stable word.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::LiveData => "live-data",
            Self::Web => "web",
            Self::Filesystem => "filesystem",
            Self::CodeExec => "code-exec",
            Self::Memory => "memory",
            Self::Messaging => "messaging",
            Self::Documents => "documents",
            Self::Orchestration => "orchestration",
            Self::Vcs => "vcs",
            Self::Observability => "observability",
            Self::Custom(word) => word,
        }
    }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl From<String> for Domain {
    fn from(word: String) -> Self {
        Self::KNOWN.into_iter().find(|own| own.as_str() == word).unwrap_or(Self::Custom(word))
    }
}

impl From<Domain> for String {
    fn from(domain: Domain) -> Self {
        domain.as_str().to_owned()
    }
}

impl FromStr for Domain {
    type Err = Infallible;

    fn from_str(word: &str) -> Result<Self, Infallible> {
        Ok(word.to_owned().into())
    }
}

#[cfg(test)]
mod tests {
    use super::Domain;

    #[test]
    fn every_word_is_kept_and_matched_as_it_is() {
        for domain in Domain::KNOWN {
            assert_eq!(domain.as_str().parse(), Ok(domain));
        }
        assert_eq!("quantum".parse(), Ok(Domain::Custom("quantum".to_owned())));
        assert_ne!("Web".parse::<Domain>(), Ok(Domain::Web), "case counts");
        assert_eq!(serde_json::to_string(&Domain::LiveData).unwrap(), "\"live-data\"");
    }
}
