//! Skills: found, looked at, listed and loaded. Nothing that is found is ever run.
//!
//! Each skill gets two verdicts. One says whether the specification allows it; the other
//! whether it can be loaded, which is what a person expects of it: most skills in the
//! field break a rule, and hardly any is useless for that.

mod address;
mod bundle;
mod catalog;
mod check;
mod code;
mod document;
mod excluded;
mod field;
mod folder;
mod glob;
mod library;
mod load;
mod matcher;
mod name;
mod offer;
mod problem;
mod provider;
mod reference;
mod root;
mod scan;
#[cfg(test)]
mod tests;
mod walk;

pub use crate::frontmatter::FRONTMATTER_MAX;
pub use address::{address, address_of};
pub use bundle::{BUNDLE_BYTES_MAX, BUNDLE_FILES_MAX, Bundle, BundleError, BundleFile};
pub use catalog::{Catalog, Skill, SkillState, UnknownSkill};
pub use check::{Checked, check};
pub use code::{Effect, Finding, Load, SkillCode};
pub use document::{SKILL_FILE, SKILL_FILE_MAX, SkillDocument};
pub use field::Fields;
pub use glob::Selection;
pub use library::{
    LIBRARY_BYTES_MAX, LibraryPlaces, LocalLibrary, PROMPT_BYTES_MAX, PROMPTS_MAX, PromptDirectory,
    PromptPlaces, QUIET,
};
pub use load::{LoadError, LoadedSkill, SkillLoader};
pub use matcher::{MATCHES_MAX, SkillMatcher, activate};
pub use offer::{SKILL_TOOL, answer, tool};
pub use problem::{Problem, ScanCode};
pub use provider::{LOCAL_SKILLS, LocalSkills, capabilities};
pub use reference::{REFERENCE_MAX, Reference, read_reference, references};
pub use root::{Links, SkillOrigin, SkillPlaces, SkillRoot, SkillTrust};
pub use scan::Scanner;
pub use walk::{ScanLimits, Work};
