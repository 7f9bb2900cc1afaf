//! Configuration files: read whole or not at all, and put one over the other.
//!
//! One reader serves who runs and who validates, so both agree. It goes by the table
//! of [`portcullis_model::config::key`], which the reference and the schema are made
//! from as well.

mod file;
mod hint;
mod layer;
mod page;
mod problem;
#[cfg(test)]
mod tests;
mod value;
mod walk;

use std::path::{Path, PathBuf};

use portcullis_model::config::Config;

pub use layer::{Loaded, Origin, Setting};
pub use page::{reference_page, schema};
pub use problem::{ConfigError, Layer, Problem};

/// The files that are read.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// The user's.
    pub user: Option<PathBuf>,
    /// The project's. It can only narrow.
    pub project: Option<PathBuf>,
}

/// Reads both files, and puts the project's over the user's. A file that is not
/// there says nothing.
///
/// # Errors
/// When one of them cannot be read, is not TOML, has a key that is unknown, or a value
/// that cannot be meant. All that is wrong with both of them is told at once.
pub fn load(files: &Files) -> Result<Loaded, ConfigError> {
    let read = |layer, path: &Option<PathBuf>| match path {
        Some(path) => file::read(layer, path),
        None => Ok(Vec::new()),
    };
    let user = read(Layer::User, &files.user);
    let project = read(Layer::Project, &files.project);
    match (user, project) {
        (Ok(user), Ok(project)) => {
            layer::merge(files.user.as_deref(), user, files.project.as_deref(), project)
        }
        (user, project) => {
            Err(ConfigError::new([user.err(), project.err()].into_iter().flatten().flatten().collect()))
        }
    }
}

/// Reads `path` as the user's file. A file that is not there says nothing.
///
/// # Errors
/// As [`load`] says.
pub fn read_config(path: &Path) -> Result<Config, ConfigError> {
    load(&Files { user: Some(path.to_owned()), project: None }).map(|loaded| loaded.config)
}
