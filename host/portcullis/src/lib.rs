//! Placeholder.

pub mod agent;
