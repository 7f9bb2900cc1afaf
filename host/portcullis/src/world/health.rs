//! How the keeping up itself is doing.

use portcullis_runtime::clock;
use serde::Serialize;

/// How the host keeps up with its files and extensions.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Health {
    /// How often everything was looked at.
    pub passes: u64,
    /// What went wrong in the last look, and since when it does; none when all is well.
    pub failing: Option<Failing>,
    /// Why changes are seen late, at the next tick; none when the file system tells of
    /// them, or when the host does not follow anything.
    pub late: Option<String>,
}

/// What goes wrong again and again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Failing {
    /// Since when, in seconds since 1970.
    pub since: i64,
    /// What, in words.
    pub why: String,
}

impl Health {
    /// A look is over: well, or why not.
    pub(crate) fn looked(&mut self, failed: Option<String>) {
        self.passes = self.passes.saturating_add(1);
        self.failing = failed.map(|why| {
            let since = self.failing.as_ref().map(|failing| failing.since);
            Failing { since: since.unwrap_or_else(|| clock::utc().as_second()), why }
        });
    }
}
