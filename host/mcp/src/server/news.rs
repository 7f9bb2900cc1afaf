//! What lies between two libraries: which resources changed, and what clients are told of
//! it. A pure function, so that what is told is exactly what differs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use portcullis_model::extension::{Library, LibrarySkill};

use super::address;
use super::view::View;

/// What changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct News {
    /// The addresses of the resources that are other ones now.
    pub(super) updated: BTreeSet<String>,
    /// A skill came or went, for tools or for hosts.
    pub(super) membership: bool,
    /// The slugs of the skills whose `SKILL.md` is another one.
    pub(super) skills: BTreeSet<String>,
    /// The addresses of other files of skills.
    pub(super) files: BTreeSet<String>,
    /// The paths of shared files.
    pub(super) references: BTreeSet<String>,
    /// The names of prompts, those that came or went included.
    pub(super) prompts: BTreeSet<String>,
}

impl News {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What changed from one view to the next.
    pub(super) fn between(before: &View, after: &View) -> Self {
        let mut news = Self::default();
        news.of_skills(before, after);
        if news != Self::default() {
            news.updated.insert(address::index());
        }
        news.of_prompts(&before.library, &after.library);
        news
    }

    fn of_skills(&mut self, before: &View, after: &View) {
        let (old, new) = (&before.library, &after.library);
        let members = |library: &Library| -> BTreeSet<(String, bool)> {
            let skills = library.skills.iter();
            skills.map(|skill| (skill.slug.clone(), skill.withheld.is_none())).collect()
        };
        self.membership = members(old) != members(new);
        let mut references = BTreeSet::new();
        let others = entries_and_copies([old, new]);
        for skill in &new.skills {
            let Some(was) = old.skill(&skill.slug) else { continue };
            let is_shown = skill.withheld.is_none() && was.withheld.is_none();
            self.of_files((was, old), (skill, new), is_shown, &others);
            references.extend(changed_references(was, skill, (old, new)));
        }
        for path in references {
            self.updated.insert(after.reference_uri(&path));
            for skill in new.served().filter(|skill| cites(skill, &path)) {
                self.updated.insert(skill.uri.clone());
                let copies = skill.references.iter().filter(|own| own.path.as_ref() == Some(&path));
                self.updated.extend(copies.filter_map(|own| own.copy.clone()));
            }
            self.references.insert(path);
        }
    }

    fn of_files(
        &mut self,
        (was, old): (&LibrarySkill, &Library),
        (skill, new): (&LibrarySkill, &Library),
        is_shown: bool,
        others: &BTreeSet<&str>,
    ) {
        let digests = |skill: &LibrarySkill, library: &Library| -> BTreeMap<String, String> {
            let digest = |uri: &String| Some((uri.clone(), library.files.get(uri)?.digest.clone()));
            skill.files.iter().filter_map(digest).collect()
        };
        let (was_files, files) = (digests(was, old), digests(skill, new));
        let all: BTreeSet<&String> = was_files.keys().chain(files.keys()).collect();
        for uri in all.into_iter().filter(|uri| was_files.get(*uri) != files.get(*uri)) {
            if *uri == skill.uri {
                self.skills.insert(skill.slug.clone());
            } else if !others.contains(uri.as_str()) {
                self.files.insert(uri.clone());
            }
            if is_shown {
                self.updated.insert(uri.clone());
                self.updated.insert(skill.uri.clone());
            }
        }
    }

    fn of_prompts(&mut self, old: &Library, new: &Library) {
        for prompt in old.prompts.iter().filter(|prompt| new.prompt(&prompt.name).is_none()) {
            self.prompts.insert(prompt.name.clone());
        }
        for prompt in &new.prompts {
            let said = |prompt: &portcullis_model::extension::LibraryPrompt| {
                (prompt.title.clone(), prompt.description.clone(), Arc::clone(&prompt.body))
            };
            match old.prompt(&prompt.name) {
                Some(was) if said(was) == said(prompt) => {}
                Some(_) => {
                    self.updated.insert(address::prompt(&prompt.name));
                    self.prompts.insert(prompt.name.clone());
                }
                None => {
                    self.prompts.insert(prompt.name.clone());
                }
            }
        }
    }
}

/// The shared files that are other ones than they were to a skill that stayed. One whose
/// copy has the same bytes has only been touched.
fn changed_references(
    was: &LibrarySkill,
    skill: &LibrarySkill,
    (old, new): (&Library, &Library),
) -> Vec<String> {
    let digest = |copy: &Option<String>, library: &Library| {
        copy.as_ref().and_then(|uri| library.files.get(uri)).map(|file| file.digest.clone())
    };
    let mut changed = Vec::new();
    for own in &skill.references {
        let Some(path) = &own.path else { continue };
        let before = was.references.iter().find(|before| before.path.as_ref() == Some(path));
        let Some(before) = before else { continue };
        let moved = old.references.get(path) != new.references.get(path);
        let same = digest(&own.copy, new).is_some_and(|own| digest(&before.copy, old) == Some(own));
        if moved && !same {
            changed.push(path.clone());
        }
    }
    // A declaration that is as it was, and whose file came, went or is another one.
    if was.frontmatter.get("references") == skill.frontmatter.get("references") {
        for (before, own) in was.references.iter().zip(&skill.references) {
            if before.path != own.path {
                changed.extend(before.path.iter().chain(&own.path).cloned());
            }
        }
    }
    changed
}

fn cites(skill: &LibrarySkill, path: &String) -> bool {
    skill.references.iter().any(|own| own.path.as_ref() == Some(path))
}

/// The addresses of files that are told of in another way than as files of a skill.
fn entries_and_copies(libraries: [&Library; 2]) -> BTreeSet<&str> {
    let skills = libraries.into_iter().flat_map(|library| &library.skills);
    skills
        .flat_map(|skill| {
            let copies = skill.references.iter().filter_map(|own| own.copy.as_deref());
            copies.chain([skill.uri.as_str()])
        })
        .collect()
}
