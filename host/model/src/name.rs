//! Names that are checked once, where they enter.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The name of a plugin: lowercase kebab-case, 1 to 64 characters.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PluginName(String);

/// Why a text is not a [`PluginName`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("not a plugin name (lowercase letters, digits and single hyphens, 1 to 64 characters): `{0}`")]
pub struct NotAPluginName(String);

impl PluginName {
    /// The most characters that a name may have.
    pub const MAX: usize = 64;

    /// Checks `text`.
    ///
    /// # Errors
    /// When it is not lowercase kebab-case of 1 to 64 characters.
    pub fn new(text: impl Into<String>) -> Result<Self, NotAPluginName> {
        let text = text.into();
        let words_hold = text.split('-').all(|word| {
            !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit())
        });
        if words_hold && text.len() <= Self::MAX {
            Ok(Self(text))
        } else {
            Err(NotAPluginName(text.chars().take(Self::MAX + 1).collect()))
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PluginName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Serialize for PluginName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for PluginName {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::new(String::deserialize(deserializer)?).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::PluginName;

    #[test]
    fn kebab_case_is_a_name() {
        for text in ["guard", "no-secrets", "a1-b2", &"x".repeat(64)] {
            assert!(PluginName::new(text).is_ok(), "{text}");
        }
    }

    #[test]
    fn everything_else_is_not() {
        for text in ["", "Guard", "a--b", "-a", "a-", "a_b", "a b", "é", "../x", &"x".repeat(65)] {
            assert!(PluginName::new(text).is_err(), "{text}");
        }
    }
}
