//! Git commands that lose work.

mod discard;
mod history;

use portcullis_sdk::{Command, Word};

use crate::category::Category;
use crate::computed;
use crate::options::Options;

/// Options in front of the subcommand that take the next word.
const GLOBAL_VALUED: [&str; 9] = [
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--super-prefix",
    "--config-env",
    "--attr-source",
    "--list-cmds",
];

/// A call of git, taken apart.
pub(crate) struct Git<'a> {
    /// The values of `-c`.
    configured: Vec<&'a str>,
    /// It acts somewhere else than where it is called.
    pub(crate) elsewhere: bool,
    pub(crate) subcommand: &'a Word,
    pub(crate) args: &'a [Word],
}

impl<'a> Git<'a> {
    /// `None` without a subcommand.
    pub(crate) fn of(words: &'a [Word]) -> Option<Self> {
        let mut configured = Vec::new();
        let mut elsewhere = false;
        let mut rest = words;
        loop {
            let (subcommand, args) = rest.split_first()?;
            let option = subcommand.literal().filter(|text| text.starts_with('-'));
            let Some(option) = option else { return Some(Self { configured, elsewhere, subcommand, args }) };
            rest = args;
            elsewhere |=
                option == "-C" || option.starts_with("--git-dir") || option.starts_with("--work-tree");
            if GLOBAL_VALUED.contains(&option) {
                let (value, behind) = rest.split_first()?;
                if option == "-c" {
                    configured.push(value.text());
                }
                rest = behind;
            }
        }
    }
}

/// Judges a command of git. What `xargs` adds to it nobody knows, and counts.
pub(crate) fn of(command: &Command) -> Option<Category> {
    let fed = command.via.last().is_some_and(|via| matches!(via.as_str(), "xargs" | "parallel"));
    if !fed {
        return check(command.args());
    }
    let mut words = command.args().to_vec();
    words.push(Word::Computed("\"$1\"".to_owned()));
    check(&words)
}

/// Judges the words behind `git`.
pub(crate) fn check(words: &[Word]) -> Option<Category> {
    let git = Git::of(words)?;
    let args = git.args;
    let subcommand = match git.subcommand {
        Word::Literal(subcommand) => subcommand.as_str(),
        Word::Computed(source) => return unknown(source, args),
    };
    match subcommand {
        "reset" => reset(args),
        "clean" => clean(args, &git.configured),
        "push" => push(args),
        "branch" => branch(args),
        "update-ref" => update_ref(args),
        "rm" => rm(args),
        "checkout" => discard::checkout(args),
        "restore" => discard::restore(args),
        "switch" => discard::switch(args),
        "stash" => discard::stash(args),
        "worktree" => discard::worktree(args),
        "submodule" => discard::submodule(args),
        "read-tree" | "checkout-index" => discard::index(args),
        "reflog" => history::reflog(args),
        "gc" => history::gc(args),
        "prune" => history::prune(args),
        "filter-branch" | "filter-repo" => history::filter(args),
        _ => None,
    }
}

/// A subcommand that only the shell can compute.
fn unknown(source: &str, args: &[Word]) -> Option<Category> {
    let forced = args.iter().filter_map(Word::literal).any(|word| {
        let bundle = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        bundle.is_some_and(|letters| letters.contains(['f', 'D']))
            || matches!(word, "--hard" | "--force" | "--mirror")
    });
    // A subcommand of which a part is printed is a disguise, whatever follows it.
    let glued = computed::runs(source) && !(source.starts_with("$(") && source.ends_with(')'));
    (forced || glued).then_some(Category::Suspect)
}

/// An option that only the shell can compute.
fn suspect(options: &Options<'_>) -> Option<Category> {
    options.computed.iter().any(|source| computed::is_option_like(source)).then_some(Category::Suspect)
}

fn reset(args: &[Word]) -> Option<Category> {
    let options = Options::of(args, "", &["pathspec-from-file"]);
    if options.has_long("hard", 2) {
        return Some(Category::GitReset);
    }
    let moves = options.has_long("keep", 1) || options.has_long("merge", 2);
    if moves { Some(Category::GitDiscard) } else { suspect(&options) }
}

