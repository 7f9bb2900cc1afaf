//! Placeholder.

pub mod tool;
