//! Small readings of texts that stand in the arguments.

/// `text` for a message: short, and with everything that is not ASCII escaped,
/// so that look-alikes can be told apart.
pub(super) fn shown(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut shown = String::new();
    for c in text.chars().take(SHOWN) {
        if c == ' ' || c.is_ascii_graphic() {
            shown.push(c);
        } else {
            shown.extend(c.escape_unicode());
        }
    }
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}

/// A directory that begins with `~`, below `home`.
pub(super) fn below_home(text: &str, home: &str) -> Option<String> {
    let rest = text.trim().strip_prefix('~')?;
    (rest.is_empty() || rest.starts_with('/')).then(|| format!("{home}{rest}"))
}

/// The directory that a pattern starts from: what stands before its first
/// wildcard, up to a separator.
pub(super) fn literal_part(pattern: &str) -> &str {
    let Some(wildcard) = pattern.find(['*', '?', '[', '{']) else { return pattern };
    let before = pattern.get(..wildcard).unwrap_or_default();
    let end = before.rfind(['/', '\\']).map_or(0, |at| at.saturating_add(1));
    before.get(..end).filter(|part| !part.is_empty()).unwrap_or(".")
}

/// The URLs in a text that a person would read.
pub(super) fn urls(text: &str) -> impl Iterator<Item = &str> {
    text.split(is_no_url).filter_map(url_in)
}

fn is_no_url(c: char) -> bool {
    c.is_whitespace() || matches!(c, '"' | '<' | '>' | '`' | '\'')
}

/// The URL that begins in `word`, if any.
fn url_in(word: &str) -> Option<&str> {
    let at = ["http://", "https://", "file://"]
        .iter()
        .filter_map(|scheme| word.to_ascii_lowercase().find(scheme))
        .min()?;
    word.get(at..).map(|url| url.trim_end_matches([')', ']', '}', ',', ';', '.']))
}

#[cfg(test)]
mod tests {
    use super::{below_home, literal_part, urls};

    #[test]
    fn urls_are_found_in_a_prompt() {
        let found: Vec<&str> =
            urls("see <https://a.test/x>, (HTTP://b.test). Not ftp://c or https").collect();
        assert_eq!(found, ["https://a.test/x", "HTTP://b.test"]);
    }

    #[test]
    fn a_pattern_starts_from_its_literal_part() {
        for (pattern, part) in [("/etc/*.conf", "/etc/"), ("../x", "../x"), ("../{a,b}/c", "../"), ("*", ".")]
        {
            assert_eq!(literal_part(pattern), part);
        }
    }

    #[test]
    fn home_is_expanded_only_where_a_shell_would() {
        assert_eq!(below_home("~/x", "/h").as_deref(), Some("/h/x"));
        assert_eq!(below_home("~", "/h").as_deref(), Some("/h"));
        assert_eq!(below_home("~u/x", "/h"), None);
    }
}
