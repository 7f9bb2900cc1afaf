//! Git commands that lose work.

use portcullis_sdk::{Command, Word};

use crate::category::Category;
use crate::options::Options;
use crate::program;

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

pub(crate) fn check(command: &Command) -> Option<Category> {
    if program::name(command)? != "git" {
        return None;
    }
    let (configured, subcommand, args) = split(command.args())?;
    let Word::Literal(subcommand) = subcommand else { return Some(Category::Suspect) };
    match subcommand.as_str() {
        "reset" => reset(args),
        "clean" => clean(args, &configured),
        "push" => push(args),
        "branch" => branch(args),
        "update-ref" => update_ref(args),
        _ => None,
    }
}

/// The values of `-c`, the subcommand, and what is behind it.
fn split(words: &[Word]) -> Option<(Vec<&str>, &Word, &[Word])> {
    let mut configured = Vec::new();
    let mut rest = words;
    loop {
        let (word, behind) = rest.split_first()?;
        let option = word.literal().filter(|text| text.starts_with('-'));
        let Some(option) = option else { return Some((configured, word, behind)) };
        rest = behind;
        if GLOBAL_VALUED.contains(&option) {
            let (value, behind) = rest.split_first()?;
            if option == "-c" {
                configured.push(value.text());
            }
            rest = behind;
        }
    }
}

fn reset(args: &[Word]) -> Option<Category> {
    Options::of(args, "", &["pathspec-from-file"]).has_long("hard", 2).then_some(Category::GitReset)
}

fn clean(args: &[Word], configured: &[&str]) -> Option<Category> {
    let options = Options::of(args, "e", &["exclude"]);
    let dry = options.has_short('n') || options.has_long("dry-run", 1);
    let unforced = configured.iter().any(|setting| {
        let (key, value) = setting.split_once('=').unwrap_or((setting, "true"));
        key.eq_ignore_ascii_case("clean.requireForce") && ["false", "0", "no", "off"].contains(&value)
    });
    let forced = options.has_short('f') || options.has_long("force", 1) || unforced;
    (forced && !dry).then_some(Category::GitClean)
}

fn push(args: &[Word]) -> Option<Category> {
    let options = Options::of(args, "o", &["push-option", "repo", "receive-pack", "exec"]);
    if options.has_short('n') || options.has_long("dry-run", 2) {
        return None;
    }
    let plus = options.operands.iter().chain(&options.computed);
    let forced = options.has_short('f')
        // An abbreviation would be ambiguous: `--force-with-lease`.
        || options.has_long("force", 5)
        || options.has_long("mirror", 1)
        || plus.into_iter().any(|refspec| refspec.trim_start_matches('"').starts_with('+'));
    if forced {
        return Some(Category::GitPush);
    }
    options.has_long("force-with-lease", 7).then_some(Category::ForceWithLease)
}

fn branch(args: &[Word]) -> Option<Category> {
    let options = Options::of(args, "u", &["set-upstream-to", "sort", "format", "points-at", "contains"]);
    let forced = options.has_short('f') || options.has_long("force", 3);
    let deletes = options.has_short('d') || options.has_long("delete", 3);
    (options.has_short('D') || (deletes && forced)).then_some(Category::GitBranch)
}

fn update_ref(args: &[Word]) -> Option<Category> {
    let options = Options::of(args, "m", &[]);
    (options.has_short('d') && options.operands.iter().any(|name| name.starts_with("refs/heads/")))
        .then_some(Category::GitBranch)
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Word;
    use portcullis_sdk::testing::command;

    use super::check;
    use crate::category::Category;

    fn refuses(category: Category, texts: &[&str]) {
        for text in texts {
            assert_eq!(check(&command(text)), Some(category), "{text}");
        }
    }

    fn passes(texts: &[&str]) {
        for text in texts {
            assert_eq!(check(&command(text)), None, "{text}");
        }
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
                "/usr/bin/git reset --hard",
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
    fn a_message_is_no_command() {
        passes(&[
            "git commit -m reset",
            "git log --grep=reset",
            "git stash list",
            "git",
            "git --version",
            "git -C",
        ]);
    }

    #[test]
    fn a_computed_subcommand_is_suspect() {
        let mut computed = command("git x -fdx");
        computed.words[1] = Word::Computed("$(echo cle)an".to_owned());
        assert_eq!(check(&computed), Some(Category::Suspect));
    }

    #[test]
    fn a_computed_refspec_with_a_plus_is_forced() {
        let mut push = command("git push origin");
        push.words.push(Word::Computed("\"+$BRANCH\"".to_owned()));
        assert_eq!(check(&push), Some(Category::GitPush));
    }
}
