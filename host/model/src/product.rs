//! The product's name, in one place.

/// The name of the binary, of the library crate, and of every directory.
pub const NAME: &str = "portcullis";

/// The project's own directory, below its root.
pub const PROJECT_DIR: &str = ".portcullis";

/// The name as it is written in sentences.
pub const TITLE: &str = "Portcullis";
