//! The protected places of this machine, worked out once, and what meets them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use portcullis_model::product;
use portcullis_model::script::Word;

use super::arguments::written;
use super::change::{Reach, Touch};
use super::disk::{Listing, Seen, holds, resolve, resolve_again};
use super::name::{is_pattern, meets};
use super::rule::{Code, Rule, Stand, names};
use super::site::{Candidate, Site, is_above};
use super::table::{HOOKS, MOVED, NAMED, OWN, SHARED};
use super::word::{self, Named};

/// What a plugin's file is called in a refusal.
pub(crate) const PLUGIN: &str = "a plugin of Portcullis";

/// What the host knows of where its own files are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    pub(crate) files: Vec<(Code, &'static str, PathBuf)>,
    /// The program that is running.
    pub(crate) program: Option<PathBuf>,
    /// The project's root.
    pub(crate) project: Option<PathBuf>,
    pub(crate) variables: BTreeMap<String, String>,
}

/// Everything that is protected here.
#[derive(Debug)]
pub(crate) struct Protection {
    rules: Vec<Rule>,
    /// Variables whose value is a path.
    pub(super) variables: BTreeMap<String, String>,
    /// Other names of the program.
    pub(super) programs: Vec<String>,
    home: Option<String>,
    project: Option<String>,
}

impl Protection {
    /// Looks once where links put the protected places.
    pub(crate) fn new(places: Places) -> Self {
        let mut variables = places.variables;
        variables.retain(|_, value| value.starts_with('/') && !value.contains('\n'));
        let rows = OWN.iter().chain(HOOKS);
        let anywhere: Vec<Rule> = rows
            .flat_map(|(code, what, paths)| paths.iter().map(|path| Rule::new(*code, what, path)))
            .collect();
        let mut rules = Vec::new();
        let text = |path: &Path| path.to_str().map(str::to_owned);
        for (code, what, path) in &places.files {
            let rule =
                Rule { tree: path.extension().is_none_or(|end| end != "toml"), ..Rule::new(*code, what, "") };
            rules.extend(text(path).map(|path| rule.at(&names(&path).collect::<Vec<_>>())));
        }
        if let Some(program) = places.program.as_deref().and_then(text) {
            let rule = Rule::new(Code::Program, "the program of Portcullis", "");
            rules.push(rule.at(&names(&program).collect::<Vec<_>>()));
        }
        for (variable, directory) in MOVED {
            let Some(value) = variables.get(*variable) else { continue };
            let depth = names(directory).count();
            let below = |rule: &&Rule| rule.names.iter().map(String::as_str).take(depth).eq(names(directory));
            rules.extend(anywhere.iter().filter(below).map(|rule| {
                let rest = rule.names.iter().skip(depth).map(String::as_str);
                rule.at(&names(value).chain(rest).collect::<Vec<_>>())
            }));
        }
        for (variable, what) in NAMED {
            let Some(value) = variables.get(*variable) else { continue };
            rules.push(Rule::new(Code::Hooks, what, "").at(&names(value).collect::<Vec<_>>()));
        }
        // The root itself is nobody's file.
        rules.retain(|rule| !rule.names.is_empty());
        let home = variables.get("HOME").cloned();
        let project = places.project.as_deref().and_then(text);
        // Who works in the home directory is asked about it once.
        let roots = home.iter().chain(project.iter().filter(|project| home.as_ref() != Some(project)));
        let mut seen = Seen::default();
        let linked: Vec<Rule> = roots.flat_map(|root| elsewhere(root, &anywhere, &mut seen)).collect();
        let moved: Vec<Rule> = rules.iter().filter_map(|rule| led(rule, &mut seen)).collect();
        // Which rule is told is the first one's that meets.
        let rules = anywhere.into_iter().chain(rules).chain(linked).chain(moved).collect();
        let own = places.program.as_deref().and_then(Path::file_name).and_then(|name| name.to_str());
        let own = own.map(|name| name.strip_suffix(".exe").unwrap_or(name));
        let programs = own.filter(|name| *name != product::NAME).map(str::to_owned).into_iter().collect();
        Self { rules, variables, programs, home, project }
    }

