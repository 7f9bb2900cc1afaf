//! What the tests that cross crates share: guests that misbehave on demand, and skills as
//! people write them.

pub mod extension;
pub mod guest;
pub mod plugin;
pub mod quirk;
pub mod work;
