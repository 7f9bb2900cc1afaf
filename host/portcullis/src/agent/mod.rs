//! The agents: what each of them sends to its hook, and how each is answered.
//!
//! One file an agent, and most of it a table. Bytes in, data out: nothing here
//! judges a call, prints, or reads a file.

mod amp;
mod answer;
mod antigravity;
mod canary;
mod claude;
mod cline;
mod codex;
mod copilot;
mod crush;
mod cursor;
mod dialect;
mod droid;
mod error;
mod event;
mod fields;
mod gemini;
mod goose;
mod kiro;
mod objection;
mod opencode;
mod request;
mod sender;
mod shim;
mod windsurf;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use crate::hook::Event;

pub use answer::HookAnswer;
use dialect::Dialect;
pub use error::{HookInputError, UnknownAgent};
pub use event::{Ending, HookEvent};
use fields::Fields;
use objection::Objection;
pub use request::HookRequest;
pub use shim::{amp_plugin, opencode_plugin};

/// An agent whose hook payload is understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Agent {
    /// Claude Code, and agents that copy its hooks.
    Claude,
    /// `OpenAI` Codex.
    Codex,
    /// Gemini CLI.
    Gemini,
    /// GitHub Copilot: the CLI, the cloud agent, and VS Code.
    Copilot,
    /// Cursor.
    Cursor,
    /// opencode, through the plugin that [`opencode_plugin`] gives.
    OpenCode,
    /// goose.
    Goose,
    /// Crush.
    Crush,
    /// Cline.
    Cline,
    /// Windsurf.
    Windsurf,
    /// Factory Droid.
    Droid,
    /// Kiro CLI.
    Kiro,
    /// Antigravity.
    Antigravity,
    /// Amp, through the plugin that [`amp_plugin`] gives.
    Amp,
}

impl Agent {
    /// Every agent, in the order in which they are listed.
    pub const ALL: [Self; 14] = [
        Self::Claude,
        Self::Codex,
        Self::Gemini,
        Self::Copilot,
        Self::Cursor,
        Self::OpenCode,
        Self::Goose,
        Self::Crush,
        Self::Cline,
        Self::Windsurf,
        Self::Droid,
        Self::Kiro,
        Self::Antigravity,
        Self::Amp,
    ];

    /// The name that `--agent` takes.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        self.dialect().name
    }

    /// Reads what this agent wrote to its hook's standard input.
    ///
    /// # Errors
    /// When the payload is too big, is no UTF-8, is no strict JSON object, lacks
    /// a field or has one of the wrong type, or is clearly another agent's.
    pub fn read(self, payload: &[u8]) -> Result<HookRequest, HookInputError> {
        self.read_in(payload, None)
    }

    /// As [`read`](Self::read). `here` is the absolute path of the directory that
    /// the hook was started in; it stands in where the agent does not say in
    /// which directory it works.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_in(self, payload: &[u8], here: Option<&str>) -> Result<HookRequest, HookInputError> {
        let mut fields = Fields::parse(payload, here)?;
        let dialect = if self == Self::Copilot { copilot::form(&fields) } else { self.dialect() };
        sender::check(self, dialect, &fields)?;
        HookRequest::read(dialect, &mut fields)
    }

    /// A refusal because no judgement could be had.
    #[must_use]
    pub fn failure(self, reason: &str) -> HookAnswer {
        (self.dialect().failure)(reason)
    }

    /// How long its hook may take at most, so that the answer comes before the
    /// agent stops waiting, if nobody has told the agent to wait longer or less.
    #[must_use]
    pub fn deadline(self) -> Duration {
        const MOST: Duration = Duration::from_secs(58);
        const EARLY: Duration = Duration::from_secs(5);
        self.dialect().waits.saturating_sub(EARLY).min(MOST)
    }

    /// How long an installed entry tells the agent to wait: as long as it does by
    /// itself, and no more than a minute.
    pub(crate) fn timeout(self) -> Duration {
        self.dialect().waits.min(Duration::from_secs(60))
    }

    /// Whether this agent tells its hooks of `event`.
    #[must_use]
    pub fn hears(self, event: Event) -> bool {
        self.dialect().events.iter().any(|(_, moment)| moment.event() == event)
    }

    /// Whether a hook's no counts in this agent at `event`.
    #[must_use]
    pub fn heeds(self, event: Event) -> bool {
        let dialect = self.dialect();
        event == Event::PreToolUse
            || dialect.events.iter().any(|(name, moment)| {
                moment.event() == event
                    && matches!((dialect.objects)(*moment, name, "no"), Objection::Counts(_))
            })
    }

    /// How a prompt is withheld where nobody could be asked; none where it cannot be.
    pub(crate) fn withheld_prompt(self, reason: &str) -> Option<HookAnswer> {
        let dialect = self.dialect();
        let mut prompts = dialect.events.iter().filter(|(_, moment)| moment.event() == Event::PromptSubmit);
        prompts.find_map(|(name, moment)| match (dialect.objects)(*moment, name, reason) {
            Objection::Counts(answer) => Some(answer),
            Objection::Told(_) => None,
        })
    }

    const fn dialect(self) -> &'static Dialect {
        match self {
            Self::Claude => &claude::DIALECT,
            Self::Codex => &codex::DIALECT,
            Self::Gemini => &gemini::DIALECT,
            Self::Copilot => &copilot::CAMEL,
            Self::Cursor => &cursor::DIALECT,
            Self::OpenCode => &opencode::DIALECT,
            Self::Goose => &goose::DIALECT,
            Self::Crush => &crush::DIALECT,
            Self::Cline => &cline::DIALECT,
            Self::Windsurf => &windsurf::DIALECT,
            Self::Droid => &droid::DIALECT,
            Self::Kiro => &kiro::DIALECT,
            Self::Antigravity => &antigravity::DIALECT,
            Self::Amp => &amp::DIALECT,
        }
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Agent {
    type Err = UnknownAgent;

    fn from_str(text: &str) -> Result<Self, UnknownAgent> {
        if let Some(agent) = Self::ALL.into_iter().find(|agent| agent.as_str() == text) {
            return Ok(agent);
        }
        let name: String = text.chars().take(64).collect();
        let lower = name.to_lowercase();
        let near = Self::ALL
            .into_iter()
            .find(|agent| lower.starts_with(agent.as_str()) || edits(&lower, agent.as_str()) <= 2);
        Err(UnknownAgent { name, near })
    }
}

/// How many characters have to be added, removed or changed to make `a` of `b`.
fn edits(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.chars().count()).collect();
    for (i, from) in a.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, to) in row.iter_mut().skip(1).zip(b.chars()) {
            let above = *cell;
            *cell = (diagonal + usize::from(from != to)).min(above + 1).min(left + 1);
            diagonal = above;
            left = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
