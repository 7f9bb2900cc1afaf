//! What depends on who is at the other end.

/// How a server talks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Transport {
    /// To the one client that started it.
    #[default]
    Pipes,
    /// To any client that reaches its address.
    Http,
}

/// What is told, and for how long it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// How the server talks. Default: pipes.
    pub transport: Transport,
    /// Whether clients are told where files are on this machine. Default: they are.
    pub shows_paths: bool,
}

/// A client on a pipe hears of every change, so its copies hold for longer than it lives.
const PIPES_TTL_MS: u64 = 24 * 60 * 60 * 1000;

impl Default for Manner {
    fn default() -> Self {
        Self { transport: Transport::Pipes, shows_paths: true }
    }
}

impl Manner {
    /// Over HTTP, where clients are not told where files are.
    #[must_use]
    pub const fn http() -> Self {
        Self { transport: Transport::Http, shows_paths: false }
    }

    /// How long a client may keep an answer, in milliseconds.
    pub(super) const fn ttl_ms(self) -> u64 {
        match self.transport {
            Transport::Pipes => PIPES_TTL_MS,
            Transport::Http => 0,
        }
    }
}
