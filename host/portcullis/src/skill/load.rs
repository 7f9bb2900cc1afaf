//! Loading a skill: its text, as it was when the list was made.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use portcullis_runtime::Digest;

use super::catalog::{Catalog, Skill, SkillState, UnknownSkill};
use super::document::{SKILL_FILE, SKILL_FILE_MAX, SkillDocument};
use crate::beneath;
use crate::registry::ContentStore;

/// A skill that was loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadedSkill {
    /// Its path below its root.
    pub slug: String,
    /// Its name.
    pub name: String,
    /// Where its files are.
    pub directory: PathBuf,
    /// Of its `SKILL.md`.
    pub digest: Digest,
    /// What is below the frontmatter.
    pub body: String,
}

/// Why a skill is not loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// Nothing, or too much, is called so.
    #[error(transparent)]
    Unknown(#[from] UnknownSkill),
    /// It is there, and cannot be used.
    #[error("the skill `{slug}` cannot be used: {why}")]
    NotUsable {
        /// Its path.
        slug: String,
        /// Why.
        why: String,
    },
    /// It is not what it was when the list was made.
    #[error("the skill `{slug}` changed since it was listed; list the skills again, then load it")]
    Changed {
        /// Its path.
        slug: String,
    },
    /// Its file cannot be read.
    #[error("the skill `{slug}` cannot be read: {source}")]
    Read {
        /// Its path.
        slug: String,
        /// Why.
        source: io::Error,
    },
}

impl LoadError {
    /// The stable word.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Unknown(UnknownSkill::None { .. }) => "skill/unknown",
            Self::Unknown(UnknownSkill::Several { .. }) => "skill/ambiguous",
            Self::NotUsable { .. } => "skill/not-usable",
            Self::Changed { .. } => "skill/changed",
            Self::Read { .. } => "skill/unreadable",
        }
    }
}

/// Loads skills. A text is read when it is asked for first, and kept for as long as
/// somebody may be bound to it.
#[derive(Debug, Clone)]
pub struct SkillLoader {
    texts: Arc<ContentStore>,
}

impl SkillLoader {
    /// Keeps texts in `texts`.
    #[must_use]
    pub const fn new(texts: Arc<ContentStore>) -> Self {
        Self { texts }
    }

    /// The skill that `catalog` knows by `name`: its path, or its name when that is the
    /// only one. What is given is what was listed, or nothing.
    ///
    /// # Errors
    /// When there is no such skill, it cannot be used, or its file is another one by now.
    pub fn load(&self, catalog: &Catalog, name: &str) -> Result<LoadedSkill, LoadError> {
        let skill = catalog.named(name).map_err(|unknown| why_not(catalog, name, unknown))?;
        let text = self.text(skill)?;
        let digest = skill.digest.ok_or_else(|| LoadError::Changed { slug: skill.slug.clone() })?;
        Ok(LoadedSkill {
            slug: skill.slug.clone(),
            name: skill.name().to_owned(),
            directory: skill.directory.clone(),
            digest,
            body: SkillDocument::body(&text).to_owned(),
        })
    }

    /// The whole `SKILL.md` of `skill`, as it was when it was listed.
    ///
    /// # Errors
    /// As [`SkillLoader::load`].
    pub fn text(&self, skill: &Skill) -> Result<Arc<str>, LoadError> {
        let changed = || LoadError::Changed { slug: skill.slug.clone() };
        let digest = skill.digest.ok_or_else(changed)?;
        let key = digest.to_string();
        if let Some(text) = self.texts.get(&key) {
            return Ok(text);
        }
        let inside = if skill.inside.is_empty() {
            SKILL_FILE.to_owned()
        } else {
            format!("{}/{SKILL_FILE}", skill.inside)
        };
        let read = beneath::read_file(&skill.base, &inside, SKILL_FILE_MAX);
        let (bytes, _) = read.map_err(|source| LoadError::Read { slug: skill.slug.clone(), source })?;
        if Digest::of(&bytes) != digest {
            return Err(changed());
        }
        // What was listed was UTF-8, and these are the same bytes.
        let text = String::from_utf8(bytes).map_err(|_| changed())?;
        self.texts.put(&text);
        self.texts.get(&key).ok_or_else(changed)
    }
}

/// Something of that name may be there and not be usable, which is another answer.
fn why_not(catalog: &Catalog, name: &str, unknown: UnknownSkill) -> LoadError {
    let there = catalog.all().iter().find(|skill| skill.slug == name);
    let Some(skill) = there.filter(|_| matches!(unknown, UnknownSkill::None { .. })) else {
        return unknown.into();
    };
    LoadError::NotUsable { slug: skill.slug.clone(), why: why_not_usable(skill) }
}

/// Why a skill that is there cannot be used, in words that a model may read.
pub(super) fn why_not_usable(skill: &Skill) -> String {
    match &skill.state {
        SkillState::Untrusted => {
            "its project is not trusted with it; the user can say `portcullis trust add`".to_owned()
        }
        SkillState::Denied { .. } => "the user does not want it".to_owned(),
        SkillState::Shadowed { why, .. } => why.clone(),
        SkillState::Skipped | SkillState::Usable => {
            let worst = skill.all_findings().max_by_key(|finding| finding.effect);
            worst.map_or_else(|| "it is broken".to_owned(), |finding| finding.message.clone())
        }
    }
}
