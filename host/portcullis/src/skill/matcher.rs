//! Which texts a turn begins with: those that are always active, and a few that somebody
//! chooses for it. Nobody chooses by default, so a model is told names and descriptions.

use std::fmt;

use super::catalog::{Catalog, Skill};
use super::load::{LoadError, LoadedSkill, SkillLoader};

/// The most skills that a matcher may choose for one turn.
pub const MATCHES_MAX: usize = 4;

/// Chooses skills for a turn.
pub trait SkillMatcher: fmt::Debug + Send + Sync {
    /// The paths of the skills that fit what the user says, the best first.
    fn choose(&self, prompt: &str, skills: &[&Skill]) -> Vec<String>;
}

/// What a turn begins with, as messages: it is no part of what stays the same from turn to
/// turn. With the skills, those that should be there and cannot be loaded.
#[must_use]
pub fn activate(
    catalog: &Catalog,
    loader: &SkillLoader,
    matcher: Option<&dyn SkillMatcher>,
    prompt: &str,
) -> (Vec<LoadedSkill>, Vec<LoadError>) {
    let is_always =
        |skill: &&Skill| skill.document.as_ref().is_some_and(|document| document.fields.always_active);
    let mut slugs: Vec<String> = catalog.usable().filter(is_always).map(|skill| skill.slug.clone()).collect();
    if let Some(matcher) = matcher {
        let listed: Vec<&Skill> = catalog.usable().filter(|skill| skill.is_listed()).collect();
        let chosen = matcher.choose(prompt, &listed);
        let is_listed = |slug: &String| listed.iter().any(|skill| skill.slug == *slug);
        let chosen: Vec<String> =
            chosen.into_iter().filter(|slug| is_listed(slug) && !slugs.contains(slug)).collect();
        slugs.extend(chosen.into_iter().take(MATCHES_MAX));
    }
    let (mut loaded, mut failed) = (Vec::new(), Vec::new());
    for slug in slugs {
        match loader.load(catalog, &slug) {
            Ok(skill) => loaded.push(skill),
            Err(error) => failed.push(error),
        }
    }
    (loaded, failed)
}
