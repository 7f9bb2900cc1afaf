//! Names of files, compared as a shell and a careless file system would.

/// Can `written`, a name or a pattern as a shell has it, be `kept`, a name or a
/// pattern of the table?
///
/// The case of ASCII letters never counts: macOS and Windows would open the same
/// file, and nobody has another file of such a name.
pub(super) fn meets(written: &str, kept: &str) -> bool {
    // Nearly every comparison ends here, and there are hundreds for one path.
    if written.eq_ignore_ascii_case(kept) {
        return true;
    }
    if !is_pattern(written) && !kept.bytes().any(|byte| byte == b'*') {
        return false;
    }
    // A shell's wildcard does not take the dot that a name begins with.
    if kept.starts_with('.') && written.starts_with(['*', '?', '[']) {
        return false;
    }
    intersect(&symbols(written), &symbols(kept))
}

/// Does `name` hold a wildcard of a shell?
pub(super) fn is_pattern(name: &str) -> bool {
    name.bytes().any(|byte| matches!(byte, b'*' | b'?' | b'['))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Symbol {
    Any,
    One,
    Just(char),
}

fn symbols(pattern: &str) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        symbols.push(match c {
            '*' if symbols.last() == Some(&Symbol::Any) => continue,
            '*' => Symbol::Any,
            '?' => Symbol::One,
            '[' => {
                let rest = chars.as_str();
                match rest.char_indices().skip(1).find(|(_, c)| *c == ']') {
                    Some((end, _)) => {
                        chars = rest.get(end.saturating_add(1)..).unwrap_or_default().chars();
                        Symbol::One
                    }
                    None => Symbol::Just('['),
                }
            }
            c => Symbol::Just(c.to_ascii_lowercase()),
        });
    }
    symbols
}

/// Is there a text that both patterns match?
fn intersect(a: &[Symbol], b: &[Symbol]) -> bool {
    // `row[j]`: the first symbols of `a` that were seen and the first `j` of `b` have a text in common.
    let step = |row: &mut Vec<bool>, symbol: Option<Symbol>| {
        let mut next = vec![false; row.len()];
        for j in 0..row.len() {
            let at = |row: &[bool], j: usize| row.get(j).copied().unwrap_or(false);
            let before = j.checked_sub(1);
            let left = before.and_then(|j| b.get(j).copied());
            let holds = match symbol {
                None => j == 0 || (left == Some(Symbol::Any) && before.is_some_and(|j| at(&next, j))),
                Some(Symbol::Any) => at(row, j) || before.is_some_and(|j| at(&next, j)),
                Some(symbol) => match (before, left) {
                    (Some(before), Some(Symbol::Any)) => at(&next, before) || at(row, j),
                    (Some(before), Some(other)) => {
                        let same = symbol == other || symbol == Symbol::One || other == Symbol::One;
                        same && at(row, before)
                    }
                    _ => false,
                },
            };
            if let Some(cell) = next.get_mut(j) {
                *cell = holds;
            }
        }
        *row = next;
    };
    let mut row = vec![false; b.len().saturating_add(1)];
    step(&mut row, None);
    for symbol in a {
        step(&mut row, Some(*symbol));
    }
    row.last().copied().unwrap_or(false)
}

#[cfg(test)]
mod tests {
    use super::meets;

    #[test]
    fn names_are_compared_without_case() {
        assert!(meets("Settings.JSON", "settings.json"));
        assert!(!meets("settings.jso", "settings.json") && !meets("my.claude", ".claude"));
    }

    #[test]
    fn a_pattern_of_a_shell_meets_what_it_would_expand_to() {
        for written in ["settings*", "*.json", "setting?.json", "s[a-z]ttings.json", "*"] {
            assert!(meets(written, "settings.json"), "{written}");
        }
        for written in ["*.toml", "?", "x*"] {
            assert!(!meets(written, "settings.json"), "{written}");
        }
        assert!(meets(".c*", ".claude") && !meets("*", ".claude"), "a wildcard takes no leading dot");
    }

    #[test]
    fn two_patterns_meet_when_they_have_a_name_in_common() {
        assert!(meets("port*", "*.json") && meets("x.json", "*.json") && meets("**", "*"));
        assert!(!meets("*.md", "*.json"));
    }
}