fn clean(args: &[Word], configured: &[&str]) -> Option<Category> {
    let options = Options::of(args, "e", &["exclude"]);
    let dry = options.has_short('n') || options.has_long("dry-run", 1);
    let unforced = configured.iter().any(|setting| {
        let (key, value) = setting.split_once('=').unwrap_or((setting, "true"));
        key.eq_ignore_ascii_case("clean.requireForce") && ["false", "0", "no", "off", ""].contains(&value)
    });
    let forced = options.has_short('f') || options.has_long("force", 1) || unforced;
    if dry {
        None
    } else if forced {
        Some(Category::GitClean)
    } else {
        suspect(&options)
    }
}

fn push(args: &[Word]) -> Option<Category> {
    let options = Options::of(args, "o", &["push-option", "repo", "receive-pack", "exec"]);
    if options.has_short('n') || options.has_long("dry-run", 2) {
        return None;
    }
    let refspecs = options.operands.iter().chain(&options.computed).map(|word| word.trim_start_matches('"'));
    let forced = options.has_short('f')
        // An abbreviation would be ambiguous: `--force-with-lease`.
        || options.has_long("force", 5)
        || options.has_long("mirror", 1)
        || options.has_short('d')
        || options.has_long("delete", 2)
        || options.has_long("prune", 3)
        // `:` alone pushes what both sides have.
        || refspecs.into_iter().any(|refspec| refspec.starts_with('+') || (refspec.starts_with(':') && refspec.len() > 1));
    if forced {
        return Some(Category::GitPush);
    }
    if options.has_long("force-with-lease", 7) {
        return Some(Category::ForceWithLease);
    }
    suspect(&options)
}

fn branch(args: &[Word]) -> Option<Category> {
    let options = Options::of(args, "u", &["set-upstream-to", "sort", "format", "points-at", "contains"]);
    let forced = options.has_short('f') || options.has_long("force", 3);
    let deletes = options.has_short('d') || options.has_long("delete", 3);
    if options.has_short('D') || (deletes && forced) {
        return Some(Category::GitBranch);
    }
    suspect(&options)
}

fn update_ref(args: &[Word]) -> Option<Category> {
    Options::of(args, "m", &[]).has_short('d').then_some(Category::GitBranch)
}

