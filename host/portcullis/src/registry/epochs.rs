//! Whoever wants to know when an epoch begins.

use tokio::sync::watch;

use super::{Delta, Registry};

/// The epochs that begin from some moment on. Of those that begin while nobody asks, the
/// way from the first to the last is told as one.
#[derive(Debug)]
pub struct Epochs {
    registry: Registry,
    told: u64,
    moved: watch::Receiver<u64>,
}

impl Epochs {
    pub(super) fn new(registry: Registry, moved: watch::Receiver<u64>) -> Self {
        let told = registry.current().epoch();
        Self { registry, told, moved }
    }

    /// What changed since the last time. Waits until something has; loses nothing when it
    /// is dropped.
    pub async fn next(&mut self) -> Delta {
        loop {
            if let Some(delta) = self.registry.since(self.told) {
                self.told = delta.to;
                return delta;
            }
            if self.moved.changed().await.is_err() {
                // The registry that is held here has the other end.
                std::future::pending::<()>().await;
            }
        }
    }
}
