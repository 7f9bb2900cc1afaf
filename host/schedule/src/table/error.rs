//! Why a claim cannot be taken.

/// Why a claim cannot be taken. It is said at once, and nobody waits for it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimRefused {
    /// It writes what the claim that it is within does not hold. Waiting for that could
    /// last for ever, because whoever holds the outer claim waits for this one.
    #[error(
        "a call within another one may write what that one claims, and nothing else; it wants `{wanted}` within: {outer}"
    )]
    Outside {
        /// What it wants.
        wanted: String,
        /// What the outer one holds.
        outer: String,
    },
    /// The claim that it is within is not held.
    #[error(
        "the call that this one is a part of does not hold its claim any more; make the call again by itself"
    )]
    ParentGone,
    /// There are too many.
    #[error("{max} calls hold or wait for claims in this workspace; try again when some have ended")]
    TooMany {
        /// How many there may be.
        max: usize,
    },
    /// It was taken back while it waited.
    #[error("the claim was taken back, because what it belongs to has ended; begin another turn")]
    Revoked,
}

impl ClaimRefused {
    /// A stable word.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Outside { .. } => "claim/outside",
            Self::ParentGone => "claim/parent-gone",
            Self::TooMany { .. } => "claim/too-many",
            Self::Revoked => "claim/revoked",
        }
    }
}
