//! What the tests that cross crates share: guests that misbehave on demand.

pub mod extension;
pub mod guest;
pub mod plugin;
