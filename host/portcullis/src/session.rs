//! One conversation of an agent.

use crate::host::Host;

/// One conversation of an agent. Sessions of one host do not wait for one another.
#[derive(Debug, Clone)]
pub struct Session {
    host: Host,
    id: String,
}

impl Host {
    /// Opens a conversation of an agent.
    #[must_use]
    pub fn session(&self, id: impl Into<String>) -> Session {
        Session { host: self.clone(), id: id.into() }
    }
}

impl Session {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    pub(crate) const fn host(&self) -> &Host {
        &self.host
    }
}
