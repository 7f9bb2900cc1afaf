//! One protected path, and what meets it.

use super::name::{is_pattern, meets};

/// Why a change is refused, as a stable word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Code {
    Config,
    Plugins,
    State,
    Cache,
    Program,
    Hooks,
    Command,
    /// More than can be looked at: nobody knows.
    TooMany,
}

impl Code {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Config => "self/config",
            Self::Plugins => "self/plugins",
            Self::State => "self/state",
            Self::Cache => "self/cache",
            Self::Program => "self/program",
            Self::Hooks => "self/hooks",
            Self::Command => "self/command",
            Self::TooMany => "fault/too-big",
        }
    }
}

/// Where the names of a rule stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stand {
    /// At the end of a path, wherever it is.
    Anywhere,
    /// In the directory of the call or of the project, or above it.
    Beside,
    /// Below the root.
    Root,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) code: Code,
    /// For people: whose file it is.
    pub(super) what: &'static str,
    pub(super) names: Vec<String>,
    /// All that is below counts too.
    pub(super) tree: bool,
    pub(super) stand: Stand,
    /// There is no wildcard among the names.
    pub(super) plain: bool,
}

impl Rule {
    /// Reads a row's path.
    pub(super) fn new(code: Code, what: &'static str, path: &str) -> Self {
        let (path, stand) = match path.strip_prefix('^') {
            Some(path) => (path, Stand::Beside),
            None => (path, Stand::Anywhere),
        };
        let (path, tree) = match path.strip_suffix("/**") {
            Some(path) => (path, true),
            None => (path, false),
        };
        Self {
            code,
            what,
            names: names(path).map(str::to_owned).collect(),
            tree,
            stand,
            plain: !path.contains('*'),
        }
    }

    /// The same for one place: what stands at the names of `root`.
    pub(super) fn at(&self, root: &[&str]) -> Self {
        Self {
            names: root.iter().map(|name| (*name).to_owned()).collect(),
            stand: Stand::Root,
            plain: !root.iter().any(|name| name.contains('*')),
            ..self.clone()
        }
    }

    /// Where in `path` the rule's names begin, when it is this file or in this tree.
    /// `beside` says whether a directory is one of the work's.
    pub(super) fn covers(&self, path: &[&str], beside: impl Fn(&[&str]) -> bool) -> Option<usize> {
        let length = self.names.len();
        let last = path.len().checked_sub(length)?;
        let fits = |at: &usize| path.get(*at..).is_some_and(|window| self.begins(window, length));
        match self.stand {
            Stand::Root => Some(0).filter(|at| (self.tree || last == 0) && fits(at)),
            Stand::Anywhere if self.tree => (0..=last).find(fits),
            Stand::Anywhere => Some(last).filter(fits),
            Stand::Beside => Some(last).filter(fits).filter(|at| path.get(..*at).is_some_and(beside)),
        }
    }

    /// How many of the rule's first names `path` ends with, when it is a directory
    /// on the way to what the rule protects.
    pub(super) fn ends_on_the_way(&self, path: &[&str]) -> Option<usize> {
        if self.stand != Stand::Anywhere {
            return None;
        }
        (1..self.names.len()).rev().find(|length| {
            let at = path.len().checked_sub(*length);
            at.and_then(|at| path.get(at..)).is_some_and(|window| self.begins(window, *length))
        })
    }

    /// Is `path` a directory above the one place of the rule?
    pub(super) fn is_below(&self, path: &[&str]) -> bool {
        self.stand == Stand::Root && path.len() < self.names.len() && self.begins(path, path.len())
    }

    fn begins(&self, window: &[&str], length: usize) -> bool {
        // The first names differ nearly always, and there are hundreds of rules.
        if let ([written, ..], [kept, ..]) = (window, self.names.as_slice())
            && self.plain
            && written.len() != kept.len()
            && !is_pattern(written)
        {
            return false;
        }
        window.len() >= length
            && window.iter().zip(&self.names).take(length).all(|(written, kept)| meets(written, kept))
    }
}

/// The names of a path with slashes.
pub(super) fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|name| !name.is_empty())
}

#[cfg(test)]
mod tests {
    use super::{Code, Rule, names};

    fn covers(rule: &str, path: &str) -> bool {
        let path: Vec<&str> = names(path).collect();
        let beside = |directory: &[&str]| directory == ["home", "dev", "app"];
        Rule::new(Code::Hooks, "", rule).covers(&path, beside).is_some()
    }

    #[test]
    fn the_end_of_a_path_counts_by_whole_names() {
        let rule = ".claude/settings.json";
        assert!(covers(rule, "/home/dev/.claude/settings.json") && covers(rule, "/.CLAUDE/Settings.json"));
        for path in
            ["/a/settings.json", "/a/my.claude/settings.json", "/a/.claude/settings.json/x", "/.claude"]
        {
            assert!(!covers(rule, path), "{path}");
        }
    }

    #[test]
    fn a_tree_counts_with_all_that_is_in_it() {
        let rule = ".config/portcullis/**";
        for path in ["/home/dev/.config/portcullis", "/x/.config/portcullis/a/b"] {
            assert!(covers(rule, path), "{path}");
        }
        assert!(!covers(rule, "/home/dev/.config/portcullis2/x") && !covers(rule, "/home/dev/.config"));
    }

    #[test]
    fn a_bare_name_counts_beside_the_work_alone() {
        assert!(covers("^crush.json", "/home/dev/app/crush.json"));
        assert!(!covers("^crush.json", "/home/dev/app/docs/crush.json"));
    }

    #[test]
    fn a_directory_on_the_way_is_known() {
        let rule = Rule::new(Code::Hooks, "", ".gemini/config/hooks.json");
        for (path, length) in [("/x/.gemini", Some(1)), ("/.gemini/config", Some(2)), ("/x/config", None)] {
            assert_eq!(rule.ends_on_the_way(&names(path).collect::<Vec<_>>()), length, "{path}");
        }
    }
}
