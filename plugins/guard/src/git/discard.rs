//! Git commands that throw away what is not committed.

use portcullis_sdk::Word;

use crate::category::Category;
use crate::options::Options;

/// With paths it takes files from the index or a commit; forced it takes all.
pub(super) fn checkout(args: &[Word]) -> Option<Category> {
    let options = Options::of(args, "bB", &["orphan", "conflict", "pathspec-from-file"]);
    let picks = options.has_short('p')
        || options.has_long("patch", 3)
        || options.has_long("ours", 2)
        || options.has_long("theirs", 2);
    if picks {
        return None;
    }
    let makes = options.has_short('b') || options.has_short('B') || options.has_long("orphan", 2);
    let forced = options.has_short('f') || options.has_long("force", 1);
    // A branch and a path: `git checkout HEAD a.rs`.
    let two = options.operands.len() > 1 && !makes;
    // `xargs git checkout --` has its paths from elsewhere.
    let paths = options.has_rest
        || (options.ended && options.operands.is_empty())
        || options.has_long("pathspec-from-file", 4);
    (forced || paths || two || options.operands.iter().any(|word| is_path(word)))
        .then_some(Category::GitDiscard)
}

/// Whether a word is sooner a path than the name of a branch.
fn is_path(word: &str) -> bool {
    if matches!(word, "." | "..") || word.ends_with('/') || word.contains('*') {
        return true;
    }
    if ["./", "../", ":", "/"].iter().any(|start| word.starts_with(start)) {
        return true;
    }
    let ending = word.rsplit('/').next().and_then(|name| name.rsplit_once('.'));
    ending.is_some_and(|(_, ending)| {
        matches!(
            ending,
            "rs" | "py"
                | "js"
                | "ts"
                | "tsx"
                | "jsx"
                | "go"
                | "java"
                | "rb"
                | "php"
                | "cs"
                | "cpp"
                | "hpp"
                | "json"
                | "toml"
                | "yaml"
                | "yml"
                | "lock"
                | "md"
                | "txt"
                | "html"
                | "css"
                | "sql"
                | "xml"
        )
    })
}

pub(super) fn restore(args: &[Word]) -> Option<Category> {
    let options = Options::of(args, "s", &["source", "conflict", "pathspec-from-file"]);
    let staged = options.has_short('S') || options.has_long("staged", 2);
    let worktree = options.has_short('W') || options.has_long("worktree", 1) || !staged;
    let picks = options.has_short('p') || options.has_long("patch", 3);
    let named = !options.operands.is_empty()
        || !options.computed.is_empty()
        || options.has_long("pathspec-from-file", 4);
    (worktree && named && !picks).then_some(Category::GitDiscard)
}

pub(super) fn switch(args: &[Word]) -> Option<Category> {
    let options = Options::of(args, "cC", &["create", "force-create", "orphan", "conflict"]);
    (options.has_short('f') || options.has_long("force", 5) || options.has_long("discard-changes", 2))
        .then_some(Category::GitDiscard)
}

pub(super) fn stash(args: &[Word]) -> Option<Category> {
    matches!(args.first().and_then(Word::literal), Some("clear" | "drop")).then_some(Category::GitDiscard)
}

pub(super) fn worktree(args: &[Word]) -> Option<Category> {
    let options = Options::of(args, "", &[]);
    (options.begins(&["remove"]) && (options.has_short('f') || options.has_long("force", 1)))
        .then_some(Category::GitDiscard)
}

pub(super) fn submodule(args: &[Word]) -> Option<Category> {
    let options = Options::of(args, "", &[]);
    (options.begins(&["deinit"]) && (options.has_short('f') || options.has_long("force", 1)))
        .then_some(Category::GitDiscard)
}

/// `read-tree --reset -u` and `checkout-index -f -a`.
pub(super) fn index(args: &[Word]) -> Option<Category> {
    let options = Options::of(args, "", &["prefix", "stage", "index-output"]);
    let resets = options.has_short('u') && options.has_long("reset", 1);
    let copies = options.has_short('f') && options.has_short('a') && !options.has_long("prefix", 1);
    (resets || copies).then_some(Category::GitDiscard)
}

#[cfg(test)]
mod tests {
    use crate::category::Category;
    use crate::git::tests::{passes, refuses};

    #[test]
    fn a_checkout_of_files_is_refused() {
        refuses(
            Category::GitDiscard,
            &[
                "git checkout -- .",
                "git checkout .",
                "git checkout -- src/lib.rs",
                "git checkout HEAD -- src",
                "git checkout HEAD~1 src/lib.rs",
                "git checkout ./src",
                "git checkout src/",
                "git checkout -f",
                "git checkout --force main",
                "git checkout package.json",
                "git checkout :/",
                "git checkout --",
            ],
        );
        passes(&[
            "git checkout main",
            "git checkout -b feature/a.b origin/main",
            "git checkout --orphan docs-only",
            "git checkout -",
            "git checkout -p",
            "git checkout main --",
            "git checkout --ours -- a.rs",
            "git checkout release-1.2",
            "git checkout --track origin/x",
            "git checkout --detach",
        ]);
    }

    #[test]
    fn a_restored_work_tree_is_refused() {
        refuses(
            Category::GitDiscard,
            &[
                "git restore .",
                "git restore src/lib.rs",
                "git restore --staged --worktree .",
                "git restore -SW .",
                "git restore --source=HEAD~1 .",
            ],
        );
        passes(&[
            "git restore --staged .",
            "git restore . --staged",
            "git restore -S a",
            "git restore -p a",
            "git restore",
        ]);
    }

    #[test]
    fn other_ways_to_lose_changes_are_refused() {
        refuses(
            Category::GitDiscard,
            &[
                "git switch -f main",
                "git switch --discard-changes main",
                "git stash clear",
                "git stash drop stash@{2}",
                "git worktree remove --force ../wt",
                "git worktree remove ../wt -f",
                "git reset --keep origin/main",
                "git reset --merge",
                "git submodule deinit -f lib",
                "git read-tree -u --reset HEAD",
                "git checkout-index -af",
            ],
        );
        passes(&[
            "git switch main",
            "git switch -c x",
            "git stash",
            "git stash pop",
            "git stash push -m drop",
            "git worktree remove ../wt",
            "git worktree list",
            "git submodule update --init --force",
            "git checkout-index -a --prefix=out/ -f",
        ]);
    }
}
