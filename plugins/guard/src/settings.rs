//! What the operator can tune: `{"categories": {"rm": "allow"}}`.

use std::collections::BTreeMap;

use portcullis_sdk::{Error, settings};
use serde::Deserialize;

use crate::category::Category;

/// An unknown key is an error, and so a refusal of every call: a typing error
/// that silently changed nothing would be worse.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct Settings {
    categories: BTreeMap<Category, Action>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Block,
    Allow,
}

impl Settings {
    pub(crate) fn read() -> Result<Self, Error> {
        settings::read()
    }

    pub(crate) fn blocks(&self, category: Category) -> bool {
        match self.categories.get(&category) {
            Some(action) => *action == Action::Block,
            None => category.blocks_by_default(),
        }
    }
}
