//! The bytes of a `SKILL.md`, taken apart into frontmatter and body. Fences are lines:
//! whatever a value holds, only a line that is `---` alone ends the frontmatter.

use super::code::{Finding, SkillCode};

/// The most bytes between the fences. No skill in the field has half as many.
pub const FRONTMATTER_MAX: usize = 16 << 10;

const FENCE: &str = "---";

/// The two parts of a file.
#[derive(Debug)]
pub(super) struct Parts<'b> {
    pub(super) frontmatter: &'b str,
    /// The line of the file, from 1, on which the frontmatter begins.
    pub(super) first_line: usize,
    /// Behind the second fence.
    pub(super) body: &'b str,
}

/// Takes the bytes apart. Without a frontmatter there is nothing to go on with, and the
/// last finding says why.
pub(super) fn split<'b>(bytes: &'b [u8], findings: &mut Vec<Finding>) -> Option<Parts<'b>> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            findings.push(not_utf8(bytes, error.valid_up_to()));
            return None;
        }
    };
    let text = match text.strip_prefix('\u{feff}') {
        None => text,
        Some(rest) => {
            findings.push(Finding::new(
                SkillCode::Bom,
                Some(1),
                "the file begins with a byte order mark, which some hosts stumble over",
                "save it as UTF-8 without one",
            ));
            rest
        }
    };
    let mut lines = Lines { rest: text, number: 0, length: 0 };
    let opening = loop {
        match lines.next() {
            Some(line) if line.trim().is_empty() => {}
            Some(line) if line.trim_end() == FENCE => break line,
            Some(_) | None => {
                findings.push(Finding::new(
                    SkillCode::FrontmatterMissing,
                    Some(lines.number.max(1)),
                    "the file does not begin with a line `---`",
                    "put `---`, `name: …`, `description: …` and `---` on its first lines",
                ));
                return None;
            }
        }
    };
    if lines.number > 1 {
        findings.push(Finding::new(
            SkillCode::LeadingBlankLines,
            Some(1),
            "there are blank lines before the first `---`, and most hosts do not find it then",
            "take them out",
        ));
    }
    note_white_space(opening, lines.number, findings);
    let first_line = lines.number + 1;
    let from = lines.rest;
    while let Some(line) = lines.next() {
        let length = from.len() - lines.rest.len();
        if line.trim_end() == FENCE {
            note_white_space(line, lines.number, findings);
            let end = from.len() - lines.rest.len() - lines.length;
            let frontmatter = from.get(..end)?;
            return is_plain(frontmatter, first_line, findings).then_some(Parts {
                frontmatter,
                first_line,
                body: lines.rest,
            });
        }
        if length > FRONTMATTER_MAX {
            findings.push(Finding::new(
                SkillCode::FrontmatterTooBig,
                Some(lines.number),
                format!("there is no second `---` within {FRONTMATTER_MAX} bytes of the first one"),
                "close the frontmatter behind its last field, and put what is long below it",
            ));
            return None;
        }
    }
    findings.push(Finding::new(
        SkillCode::FrontmatterUnclosed,
        Some(lines.number),
        "there is no second `---`",
        "put a line `---` behind the last field",
    ));
    None
}

/// The body of a file, for whoever knows that it has one.
pub(super) fn body(text: &str) -> &str {
    split(text.as_bytes(), &mut Vec::new()).map_or("", |parts| parts.body)
}

fn not_utf8(bytes: &[u8], at: usize) -> Finding {
    let wide = matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
    let line = bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
    let message = if wide { "the file is UTF-16".to_owned() } else { format!("byte {at} is not UTF-8") };
    Finding::new(SkillCode::NotUtf8, Some(line), message, "save the file as UTF-8")
}

fn note_white_space(fence: &str, line: usize, findings: &mut Vec<Finding>) {
    if fence != FENCE {
        let finding = Finding::new(
            SkillCode::FenceWhitespace,
            Some(line),
            "there is white space behind `---`, and some hosts do not find it then",
            "take it out",
        );
        findings.push(finding.fixed_by(FENCE));
    }
}

