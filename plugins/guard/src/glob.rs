//! Globs of the operator: `*` and `?`, compared in time that grows with the
//! product of both lengths and no worse.

/// Whether all of `text` is what `glob` stands for, without ASCII case.
pub(crate) fn matches(glob: &str, text: &str) -> bool {
    let same = |glob: &u8, text: &u8| *glob == b'?' || glob.eq_ignore_ascii_case(text);
    covers(glob.as_bytes(), text.as_bytes(), &b'*', same, false)
}

/// Whether a path lies in, or is, a directory that `glob` stands for. Both are
/// components; `**` stands for any number of them.
pub(crate) fn contains(glob: &[&str], path: &[&str]) -> bool {
    // Unlike a word, a component is compared with its case.
    let same = |glob: &&str, component: &&str| {
        let same = |glob: &u8, text: &u8| *glob == b'?' || glob == text;
        covers(glob.as_bytes(), component.as_bytes(), &b'*', same, false)
    };
    covers(glob, path, &"**", same, true)
}

/// The one loop behind both: `many` stands for any run of items. A mismatch
/// falls back to the last `many` alone, which is enough, so nothing explodes.
fn covers<T: PartialEq>(
    glob: &[T],
    items: &[T],
    many: &T,
    same: impl Fn(&T, &T) -> bool,
    prefix: bool,
) -> bool {
    let (mut g, mut i) = (0, 0);
    let mut fallback: Option<(usize, usize)> = None;
    loop {
        match (glob.get(g), items.get(i)) {
            (None, None) => return true,
            (None, Some(_)) if prefix => return true,
            (Some(wanted), _) if wanted == many => {
                fallback = Some((g, i));
                g += 1;
                continue;
            }
            (Some(wanted), Some(item)) if same(wanted, item) => {
                g += 1;
                i += 1;
                continue;
            }
            (Some(_), None) => return false,
            (_, Some(_)) => {}
        }
        let Some((at, from)) = fallback else { return false };
        fallback = Some((at, from + 1));
        (g, i) = (at + 1, from + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::{contains, matches};

    #[test]
    fn a_word_is_matched_whole_and_without_case() {
        for (glob, text) in [
            ("delete", "Delete"),
            ("*", ""),
            ("*", "x"),
            ("del*", "delete"),
            ("*-prod", "eu-prod"),
            ("a?c", "abc"),
        ] {
            assert!(matches(glob, text), "{glob} {text}");
        }
        for (glob, text) in [("delete", "deleted"), ("?", ""), ("a*b", "abc"), ("", "a")] {
            assert!(!matches(glob, text), "{glob} {text}");
        }
    }

    #[test]
    fn a_directory_contains_itself_and_what_is_below() {
        fn split(path: &str) -> Vec<&str> {
            path.split('/').collect()
        }
        for (glob, path) in [
            ("a/b", "a/b"),
            ("a/b", "a/b/c"),
            ("a/**", "a"),
            ("a/**", "a/b"),
            ("**/x", "a/b/x/y"),
            ("a/*/c", "a/b/c/d"),
            ("**/a/**/b", "a/a/x/b"),
        ] {
            assert!(contains(&split(glob), &split(path)), "{glob} {path}");
        }
        for (glob, path) in [("a/b", "a"), ("a/b", "a/bc"), ("**/x", "a/b/y"), ("a/*/c", "a/c"), ("A", "a")] {
            assert!(!contains(&split(glob), &split(path)), "{glob} {path}");
        }
    }

    #[test]
    fn a_glob_of_many_stars_is_no_trap() {
        let glob = "*a".repeat(500);
        assert!(!matches(&format!("{glob}b"), &"a".repeat(20_000)));
    }
}
