//! Configuration files: read whole or not at all, and put one over the other.
//!
//! One reader serves who runs and who validates, so both agree. It goes by the table
//! of [`portcullis_model::config::key`], which the reference and the schema are made
//! from as well.

mod file;
mod hint;
mod layer;
mod loaded;
mod page;
mod problem;
mod strict;
mod switch;
#[cfg(test)]
mod tests;
mod value;
mod walk;
mod widen;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use portcullis_model::config::Config;

use file::Content;

pub use loaded::{Loaded, Origin, Setting, Wish};
pub use page::{reference_page, schema};
pub use problem::{ConfigError, Layer, Problem};
pub(crate) use strict::{lost, strict};
pub use switch::{SwitchError, switch_hook};

use crate::trust::{Workspace, below, root_of};

/// The files that are read.
#[derive(Debug, Clone, Default)]
pub struct Files {
    /// The user's.
    pub user: Option<PathBuf>,
    /// The project's. It can only narrow, unless it is trusted.
    pub project: Option<PathBuf>,
    /// What is trusted of the project.
    pub trust: Option<Arc<Workspace>>,
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
        None => Ok(Content::default()),
    };
    let user = read(Layer::User, &files.user);
    let project = read(Layer::Project, &files.project);
    match (user, project) {
        (Ok(user), Ok(project)) => {
            let trust = files.trust.as_deref().filter(|trust| is_covered(files, trust, &project));
            let mut loaded = layer::merge(
                files.user.as_deref(),
                user.said,
                files.project.as_deref(),
                project.said,
                trust,
            )?;
            loaded.project_digest = project.digest;
            if let (true, Some(file), Some(digest)) = (loaded.trusted, &files.project, project.digest) {
                loaded.config.of_project.file.clone_from(file);
                loaded.config.of_project.digest = digest.to_string();
            }
            Ok(loaded)
        }
        (user, project) => {
            Err(ConfigError::new([user.err(), project.err()].into_iter().flatten().flatten().collect()))
        }
    }
}

/// Are the bytes that were read those that were trusted?
fn is_covered(files: &Files, trust: &Workspace, project: &Content) -> bool {
    let file = covered(files);
    file.zip(project.digest).is_some_and(|(file, digest)| trust.covers(&file, &digest.to_string()))
}

/// Where the project's file is, from the project's root: what trust knows it by.
pub(crate) fn covered(files: &Files) -> Option<String> {
    let file = files.project.as_deref()?;
    below(root_of(file)?, file)
}

/// Reads `path` as the user's file. A file that is not there says nothing.
///
/// # Errors
/// As [`load`] says.
pub fn read_config(path: &Path) -> Result<Config, ConfigError> {
    load(&Files { user: Some(path.to_owned()), ..Files::default() }).map(|loaded| loaded.config)
}
