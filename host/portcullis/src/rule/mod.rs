//! Rules that say which calls are meant: for hooks, permissions and channels.
//!
//! ```text
//! rule    = "*" | head | head "(" pattern ")"
//! head    = an effect: run, read, write, delete, fetch, mcp, opaque
//!         | a tool, by any agent's name for it, in which `*` and `?` may stand
//!         | an MCP server: mcp__SERVER
//! pattern = text in which `*` stands for any characters and `?` for one
//! ```
//!
//! An effect means the call's work, whatever the tool is called: `write(**/.env*)`
//! is every tool that would write such a file. Heads are the same in any case.
//!
//! What refuses or watches asks [`Rule::touches`]: is any part of the call meant?
//! What lets pass asks [`Rule::cover`]: is all of the call meant, and understood?

mod head;
mod name;
mod pattern;
mod subject;

#[cfg(test)]
mod tests;

use std::fmt;
use std::str::FromStr;

use portcullis_model::call::{Effect, EffectKind};

pub(crate) use name::Name;
pub(crate) use pattern::Pattern;
pub use subject::Subject;

use crate::tool;
use head::Head;

/// Which calls are meant.
#[derive(Debug, Clone)]
pub struct Rule {
    text: String,
    head: Head,
    pattern: Option<Pattern>,
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
            Some(_) if matches!(head, Head::Any) => {
                return Err(wrong("`*` means every call and takes no pattern"));
            }
            Some(pattern) => Some(Pattern::new(pattern.trim()).map_err(|reason| wrong(&reason))?),
        };
        Ok(Self { text: trimmed.to_owned(), head, pattern })
    }
}

impl Rule {
    /// The rule as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// True when every call of `tool` is meant, whatever it does.
    pub(crate) fn means_every_call_of(&self, tool: &str) -> bool {
        let call = Subject {
            tool,
            agent_tool: tool,
            inner: &[],
            effects: &[],
            scripts: &[],
            input: &serde_json::Value::Null,
            cwd: "/",
            home: None,
        };
        self.pattern.is_none() && self.head.may_name(&call)
    }

    /// True when any part of the call is meant.
    #[must_use]
    pub fn touches(&self, call: &Subject<'_>) -> bool {
        let Some(pattern) = &self.pattern else { return self.head.may_name(call) };
        match &self.head {
            Head::Any => true,
            Head::Effect(kind) => {
                let mut effects = call.effects.iter().filter(|effect| effect.kind == *kind);
                effects.any(|effect| pattern.may_match_effect(effect, call))
                    || (*kind == EffectKind::Run && call.commands().any(|words| pattern.matches_text(&words)))
            }
            Head::Tool { .. } | Head::Tools { .. } => {
                self.head.may_name(call)
                    && (call.effects.iter().any(|effect| pattern.may_match_effect(effect, call))
                        || call.commands().any(|words| pattern.matches_text(&words))
                        || (call.is_unexplained()
                            && call.texts().iter().any(|text| pattern.matches_text(text))))
            }
        }
    }

    /// True when `rules` together mean all of the call, and all of it is understood:
    /// what a script computes, writes, sets or is wrapped in is more than its words
    /// say.
    #[must_use]
    pub fn cover(rules: &[Self], call: &Subject<'_>) -> bool {
        let whole = |rule: &&Self| match rule.head {
            Head::Any => true,
            Head::Effect(_) => false,
            Head::Tool { .. } | Head::Tools { .. } => rule.pattern.is_none() && rule.head.names(call),
        };
        rules.iter().any(|rule| whole(&rule))
            || (!call.effects.is_empty()
                && call.effects.iter().all(|effect| Self::covered(rules, effect, call)))
    }

    fn covered(rules: &[Self], effect: &Effect, call: &Subject<'_>) -> bool {
        let meant = || {
            rules.iter().filter(|rule| match rule.head {
                Head::Effect(kind) => kind == effect.kind,
                Head::Any | Head::Tool { .. } | Head::Tools { .. } => rule.head.names(call),
            })
        };
        if meant().any(|rule| rule.pattern.is_none()) {
            return true;
        }
        let patterns = || meant().filter_map(|rule| rule.pattern.as_ref());
        match effect.kind {
            EffectKind::Run => {
                call.all_commands(effect, |words| patterns().any(|own| own.matches_text(words)))
            }
            EffectKind::Read
            | EffectKind::Write
            | EffectKind::Delete
            | EffectKind::Fetch
            | EffectKind::Mcp
            | EffectKind::Opaque => patterns().any(|own| own.matches_effect(effect, call)),
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
