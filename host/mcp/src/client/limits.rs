//! What a server may cost.

use std::time::Duration;

/// Bytes of one message of a server; a longer one fails the call that it answers.
pub const FRAME_MAX: usize = 16 << 20;

/// Bytes of one message to a server.
pub const REQUEST_MAX: usize = 16 << 20;

/// Bytes that wait until a server reads them.
pub const QUEUE_MAX: usize = 32 << 20;

/// Bytes kept of what a server says on its standard error: the last ones.
pub const SAID_MAX: usize = 64 << 10;

/// Bytes of them that an error shows.
pub const TAIL_MAX: usize = 2 << 10;

/// Bytes of a text of a server's that an error shows.
pub(super) const TEXT_MAX: usize = 4 << 10;

/// Pages of one list.
pub const PAGES_MAX: usize = 1_000;

/// Entries of one list.
pub const ENTRIES_MAX: usize = 10_000;

/// Bytes of one list, as JSON.
pub(super) const LIST_MAX: usize = 32 << 20;

/// Answers that one line may hold: older servers may send several at once.
pub(super) const BATCH_MAX: usize = 256;

/// How long a server that is asked to end may take for it before it is told so with
/// `SIGTERM`, and then again before `SIGKILL`.
pub(super) const CLOSE_TIME: Duration = Duration::from_secs(3);

/// How long what a server said last is waited for once its process has ended.
pub(super) const LAST_WORDS_TIME: Duration = Duration::from_secs(1);

/// How long a client waits for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// For the answer to `server/discover`, by which a server tells that it speaks a
    /// version without a handshake.
    pub probe: Duration,
    /// For the answer to `initialize`, from the start of the process on.
    pub initialize: Duration,
    /// For each page of a list.
    pub list: Duration,
}

impl Times {
    /// The defaults: 3 s for the probe, 30 s for the handshake, 30 s for a page of a list.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            probe: Duration::from_secs(3),
            initialize: Duration::from_secs(30),
            list: Duration::from_secs(30),
        }
    }
}

impl Default for Times {
    fn default() -> Self {
        Self::new()
    }
}
