//! The bytes of a `SKILL.md`, taken apart into frontmatter and body. Fences are lines:
//! whatever a value holds, only a line that is `---` alone ends the frontmatter.

use super::flaw::{Flaw, FlawKind};

/// The most bytes between the fences. No skill in the field has half as many.
pub const FRONTMATTER_MAX: usize = 16 << 10;

const FENCE: &str = "---";

/// The two parts of a file.
#[derive(Debug)]
pub(crate) struct Parts<'b> {
    pub(crate) frontmatter: &'b str,
    /// The line of the file, from 1, on which the frontmatter begins.
    pub(crate) first_line: usize,
    /// Behind the second fence.
    pub(crate) body: &'b str,
}

/// Takes the bytes apart. Without a frontmatter there is nothing to go on with, and the
/// last flaw says why.
pub(crate) fn split<'b>(bytes: &'b [u8], flaws: &mut Vec<Flaw>) -> Option<Parts<'b>> {
    let text = match std::str::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            flaws.push(not_utf8(bytes, error.valid_up_to()));
            return None;
        }
    };
    let text = match text.strip_prefix('\u{feff}') {
        None => text,
        Some(rest) => {
            flaws.push(Flaw::new(
                FlawKind::Bom,
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
                flaws.push(Flaw::new(
                    FlawKind::FrontmatterMissing,
                    Some(lines.number.max(1)),
                    "the file does not begin with a line `---`",
                    "put `---`, `name: …`, `description: …` and `---` on its first lines",
                ));
                return None;
            }
        }
    };
    if lines.number > 1 {
        flaws.push(Flaw::new(
            FlawKind::LeadingBlankLines,
            Some(1),
            "there are blank lines before the first `---`, and most hosts do not find it then",
            "take them out",
        ));
    }
    note_white_space(opening, lines.number, flaws);
    let first_line = lines.number + 1;
    let from = lines.rest;
    while let Some(line) = lines.next() {
        let length = from.len() - lines.rest.len();
        if line.trim_end() == FENCE {
            note_white_space(line, lines.number, flaws);
            let end = from.len() - lines.rest.len() - lines.length;
            let frontmatter = from.get(..end)?;
            return is_plain(frontmatter, first_line, flaws).then_some(Parts {
                frontmatter,
                first_line,
                body: lines.rest,
            });
        }
        if length > FRONTMATTER_MAX {
            flaws.push(Flaw::new(
                FlawKind::FrontmatterTooBig,
                Some(lines.number),
                format!("there is no second `---` within {FRONTMATTER_MAX} bytes of the first one"),
                "close the frontmatter behind its last field, and put what is long below it",
            ));
            return None;
        }
    }
    flaws.push(Flaw::new(
        FlawKind::FrontmatterUnclosed,
        Some(lines.number),
        "there is no second `---`",
        "put a line `---` behind the last field",
    ));
    None
}

/// The body of a file, for whoever knows that it has one.
pub(crate) fn body(text: &str) -> &str {
    split(text.as_bytes(), &mut Vec::new()).map_or("", |parts| parts.body)
}

fn not_utf8(bytes: &[u8], at: usize) -> Flaw {
    let wide = matches!(bytes, [0xff, 0xfe, ..] | [0xfe, 0xff, ..]);
    let line = bytes.iter().take(at).filter(|byte| **byte == b'\n').count() + 1;
    let message = if wide { "the file is UTF-16".to_owned() } else { format!("byte {at} is not UTF-8") };
    Flaw::new(FlawKind::NotUtf8, Some(line), message, "save the file as UTF-8")
}

fn note_white_space(fence: &str, line: usize, flaws: &mut Vec<Flaw>) {
    if fence != FENCE {
        let flaw = Flaw::new(
            FlawKind::FenceWhitespace,
            Some(line),
            "there is white space behind `---`, and some hosts do not find it then",
            "take it out",
        );
        flaws.push(flaw.fixed_by(FENCE));
    }
}

/// No control characters but those of white space.
fn is_plain(frontmatter: &str, first_line: usize, flaws: &mut Vec<Flaw>) -> bool {
    let odd = |c: char| c.is_control() && !matches!(c, '\t' | '\n' | '\r' | '\u{85}');
    let Some(at) = frontmatter.find(odd) else { return true };
    let before = frontmatter.get(..at).unwrap_or_default();
    let code = frontmatter.get(at..).and_then(|rest| rest.chars().next()).map_or(0, u32::from);
    flaws.push(Flaw::new(
        FlawKind::ControlCharacter,
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

/// A text within a list: on one line, without what hides or turns other text.
pub(crate) fn one_line(text: &str) -> String {
    let hidden = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    let words: Vec<&str> = text.split_whitespace().collect();
    words.join(" ").chars().filter(|c| !c.is_control() && !hidden(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::{FRONTMATTER_MAX, body, split};
    use crate::frontmatter::flaw::FlawKind;

    fn parts(text: &str) -> Result<(String, usize, String), (FlawKind, Option<usize>)> {
        let mut flaws = Vec::new();
        match split(text.as_bytes(), &mut flaws) {
            Some(parts) => Ok((parts.frontmatter.to_owned(), parts.first_line, parts.body.to_owned())),
            None => Err(flaws.last().map(|last| (last.kind, last.line)).unwrap()),
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
        assert_eq!(parts(""), Err((FlawKind::FrontmatterMissing, Some(1))));
        assert_eq!(parts("\n# x\n---\n"), Err((FlawKind::FrontmatterMissing, Some(2))));
        assert_eq!(parts("---\na: b\n"), Err((FlawKind::FrontmatterUnclosed, Some(2))));
        assert_eq!(parts("---\na: b\u{7}\n---\n"), Err((FlawKind::ControlCharacter, Some(2))));
    }

    #[test]
    fn the_frontmatter_has_a_limit() {
        let front = |bytes: usize| format!("---\n{}\n---\n", "a".repeat(bytes - 1));
        assert!(parts(&front(FRONTMATTER_MAX)).is_ok());
        assert_eq!(parts(&front(FRONTMATTER_MAX + 1)), Err((FlawKind::FrontmatterTooBig, Some(2))));
        let endless = format!("---\n{}", "a: b\n".repeat(FRONTMATTER_MAX));
        assert_eq!(parts(&endless).unwrap_err().0, FlawKind::FrontmatterTooBig);
    }
}
