//! A path or a pattern of paths, and everything below.

use std::fmt;

use super::disk::FileId;
use super::segment::Segment;

/// A path or a pattern of paths in its one spelling, and everything below it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Pattern {
    segments: Vec<Segment>,
    reach: Reach,
    folds_case: bool,
}

/// What files can be below a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Reach {
    /// A file that has no other name.
    One,
    /// A file that has other names as well.
    Shared(FileId),
    /// Many, of which some may have other names.
    Tree,
}

impl Pattern {
    /// Every path.
    #[must_use]
    pub const fn everything() -> Self {
        Self { segments: Vec::new(), reach: Reach::Tree, folds_case: false }
    }

    pub(super) const fn new(segments: Vec<Segment>, reach: Reach, folds_case: bool) -> Self {
        Self { segments, reach, folds_case }
    }

    pub(crate) fn segments(&self) -> &[Segment] {
        &self.segments
    }

    pub(crate) const fn reach(&self) -> Reach {
        self.reach
    }

    pub(crate) const fn folds_case(&self) -> bool {
        self.folds_case
    }

    /// Some file may be within both.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        if self.meets_by_another_name(other) {
            return true;
        }
        let folds = self.folds_case || other.folds_case;
        // One of them ends where the rest of the other is below it.
        self.segments.iter().zip(&other.segments).all(|(one, other)| one.meets(other, folds))
    }

    fn meets_by_another_name(&self, other: &Self) -> bool {
        match (self.reach, other.reach) {
            (Reach::Shared(one), Reach::Shared(other)) => one == other,
            (Reach::Shared(_), Reach::Tree) | (Reach::Tree, Reach::Shared(_)) => true,
            (Reach::One, _) | (_, Reach::One) | (Reach::Tree, Reach::Tree) => false,
        }
    }

    /// Every path within `other` is within this one.
    #[must_use]
    pub fn covers(&self, other: &Self) -> bool {
        self.segments.len() <= other.segments.len()
            && self
                .segments
                .iter()
                .zip(&other.segments)
                .all(|(one, other)| one.covers(other, self.folds_case))
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for segment in &self.segments {
            write!(f, "/{segment}")?;
        }
        match self.reach {
            Reach::Tree => f.write_str("/**"),
            Reach::One | Reach::Shared(_) => Ok(()),
        }
    }
}
