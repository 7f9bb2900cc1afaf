//! Why trust cannot be looked up or changed.

use std::io;
use std::path::PathBuf;

/// Why trust cannot be looked up or changed. Nothing is trusted then.
#[derive(Debug, thiserror::Error)]
pub enum TrustError {
    /// Its directory or a file of it cannot be opened or read.
    #[error("what is trusted cannot be read from `{path}`: {source}; hint: mend its permissions")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Others could have written it.
    #[error(
        "`{path}` is not the user's alone, so nothing is trusted; hint: look at what it says, then `chmod 600` it"
    )]
    NotPrivate {
        /// The file.
        path: PathBuf,
    },
    /// It does not hold what was written.
    #[error(
        "`{path}` is damaged ({what}), so nothing is trusted; hint: move it away, then trust each project again"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// How that was seen.
        what: String,
    },
    /// Another process holds it for too long.
    #[error("what is trusted was held by another process for too long; its lock is `{path}`")]
    Busy {
        /// The lock.
        path: PathBuf,
    },
    /// It cannot be written. What was there before still is.
    #[error("what is trusted cannot be written to `{path}`, so it stays as it was: {source}")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// There is no room for more.
    #[error("no more than {most} {what} can be trusted; hint: `portcullis trust remove` makes room")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many can.
        most: usize,
    },
    /// The directory of a project cannot be told from others.
    #[error("`{path}` cannot be trusted: {what}")]
    Root {
        /// The directory.
        path: PathBuf,
        /// Why not.
        what: String,
    },
}
