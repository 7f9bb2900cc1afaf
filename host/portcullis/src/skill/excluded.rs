//! What `.gitignore` and `.ignore` exclude, from a skill root downwards. There need be no
//! repository, and what lies above the root has no say.

use std::path::Path;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::beneath;

/// The names of the files, the strongest first.
pub(super) const FILES: [&str; 2] = [".ignore", ".gitignore"];

/// The most bytes of one that are read.
const FILE_MAX: usize = 256 << 10;

/// The rules that hold at a place, the nearest last.
#[derive(Debug, Clone, Default)]
pub(super) struct Excluded(Vec<Gitignore>);

/// The rules of one directory, the strongest last.
pub(super) type Rules = Vec<Gitignore>;

/// The rules that the directory at `inside` brings. A file that cannot be read excludes
/// nothing, and neither does a line of it that is no rule.
pub(super) fn rules(base: &Path, inside: &str, names: &[&str]) -> Rules {
    let directory = beneath::joined(base, inside);
    let one = |name: &&str| {
        let inside = if inside.is_empty() { (*name).to_owned() } else { format!("{inside}/{name}") };
        let (bytes, _) = beneath::read_file(base, &inside, FILE_MAX).ok()?;
        let mut builder = GitignoreBuilder::new(&directory);
        for line in String::from_utf8_lossy(&bytes).lines() {
            if let Err(error) = builder.add_line(None, line) {
                tracing::debug!("{}: {error}", directory.join(name).display());
            }
        }
        builder.build().ok()
    };
    names.iter().rev().filter_map(one).collect()
}

impl Excluded {
    /// The rules from the directory at `from` down to that at `inside`, both included.
    pub(super) fn at(base: &Path, from: &str, inside: &str) -> Self {
        let ends = inside.match_indices('/').map(|(at, _)| at).chain([inside.len()]);
        let mut all = rules(base, from, &FILES);
        for end in ends.filter(|end| *end > from.len()) {
            all.extend(rules(base, inside.get(..end).unwrap_or_default(), &FILES));
        }
        Self(all)
    }

    /// With the rules of one more directory; the answer is how many there were before.
    pub(super) fn enter(&mut self, rules: &Rules) -> usize {
        let before = self.0.len();
        self.0.extend(rules.iter().cloned());
        before
    }

    /// Forgets all but the first `count` rules.
    pub(super) fn leave(&mut self, count: usize) {
        self.0.truncate(count);
    }

    pub(super) fn has(&self, path: &Path, is_directory: bool) -> bool {
        for rules in self.0.iter().rev() {
            let verdict = rules.matched(path, is_directory);
            if !verdict.is_none() {
                return verdict.is_ignore();
            }
        }
        false
    }
}

/// Files and directories that nobody looks into, whatever is excluded.
pub(super) fn is_hidden(name: &str) -> bool {
    name.starts_with('.') || name == "node_modules"
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Excluded;

    #[test]
    fn the_nearest_rule_has_the_last_word_without_any_repository() {
        let home = tempfile::tempdir().unwrap();
        let base = home.path().join("skills");
        fs::create_dir_all(base.join("a/b")).unwrap();
        fs::write(home.path().join(".gitignore"), "skills\n").unwrap();
        fs::write(base.join(".gitignore"), "*.log\nbuild/\n").unwrap();
        fs::write(base.join("a/.gitignore"), "!keep.log\n[\n").unwrap();
        fs::write(base.join("a/b/.ignore"), "secret\n").unwrap();
        let excluded = Excluded::at(&base, "", "a/b");
        let has = |path: &str, directory| excluded.has(&base.join(path), directory);
        assert!(has("a/b/x.log", false) && !has("a/b/keep.log", false));
        assert!(has("a/b/build", true) && !has("a/b/build", false));
        assert!(has("a/b/secret", false) && !has("a/b/SKILL.md", false));
    }
}
