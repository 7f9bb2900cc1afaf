//! What the operator can tune.

use portcullis_sdk::{Error, settings};
use serde::Deserialize;

use crate::name;
use crate::touch::{Deed, Touch};

/// An unknown key is an error, and so a refusal of every call.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    reads: Reads,
    /// Globs for names of files that hold secrets too.
    names: Vec<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Reads {
    Block,
    #[default]
    Allow,
}

impl Settings {
    pub(crate) fn read() -> Result<Self, Error> {
        let settings: Self = settings::read()?;
        match settings.names.iter().find(|glob| glob.is_empty() || glob.contains('/')) {
            Some(odd) => Err(Error::new(format!(
                "the settings are wrong: `names` takes names without a directory, such as `*.vault`, and not `{odd}`"
            ))),
            None => Ok(settings),
        }
    }

    pub(crate) fn refuses(&self, touch: &Touch<'_>) -> bool {
        let judged = touch.deed != Deed::Read || self.reads == Reads::Block;
        judged && (name::is_secret(touch.path, touch.deed) || self.is_listed(touch.path))
    }

    fn is_listed(&self, path: &str) -> bool {
        self.names.iter().any(|glob| name::matches(glob, name::of(path)))
    }
}
