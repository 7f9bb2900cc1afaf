//! All skills of all roots: who wins a name, and why the others do not.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use portcullis_runtime::Digest;
use serde::Serialize;

use super::code::{Finding, Load, SkillCode, is_conforming, shown};
use super::document::{SKILL_FILE, SkillDocument};
use super::folder::Found;
use super::problem::Problem;
use super::root::SkillOrigin;
use crate::beneath;
use crate::policy::SkillChannel;

/// Whether a skill can be used, and why it cannot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase", tag = "state")]
pub enum SkillState {
    /// It can.
    Usable,
    /// Another one comes first.
    Shadowed {
        /// The directory of that one.
        by: PathBuf,
        /// In which way.
        why: String,
    },
    /// Its project is not trusted with it as it is, so nobody has looked at it.
    Untrusted,
    /// It is not what it should be; its findings say how.
    Skipped,
    /// The operator does not want it.
    Denied {
        /// What says so.
        why: String,
    },
}

impl SkillState {
    /// The stable word.
    #[must_use]
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Usable => "usable",
            Self::Shadowed { .. } => "shadowed",
            Self::Untrusted => "untrusted",
            Self::Skipped => "skipped",
            Self::Denied { .. } => "denied",
        }
    }
}

/// One skill.
#[derive(Debug, Clone)]
pub struct Skill {
    /// Its path below the root that it is in: what it is known by.
    pub slug: String,
    /// Whose it is.
    pub origin: SkillOrigin,
    /// The root that it is in.
    pub root: PathBuf,
    /// Its directory.
    pub directory: PathBuf,
    /// Whether it can be used.
    pub state: SkillState,
    /// Of its `SKILL.md`; none when that cannot be read.
    pub digest: Option<Digest>,
    /// What it says; none before its project is trusted with it.
    pub document: Option<Arc<SkillDocument>>,
    /// What is wrong with where it is or what it is called.
    pub findings: Vec<Finding>,
    pub(super) base: Arc<std::path::Path>,
    pub(super) inside: String,
    /// Where its root is below `base`, when no link is between them.
    pub(super) root_inside: Option<String>,
}

impl Skill {
    /// Its name, or the last part of its slug when it says none.
    #[must_use]
    pub fn name(&self) -> &str {
        let own = self.document.as_ref().and_then(|document| document.name.as_deref());
        own.unwrap_or_else(|| self.slug.rsplit('/').next().unwrap_or(&self.slug))
    }

    /// When to use it; empty when it does not say.
    #[must_use]
    pub fn description(&self) -> &str {
        let own = self.document.as_ref().and_then(|document| document.description.as_deref());
        own.unwrap_or_default()
    }

    /// Its `SKILL.md`.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.directory.join(SKILL_FILE)
    }

    /// Everything that is said of it.
    pub fn all_findings(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().chain(self.document.iter().flat_map(|document| &document.findings))
    }

    /// Whether it can be loaded, as far as it is known.
    #[must_use]
    pub fn load(&self) -> Load {
        Load::of(&self.all_findings().cloned().collect::<Vec<_>>())
    }

    /// Whether the specification allows it; none before its project is trusted with it.
    #[must_use]
    pub fn is_conforming(&self) -> Option<bool> {
        self.document.as_ref().map(|document| document.is_conforming() && is_conforming(&self.findings))
    }

    /// Whether a model is told of it.
    #[must_use]
    pub fn is_listed(&self) -> bool {
        let hidden = self.document.as_ref().is_some_and(|document| document.fields.hidden_from_model);
        self.state == SkillState::Usable && !hidden
    }
}

/// All skills, by slug; of one slug the one that wins first.
#[derive(Debug, Clone, Default)]
pub struct Catalog {
    skills: Vec<Skill>,
    /// What is wrong with places.
    pub problems: Vec<Problem>,
    /// False: there was too much to look at, and something is missing.
    pub is_whole: bool,
}