/// No control characters but those of white space.
fn is_plain(frontmatter: &str, first_line: usize, findings: &mut Vec<Finding>) -> bool {
    let odd = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    let Some(at) = frontmatter.find(odd) else { return true };
    let before = frontmatter.get(..at).unwrap_or_default();
    let code = frontmatter.get(at..).and_then(|rest| rest.chars().next()).map_or(0, u32::from);
    findings.push(Finding::new(
        SkillCode::ControlCharacter,
        Some(first_line + before.matches('\n').count()),
        format!("the frontmatter holds the control character U+{code:04X}"),
        "take it out",
    ));
    false
}

/// Lines without their ends, which are `\n`, `\r\n` or `\r`.
struct Lines<'t> {
    rest: &'t str,
    /// How many there were.
    number: usize,
    /// The bytes of the last one, its end included.
    length: usize,
}

impl<'t> Lines<'t> {
    fn next(&mut self) -> Option<&'t str> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.find('\n').map_or(self.rest.len(), |at| at + 1);
        let (line, rest) = self.rest.split_at_checked(end)?;
        (self.rest, self.length) = (rest, end);
        self.number += 1;
        let line = line.strip_suffix('\n').unwrap_or(line);
        Some(line.strip_suffix('\r').unwrap_or(line))
    }
}

#[cfg(test)]
mod tests {
    use super::{FRONTMATTER_MAX, body, split};
    use crate::skill::code::SkillCode;

    fn parts(text: &str) -> Result<(String, usize, String), (SkillCode, Option<usize>)> {
        let mut findings = Vec::new();
        match split(text.as_bytes(), &mut findings) {
            Some(parts) => Ok((parts.frontmatter.to_owned(), parts.first_line, parts.body.to_owned())),
            None => Err(findings.last().map(|last| (last.code, last.line)).unwrap()),
        }
    }

    #[test]
    fn only_a_line_that_is_a_fence_alone_ends_the_frontmatter() {
        let own = |front: &str, line, body: &str| Ok((front.to_owned(), line, body.to_owned()));
        assert_eq!(parts("---\na: b --- c\n---\nx\n---\ny"), own("a: b --- c\n", 2, "x\n---\ny"));
        assert_eq!(parts("---\na: |\n  ---\n----\n---"), own("a: |\n  ---\n----\n", 2, ""));
        assert_eq!(parts("---\r\na: b\r\n---\r\nx\r\n"), own("a: b\r\n", 2, "x\r\n"));
        assert_eq!(parts("\u{feff}\n \n--- \n---\t\n"), own("", 4, ""));
        assert_eq!(body("---\na: b\n---\n\nx"), "\nx");
        assert_eq!(body("no skill"), "");
    }

    #[test]
    fn a_file_without_a_frontmatter_says_why_and_where() {
        assert_eq!(parts(""), Err((SkillCode::FrontmatterMissing, Some(1))));
        assert_eq!(parts("\n# x\n---\n"), Err((SkillCode::FrontmatterMissing, Some(2))));
        assert_eq!(parts("---\na: b\n"), Err((SkillCode::FrontmatterUnclosed, Some(2))));
        assert_eq!(parts("---\na: b\u{7}\n---\n"), Err((SkillCode::ControlCharacter, Some(2))));
    }

    #[test]
    fn the_frontmatter_has_a_limit() {
        let front = |bytes: usize| format!("---\n{}\n---\n", "a".repeat(bytes - 1));
        assert!(parts(&front(FRONTMATTER_MAX)).is_ok());
        assert_eq!(parts(&front(FRONTMATTER_MAX + 1)), Err((SkillCode::FrontmatterTooBig, Some(2))));
        let endless = format!("---\n{}", "a: b\n".repeat(FRONTMATTER_MAX));
        assert_eq!(parts(&endless).unwrap_err().0, SkillCode::FrontmatterTooBig);
    }
}
