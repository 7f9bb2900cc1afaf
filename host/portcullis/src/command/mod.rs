//! Commands that a person types: a file with a text, in which what is typed behind the
//! name takes the place of placeholders. Nothing that a text asks for is run or read here.

mod catalog;
mod dialect;
mod document;
mod expand;
mod mention;
mod provider;
mod root;
mod shell;
mod template;
#[cfg(test)]
mod tests;

pub use catalog::{COMMANDS_MAX, Command, CommandCatalog, CommandState};
pub use dialect::Dialect;
pub use document::{COMMAND_FILE_MAX, CommandDocument, CommandError};
pub use expand::{EXPANSION_MAX, ExpandError};
pub use mention::{MENTIONS_MAX, Mention, mentions};
pub use provider::{LOCAL_COMMANDS, LocalCommands};
pub use root::{CommandOrigin, CommandPlaces};
