//! Rules that say which calls are meant: for hooks, permissions and channels.
//!
//! ```text
//! rule    = "*" | head | head "(" pattern ")"
//! head    = an effect: run, read, write, delete, fetch, mcp, opaque
//!         | a tool, by any agent's name for it
//! pattern = text in which `*` stands for any characters and `?` for one
//! ```
//!
//! An effect means the call's work, whatever the tool is called: `write(**/.env*)`
//! is every tool that would write such a file. Heads are the same in any case.
//!
//! What refuses or watches asks [`Rule::touches`]: is any part of the call meant?
//! What lets pass asks [`Rule::covers`]: is all of the call meant, and understood?

mod pattern;
mod subject;

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use portcullis_model::call::EffectKind;

pub use subject::Subject;

use crate::tool;
use pattern::Pattern;

/// Which calls are meant.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    head: Head,
    pattern: Option<Pattern>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Head {
    /// Every call.
    Any,
    Effect(EffectKind),
    /// A tool by its canonical name, or one that the host has no row for by its own.
    Tool {
        name: String,
        known: bool,
    },
}

/// A text that is no rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}: `{rule}`")]
pub struct RuleError {
    /// The text, cut to 200 characters.
    pub rule: String,
    /// What is wrong with it.
    pub reason: String,
}

impl FromStr for Rule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let wrong =
            |reason: &str| RuleError { rule: text.chars().take(200).collect(), reason: reason.to_owned() };
        let trimmed = text.trim();
        let (head, pattern) = match trimmed.split_once('(') {
            None if trimmed.contains(')') => return Err(wrong("a bracket closes that was not opened")),
            None => (trimmed, None),
            Some((head, rest)) => {
                let pattern =
                    rest.strip_suffix(')').ok_or_else(|| wrong("it does not end with its bracket"))?;
                (head.trim(), Some(pattern))
            }
        };
        let head = Head::read(head).map_err(|reason| wrong(&reason))?;
        let pattern = match pattern {
            None => None,
            Some(pattern) if pattern.trim().is_empty() => {
                return Err(wrong("its brackets are empty, which would mean nothing"));
            }
            Some(_) if head == Head::Any => return Err(wrong("`*` means every call and takes no pattern")),
            Some(pattern) => Some(Pattern::new(pattern.trim()).map_err(|reason| wrong(&reason))?),
        };
        Ok(Self { text: trimmed.to_owned(), head, pattern })
    }
}

impl Head {
    fn read(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("it names no tool and no effect".to_owned());
        }
        if text == "*" {
            return Ok(Self::Any);
        }
        if text.contains(char::is_whitespace) {
            return Err("a tool's name has no blanks".to_owned());
        }
        let effect = EffectKind::ALL.into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(text));
        if let Some(effect) = effect {
            return Ok(Self::Effect(effect));
        }
        Ok(match tool::canonical_of(text) {
            Some(name) => Self::Tool { name, known: true },
            None => Self::Tool { name: text.to_owned(), known: false },
        })
    }
}

impl Rule {
    /// The rule as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True when any part of the call is meant.
    #[must_use]
    pub fn touches(&self, call: &Subject<'_>) -> bool {
        match (&self.head, &self.pattern) {
            (Head::Any, _) => true,
            (Head::Effect(kind), None) => call.effects.iter().any(|effect| effect.kind == *kind),
            (Head::Effect(kind), Some(pattern)) => {
                let mut effects = call.effects.iter().filter(|effect| effect.kind == *kind);
                effects.any(|effect| pattern.matches_effect(effect, call))
                    || (*kind == EffectKind::Run && call.commands().any(|words| pattern.matches_text(&words)))
            }
            (Head::Tool { name, .. }, None) => call.is_tool(name),
            (Head::Tool { name, .. }, Some(pattern)) => {
                call.is_tool(name)
                    && (call.effects.iter().any(|effect| pattern.matches_effect(effect, call))
                        || call.commands().any(|words| pattern.matches_text(&words))
                        || (call.is_unexplained()
                            && call.texts().iter().any(|text| pattern.matches_text(text))))
            }
        }
    }

    /// True when all of the call is meant, and all of it is understood: what a
    /// script computes, writes, sets or is wrapped in is more than its words say.
    #[must_use]
    pub fn covers(&self, call: &Subject<'_>) -> bool {
        match (&self.head, &self.pattern) {
            (Head::Any, _) => true,
            (Head::Effect(kind), None) => {
                !call.effects.is_empty() && call.effects.iter().all(|effect| effect.kind == *kind)
            }
            (Head::Effect(kind), Some(pattern)) => {
                !call.effects.is_empty()
                    && call.effects.iter().all(|effect| effect.kind == *kind)
                    && call.effects.iter().all(|effect| pattern.covers_effect(effect, call))
            }
            (Head::Tool { name, .. }, None) => call.is_tool(name),
            (Head::Tool { name, .. }, Some(pattern)) => {
                call.is_tool(name)
                    && !call.effects.is_empty()
                    && call.effects.iter().all(|effect| pattern.covers_effect(effect, call))
            }
        }
    }

    /// What was probably meant, when the rule names a tool that the host has no row for
    /// and whose name is a slip of one that it has. A tool that a plugin brings may
    /// have any other name.
    #[must_use]
    pub fn near_miss(&self) -> Option<&'static str> {
        let Head::Tool { name, known: false } = &self.head else { return None };
        if name.starts_with("mcp:") || name.starts_with("mcp__") {
            return None;
        }
        let effects = EffectKind::ALL.into_iter().map(EffectKind::as_str);
        let near = effects.chain(tool::every_name()).min_by_key(|known| distance(name, known))?;
        (distance(name, near) <= 2).then_some(near)
    }
}

fn distance(a: &str, b: &str) -> usize {
    strsim::osa_distance(&a.to_lowercase(), &b.to_lowercase())
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
