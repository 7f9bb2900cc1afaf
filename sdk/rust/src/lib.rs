//! Write a Portcullis plugin in Rust.
