//! What somebody types behind the name of a command.

/// The words of `line`, as a shell would split them, but any line has some: a quote that
/// is never closed is a letter, and so is `#`.
pub(crate) fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut rest) = (Vec::new(), None::<String>, line);
    while let Some(c) = rest.chars().next() {
        let after = rest.get(c.len_utf8()..).unwrap_or_default();
        let quoted = if matches!(c, '"' | '\'') { quoted(c, after) } else { None };
        if let Some((text, behind)) = quoted {
            word.get_or_insert_default().push_str(&text);
            rest = behind;
            continue;
        }
        rest = after;
        if c.is_whitespace() {
            words.extend(word.take());
        } else if c == '\\' && after.starts_with(['"', '\'', '\\', ' ']) {
            let next = after.chars().next().unwrap_or_default();
            word.get_or_insert_default().push(next);
            rest = after.get(next.len_utf8()..).unwrap_or_default();
        } else {
            word.get_or_insert_default().push(c);
        }
    }
    words.extend(word);
    words
}

/// The text up to the next `quote`, and what is behind that.
fn quoted(quote: char, text: &str) -> Option<(String, &str)> {
    let (mut inside, mut chars) = (String::new(), text.char_indices());
    while let Some((at, c)) = chars.next() {
        if c == quote {
            return Some((inside, text.get(at + 1..).unwrap_or_default()));
        }
        let is_escape = c == '\\' && quote == '"';
        match text.get(at + 1..).and_then(|rest| rest.chars().next()) {
            Some(next @ ('"' | '\\')) if is_escape => {
                inside.push(next);
                chars.next();
            }
            Some(_) | None => inside.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::words;

    #[test]
    fn quotes_keep_words_together_and_every_line_has_words() {
        for (line, expected) in [
            ("", vec![]),
            ("  a  b ", vec!["a", "b"]),
            ("one \"two words\" three", vec!["one", "two words", "three"]),
            ("'a b'c \"\"", vec!["a bc", ""]),
            (r#"a\ b \"c "d\"e""#, vec!["a b", "\"c", "d\"e"]),
            ("#123 urgent", vec!["#123", "urgent"]),
            ("don't stop", vec!["don't", "stop"]),
            ("a \"open end", vec!["a", "\"open", "end"]),
            (r"C:\dir x", vec![r"C:\dir", "x"]),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }

    proptest! {
        #[test]
        fn plain_words_come_back(own in proptest::collection::vec("[a-zäß0-9#$.]{1,8}", 0..6)) {
            prop_assert_eq!(words(&own.join(" ")), own);
        }

        #[test]
        fn no_line_loses_a_letter(line in "[a-c'\"\\\\ ]{0,24}") {
            let letters = |text: &str| text.chars().filter(char::is_ascii_lowercase).count();
            prop_assert_eq!(letters(&words(&line).concat()), letters(&line));
        }
    }
}
