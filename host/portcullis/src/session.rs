//! One conversation of an agent.

use std::sync::Arc;

use crate::host::Host;
use crate::policy::DirectWrites;

/// One conversation of an agent. Sessions of one host do not wait for one another.
#[derive(Debug, Clone)]
pub struct Session {
    host: Host,
    id: String,
    direct_writes: Option<Arc<DirectWrites>>,
}

impl Host {
    /// Opens a conversation of an agent.
    #[must_use]
    pub fn session(&self, id: impl Into<String>) -> Session {
        Session { host: self.clone(), id: id.into(), direct_writes: None }
    }
}

impl Session {
    /// Its id.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The same, where tools may write nothing but these paths, in every turn that
    /// begins from now on.
    #[must_use]
    pub fn with_direct_writes(self, paths: DirectWrites) -> Self {
        Self { direct_writes: Some(Arc::new(paths)), ..self }
    }

    pub(crate) fn direct_writes(&self) -> Option<Arc<DirectWrites>> {
        self.direct_writes.clone()
    }

    pub(crate) const fn host(&self) -> &Host {
        &self.host
    }
}
