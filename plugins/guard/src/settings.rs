//! What the operator can tune.

use std::collections::BTreeMap;

use portcullis_sdk::{Error, settings};
use serde::Deserialize;

use crate::category::Category;
use crate::exempt;
use crate::pattern::Pattern;

/// An unknown key is an error, and so a refusal of every call: a typing error
/// that silently changed nothing would be worse.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    categories: BTreeMap<Category, Action>,
    /// Commands that the operator does not want either.
    pub(crate) patterns: Vec<Pattern>,
    /// Directories in which files may be deleted.
    pub(crate) exempt: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Block,
    Allow,
}

impl Settings {
    pub(crate) fn read() -> Result<Self, Error> {
        let settings: Self = settings::read()?;
        settings.patterns.iter().try_for_each(Pattern::check)?;
        settings.exempt.iter().try_for_each(|glob| exempt::check(glob))?;
        Ok(settings)
    }

    pub(crate) fn blocks(&self, category: Category) -> bool {
        match self.categories.get(&category) {
            Some(action) => *action == Action::Block,
            None => category.blocks_by_default(),
        }
    }
}
