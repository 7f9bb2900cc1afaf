//! What is known of the variables while a script is followed.
//!
//! A value counts as known only when every way to the place of its use set the
//! same one. A guard that is told `ls` where the shell would run `rm` is
//! worse off than one that is told nothing.

use std::collections::{HashMap, HashSet};

use crate::text::Text;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Value {
    Text(Text),
    /// An array, or the positional parameters.
    List(Vec<Text>),
    Unknown,
}

#[derive(Debug)]
struct Entry {
    value: Value,
    born: usize,
    /// What it was set to last, when it is not known whether that counts.
    guess: Option<Value>,
}

/// A point to come back to.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    log: usize,
    floor: usize,
}

#[derive(Debug, Default)]
pub(crate) struct Variables {
    map: HashMap<String, Entry>,
    /// What each change replaced.
    log: Vec<(String, Option<Entry>)>,
    clock: usize,
    /// Whatever was set before this time is unknown.
    floor: usize,
    /// Names that a function sets whenever it is called.
    shared: HashSet<String>,
    /// How often the text at hand sets each name.
    counts: HashMap<String, usize>,
    /// When the function around the cursor began.
    function: Option<usize>,
    /// Guesses count as values.
    pub(crate) guessing: bool,
}

/// Names that the environment sets before any script runs.
const INHERITED: [&str; 16] = [
    "HOME", "PATH", "PWD", "OLDPWD", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "HOSTNAME", "EDITOR", "UID",
    "RANDOM", "SECONDS", "IFS", "SHLVL",
];

impl Variables {
    /// `None` when nothing has set it.
    pub(crate) fn get(&self, name: &str) -> Option<&Value> {
        const UNKNOWN: &Value = &Value::Unknown;
        let special = !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        // A function has positional parameters of its own.
        if special && self.function.is_some() {
            return Some(UNKNOWN);
        }
        let inherited = special || self.floor > 0 || INHERITED.contains(&name);
        let Some(entry) = self.map.get(name) else {
            let shared = self.shared.contains(name);
            return (inherited || shared || self.function.is_some()).then_some(UNKNOWN);
        };
        let stale = match self.function {
            Some(start) => entry.born < start && self.counts.get(name).is_some_and(|count| *count > 1),
            None => self.shared.contains(name),
        };
        if stale || entry.born < self.floor {
            return Some(UNKNOWN);
        }
        Some(entry.guess.as_ref().filter(|_| self.guessing).unwrap_or(&entry.value))
    }

    /// Whether the name has a value only if something ran of which that is not known.
    pub(crate) fn has_guess(&self, name: &str) -> bool {
        self.map.get(name).is_some_and(|entry| entry.guess.is_some())
    }

    pub(crate) fn set(&mut self, name: &str, value: Value) {
        self.clock += 1;
        let old = self.map.insert(name.to_owned(), Entry { value, born: self.clock, guess: None });
        self.log.push((name.to_owned(), old));
    }

    /// Whether the script set it, to whatever.
    pub(crate) fn is_set(&self, name: &str) -> bool {
        self.map.contains_key(name)
    }

    pub(crate) fn forget(&mut self, name: &str) {
        self.set(name, Value::Unknown);
    }

    /// Something ran that may have set anything.
    pub(crate) fn forget_all(&mut self) {
        self.clock += 1;
        self.floor = self.clock;
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { log: self.log.len(), floor: self.floor }
    }

    /// Takes back every change since `mark`: they were made in another process.
    pub(crate) fn restore(&mut self, mark: Mark) {
        self.floor = mark.floor;
        while self.log.len() > mark.log {
            let Some((name, old)) = self.log.pop() else { break };
            match old {
                Some(entry) => self.map.insert(name, entry),
                None => self.map.remove(&name),
            };
        }
    }

    /// The changes since `mark` may or may not have been made.
    pub(crate) fn blur(&mut self, mark: Mark) {
        self.unknown_since(mark, true);
    }

    /// The changes since `mark` are over, but for a few programs with which they last.
    pub(crate) fn blur_prefix(&mut self, mark: Mark) {
        self.unknown_since(mark, false);
    }

    fn unknown_since(&mut self, mark: Mark, guess: bool) {
        let changed = self.log.get(mark.log..).unwrap_or_default();
        for (name, old) in changed {
            let Some(current) = self.map.get_mut(name) else { continue };
            if old.as_ref().is_none_or(|old| old.value != current.value) {
                let last = std::mem::replace(&mut current.value, Value::Unknown);
                if guess && last != Value::Unknown {
                    current.guess = Some(last);
                }
            }
        }
    }

    /// A new text begins, which sets each of these names.
    pub(crate) fn count(&mut self, names: &[String]) {
        for name in names {
            *self.counts.entry(name.clone()).or_default() += 1;
        }
    }

    /// The body of a function begins; what it sets is unknown from here on, outside of it.
    pub(crate) fn enter_function(&mut self, names: &[String]) -> Option<usize> {
        for name in names {
            self.shared.insert(name.clone());
        }
        self.clock += 1;
        self.function.replace(self.clock)
    }

    pub(crate) fn leave_function(&mut self, outer: Option<usize>) {
        self.function = outer;
    }
}
