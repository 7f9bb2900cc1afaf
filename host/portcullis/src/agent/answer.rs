//! What a hook process leaves behind: two texts and a number.

use portcullis_model::product::TITLE;
use serde_json::Value;

/// Agents cut what a hook says at 10,000 characters, some of them in the middle
/// of the JSON. This stays well below, escapes included.
const REASON_MAX: usize = 4_500;

/// What the hook process writes, and how it ends. It must write nothing else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HookAnswer {
    /// All of its standard output.
    pub stdout: String,
    /// All of its standard error.
    pub stderr: String,
    /// Its exit code.
    pub exit_code: u8,
}

impl HookAnswer {
    /// No output at all, which agents take for having no opinion.
    pub(super) const fn silent() -> Self {
        Self { stdout: String::new(), stderr: String::new(), exit_code: 0 }
    }

    /// Exit code 2, which blocks, with the reason on standard error. The text is
    /// never empty: some agents run the call when it is.
    pub(super) fn exit_2(reason: &str) -> Self {
        Self { stdout: String::new(), stderr: format!("{}\n", presentable(reason)), exit_code: 2 }
    }

    /// One JSON document on standard output, and exit code 0.
    pub(super) fn json(value: &Value) -> Self {
        Self { stdout: format!("{value}\n"), stderr: String::new(), exit_code: 0 }
    }
}

/// `reason` without characters that a terminal obeys, cut to a length that every
/// agent passes on whole, and never empty.
pub(super) fn presentable(reason: &str) -> String {
    let mut text = String::new();
    for c in reason.trim().chars().filter(|c| !obeyed(*c)) {
        if text.len() + c.len_utf8() > REASON_MAX {
            text.push('…');
            break;
        }
        text.push(c);
    }
    if text.trim().is_empty() { format!("Blocked by {TITLE}, which gave no reason.") } else { text }
}

/// The reason for a block where the user would have had to be asked.
pub(super) fn needs_the_user(reason: &str) -> String {
    let reason = reason.trim();
    let space = if reason.is_empty() { "" } else { " " };
    format!(
        "{reason}{space}This needs the user's consent, and {TITLE} cannot ask for it here. Ask the user to run it themselves."
    )
}

fn obeyed(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::{REASON_MAX, needs_the_user, presentable};

    #[test]
    fn a_long_reason_is_cut_between_characters() {
        let text = presentable(&"ü".repeat(REASON_MAX));
        assert!(text.len() <= REASON_MAX + '…'.len_utf8() && text.ends_with("ü…"));
        assert_eq!(presentable(&"x".repeat(REASON_MAX)).len(), REASON_MAX);
    }

    #[test]
    fn what_a_terminal_obeys_is_left_out() {
        assert_eq!(presentable("a\u{1b}[2Jb\r\u{7}\u{202e}c\n\td\u{9b}"), "a[2Jbc\n\td");
    }

    #[test]
    fn the_way_out_is_told_when_the_user_would_have_to_be_asked() {
        assert!(needs_the_user("It pushes.").starts_with("It pushes. This needs the user's consent"));
        assert!(needs_the_user(" ").starts_with("This needs"));
    }
}
