//! Skills: found, looked at, listed and loaded. Nothing that is found is ever run.
//!
//! Each skill gets two verdicts. One says whether the specification allows it; the other
//! whether it can be loaded, which is what a person expects of it: most skills in the
//! field break a rule, and hardly any is useless for that.

mod code;
mod document;
mod field;
mod frontmatter;
mod glob;
#[cfg(test)]
mod tests;
mod text;
mod yaml;

pub use code::{Effect, Finding, Load, SkillCode};
pub use document::{SKILL_FILE, SKILL_FILE_MAX, SkillDocument};
pub use field::Fields;
pub use glob::Selection;
pub use text::FRONTMATTER_MAX;
