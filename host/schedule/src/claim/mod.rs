//! What a call needs for itself while it runs, and when two such claims conflict.

mod disk;
mod error;
mod normal;
mod pattern;
mod segment;
#[cfg(test)]
pub(crate) mod tests;

use std::collections::BTreeSet;
use std::fmt;

pub use disk::{Disk, FileId, Found, Look};
pub use error::ClaimError;
pub use normal::{PATTERN_BYTES_MAX, Place};
pub use pattern::Pattern;
pub(crate) use pattern::Reach;
pub(crate) use segment::Segment;

/// How many patterns a claim may hold. One that would hold more is exclusive.
pub const PATHS_MAX: usize = 128;

/// What is done with a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// It is looked at.
    Read,
    /// It is made, changed or removed.
    Write,
}

/// What a call needs for itself while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    need: Need,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Need {
    Nothing,
    ReadOnly,
    Paths(Vec<(Access, Pattern)>),
    Everything,
}

/// Why two claims conflict.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Conflict<'a> {
    /// One of them may write anything.
    Exclusive,
    /// Both name what may be the same file, and one of them writes it.
    Paths {
        /// The one's pattern.
        one: (Access, &'a Pattern),
        /// The other's.
        other: (Access, &'a Pattern),
    },
}

impl Claim {
    /// Of a call that touches no file: it conflicts with nothing.
    #[must_use]
    pub const fn none() -> Self {
        Self { need: Need::Nothing }
    }

    /// Of a call that writes nothing and does not say what it reads: it conflicts with
    /// nothing, and what it reads may be older than what an earlier call of its batch
    /// writes.
    #[must_use]
    pub const fn read_only() -> Self {
        Self { need: Need::ReadOnly }
    }

    /// Of a call that may write anything: it conflicts with every other claim of paths.
    #[must_use]
    pub const fn exclusive() -> Self {
        Self { need: Need::Everything }
    }

    /// Of a call that may read anything and writes nothing: it conflicts with every write,
    /// and with no other read.
    #[must_use]
    pub fn reads_everything() -> Self {
        Self::of(Access::Read, vec![Pattern::everything()])
    }

    /// A claim of these patterns; none of them is [`none`](Self::none).
    #[must_use]
    pub fn of(access: Access, patterns: Vec<Pattern>) -> Self {
        let paths = patterns.into_iter().map(|pattern| (access, pattern));
        Self::none().and(Self { need: Need::Paths(paths.collect()) })
    }

    /// What both need together.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let need = match (self.need, other.need) {
            (Need::Everything, _) | (_, Need::Everything) => Need::Everything,
            (Need::Nothing, Need::Paths(paths)) | (Need::Paths(paths), Need::Nothing | Need::ReadOnly) => {
                bounded(paths)
            }
            (Need::ReadOnly, Need::Paths(paths)) => bounded(paths),
            (Need::Nothing, need) | (need, Need::Nothing) => need,
            (Need::ReadOnly, Need::ReadOnly) => Need::ReadOnly,
            (Need::Paths(mut one), Need::Paths(other)) => {
                one.extend(other);
                bounded(one)
            }
        };
        Self { need }
    }

    /// It may write anything.
    #[must_use]
    pub const fn is_exclusive(&self) -> bool {
        matches!(self.need, Need::Everything)
    }

    /// It writes nothing.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        match &self.need {
            Need::Nothing | Need::ReadOnly => true,
            Need::Paths(paths) => paths.iter().all(|(access, _)| *access == Access::Read),
            Need::Everything => false,
        }
    }

    /// It keeps nobody from anything.
    #[must_use]
    pub const fn reserves_nothing(&self) -> bool {
        matches!(self.need, Need::Nothing | Need::ReadOnly)
    }

    /// It says no more than that it writes nothing.
    #[must_use]
    pub const fn is_read_only(&self) -> bool {
        matches!(self.need, Need::ReadOnly)
    }

    /// What it names.
    pub fn paths(&self) -> impl Iterator<Item = (Access, &Pattern)> {
        let paths = match &self.need {
            Need::Paths(paths) => paths.as_slice(),
            Need::Nothing | Need::ReadOnly | Need::Everything => &[],
        };
        paths.iter().map(|(access, pattern)| (*access, pattern))
    }

    /// Why the two may not run side by side, when they may not.
    #[must_use]
    pub fn conflict<'a>(&'a self, other: &'a Self) -> Option<Conflict<'a>> {
        match (&self.need, &other.need) {
            (Need::Nothing | Need::ReadOnly, _) | (_, Need::Nothing | Need::ReadOnly) => None,
            (Need::Everything, _) | (_, Need::Everything) => Some(Conflict::Exclusive),
            (Need::Paths(own), Need::Paths(others)) => own.iter().find_map(|(access, one)| {
                let meets = |(other_access, other): &&(Access, Pattern)| {
                    (*access == Access::Write || *other_access == Access::Write) && one.meets(other)
                };
                let (other_access, other) = others.iter().find(meets)?;
                Some(Conflict::Paths { one: (*access, one), other: (*other_access, other) })
            }),
        }
    }

    /// Every write of `inner` is within what this claim writes: a call that holds this one
    /// may hand `inner` on to a call that it waits for.
    #[must_use]
    pub fn covers_writes_of(&self, inner: &Self) -> bool {
        match (&self.need, &inner.need) {
            (Need::Everything, _) => true,
            (_, Need::Everything) => false,
            _ => inner.paths().filter(|(access, _)| *access == Access::Write).all(|(_, wanted)| {
                self.paths().any(|(access, own)| access == Access::Write && own.covers(wanted))
            }),
        }
    }

    /// The part of it that `outer` keeps others from.
    #[must_use]
    pub(crate) fn within(self, outer: &Self) -> Self {
        let need = match (self.need, &outer.need) {
            (Need::Paths(mut paths), Need::Paths(_)) => {
                paths.retain(|(_, own)| outer.paths().any(|(_, pattern)| pattern.covers(own)));
                bounded(paths)
            }
            (need, _) => need,
        };
        Self { need }
    }
}

/// Each path once, and no more than a claim may hold.
fn bounded(mut paths: Vec<(Access, Pattern)>) -> Need {
    if paths.len() > 1 {
        let mut seen = BTreeSet::new();
        paths.retain(|own| seen.insert(own.clone()));
    }
    match paths.len() {
        0 => Need::Nothing,
        1..=PATHS_MAX => Need::Paths(paths),
        _ => Need::Everything,
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.need {
            Need::Nothing => f.write_str("nothing"),
            Need::ReadOnly => f.write_str("read-only"),
            Need::Everything => f.write_str("exclusive"),
            Need::Paths(paths) => {
                for (n, (access, pattern)) in paths.iter().enumerate() {
                    let comma = if n == 0 { "" } else { ", " };
                    write!(f, "{comma}{access} {pattern}")?;
                }
                Ok(())
            }
        }
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
        })
    }
}

impl fmt::Display for Conflict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exclusive => f.write_str("one of them may write anything"),
            Self::Paths { one: (access, one), other: (other_access, other) } => {
                write!(f, "{access} of `{one}` meets {other_access} of `{other}`")
            }
        }
    }
}
