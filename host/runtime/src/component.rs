//! A component that has been read and compiled, and not yet linked.

use crate::contract::Contract;
use crate::digest::Digest;

/// A compiled component. Cheap to clone.
#[derive(Clone)]
pub struct Component {
    pub(crate) inner: wasmtime::component::Component,
    pub(crate) contract: Contract,
    pub(crate) digest: Digest,
}

impl Component {
    /// What it is, and what it wishes.
    #[must_use]
    pub const fn contract(&self) -> &Contract {
        &self.contract
    }

    /// The digest of its bytes.
    #[must_use]
    pub const fn digest(&self) -> Digest {
        self.digest
    }
}

/// What is known of a component without looking into it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The digest of its bytes.
    pub digest: Digest,
    /// What it is, and what it wishes.
    pub contract: Contract,
}

impl std::fmt::Debug for Component {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Component").field("digest", &self.digest).field("contract", &self.contract).finish()
    }
}
