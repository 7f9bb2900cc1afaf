//! Which skills of a root are meant.

use crate::rule::Name;

/// For how many globs without braces one with braces stands; never too few.
pub(super) fn expansions(glob: &str) -> usize {
    let (mut all, mut depth, mut here) = (1_usize, 0_usize, 1_usize);
    for c in glob.chars() {
        match c {
            '{' => depth += 1,
            ',' if depth > 0 => here = here.saturating_add(1),
            '}' if depth > 0 => {
                depth -= 1;
                if depth == 0 {
                    all = all.saturating_mul(here);
                    here = 1;
                }
            }
            _ => {}
        }
    }
    all.saturating_mul(here)
}

/// Which skills of a root are meant, by their paths below it. A glob has to match the whole
/// path, and `*` goes across `/`.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    include: Option<Vec<Name>>,
    ignore: Vec<Name>,
}

impl Selection {
    /// With an empty `include` every skill is meant; `ignore` wins.
    ///
    /// # Errors
    /// When a text is no glob.
    pub fn new(include: &[String], ignore: &[String]) -> Result<Self, String> {
        let all = |globs: &[String]| globs.iter().map(|glob| Name::new(glob)).collect::<Result<Vec<_>, _>>();
        let include = (!include.is_empty()).then(|| all(include)).transpose()?;
        Ok(Self { include, ignore: all(ignore)? })
    }

    /// Whether the skill at `slug` is meant.
    #[must_use]
    pub fn means(&self, slug: &str) -> bool {
        let any = |globs: &[Name]| globs.iter().any(|glob| glob.is_match(slug));
        self.include.as_deref().is_none_or(any) && !any(&self.ignore)
    }
}

#[cfg(test)]
mod tests {
    use super::{Selection, expansions};

    fn selection(include: &[&str], ignore: &[&str]) -> Selection {
        let owned = |globs: &[&str]| globs.iter().map(|glob| (*glob).to_owned()).collect::<Vec<_>>();
        Selection::new(&owned(include), &owned(ignore)).unwrap()
    }

    #[test]
    fn include_keeps_ignore_drops_and_both_match_the_whole_path() {
        let all = selection(&[], &[]);
        assert!(all.means("a") && all.means("a/b/c"));
        let git = selection(&["git-*"], &[]);
        assert_eq!(
            ["git-commit", "linear", "x/git-commit"].map(|slug| git.means(slug)),
            [true, false, false]
        );
        let acme = selection(&["acme/*"], &[]);
        assert_eq!(["acme/billing/refunds", "acme"].map(|slug| acme.means(slug)), [true, false]);
        assert!(!selection(&["billing"], &[]).means("acme/billing/refunds"));
        let both = selection(&["team*"], &["team"]);
        assert_eq!(
            ["team", "team/review"].map(|slug| both.means(slug)),
            [false, true],
            "each by its own path"
        );
    }

    #[test]
    fn what_braces_stand_for_is_counted_and_never_made() {
        assert_eq!(["a", "{a,b}{c,d}", "a,b", "{a,{b,c}}", "{a,b"].map(expansions), [1, 4, 1, 3, 2]);
        assert_eq!(expansions(&"{a,b,c,d}".repeat(40)), usize::MAX);
        assert!(Selection::new(&[String::new()], &[]).is_err());
    }
}
