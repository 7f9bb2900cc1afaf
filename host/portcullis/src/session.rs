//! One conversation of an agent.

use crate::host::Host;
use crate::turn::Turn;

/// One conversation of an agent. Sessions of one host do not wait for one another.
#[derive(Debug, Clone)]
pub struct Session {
    host: Host,
    id: String,
}

impl Session {
    pub(crate) const fn new(host: Host, id: String) -> Self {
        Self { host, id }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Begins a turn, which binds the plugins as they are now.
    #[must_use]
    pub fn turn(&self) -> Turn {
        Turn::new(self.host.clone(), self.id.clone())
    }
}
