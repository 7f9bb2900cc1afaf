//! The environment, read in this one place.

#![allow(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use portcullis::model::product;

/// Where everything is, on this machine and for this user.
#[derive(Debug, Clone, Default)]
pub(crate) struct Environment {
    /// The user's configuration file.
    pub(crate) config: Option<PathBuf>,
    /// The user's plugin directory.
    pub(crate) plugins: Option<PathBuf>,
    /// The user's own skills.
    pub(crate) skills: Option<PathBuf>,
    /// The user's own commands.
    pub(crate) commands: Option<PathBuf>,
    /// The user's home.
    pub(crate) home: Option<PathBuf>,
    /// What can be made again.
    pub(crate) cache: Option<PathBuf>,
    /// What must last.
    pub(crate) state: Option<PathBuf>,
    /// The current directory.
    pub(crate) current: Option<PathBuf>,
    /// This program.
    pub(crate) program: Option<PathBuf>,
    /// Every variable that is text.
    pub(crate) variables: BTreeMap<String, String>,
}

impl Environment {
    /// The directory of the ledger.
    pub(crate) fn ledger(&self) -> Option<PathBuf> {
        self.state.as_ref().map(|state| state.join("ledger"))
    }

    pub(crate) fn read() -> Self {
        let place = |variable: &str, below_home: &str| {
            let own = std::env::var_os(variable).map(PathBuf::from).filter(|path| path.is_absolute());
            let home = std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
            own.or_else(|| home.map(|home| home.join(below_home))).map(|base| base.join(product::NAME))
        };
        let mac = cfg!(target_os = "macos");
        let (config, data, cache, state) = if mac {
            let support = "Library/Application Support";
            (support, support, "Library/Caches", support)
        } else {
            (".config", ".local/share", ".cache", ".local/state")
        };
        Self {
            config: place("XDG_CONFIG_HOME", config).map(|dir| dir.join("config.toml")),
            plugins: place("XDG_DATA_HOME", data).map(|dir| dir.join("plugins")),
            skills: place("XDG_DATA_HOME", data).map(|dir| dir.join("skills")),
            commands: place("XDG_DATA_HOME", data).map(|dir| dir.join("commands")),
            home: std::env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute()),
            cache: place("XDG_CACHE_HOME", cache),
            state: place("XDG_STATE_HOME", state),
            current: std::env::current_dir().ok(),
            program: std::env::current_exe().ok(),
            variables: std::env::vars_os()
                .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
                .collect(),
        }
    }
}

/// The command line. An argument that is no text is shown with its bad bytes replaced.
pub(crate) fn arguments() -> Vec<String> {
    std::env::args_os().map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// The plugin directory of the project that `start` lies in: the nearest one
/// upwards.
pub(crate) fn project_plugins(start: &Path) -> Option<PathBuf> {
    start.ancestors().map(|dir| dir.join(product::PROJECT_DIR).join("plugins")).find(|dir| dir.is_dir())
}

/// The configuration of the project that `start` lies in: the nearest one upwards.
/// One that cannot be looked at counts as there, so that reading it tells why.
pub(crate) fn project_config(start: &Path) -> Option<PathBuf> {
    let is_absent = |kind| matches!(kind, ErrorKind::NotFound | ErrorKind::NotADirectory);
    start
        .ancestors()
        .map(|dir| dir.join(product::PROJECT_DIR).join("config.toml"))
        .find(|file| file.symlink_metadata().map_or_else(|error| !is_absent(error.kind()), |_| true))
}
