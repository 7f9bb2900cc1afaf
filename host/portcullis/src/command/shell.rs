//! Lines of a template that are meant for a shell. Nothing here runs them; whoever does
//! must not run what somebody typed as an argument, so each argument is one word there.

/// Which lines of a template are meant for a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Region {
    /// `` !`…` ``
    Inline,
    /// From a line ` ```! ` to the next fence.
    Block,
    /// `!{…}`
    Braces,
}

/// Where in a line of a shell something stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Quote {
    #[default]
    None,
    Single,
    Double,
}

impl Quote {
    /// Where the text behind `text` stands, which begins here.
    pub(super) fn behind(self, text: &str) -> Self {
        let (mut quote, mut escaped) = (self, false);
        for c in text.chars() {
            if std::mem::take(&mut escaped) {
                continue;
            }
            quote = match (quote, c) {
                (Self::None, '\'') => Self::Single,
                (Self::None, '"') => Self::Double,
                (Self::Single, '\'') | (Self::Double, '"') => Self::None,
                (Self::None | Self::Double, '\\') => {
                    escaped = true;
                    quote
                }
                (other, _) => other,
            };
        }
        quote
    }
}

/// `value` as a part of one word of a shell; none where that cannot be written.
pub(super) fn word(value: &str, quote: Quote, region: Region) -> Option<String> {
    // Whoever reads the line would see its end within the value.
    let ends_early = match region {
        Region::Inline => value.contains(['`', '\n', '\r']),
        Region::Block => value.contains("```") || value.contains(['\n', '\r']),
        Region::Braces => value.contains(['{', '}', '\n', '\r']),
    };
    if ends_early || value.contains('\0') {
        return None;
    }
    Some(match quote {
        Quote::None if is_plain(value) => value.to_owned(),
        Quote::None => format!("'{}'", value.replace('\'', "'\\''")),
        Quote::Single => value.replace('\'', "'\\''"),
        Quote::Double => {
            let mut escaped = String::with_capacity(value.len());
            for c in value.chars() {
                if matches!(c, '"' | '\\' | '$' | '`') {
                    escaped.push('\\');
                }
                escaped.push(c);
            }
            // A `!` within double quotes asks an interactive shell for its history.
            escaped.replace('!', "\"'!'\"")
        }
    })
}

fn is_plain(value: &str) -> bool {
    !value.is_empty()
        && !value.starts_with(['-', '~'])
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-./:@%+,".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::{Quote, Region, word};

    #[test]
    fn a_value_is_a_part_of_one_word_wherever_it_stands() {
        for (before, value, expected) in [
            ("git log --grep ", "x", "x"),
            ("git log --grep ", "don't; touch x", r"'don'\''t; touch x'"),
            ("git log --grep ", "$(id)", "'$(id)'"),
            ("git log --grep ", "", "''"),
            ("git log ", "--output=x", "'--output=x'"),
            ("git log --grep \"", "$(id) \"`", "\\$(id) \\\"\\`"),
            ("git log --grep \"a\\\"", "$x", "\\$x"),
            ("echo '", "it's", r"it'\''s"),
            ("echo \"wow ", "a!b", "wow a\"'!'\"b"),
        ] {
            let quote = Quote::default().behind(before);
            let own = word(value, quote, Region::Block).unwrap();
            assert_eq!(own, expected.strip_prefix("wow ").unwrap_or(expected), "{before}");
        }
    }

    #[test]
    fn a_value_that_would_end_the_line_is_none() {
        assert_eq!(word("a`b", Quote::None, Region::Inline), None);
        assert_eq!(word("a}b", Quote::None, Region::Braces), None);
        assert_eq!(word("```", Quote::Single, Region::Block), None);
        for region in [Region::Inline, Region::Block, Region::Braces] {
            assert_eq!(word("a\nb", Quote::None, region), None);
            assert_eq!(word("a\0b", Quote::None, region), None);
        }
    }
}
