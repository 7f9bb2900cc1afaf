//! From a catalogue to a library: which files each skill has, what is shown of it, and why
//! a host of the skills extension would not take it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_model::extension::{DeclaredReference, Library, LibraryFile, LibrarySkill, SkippedSkill};
use portcullis_runtime::Digest;

use super::super::address::{address, address_of};
use super::super::bundle::{BUNDLE_BYTES_MAX, BUNDLE_FILES_MAX, Bundle};
use super::super::catalog::{Catalog, Skill, SkillState};
use super::super::code::SkillCode;
use super::super::document::{SKILL_FILE, SkillDocument};
use super::super::folder::below;
use super::super::load::why_not_usable;
use super::super::reference::{REFERENCE_MAX, References, place_of};
use super::held::{Held, Spot};
use crate::beneath::Stamp;
use crate::frontmatter::one_line;

/// The most bytes that all files of a library have together. The skills that come behind
/// are withheld.
pub const LIBRARY_BYTES_MAX: u64 = 512 << 20;

/// What of a skill makes a host refuse it: the name and the description have to be texts
/// that any reader of YAML finds in it.
const REFUSED: [SkillCode; 14] = [
    SkillCode::NameNotString,
    SkillCode::NameTooLong,
    SkillCode::NameNotLowercase,
    SkillCode::NameNotAscii,
    SkillCode::NameBadChars,
    SkillCode::NameHyphens,
    SkillCode::NameDirMismatch,
    SkillCode::DescriptionNotString,
    SkillCode::LeadingBlankLines,
    SkillCode::YamlRepaired,
    SkillCode::FieldDropped,
    SkillCode::YamlSurrogateEscape,
    SkillCode::DuplicateKey,
    SkillCode::FrontmatterMissing,
];

/// A file of a skill that may be read.
struct Ours {
    base: Arc<Path>,
    inside: String,
    stamp: Stamp,
    most: usize,
}

/// A skill with what it would give out.
struct Draft<'c> {
    skill: &'c Skill,
    document: SkillDocument,
    own: LibraryFile,
    body: String,
    references: Vec<DeclaredReference>,
    /// By address, with the bytes that each is said to have.
    files: BTreeMap<String, u64>,
    /// The copies among them.
    copies: BTreeMap<String, u64>,
    withheld: Option<String>,
}

/// Makes one library.
pub(super) struct Builder<'h> {
    held: &'h mut Held,
    now: i64,
    shared: References,
    sources: BTreeMap<String, Ours>,
    pub(super) library: Library,
    /// For each shared file a skill that declares it.
    pub(super) citing: BTreeMap<String, Skill>,
    pub(super) warnings: Vec<String>,
    /// A skill is not what the catalogue says: somebody wrote while it was looked at.
    pub(super) has_moved: bool,
}

impl<'h> Builder<'h> {
    pub(super) fn new(held: &'h mut Held, now: i64) -> Self {
        let (library, warnings) = (Library::default(), Vec::new());
        let (shared, sources, citing) = (References::default(), BTreeMap::new(), BTreeMap::new());
        Self { held, now, shared, sources, library, citing, warnings, has_moved: false }
    }

    pub(super) fn skills(&mut self, catalog: &Catalog) {
        let mut drafts = Vec::new();
        for skill in catalog.usable() {
            match self.draft(skill) {
                Some(draft) => drafts.push(draft),
                None => self.has_moved = true,
            }
        }
        add_copies_of_nested(&mut drafts);
        let mut bytes = 0_u64;
        for draft in &mut drafts {
            withhold_excess(draft);
            let size: u64 = draft.files.values().sum();
            if draft.withheld.is_none() && bytes.saturating_add(size) > LIBRARY_BYTES_MAX {
                let why = format!("all skills together have more than {LIBRARY_BYTES_MAX} bytes");
                draft.withheld = Some(why);
                only_its_own(draft);
            }
            bytes = bytes.saturating_add(draft.files.values().sum());
        }
        self.library.skills = drafts.into_iter().map(|draft| Arc::new(self.skill(draft))).collect();
        // Whom the user hides from models is not told of, and the winner of a path is enough.
        let is_told = |skill: &&Skill| matches!(skill.state, SkillState::Skipped | SkillState::Untrusted);
        let skipped = catalog.all().iter().filter(is_told);
        let skipped =
            skipped.map(|skill| SkippedSkill { slug: skill.slug.clone(), why: why_not_usable(skill) });
        self.library.skipped = skipped.collect();
    }

