//! Who sees what: pool, session, agent and turn, each within the one before.

use std::fmt;

/// How far something is seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// By everything that shares a pool.
    Pool,
    /// Within one session.
    Session,
    /// By one agent of a session.
    Agent,
    /// Within one turn.
    Turn,
}

impl Level {
    /// All of them, the widest first.
    pub const ALL: [Self; 4] = [Self::Pool, Self::Session, Self::Agent, Self::Turn];

    /// The stable word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Pool => "pool",
            Self::Session => "session",
            Self::Agent => "agent",
            Self::Turn => "turn",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A place in the tree of pools, sessions, agents and turns. An empty part skips that
/// level.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The pool.
    pub pool: String,
    /// The session.
    pub session: String,
    /// The agent's name.
    pub agent: String,
    /// The turn.
    pub turn: String,
}

impl Default for Scope {
    fn default() -> Self {
        Self { pool: "default".to_owned(), session: String::new(), agent: String::new(), turn: String::new() }
    }
}

/// One place where things are registered.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) level: Level,
    scope: Scope,
}

impl Scope {
    /// The pool `default`, and nothing narrower.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The same, in this session.
    #[must_use]
    pub fn session(self, id: impl Into<String>) -> Self {
        Self { session: id.into(), ..self }
    }

    /// The same, for this agent.
    #[must_use]
    pub fn agent(self, name: impl Into<String>) -> Self {
        Self { agent: name.into(), ..self }
    }

    /// The same, in this turn.
    #[must_use]
    pub fn turn(self, id: impl Into<String>) -> Self {
        Self { turn: id.into(), ..self }
    }

    /// The id at `level`; empty when it is skipped.
    #[must_use]
    pub fn id(&self, level: Level) -> &str {
        match level {
            Level::Pool => &self.pool,
            Level::Session => &self.session,
            Level::Agent => &self.agent,
            Level::Turn => &self.turn,
        }
    }

    /// The place at `level`, unless the scope skips that level.
    pub(super) fn key(&self, level: Level) -> Option<Key> {
        if self.id(level).is_empty() {
            return None;
        }
        let keep = |own: Level| if own <= level { self.id(own).to_owned() } else { String::new() };
        let scope = Self {
            pool: keep(Level::Pool),
            session: keep(Level::Session),
            agent: keep(Level::Agent),
            turn: keep(Level::Turn),
        };
        Some(Key { level, scope })
    }

    /// Every place that is seen from here, the narrowest first.
    pub(super) fn seen(&self) -> impl Iterator<Item = Key> {
        Level::ALL.into_iter().rev().filter_map(|level| self.key(level))
    }
}

impl Key {
    /// True for this place and every one within it.
    pub(super) fn is_within(&self, outer: &Self) -> bool {
        self.level >= outer.level
            && Level::ALL.into_iter().take_while(|level| *level <= outer.level).all(|level| {
                let wanted = outer.scope.id(level);
                self.scope.id(level) == wanted
            })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} `{}`", self.level, self.scope.id(self.level))
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ids = Level::ALL.into_iter().map(|level| self.id(level)).filter(|id| !id.is_empty());
        f.write_str(&ids.collect::<Vec<_>>().join("/"))
    }
}
