//! Looking at skills for whoever writes them: every `SKILL.md` below a path, whatever
//! wins and whatever is trusted.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::code::{Finding, Load, is_conforming};
use super::document::{SKILL_FILE, SKILL_FILE_MAX, SkillDocument};
use super::problem::{Problem, ScanCode};
use super::root::{SkillOrigin, SkillRoot};
use super::scan::Scanner;
use super::walk::ScanLimits;
use crate::beneath;

/// One `SKILL.md` that was looked at.
#[derive(Debug, Clone)]
pub struct Checked {
    /// The file.
    pub file: PathBuf,
    /// What it says.
    pub document: Arc<SkillDocument>,
    /// Everything that is said of it.
    pub findings: Vec<Finding>,
}

impl Checked {
    fn of(file: PathBuf, document: SkillDocument) -> Self {
        let findings = document.findings.clone();
        Self { file, document: Arc::new(document), findings }
    }

    /// Whether the specification allows it.
    #[must_use]
    pub fn is_conforming(&self) -> bool {
        is_conforming(&self.findings)
    }

    /// Whether it can be loaded.
    #[must_use]
    pub fn load(&self) -> Load {
        Load::of(&self.findings)
    }
}

/// Looks at the file `path`, or at every skill in the directory `path` and below it.
///
/// # Errors
/// When nothing is there.
pub fn check(path: &Path) -> io::Result<(Vec<Checked>, Vec<Problem>)> {
    if !fs::metadata(path)?.is_dir() {
        return Ok((vec![file(path)], Vec::new()));
    }
    let mut checked = Vec::new();
    let own = beneath::list(path, "")?.0.into_iter().map(|(name, _)| name);
    let own: Vec<String> = own.filter(|name| name.eq_ignore_ascii_case(SKILL_FILE)).collect();
    let name = own.iter().find(|name| *name == SKILL_FILE).or(own.first());
    checked.extend(name.map(|name| file(&path.join(name))));
    let root = SkillRoot::new(path.to_owned(), SkillOrigin::Named);
    let catalog = Scanner::new(vec![root], ScanLimits::default()).look();
    for skill in catalog.all() {
        let Some(document) = &skill.document else { continue };
        checked.push(Checked {
            file: skill.file(),
            document: Arc::clone(document),
            findings: skill.all_findings().cloned().collect(),
        });
    }
    let problems = catalog.problems.iter().filter(|problem| problem.code != ScanCode::RootIsSkill);
    Ok((checked, problems.cloned().collect()))
}

fn file(path: &Path) -> Checked {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    if name != SKILL_FILE && name.eq_ignore_ascii_case(SKILL_FILE) {
        return Checked::of(path.to_owned(), SkillDocument::misnamed(name));
    }
    // A path such as `.` does not say what its directory is called.
    let full = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (folder, name) = (full.parent().unwrap_or(Path::new("/")), full.file_name());
    let read =
        beneath::read_file(folder, name.and_then(|name| name.to_str()).unwrap_or_default(), SKILL_FILE_MAX);
    let document = match read {
        Ok((bytes, _)) => SkillDocument::read(&bytes, folder.file_name().and_then(|name| name.to_str())),
        Err(error) => SkillDocument::unreadable(&error),
    };
    Checked::of(path.to_owned(), document)
}
