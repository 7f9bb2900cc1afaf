//! Git commands that remove what the reflog would bring back.

use portcullis_sdk::Word;

use crate::category::Category;
use crate::options::Options;

pub(super) fn reflog(args: &[Word]) -> Option<Category> {
    let verb = args.first().and_then(Word::literal);
    (verb == Some("delete")
        || (verb == Some("expire") && (expires(args, "--expire") || expires(args, "--expire-unreachable"))))
    .then_some(Category::GitHistory)
}

pub(super) fn gc(args: &[Word]) -> Option<Category> {
    expires(args, "--prune").then_some(Category::GitHistory)
}

/// Without a time it removes everything at once.
pub(super) fn prune(args: &[Word]) -> Option<Category> {
    let options = Options::of(args, "", &["expire"]);
    let dry = options.has_short('n') || options.has_long("dry-run", 1);
    let kept = options.has_long("expire", 1) && !expires(args, "--expire");
    (!dry && !kept).then_some(Category::GitHistory)
}

pub(super) fn filter(args: &[Word]) -> Option<Category> {
    let options = Options::of(args, "", &[]);
    let looks =
        ["analyze", "dry-run", "help", "version"].iter().any(|name| options.has_long(name, name.len()));
    (!looks && !args.is_empty()).then_some(Category::GitHistory)
}

/// Whether an option says `now`, behind `=` or as the next word.
fn expires(args: &[Word], option: &str) -> bool {
    let is_now = |value: &str| matches!(value, "now" | "all" | "0");
    args.iter().enumerate().any(|(at, word)| {
        let Some(rest) = word.literal().and_then(|text| text.strip_prefix(option)) else { return false };
        match rest.strip_prefix('=') {
            Some(value) => is_now(value),
            None => rest.is_empty() && args.get(at + 1).and_then(Word::literal).is_some_and(is_now),
        }
    })
}

#[cfg(test)]
mod tests {
    use crate::category::Category;
    use crate::git::tests::{passes, refuses};

    #[test]
    fn what_removes_the_way_back_is_refused() {
        refuses(
            Category::GitHistory,
            &[
                "git reflog expire --expire=now --all",
                "git reflog expire --expire-unreachable now --all",
                "git reflog delete HEAD@{1}",
                "git gc --prune=now",
                "git gc --aggressive --prune=all",
                "git prune",
                "git filter-branch --tree-filter x HEAD",
                "git filter-repo --path src",
            ],
        );
        passes(&[
            "git reflog",
            "git reflog expire --expire=90.days",
            "git gc",
            "git gc --prune",
            "git gc --prune=2.weeks.ago",
            "git prune -n",
            "git prune --expire 2.weeks.ago",
            "git remote prune origin",
            "git filter-repo --analyze",
        ]);
    }
}