    /// The rule that a change meets.
    pub(super) fn meets(&self, touch: &Touch, site: &Site) -> Option<&Rule> {
        self.meets_word(&touch.word, touch, site).or_else(|| {
            // On Windows a back-slash separates, and elsewhere hardly any name has one.
            let slashed = written(&touch.word).contains('\\').then(|| with_slashes(&touch.word))?;
            self.meets_word(&slashed, touch, site)
        })
    }

    fn meets_word(&self, word: &Word, touch: &Touch, site: &Site) -> Option<&Rule> {
        let named = word::path(word, &self.variables, site.here())?;
        if named.text.is_empty() {
            return None;
        }
        site.candidates(&named).iter().find_map(|candidate| {
            let found = self.meets_at(&candidate.lexical, touch, site, &named);
            found.or_else(|| {
                let led = resolve(&candidate.raw).filter(|_| !named.somewhere)?;
                let led = led.to_str().filter(|led| *led != candidate.lexical)?;
                self.meets_at(led, touch, site, &named)
            })
        })
    }

    fn meets_at(&self, path: &str, touch: &Touch, site: &Site, named: &Named) -> Option<&Rule> {
        let at: Vec<&str> = names(path).collect();
        let covered = self.rules.iter().find(|rule| {
            let Some(start) = rule.covers(&at, |directory| self.is_beside(directory, site)) else {
                return false;
            };
            // Wildcards alone say nothing of what is meant, so the disk has to.
            let (before, window) = at.split_at_checked(start).unwrap_or((&at, &[]));
            window.iter().take(rule.names.len()).any(|name| !is_pattern(name))
                || holds(Path::new("/"), &joined(before, &rule.names), rule.tree, None)
        });
        if covered.is_some() || named.somewhere {
            return covered;
        }
        match &touch.reach {
            Reach::Write => None,
            Reach::Spoil => {
                self.on_the_way(&at, |rest, rule| holds(Path::new("/"), &joined(&at, rest), rule.tree, None))
            }
            Reach::Fill(source) => self.filled(path, &at, source.as_ref(), site),
            Reach::Become(_) if Path::new(path).is_dir() => None,
            Reach::Become(source) => self.filled(path, &at, source.as_ref(), site),
            Reach::Remove(wanted) | Reach::Among(wanted) => {
                let wanted = wanted.as_deref();
                let there = |rest: &[String], rule: &Rule| {
                    holds(Path::new("/"), &joined(&at, rest), rule.tree, wanted)
                };
                let above =
                    || self.above(&at, site, wanted).filter(|_| matches!(touch.reach, Reach::Remove(_)));
                self.on_the_way(&at, there).or_else(above)
            }
        }
    }

    /// The rule whose file lies below the directory `at`, by the names of the rule,
    /// when `holds` says so of the names that are left.
    fn on_the_way(&self, at: &[&str], holds: impl Fn(&[String], &Rule) -> bool) -> Option<&Rule> {
        self.rules.iter().filter(|rule| rule.code != Code::Cache).find(|rule| {
            let length = rule.ends_on_the_way(at);
            length.and_then(|length| rule.names.get(length..)).is_some_and(|rest| holds(rest, rule))
        })
    }

    /// The rule whose file comes into being when `path` is filled from `source`.
    fn filled(&self, path: &str, at: &[&str], source: Option<&Word>, site: &Site) -> Option<&Rule> {
        let source = source.and_then(|source| word::path(source, &self.variables, site.here()));
        let from: Vec<PathBuf> = source
            .iter()
            .filter(|source| !source.somewhere)
            .flat_map(|source| site.candidates(source))
            .map(|Candidate { raw, .. }| raw)
            .filter(|raw| fs::symlink_metadata(raw).is_ok())
            .collect();
        self.on_the_way(at, |rest, rule| {
            let known = rule.names.len().saturating_sub(rest.len());
            let base = at.len().checked_sub(known).and_then(|length| at.get(..length)).unwrap_or_default();
            // A copy of somebody's hooks in a place where no agent works is a copy.
            if !self.is_near(base, site) {
                return false;
            }
            if !from.is_empty() {
                return from.iter().any(|from| holds(from, rest, rule.tree, None));
            }
            // Nobody knows what comes. A folder that is an agent's alone is taken to be meant.
            let way = rule.names.get(..known).unwrap_or_default().join("/");
            way.starts_with('.') && !SHARED.contains(&way.as_str()) && !path.contains('*')
        })
    }

