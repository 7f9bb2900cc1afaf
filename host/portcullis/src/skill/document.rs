//! One `SKILL.md`: what it says, and the two verdicts.

use std::io;

use portcullis_runtime::Digest;
use serde_json::{Map, Value};

use super::code::{Finding, Load, SkillCode, is_conforming};
use super::field::{self, Fields, Said};
use crate::frontmatter;
use crate::frontmatter::{Pair, map_json};

/// The name of the file that makes a directory a skill.
pub const SKILL_FILE: &str = "SKILL.md";

/// The most bytes of a `SKILL.md`.
pub const SKILL_FILE_MAX: usize = 1 << 20;

/// One `SKILL.md`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillDocument {
    /// Its name; none when it says none that could be used.
    pub name: Option<String>,
    /// What it is for and when to use it; none as with the name.
    pub description: Option<String>,
    /// What else it says.
    pub fields: Fields,
    /// What is wrong with it, or odd, by line.
    pub findings: Vec<Finding>,
    /// Of its bytes.
    pub digest: Option<Digest>,
    frontmatter: Vec<Pair>,
}

impl SkillDocument {
    /// What these bytes say, in a directory that is called `directory`. Any bytes give a
    /// document, and none takes long.
    #[must_use]
    pub fn read(bytes: &[u8], directory: Option<&str>) -> Self {
        let mut findings = Vec::new();
        let digest = Some(Digest::of(bytes));
        let pairs = if bytes.len() > SKILL_FILE_MAX {
            findings.push(Finding::new(
                SkillCode::FileTooBig,
                None,
                format!("the file has {} bytes, and {SKILL_FILE_MAX} is the most", bytes.len()),
                "put what is long into files beside it",
            ));
            None
        } else {
            fields(bytes, &mut findings)
        };
        let Some(pairs) = pairs else { return Self { findings, digest, ..Self::empty() } };
        let Said { name, description, fields } = field::read(&pairs, directory, &mut findings);
        findings.sort_by_key(|finding| finding.line);
        Self { name, description, fields, findings, digest, frontmatter: pairs }
    }

    /// One that could not be read at all.
    fn unread(finding: Finding) -> Self {
        Self { findings: vec![finding], ..Self::empty() }
    }

    /// One whose file could not be read for this reason.
    #[must_use]
    pub fn unreadable(error: &io::Error) -> Self {
        let code = if error.kind() == io::ErrorKind::InvalidInput {
            SkillCode::FileKind
        } else {
            SkillCode::FileUnreadable
        };
        let message = format!("the file cannot be read: {error}");
        Self::unread(Finding::new(code, None, message, "mend its permissions, or put a plain file there"))
    }

    /// One whose file is called `name`.
    #[must_use]
    pub fn misnamed(name: &str) -> Self {
        let finding = Finding::new(
            SkillCode::FilenameCase,
            None,
            format!("the file is called `{name}`, and where case counts nobody finds it"),
            format!("rename it to `{SKILL_FILE}`"),
        );
        Self::unread(finding)
    }

    fn empty() -> Self {
        Self {
            name: None,
            description: None,
            fields: Fields::default(),
            findings: Vec::new(),
            digest: None,
            frontmatter: Vec::new(),
        }
    }

    /// Without the fields as they were written, for a list of many.
    #[must_use]
    pub(super) fn without_frontmatter(self) -> Self {
        Self { frontmatter: Vec::new(), ..self }
    }

    /// Whether it can be loaded.
    #[must_use]
    pub fn load(&self) -> Load {
        Load::of(&self.findings)
    }

    /// Whether the specification allows it.
    #[must_use]
    pub fn is_conforming(&self) -> bool {
        is_conforming(&self.findings)
    }

    /// All of its fields as JSON; none when they have no such form.
    #[must_use]
    pub fn frontmatter(&self) -> Option<Map<String, Value>> {
        map_json(&self.frontmatter)
    }

    /// What is below the frontmatter of a file.
    #[must_use]
    pub fn body(text: &str) -> &str {
        frontmatter::body(text)
    }
}

/// The fields between the fences; what is wrong with them are findings.
fn fields(bytes: &[u8], findings: &mut Vec<Finding>) -> Option<Vec<Pair>> {
    let mut flaws = Vec::new();
    let pairs = frontmatter::split(bytes, &mut flaws).and_then(|parts| frontmatter::read(&parts, &mut flaws));
    findings.extend(flaws.into_iter().map(Finding::from));
    pairs
}