/// A forced removal, or a removal of everything; without either git keeps what
/// is not committed.
fn rm(args: &[Word]) -> Option<Category> {
    let options = Options::of(args, "", &["pathspec-from-file"]);
    if options.has_long("cached", 1) || options.has_short('n') || options.has_long("dry-run", 1) {
        return None;
    }
    let all = options.operands.iter().any(|path| matches!(*path, "." | "./" | "*" | ":/" | ".."));
    let forced = options.has_short('f') || options.has_long("force", 1);
    (forced || (options.has_short('r') && all)).then_some(Category::GitRm)
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Word;
    use portcullis_sdk::testing::command;

    use super::check;
    use crate::category::Category;

    pub(super) fn refuses(category: Category, texts: &[&str]) {
        for text in texts {
            assert_eq!(check(command(text).args()), Some(category), "{text}");
        }
    }

    pub(super) fn passes(texts: &[&str]) {
        for text in texts {
            assert_eq!(check(command(text).args()), None, "{text}");
        }
    }

    fn with(text: &str, computed: &str) -> Option<Category> {
        let mut command = command(text);
        command.words.push(Word::Computed(computed.to_owned()));
        check(command.args())
    }

    #[test]
    fn a_hard_reset_is_refused() {
        refuses(
            Category::GitReset,
            &[
                "git reset --hard",
                "git reset --hard HEAD~3",
                "git reset HEAD~1 --hard",
                "git reset --har",
                "git -C ../lib reset --hard HEAD~1",
                "git -c a.b=c --no-pager reset --hard",
                "git --git-dir=/x/.git --work-tree /x reset --hard",
            ],
        );
        passes(&["git reset --soft HEAD~1", "git reset HEAD src/lib.rs", "git reset -- --hard", "git reset"]);
    }

    #[test]
    fn a_forced_clean_is_refused() {
        refuses(
            Category::GitClean,
            &[
                "git clean -f",
                "git clean -fd",
                "git clean -xdf",
                "git clean --force",
                "git clean -d -f",
                "git clean -fdx -- . clean -n",
                "git -c clean.requireForce=false clean -d",
                "git clean -f -e -n",
            ],
        );
        passes(&["git clean -n", "git clean --dry-run -fd", "git clean", "git clean -e -f"]);
    }

    #[test]
    fn a_forced_push_is_refused() {
        refuses(
            Category::GitPush,
            &[
                "git push --force",
                "git push -f origin main",
                "git push origin main --force",
                "git push origin main -f",
                "git push origin +HEAD:refs/heads/main",
                "git push -uf origin x",
                "git push --mirror backup",
                "git push --force --force-with-lease",
                "git push origin --delete release-1",
                "git push -d origin x",
                "git push origin :old",
                "git push --prune origin",
            ],
        );
        refuses(
            Category::ForceWithLease,
            &["git push --force-with-lease", "git push --force-with-lease=a:b o"],
        );
        passes(&[
            "git push origin feature",
            "git push -u origin feature/force-layout",
            "git push -n origin topic",
            "git push --dry-run --force",
            "git push --no-force-with-lease origin topic",
            "git push --force-if-includes",
            "git push -o -f origin x",
            "git push origin HEAD:main",
            "git push origin :",
        ]);
    }

    #[test]
    fn a_forced_branch_delete_is_refused() {
        refuses(
            Category::GitBranch,
            &[
                "git branch -D x",
                "git branch -qD topic",
                "git branch --delete --force topic",
                "git branch -d -f topic",
                "git branch -rD origin/topic",
                "git update-ref -d refs/heads/topic",
                "git update-ref -d refs/stash",
            ],
        );
        passes(&[
            "git branch -d x",
            "git branch --list feat-D*",
            "git branch -f main origin/main",
            "git branch",
        ]);
    }

    #[test]
    fn a_removal_of_everything_or_by_force_is_refused() {
        refuses(
            Category::GitRm,
            &["git rm -rf .", "git rm -f a", "git rm -r .", "git rm -r *", "git rm --force a"],
        );
        passes(&[
            "git rm old.txt",
            "git rm -r docs",
            "git rm -r --cached .",
            "git rm -f --cached a",
            "git rm -rn .",
        ]);
    }

    #[test]
    fn a_message_is_no_command() {
        passes(&[
            "git commit -m reset",
            "git log --grep=reset",
            "git stash list",
            "git",
            "git --version",
            "git -C",
            "git tag -d v1",
        ]);
    }

    #[test]
    fn a_computed_subcommand_is_suspect_when_the_rest_is_forced() {
        let of = |source: &str, rest: &str| {
            let mut computed = command(&format!("git x {rest}"));
            computed.words[1] = Word::Computed(source.to_owned());
            check(computed.args())
        };
        assert_eq!(of("$(echo cle)an", "-fdx"), Some(Category::Suspect));
        assert_eq!(of("$CMD", "--hard"), Some(Category::Suspect));
        assert_eq!(of("$CMD", "origin main"), None);
        assert_eq!(of("\"$@\"", ""), None);
    }

    #[test]
    fn what_xargs_adds_counts() {
        let of = |text: &str| {
            let mut command = command(text);
            command.via.push("xargs".to_owned());
            super::of(&command)
        };
        assert_eq!(of("git restore"), Some(Category::GitDiscard));
        assert_eq!(of("git checkout --"), Some(Category::GitDiscard));
        assert_eq!(of("git branch -D"), Some(Category::GitBranch));
        assert_eq!(of("git add"), None);
        assert_eq!(of("git checkout"), None);
    }

    #[test]
    fn a_computed_refspec_or_option_is_read_as_far_as_it_goes() {
        assert_eq!(with("git push origin", "\"+$BRANCH\""), Some(Category::GitPush));
        assert_eq!(with("git push origin", ":$BRANCH"), Some(Category::GitPush));
        assert_eq!(with("git push origin", "${FORCE:---force}"), Some(Category::GitPush));
        assert_eq!(with("git push origin main", "$FORCE"), Some(Category::Suspect));
        assert_eq!(with("git push origin", "\"$BRANCH\""), None);
        assert_eq!(with("git reset", "$(git merge-base HEAD main)"), None);
    }
}
