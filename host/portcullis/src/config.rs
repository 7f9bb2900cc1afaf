//! Reading a configuration file.

use std::path::Path;

use portcullis_model::config::Config;

use crate::error::ConfigError;

/// Reads `path`. A file that is not there says nothing.
///
/// # Errors
/// When it cannot be read, is not TOML, has a key that is unknown, or a value
/// that cannot be meant. The message names the line, the column and the key.
pub fn read_config(path: &Path) -> Result<Config, ConfigError> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Config::default()),
        Err(source) => return Err(ConfigError::Read { path: path.to_owned(), source }),
    };
    toml::from_str(&text).map_err(|error| ConfigError::Invalid {
        path: path.to_owned(),
        message: error.to_string().trim().to_owned(),
    })
}
