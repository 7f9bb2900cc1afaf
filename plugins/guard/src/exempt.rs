//! Directories in which the operator lets files be deleted.

use portcullis_sdk::{Command, Error, Script, Word};

use crate::category::Category;
use crate::git::Git;
use crate::glob;
use crate::program;

/// Wrappers that neither move to another place nor bring targets of their own.
const HERE: [&str; 15] = [
    "command", "builtin", "exec", "time", "nice", "ionice", "nohup", "timeout", "stdbuf", "sh", "bash",
    "dash", "zsh", "eval", "noglob",
];

/// More directories than this are not followed.
const BASES: usize = 8;

/// # Errors
///
/// When a glob would mean something else than it seems to.
pub(crate) fn check(glob: &str) -> Result<(), Error> {
    let odd = glob.is_empty()
        || glob.starts_with('~')
        || glob.contains(['$', '[', '{'])
        || glob.split('/').any(|part| part == "..")
        || !glob.split('/').any(|part| !matches!(part, "" | "." | "*" | "**"));
    if odd {
        return Err(Error::new(format!(
            "the settings are wrong: `exempt` takes a directory such as `target/**` or `/tmp/scratch`, and not `{glob}`"
        )));
    }
    Ok(())
}

/// Where the commands of a script may be.
#[derive(Debug)]
pub(crate) struct Places<'a> {
    globs: &'a [String],
    /// Every directory that the script may be in; `None` when that cannot be told.
    bases: Option<Vec<Vec<&'a str>>>,
}

impl<'a> Places<'a> {
    pub(crate) fn of(globs: &'a [String], cwd: &'a str, script: &'a Script) -> Self {
        let mut bases = vec![resolve(&[], cwd).unwrap_or_default()];
        let known = script.is_complete()
            && script.commands().all(|command| match command.program() {
                Some("cd" | "chdir") => {
                    let target = command.args().first().and_then(Word::literal);
                    let from = bases.last().map(Vec::as_slice).unwrap_or_default();
                    let next = target
                        .filter(|target| command.args().len() == 1 && !target.starts_with(['-', '~']))
                        .and_then(|target| resolve(from, target));
                    next.is_some_and(|next| {
                        bases.push(next);
                        bases.len() <= BASES
                    })
                }
                Some("pushd" | "popd") => false,
                _ => true,
            });
        Self { globs, bases: known.then_some(bases) }
    }

    /// Whether all that a refused command deletes lies where that is allowed.
    pub(crate) fn allow(&self, category: Category, command: &Command) -> bool {
        if !command.via.iter().all(|via| HERE.contains(&via.as_str()) || via.ends_with("()")) {
            return false;
        }
        let targets = if category == Category::GitClean {
            pathspecs(command)
        } else if category == Category::Rm {
            match program::name(command).as_deref() {
                Some("rm" | "grm") => operands(command.args()),
                Some("find" | "gfind") => starting_points(command),
                _ => None,
            }
        } else {
            None
        };
        targets.is_some_and(|targets| !targets.is_empty() && targets.iter().all(|target| self.holds(target)))
    }

    fn holds(&self, target: &str) -> bool {
        let Some(bases) = &self.bases else { return false };
        let Some(cwd) = bases.first() else { return false };
        bases.iter().all(|base| {
            let Some(path) = resolve(base, target) else { return false };
            self.globs.iter().any(|pattern| {
                let parts = pattern.split('/').filter(|part| !matches!(*part, "" | "."));
                let anchor = if pattern.starts_with('/') { &[][..] } else { cwd.as_slice() };
                // The directory's own components are no globs.
                path.strip_prefix(anchor).is_some_and(|rest| glob::contains(&parts.collect::<Vec<_>>(), rest))
            })
        })
    }
}

/// The components of a path, without `.` and `..`; what stands behind a wildcard
/// is left out, so that `build/*` is as good as `build`. `None` when the shell
/// could make something else of it.
fn resolve<'a>(base: &[&'a str], path: &'a str) -> Option<Vec<&'a str>> {
    if path.is_empty() || path.starts_with('~') || path.contains(['[', '(', '{', '\\', ':']) {
        return None;
    }
    let mut parts = if path.starts_with('/') { Vec::new() } else { base.to_vec() };
    let mut wild = false;
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if wild => return None,
            ".." => {
                parts.pop();
            }
            // `.*` stands for `..` as well.
            _ if part.contains(['*', '?']) => {
                if part.starts_with('.') {
                    return None;
                }
                wild = true;
            }
            _ if wild => {}
            _ => parts.push(part),
        }
    }
    Some(parts)
}