    /// Is `base` the user's home, or a directory of the work, or above it?
    fn is_near(&self, base: &[&str], site: &Site) -> bool {
        let is_home = |home: &String| names(home).eq(base.iter().copied());
        self.home.as_ref().is_some_and(is_home) || self.is_beside(base, site)
    }

    fn is_beside(&self, directory: &[&str], site: &Site) -> bool {
        site.is_beside(directory) || self.project.as_ref().is_some_and(|project| is_above(directory, project))
    }

    /// The rule whose file lies anywhere below `at`: the user's, the project's, and
    /// those of the directories that the call works in.
    fn above(&self, at: &[&str], site: &Site, wanted: Option<&[String]>) -> Option<&Rule> {
        let one = self.rules.iter().filter(|rule| rule.code != Code::Cache && rule.is_below(at));
        let mut one = one.filter(|rule| holds(Path::new("/"), &rule.names, rule.tree, wanted));
        if let Some(rule) = one.next() {
            return Some(rule);
        }
        let bases =
            self.home.iter().chain(&self.project).map(Path::new).chain(Path::new(site.own()).ancestors());
        bases.filter(|base| is_at_or_below(base, at)).find_map(|base| {
            let mut gone: BTreeSet<&str> = BTreeSet::new();
            self.rules.iter().filter(|rule| rule.code != Code::Cache && rule.stand != Stand::Root).find(
                |rule| {
                    let Some(first) = rule.names.first().filter(|first| !gone.contains(first.as_str()))
                    else {
                        return false;
                    };
                    if fs::symlink_metadata(base.join(first)).is_err() {
                        gone.insert(first);
                        return false;
                    }
                    holds(base, &rule.names, rule.tree, wanted)
                },
            )
        })
    }

    /// A path as the user would write it: the model may not have sent the home.
    pub(super) fn without_home(&self, path: &str) -> String {
        // The reading of a tool that does not know what `~` is.
        if let Some((_, rest)) = path.split_once("/~/") {
            return format!("~/{rest}");
        }
        let below = self.home.as_deref().and_then(|home| path.strip_prefix(home));
        below.filter(|rest| rest.starts_with('/')).map_or_else(|| path.to_owned(), |rest| format!("~{rest}"))
    }
}

fn with_slashes(word: &Word) -> Word {
    match word {
        Word::Literal(text) => Word::Literal(text.replace('\\', "/")),
        Word::Computed(text) => Word::Computed(text.replace('\\', "/")),
    }
}

fn joined(at: &[&str], rest: &[String]) -> Vec<String> {
    at.iter().map(|name| (*name).to_owned()).chain(rest.iter().cloned()).collect()
}

/// Does the pattern `at` take `base`, or a directory above it?
fn is_at_or_below(base: &Path, at: &[&str]) -> bool {
    let Some(base) = base.to_str() else { return false };
    let mut own = names(base);
    at.iter().all(|name| own.next().is_some_and(|own| meets(name, own)))
}

/// The rules whose places below `root` are links to elsewhere.
fn elsewhere(root: &str, rules: &[Rule], seen: &mut Seen) -> Vec<Rule> {
    let Some(base) = resolve_again(Path::new(root), seen) else { return Vec::new() };
    let listing = Listing::of(&base);
    let mut gone: BTreeSet<&str> = BTreeSet::new();
    let mut found = Vec::new();
    for rule in rules {
        let Some(first) = rule.names.first().filter(|first| !gone.contains(first.as_str())) else { continue };
        if !listing.may_hold(first) || fs::symlink_metadata(base.join(first)).is_err() {
            gone.insert(first);
            continue;
        }
        let written: PathBuf =
            std::iter::once(base.clone()).chain(rule.names.iter().map(PathBuf::from)).collect();
        if let Some(led) = resolve_again(&written, seen).filter(|led| *led != written)
            && let Some(led) = led.to_str()
        {
            found.push(rule.at(&names(led).collect::<Vec<_>>()));
        }
    }
    found
}

/// The rule for where the one place of `rule` leads, if that is another.
fn led(rule: &Rule, seen: &mut Seen) -> Option<Rule> {
    let written: PathBuf =
        std::iter::once(PathBuf::from("/")).chain(rule.names.iter().map(PathBuf::from)).collect();
    let led = resolve_again(&written, seen).filter(|led| *led != written)?;
    Some(rule.at(&names(led.to_str()?).collect::<Vec<_>>()))
}