    /// None: the skill is no longer what the catalogue says.
    fn draft<'c>(&mut self, skill: &'c Skill) -> Option<Draft<'c>> {
        let mut withheld = None;
        let bundle = Bundle::of(skill).unwrap_or_else(|error| {
            withheld = Some(error.to_string());
            Bundle::default()
        });
        let own = bundle.files.iter().find(|file| file.path == SKILL_FILE)?;
        let spot = Spot { base: &skill.base, inside: &below(&skill.inside, SKILL_FILE) };
        let own = self.held.file(&spot, own.stamp, self.now, most(BUNDLE_BYTES_MAX)).ok()?;
        // What is trusted of a project are the bytes that were hashed, and no others.
        if skill.digest != Some(Digest::of(&own.bytes)) {
            return None;
        }
        let directory = skill.slug.rsplit('/').next();
        let document = SkillDocument::read(&own.bytes, directory);
        let body = SkillDocument::body(std::str::from_utf8(&own.bytes).ok()?).to_owned();
        let mut files = BTreeMap::new();
        for file in bundle.files {
            let uri = address_of(&skill.slug, &file.path);
            files.insert(uri.clone(), file.bytes);
            self.sources.entry(uri).or_insert_with(|| Ours {
                base: Arc::clone(&skill.base),
                inside: below(&skill.inside, &file.path),
                stamp: file.stamp,
                most: most(BUNDLE_BYTES_MAX),
            });
        }
        for (path, why) in bundle.left_out {
            self.warnings.push(format!("of the skill `{}` the file `{path}` is left out: {why}", skill.slug));
        }
        let mut draft = Draft {
            skill,
            document,
            own,
            body,
            references: Vec::new(),
            files,
            copies: BTreeMap::new(),
            withheld: withheld.or(bundle.excess),
        };
        self.references(&mut draft);
        draft.withheld = draft.withheld.take().or_else(|| refused(&draft));
        Some(draft)
    }

    fn references(&mut self, draft: &mut Draft<'_>) {
        let skill = draft.skill;
        for reference in self.shared.of(skill) {
            let stem = Path::new(&reference.declared).file_stem().and_then(|stem| stem.to_str());
            let mut declared =
                DeclaredReference { label: stem.unwrap_or_default().to_owned(), path: None, copy: None };
            if let Ok(file) = &reference.file
                && let Some(path) = file.to_str()
                && let Some(meta) = self.shared.meta(file)
            {
                let (stamp, size) = (Stamp::of(meta), meta.len());
                declared.path = Some(path.to_owned());
                self.library.references.entry(path.to_owned()).or_insert_with(|| stamp.state());
                self.citing.entry(path.to_owned()).or_insert_with(|| skill.clone());
                let place = place_of(skill, file).filter(|_| size <= REFERENCE_MAX as u64);
                if let (Some(copy), Some((base, inside))) = (&reference.copy, place) {
                    let uri = address_of(&skill.slug, copy);
                    if draft.copies.contains_key(&uri) {
                        // One file, declared twice.
                    } else if draft.files.contains_key(&uri) {
                        let why = format!("it has a file of its own where a shared one belongs: `{copy}`");
                        draft.withheld.get_or_insert(why);
                    } else {
                        draft.copies.insert(uri.clone(), size);
                        self.sources.insert(
                            uri.clone(),
                            Ours { base: base.into(), inside, stamp, most: REFERENCE_MAX },
                        );
                        declared.copy = Some(uri);
                    }
                }
            }
            draft.references.push(declared);
        }
        draft.files.extend(draft.copies.clone());
    }

    fn skill(&mut self, mut draft: Draft<'_>) -> LibrarySkill {
        let uri = address(&draft.skill.slug);
        let addresses: Vec<String> = draft.files.keys().cloned().collect();
        let mut files = Vec::with_capacity(addresses.len());
        for address in addresses {
            match self.file(&address, &uri, &draft.own) {
                Ok(()) => files.push(address),
                Err(why) => {
                    // A list that leaves a file out would be another bundle than the skill.
                    draft.withheld.get_or_insert(why);
                }
            }
        }
        let Draft { skill, document, own, body, references, withheld, .. } = draft;
        if let Some(why) = &withheld {
            self.warnings.push(format!("the skill `{}` is not shown to hosts: {why}", skill.slug));
        }
        let frontmatter = document.frontmatter().unwrap_or_default();
        let text = |key: &str| frontmatter.get(key).and_then(|value| value.as_str()).map(str::to_owned);
        LibrarySkill {
            slug: skill.slug.clone(),
            name: text("name").unwrap_or_else(|| skill.name().to_owned()),
            title: text("title"),
            description: text("description").unwrap_or_else(|| one_line(skill.description())),
            path: skill.file().display().to_string(),
            directory: skill.directory.display().to_string(),
            facts: own.facts,
            body: body.into(),
            is_for_the_user: document.fields.hidden_from_model,
            uri,
            frontmatter,
            files,
            references,
            withheld,
        }
    }

    /// Puts the file at `address` into the library, whoever it belongs to.
    fn file(&mut self, address: &str, skill: &str, own: &LibraryFile) -> Result<(), String> {
        if self.library.files.contains_key(address) {
            return Ok(());
        }
        let file = if address == skill {
            own.clone()
        } else {
            let lost = || "one of its files went away while it was looked at".to_owned();
            let Ours { base, inside, stamp, most } = self.sources.get(address).ok_or_else(lost)?;
            let spot = Spot { base, inside };
            let file = self.held.file(&spot, *stamp, self.now, *most);
            file.map_err(|error| format!("its file `{address}` cannot be read: {}", error.kind()))?
        };
        self.library.files.insert(address.to_owned(), file);
        Ok(())
    }
}