/// What one root holds.
pub(super) struct Holding {
    pub(super) origin: SkillOrigin,
    pub(super) path: PathBuf,
    pub(super) base: PathBuf,
    pub(super) inside: String,
    pub(super) found: Vec<Found>,
}

/// Why no skill is loaded by a name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnknownSkill {
    /// There is none.
    #[error("there is no skill `{name}`{hint}")]
    None {
        /// The name.
        name: String,
        /// A near miss, if there is one.
        hint: String,
    },
    /// There are several.
    #[error("several skills are called `{name}`: name one of {}", .slugs.join(", "))]
    Several {
        /// The name.
        name: String,
        /// Where they are.
        slugs: Vec<String>,
    },
}

impl Catalog {
    /// Puts the roots together, those that win first.
    pub(super) fn new(holdings: Vec<Holding>, problems: Vec<Problem>, is_whole: bool) -> Self {
        let mut resolver = Resolver::default();
        let mut skills = Vec::new();
        for (rank, holding) in holdings.into_iter().enumerate() {
            for found in &holding.found {
                let skill = skill(&holding, found);
                let skill = resolver.resolve(skill, found.identity, rank);
                skills.push((rank, skill));
            }
            resolver.next_root();
        }
        skills.sort_by(|(a_rank, a), (b_rank, b)| (&a.slug, a_rank).cmp(&(&b.slug, b_rank)));
        let mut skills: Vec<Skill> = skills.into_iter().map(|(_, skill)| skill).collect();
        tell_of_names(&mut skills);
        let mut problems = problems;
        problems.sort();
        problems.dedup();
        Self { skills, problems, is_whole }
    }

    /// Every skill, also those that cannot be used.
    #[must_use]
    pub fn all(&self) -> &[Skill] {
        &self.skills
    }

    /// Those that can be used.
    pub fn usable(&self) -> impl Iterator<Item = &Skill> {
        self.skills.iter().filter(|skill| skill.state == SkillState::Usable)
    }

    /// The one that can be used at `slug`.
    #[must_use]
    pub fn at(&self, slug: &str) -> Option<&Skill> {
        let first = self.skills.partition_point(|skill| skill.slug.as_str() < slug);
        let same = self.skills.get(first..)?.iter().take_while(|skill| skill.slug == slug);
        same.into_iter().find(|skill| skill.state == SkillState::Usable)
    }

    /// The one that can be used and is at `name`, or else the only one that is called so.
    ///
    /// # Errors
    /// When there is none, or more than one.
    pub fn named(&self, name: &str) -> Result<&Skill, UnknownSkill> {
        if let Some(skill) = self.at(name) {
            return Ok(skill);
        }
        let mut called = self.usable().filter(|skill| skill.name() == name);
        match (called.next(), called.next()) {
            (Some(skill), None) => Ok(skill),
            (Some(first), Some(second)) => {
                let slugs = [first, second].into_iter().chain(called).map(|skill| skill.slug.clone());
                Err(UnknownSkill::Several { name: name.to_owned(), slugs: slugs.collect() })
            }
            (None, _) => Err(self.unknown(name)),
        }
    }

    /// There is no skill `name`; a near miss is told.
    pub(super) fn unknown(&self, name: &str) -> UnknownSkill {
        let near = self.usable().map(|skill| (strsim::osa_distance(&skill.slug, name), &skill.slug));
        let near = near.filter(|(distance, _)| *distance <= 2).min();
        let hint = near.map(|(_, slug)| format!("; did you mean `{slug}`?")).unwrap_or_default();
        UnknownSkill::None { name: shown(name), hint }
    }

    /// Without those that the user does not want.
    pub fn permit(&mut self, channel: &SkillChannel) {
        for skill in &mut self.skills {
            if skill.state == SkillState::Usable && !channel.has(&[&skill.slug, skill.name()]) {
                skill.state = SkillState::Denied { why: "`[channels.skills]` hides it".to_owned() };
            }
        }
    }
}

