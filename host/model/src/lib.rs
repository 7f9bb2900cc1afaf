//! The words that every part of Portcullis speaks, and what its configuration
//! files say. Plain data: no I/O, no wasm, no async runtime.

pub mod call;
pub mod capability;
pub mod config;
pub mod extension;
pub mod fault;
pub mod input;
pub mod judgement;
pub mod limits;
pub mod name;
pub mod product;
pub mod script;
