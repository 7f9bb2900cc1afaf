//! The name of a skill.

use super::code::{Finding, SkillCode, shown};
use crate::frontmatter::Node;

const NAME_MAX: usize = 64;

/// Reads the name of the skill in the directory `directory`.
pub(super) fn read(value: &Node, directory: Option<&str>, findings: &mut Vec<Finding>) -> Option<String> {
    let line = Some(value.line);
    let Some(scalar) = value.scalar() else {
        let finding = Finding::new(SkillCode::NameNotString, line, "the name is no text", "write one name");
        findings.push(finding.skip());
        return None;
    };
    let name = scalar.text.trim();
    if name.is_empty() || scalar.is_null() {
        findings.push(Finding::new(SkillCode::NameEmpty, line, "the name is empty", "write it"));
        return None;
    }
    // A name like this is never loaded: somebody, somewhere, joins it to a path.
    if name.contains(['/', '\\', '\0']) || matches!(name, "." | "..") {
        let finding = Finding::new(
            SkillCode::NameBadChars,
            line,
            format!("the name `{}` is a path", shown(name)),
            "use lower case letters, digits and hyphens",
        );
        findings.push(finding.skip());
        return None;
    }
    let fix = |better: &str| is_conforming(better).then(|| format!("name: {better}"));
    if !scalar.is_string() {
        let finding = Finding::new(
            SkillCode::NameNotString,
            line,
            format!("`{name}` is no text to some readers"),
            "put it in quotes",
        );
        findings.push(finding.fixed_by(format!("name: '{name}'")));
    }
    for (code, what) in wrong_with(name) {
        let finding = Finding::new(
            code,
            line,
            format!("the name `{}` {what}", shown(name)),
            "use 1 to 64 lower case letters, digits and single hyphens between them",
        );
        findings.push(Finding { fix: fix(&better(name)), ..finding });
    }
    if let Some(directory) = directory.filter(|own| *own != name) {
        let finding = Finding::new(
            SkillCode::NameDirMismatch,
            line,
            format!("the name is `{}`, and the directory `{}`", shown(name), shown(directory)),
            "call both alike",
        );
        findings.push(Finding { fix: fix(directory), ..finding });
    }
    Some(name.to_owned())
}

/// A name that the specification allows.
fn is_conforming(name: &str) -> bool {
    !name.is_empty() && wrong_with(name).is_empty()
}

fn wrong_with(name: &str) -> Vec<(SkillCode, String)> {
    let mut wrong = Vec::new();
    let length = name.chars().count();
    if length > NAME_MAX {
        wrong.push((SkillCode::NameTooLong, format!("has {length} characters, and {NAME_MAX} is the most")));
    }
    if name.chars().any(char::is_uppercase) {
        wrong.push((SkillCode::NameNotLowercase, "has upper case letters".to_owned()));
    }
    if name.chars().any(|c| !c.is_alphanumeric() && c != '-') {
        wrong.push((
            SkillCode::NameBadChars,
            "has other characters than letters, digits and hyphens".to_owned(),
        ));
    }
    if name.chars().any(|c| c.is_alphanumeric() && !c.is_ascii()) {
        wrong.push((SkillCode::NameNotAscii, "has letters that are not a to z".to_owned()));
    }
    if name.starts_with('-') || name.ends_with('-') || name.contains("--") {
        wrong.push((SkillCode::NameHyphens, "has a hyphen at an end, or two together".to_owned()));
    }
    wrong
}

/// The nearest name that is allowed, if it is one.
fn better(name: &str) -> String {
    let lower = name.to_lowercase();
    let parts = lower.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty());
    parts.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::is_conforming;

    #[test]
    fn a_name_is_lower_case_letters_digits_and_single_hyphens() {
        let long = "a".repeat(64);
        for good in ["a", "a-b", "log-trim", "8004", "0-x", long.as_str()] {
            assert!(is_conforming(good), "{good}");
        }
        let too_long = "a".repeat(65);
        for bad in ["", "-a", "a-", "a--b", "A", "a_b", "a b", "ä", "日本", "a.b", "a:b", "a/b", &too_long]
        {
            assert!(!is_conforming(bad), "{bad}");
        }
    }
}