fn skill(holding: &Holding, found: &Found) -> Skill {
    let mut findings = Vec::new();
    let (prefix, _) = found.slug.rsplit_once('/').unwrap_or(("", &found.slug));
    let upper = prefix.split('/').find(|part| part.chars().any(char::is_uppercase));
    if let Some(part) = upper {
        let finding = Finding::new(
            SkillCode::PrefixNotLowercase,
            None,
            format!("the directory `{part}` above it has upper case letters, and an address has none"),
            format!("call it `{}`", part.to_lowercase()),
        );
        findings.push(finding);
    }
    let document = match &found.misnamed {
        Some(name) => Some(Arc::new(SkillDocument::misnamed(name))),
        None => found.document.clone(),
    };
    let mut skill = Skill {
        slug: found.slug.clone(),
        origin: holding.origin,
        root: holding.path.clone(),
        directory: beneath::joined(&found.base, &found.inside),
        state: SkillState::Usable,
        digest: found.digest,
        document,
        findings,
        base: Arc::clone(&found.base),
        inside: found.inside.clone(),
        root_inside: (*found.base == *holding.base).then(|| holding.inside.clone()),
    };
    if skill.document.is_none() {
        skill.state = SkillState::Untrusted;
    } else if skill.load() == Load::Skip {
        skill.state = SkillState::Skipped;
    }
    skill
}

/// Who has won what so far. Only what can be used wins anything: what is broken or not
/// trusted keeps no other skill from its name.
#[derive(Default)]
struct Resolver {
    slugs: BTreeMap<String, PathBuf>,
    directories: HashMap<(u64, u64), PathBuf>,
    /// Of the root at hand. Within one root skills may be in one another.
    own: Vec<(String, PathBuf)>,
}

impl Resolver {
    fn resolve(&mut self, skill: Skill, identity: Option<(u64, u64)>, rank: usize) -> Skill {
        if skill.state != SkillState::Usable {
            return skill;
        }
        let shadowed = |by: &PathBuf, why: &str| SkillState::Shadowed { by: by.clone(), why: why.to_owned() };
        let state = if let Some(by) = identity.and_then(|identity| self.directories.get(&identity)) {
            shadowed(by, "it is the same directory")
        } else if let Some(by) = self.slugs.get(&skill.slug) {
            shadowed(by, "it has the same path and comes first")
        } else if let Some((slug, by)) = self.nested(&skill.slug).filter(|_| rank > 0) {
            shadowed(by, &format!("the paths `{slug}` and `{}` would be in one another", skill.slug))
        } else {
            if let Some(identity) = identity {
                self.directories.insert(identity, skill.directory.clone());
            }
            self.own.push((skill.slug.clone(), skill.directory.clone()));
            return skill;
        };
        Skill { state, ..skill }
    }

    /// A skill of an earlier root that `slug` is in, or that is in it.
    fn nested(&self, slug: &str) -> Option<(&String, &PathBuf)> {
        let outer = slug.match_indices('/').find_map(|(at, _)| self.slugs.get_key_value(slug.get(..at)?));
        outer.or_else(|| {
            let prefix = format!("{slug}/");
            self.slugs.range(prefix.clone()..).next().filter(|(other, _)| other.starts_with(&prefix))
        })
    }

    fn next_root(&mut self) {
        self.slugs.extend(self.own.drain(..));
    }
}

/// A host shows names, so two skills of one name are told of.
fn tell_of_names(skills: &mut [Skill]) {
    let mut names: HashMap<String, BTreeSet<String>> = HashMap::new();
    for skill in skills.iter().filter(|skill| skill.state == SkillState::Usable) {
        names.entry(skill.name().to_owned()).or_default().insert(skill.slug.clone());
    }
    for skill in skills.iter_mut().filter(|skill| skill.state == SkillState::Usable) {
        let Some(other) = names.get(skill.name()).and_then(|slugs| {
            let mut others = slugs.iter().filter(|slug| **slug != skill.slug);
            others.next()
        }) else {
            continue;
        };
        let finding = Finding::new(
            SkillCode::NameTwice,
            None,
            format!("the skill at `{other}` has the same name"),
            "load each by its path",
        );
        skill.findings.push(finding);
    }
}