fn most(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

/// A skill ships the files of those in it, and their copies of shared files with them.
fn add_copies_of_nested(drafts: &mut [Draft<'_>]) {
    let copies: Vec<(String, BTreeMap<String, u64>)> =
        drafts.iter().map(|draft| (draft.skill.slug.clone(), draft.copies.clone())).collect();
    for draft in drafts {
        let prefix = format!("{}/", draft.skill.slug);
        let nested = copies.iter().filter(|(slug, _)| slug.starts_with(&prefix));
        for (uri, size) in nested.flat_map(|(_, copies)| copies) {
            draft.files.insert(uri.clone(), *size);
        }
    }
}

/// Too many files, or too large ones, are not even read.
fn withhold_excess(draft: &mut Draft<'_>) {
    let bytes: u64 = draft.files.values().sum();
    if draft.files.len() > BUNDLE_FILES_MAX {
        let why = format!("it has more than {BUNDLE_FILES_MAX} files, its shared ones included");
        draft.withheld = Some(why);
    } else if bytes > BUNDLE_BYTES_MAX {
        let why = format!("its files have more than {BUNDLE_BYTES_MAX} bytes, its shared ones included");
        draft.withheld = Some(why);
    } else {
        return;
    }
    only_its_own(draft);
}

fn only_its_own(draft: &mut Draft<'_>) {
    let own = address(&draft.skill.slug);
    draft.files.retain(|uri, _| *uri == own);
}

/// What a host would refuse in what the skill says of itself.
fn refused(draft: &Draft<'_>) -> Option<String> {
    let findings = draft.document.findings.iter().chain(&draft.skill.findings);
    if let Some(finding) = findings.into_iter().find(|finding| REFUSED.contains(&finding.code)) {
        return Some(finding.message.clone());
    }
    let Some(frontmatter) = draft.document.frontmatter() else {
        return Some("its frontmatter has no form as JSON".to_owned());
    };
    let text = |key: &str| frontmatter.get(key).and_then(|value| value.as_str()).unwrap_or_default();
    let directory = draft.skill.slug.rsplit('/').next().unwrap_or_default();
    if text("name") != directory {
        return Some(format!("its name is not that of its directory: `{directory}`"));
    }
    text("description").trim().is_empty().then(|| "it has no description".to_owned())
}

/// Every directory that a shared file lies in, so that its changes are seen too.
pub(super) fn directories_of(library: &Library) -> BTreeSet<PathBuf> {
    let paths = library.references.keys();
    paths.filter_map(|path| Path::new(path).parent().map(Path::to_path_buf)).collect()
}
