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
    let invalid = |message| ConfigError::Invalid { path: path.to_owned(), message };
    let config: Config =
        toml::from_str(&text).map_err(|error| invalid(error.to_string().trim().to_owned()))?;
    match relative_path(&config) {
        Some(problem) => Err(invalid(problem)),
        None => Ok(config),
    }
}

/// A path that depends on where the program was started would name one file
/// today and another tomorrow.
fn relative_path(config: &Config) -> Option<String> {
    config.plugin.iter().find_map(|(name, own)| {
        let paths = own.path.iter().map(|path| ("path", path));
        let read = own.grant.read.iter().map(|path| ("grant.read", path));
        let write = own.grant.write.iter().map(|path| ("grant.write", path));
        let (key, path) = paths.chain(read).chain(write).find(|(_, path)| !path.is_absolute())?;
        Some(format!("`plugin.{name}.{key}` is not an absolute path: `{}`", path.display()))
    })
}