/// The operands of `rm`; `None` when one is computed.
fn operands(args: &[Word]) -> Option<Vec<&str>> {
    let mut ended = false;
    let mut operands = Vec::new();
    for word in args {
        let text = word.literal()?;
        match text {
            "--" if !ended => ended = true,
            _ if !ended && text.len() > 1 && text.starts_with('-') => {}
            _ => operands.push(text),
        }
    }
    Some(operands)
}

/// Where `find` starts; it must not follow links, which lead anywhere.
fn starting_points(command: &Command) -> Option<Vec<&str>> {
    let words = command.args().iter().map(Word::literal).collect::<Option<Vec<_>>>()?;
    if words.iter().any(|word| matches!(*word, "-L" | "-H" | "-follow" | "-files0-from")) {
        return None;
    }
    let points: Vec<_> = words.into_iter().take_while(|word| !word.starts_with(['-', '(', '!'])).collect();
    Some(if points.is_empty() { vec!["."] } else { points })
}

/// What `git clean` cleans.
fn pathspecs(command: &Command) -> Option<Vec<&str>> {
    let git = Git::of(command.args()).filter(|git| !git.elsewhere)?;
    // With `-e` the next word is no path; it only spares files, and may stay.
    let paths = operands(git.args)?;
    Some(if paths.is_empty() { vec!["."] } else { paths })
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Word;
    use portcullis_sdk::testing::{command, script};

    use super::{Places, check};
    use crate::category::Category;

    const GLOBS: [&str; 4] = ["target/**", "/tmp/scratch/**", "node_modules", "**/dist"];

    fn allows(category: Category, text: &str) -> bool {
        let globs: Vec<String> = GLOBS.iter().map(|&glob| glob.to_owned()).collect();
        let script = script(text);
        let places = Places::of(&globs, "/home/dev/app", &script);
        places.allow(category, script.commands().last().unwrap())
    }

    #[test]
    fn a_delete_inside_is_let_through() {
        for text in [
            "rm -rf target",
            "rm -rf target/debug target/release",
            "rm -rf ./target/",
            "rm -rf -- target",
            "rm -rf target/*",
            "rm -rf /tmp/scratch/x",
            "rm -rf /home/dev/app/target",
            "rm -rf src/../target",
            "rm -rf packages/a/dist node_modules",
            "find target -name *.o -delete",
            "cd /tmp/scratch ; rm -rf /tmp/scratch/x",
        ] {
            assert!(allows(Category::Rm, text), "{text}");
        }
        assert!(allows(Category::GitClean, "git clean -fdx target"));
    }

    #[test]
    fn whatever_could_reach_outside_is_not() {
        for text in [
            "rm -rf target src",
            "rm -rf target/../src",
            "rm -rf /tmp/scratch/../x",
            "rm -rf ~/target",
            "rm -rf target*",
            "rm -rf *",
            "rm -rf */../..",
            "rm -rf target/.*",
            "rm -rf targets",
            "rm -rf /target",
            "rm -rf",
            "rm -rf {}",
            "cd x ; rm -rf target",
            "cd - ; rm -rf target",
            "cd ; rm -rf target",
            "pushd x ; rm -rf target",
            "find -L target -delete",
            "find . -delete",
            "find target src -delete",
        ] {
            assert!(!allows(Category::Rm, text), "{text}");
        }
        for text in ["git clean -fdx", "git -C x clean -fd target", "git clean -fd :/target"] {
            assert!(!allows(Category::GitClean, text), "{text}");
        }
        assert!(!allows(Category::GitReset, "git reset --hard target"));
    }

    #[test]
    fn a_computed_target_and_another_place_are_never_exempt() {
        let globs = vec!["target".to_owned()];
        let script = script("rm -rf target");
        let places = Places::of(&globs, "/home/dev/app", &script);
        let mut rm = command("rm -rf target");
        rm.words.push(Word::Computed("\"target/$X\"".to_owned()));
        assert!(!places.allow(Category::Rm, &rm));
        for via in ["ssh", "sudo", "xargs", "docker", "find", "env"] {
            let mut rm = command("rm -rf target");
            rm.via.push(via.to_owned());
            assert!(!places.allow(Category::Rm, &rm), "{via}");
        }
        let mut rm = command("rm -rf target");
        rm.via.push("bash".to_owned());
        assert!(places.allow(Category::Rm, &rm));
    }

    #[test]
    fn a_glob_that_exempts_everything_is_an_error() {
        for glob in ["", "/", "**", "/**", "~/x", "../x", "a/../..", "$X", ".", "./*"] {
            assert!(check(glob).is_err(), "{glob}");
        }
        for glob in GLOBS {
            assert!(check(glob).is_ok(), "{glob}");
        }
    }
}
