//! What one connection may hold, and for how long.

use std::time::Duration;

use portcullis::model::limits::INPUT_MAX;

/// What one connection may hold, and for how long.
#[derive(Debug, Clone)]
pub struct ServeLimits {
    /// One line, its end included, in bytes.
    pub line: usize,
    /// Requests that are not answered yet.
    pub in_flight: usize,
    /// Open sessions.
    pub sessions: usize,
    /// Open turns.
    pub turns: usize,
    /// Permits that nobody has used yet. The oldest go first.
    pub permits: usize,
    /// The arguments that those permits hold, in bytes.
    pub permit_bytes: usize,
    /// Answers that wait for the client to read. When they are that many, no more
    /// requests are read.
    pub answers: usize,
    /// A client that has connected says `initialize` within this.
    pub hello: Duration,
    /// A line that was begun is ended within this.
    pub line_time: Duration,
    /// A client that reads nothing of what waits for it is closed after this.
    pub stall: Duration,
    /// A session, and each of its turns, is given this long to end.
    pub close: Duration,
    /// Connections of one server.
    pub connections: usize,
}

impl ServeLimits {
    /// The defaults: a line of 9 MiB, 64 requests, 256 sessions, 256 turns, 1024 permits
    /// of 64 MiB, 128 answers; 10 s for `initialize`, 30 s for a line, 30 s for a client
    /// that does not read, 5 s to end; 64 connections.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            line: INPUT_MAX + (1 << 20),
            in_flight: 64,
            sessions: 256,
            turns: 256,
            permits: 1024,
            permit_bytes: 64 << 20,
            answers: 128,
            hello: Duration::from_secs(10),
            line_time: Duration::from_secs(30),
            stall: Duration::from_secs(30),
            close: Duration::from_secs(5),
            connections: 64,
        }
    }
}

impl Default for ServeLimits {
    fn default() -> Self {
        Self::new()
    }
}
