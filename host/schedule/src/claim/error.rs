//! Why a text is no pattern of a claim.

/// Why a text is no pattern of a claim.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClaimError {
    /// There is nothing in it.
    #[error("a pattern of a claim is empty; name a path such as `src/**`")]
    Empty,
    /// It cannot name a file.
    #[error("a pattern of a claim holds a NUL character; name a path such as `src/**`")]
    Nul,
    /// It is longer than a path may be.
    #[error("a pattern of a claim has more than {max} bytes; name a directory above it")]
    TooLong {
        /// How many it may have.
        max: usize,
    },
    /// It means what it does not match.
    #[error("a pattern of a claim excludes with `!`; name what is written instead: {0}")]
    Excludes(String),
    /// It is below the home directory of somebody.
    #[error("a pattern of a claim begins with `~`; write the directory out: {0}")]
    Home(String),
    /// It goes up from a place that nobody knows.
    #[error("a pattern of a claim has `..` behind a wildcard; name the directory itself: {0}")]
    Climbs(String),
    /// The directory that it is below is not absolute.
    #[error("a claim is below a directory that is not absolute: {0}")]
    Relative(String),
    /// Nobody can say where it leads.
    #[error("nobody can say where a path of a claim leads, such as a link to itself: {0}")]
    Unknown(String),
}

impl ClaimError {
    /// A stable word.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        "claim/pattern"
    }
}
