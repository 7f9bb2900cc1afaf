//! The skills on this machine, as an extension brings them and as capabilities.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use portcullis_model::capability::{Capability, CapabilityId, CapabilityKind, Declaration, Standing};
use portcullis_model::extension::{Answer, Extension, ExtensionError, SkillEntry, SkillProvider};

use super::address::{address, find};
use super::bundle::Bundle;
use super::catalog::{Catalog, Skill, SkillState};
use super::code::Effect;
use super::document::SKILL_FILE;
use super::load::SkillLoader;
use super::scan::Scanner;
use crate::extension::off_the_executor;
use crate::frontmatter::one_line;
use crate::policy::SkillChannel;

/// The id of the extension that brings them.
pub const LOCAL_SKILLS: &str = "skills";

/// The skills on this machine. Nothing is read before somebody asks.
#[derive(Debug)]
pub struct LocalSkills {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    scanner: Mutex<Scanner>,
    channel: Mutex<SkillChannel>,
    loader: SkillLoader,
    seen: Mutex<Seen>,
}

/// What was seen last: as the scanner saw it, and as the user permits it.
#[derive(Debug, Default)]
struct Seen {
    scanned: Option<Arc<Catalog>>,
    permitted: Option<Arc<Catalog>>,
}

impl LocalSkills {
    /// Those that `scanner` finds and `channel` does not hide.
    #[must_use]
    pub fn new(scanner: Scanner, channel: SkillChannel, loader: SkillLoader) -> Self {
        let (scanner, channel, seen) = (Mutex::new(scanner), Mutex::new(channel), Mutex::default());
        Self { inner: Arc::new(Inner { scanner, channel, loader, seen }) }
    }

    /// Looks for others from the next look on.
    pub fn reconfigure(&self, scanner: Scanner, channel: SkillChannel) {
        *lock(&self.inner.scanner) = scanner;
        *lock(&self.inner.channel) = channel;
        lock(&self.inner.seen).scanned = None;
    }

    /// Looks now. When nothing changed it is the catalogue of before.
    #[must_use]
    pub fn look(&self) -> Arc<Catalog> {
        self.inner.look()
    }

    /// What gives their texts.
    #[must_use]
    pub fn loader(&self) -> &SkillLoader {
        &self.inner.loader
    }
}

impl Inner {
    fn look(&self) -> Arc<Catalog> {
        let scanned = lock(&self.scanner).look();
        let mut seen = lock(&self.seen);
        if let (Some(before), Some(permitted)) = (&seen.scanned, &seen.permitted)
            && Arc::ptr_eq(before, &scanned)
        {
            return Arc::clone(permitted);
        }
        let mut permitted = Catalog::clone(&scanned);
        permitted.permit(&lock(&self.channel));
        let permitted = Arc::new(permitted);
        *seen = Seen { scanned: Some(scanned), permitted: Some(Arc::clone(&permitted)) };
        permitted
    }

    /// The catalogue of the last look, or of a first one.
    fn seen(&self) -> Arc<Catalog> {
        let seen = lock(&self.seen).permitted.clone();
        seen.unwrap_or_else(|| self.look())
    }

    fn read(&self, uri: &str) -> Result<Option<String>, ExtensionError> {
        let catalog = self.seen();
        let Some((skill, path)) = find(&catalog, uri) else { return Ok(None) };
        if path == SKILL_FILE {
            let text = self.loader.text(skill).map_err(|error| ExtensionError::Unavailable {
                extension: LOCAL_SKILLS.to_owned(),
                reason: error.to_string(),
                remedy: "list the skills again".to_owned(),
            })?;
            return Ok(Some(text.to_string()));
        }
        let Ok(bytes) = Bundle::read(skill, &path) else { return Ok(None) };
        let text = String::from_utf8(bytes).map_err(|_| ExtensionError::Answer {
            extension: LOCAL_SKILLS.to_owned(),
            reason: format!("`{uri}` is no text"),
        })?;
        Ok(Some(text))
    }

    fn exists(&self, uri: &str) -> bool {
        let catalog = self.seen();
        find(&catalog, uri).is_some_and(|(skill, path)| path == SKILL_FILE || Bundle::has(skill, &path))
    }
}

impl Extension for LocalSkills {
    fn name(&self) -> &str {
        LOCAL_SKILLS
    }

    fn skills(&self) -> Option<&dyn SkillProvider> {
        Some(self)
    }

    fn places(&self) -> Vec<PathBuf> {
        // A look that is going on has them in a moment, and nobody waits here.
        self.inner.scanner.try_lock().map(|scanner| scanner.directories()).unwrap_or_default()
    }
}

impl SkillProvider for LocalSkills {
    fn list(&self) -> Answer<'_, Vec<SkillEntry>> {
        let inner = Arc::clone(&self.inner);
        off_the_executor(LOCAL_SKILLS, move || {
            Ok(inner.look().usable().filter(|skill| skill.is_listed()).map(entry).collect())
        })
    }

    fn read<'a>(&'a self, uri: &'a str) -> Answer<'a, Option<String>> {
        let (inner, uri) = (Arc::clone(&self.inner), uri.to_owned());
        off_the_executor(LOCAL_SKILLS, move || inner.read(&uri))
    }

    fn exists<'a>(&'a self, uri: &'a str) -> Answer<'a, bool> {
        let (inner, uri) = (Arc::clone(&self.inner), uri.to_owned());
        off_the_executor(LOCAL_SKILLS, move || Ok(inner.exists(&uri)))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A skill as a list names it: by its path, because names are not unique.
fn entry(skill: &Skill) -> SkillEntry {
    let serves = skill.document.as_ref().map(|document| document.fields.serves.clone());
    SkillEntry {
        digest: skill.digest.map(|digest| digest.to_string()),
        serves: serves.unwrap_or_default(),
        ..SkillEntry::new(address(&skill.slug), skill.slug.clone(), one_line(skill.description()))
    }
}

/// Every path as a capability: the skill that can be used, or else the first one that is
/// there.
#[must_use]
pub fn capabilities(catalog: &Catalog) -> Vec<Capability> {
    let mut by_slug: BTreeMap<&str, &Skill> = BTreeMap::new();
    for skill in catalog.all() {
        let known = by_slug.entry(&skill.slug).or_insert(skill);
        if skill.state == SkillState::Usable {
            *known = skill;
        }
    }
    by_slug.into_values().map(capability).collect()
}

fn capability(skill: &Skill) -> Capability {
    let standing = match &skill.state {
        SkillState::Usable => Standing::Usable,
        SkillState::Shadowed { why, .. } => Standing::Shadowed(why.clone()),
        SkillState::Untrusted => {
            Standing::Broken("its project is not trusted with it as it is; `portcullis trust add`".to_owned())
        }
        SkillState::Denied { why } => Standing::Denied(why.clone()),
        SkillState::Skipped => {
            let worst = skill.all_findings().find(|finding| finding.effect == Effect::Skip);
            Standing::Broken(worst.map(|finding| finding.message.clone()).unwrap_or_default())
        }
    };
    let serves = skill.document.as_ref().map(|document| document.fields.serves.clone());
    Capability {
        id: CapabilityId::new(CapabilityKind::Skill, skill.slug.clone()),
        origin: skill.origin.to_string(),
        declaration: Declaration {
            description: one_line(skill.description()),
            content: skill.digest.map(|digest| digest.to_string()),
            configuration: None,
            serves: serves.unwrap_or_default(),
        },
        standing,
    }
}
