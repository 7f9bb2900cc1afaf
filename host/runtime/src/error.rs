//! What this crate returns when it cannot do its work.

use std::io;
use std::path::PathBuf;
use std::time::Duration;

/// Why a component cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file is larger than the limit.
    #[error("the component has {size} bytes; the most is {max}")]
    TooBig {
        /// Its size in bytes.
        size: usize,
        /// The limit in bytes.
        max: usize,
    },
    /// The bytes are no WebAssembly at all.
    #[error("not a WebAssembly file")]
    NotWasm,
    /// A core module, which the component model does not run as it is.
    #[error(
        "a core module, not a component; lift it with `wasm-tools component new` or build it for `wasm32-wasip2`"
    )]
    CoreModule,
    /// It exports nothing that the host knows.
    #[error("a component for another world: it exports no `{expected}`; it exports: {found}")]
    OtherWorld {
        /// The export that every plugin has.
        expected: &'static str,
        /// What it exports instead.
        found: String,
    },
    /// It was built for another version of an interface.
    #[error("built for `{found}`; this host speaks `{expected}`")]
    OtherVersion {
        /// The interface with the host's version.
        expected: String,
        /// The interface with the component's version.
        found: String,
    },
    /// It imports what no plugin is given.
    #[error("it imports `{import}`, which {why}")]
    Import {
        /// The import's name.
        import: String,
        /// Why it cannot be had.
        why: &'static str,
    },
    /// The compiler refused it.
    #[error("it does not compile: {0}")]
    Compile(String),
    /// The compiler took too long.
    #[error("compiling took more than {} s and was stopped", .0.as_secs())]
    CompileTime(Duration),
    /// The compiler could not be started, or was killed.
    #[error("the compile helper failed: {0}")]
    Helper(String),
    /// It does not fit the contract, or a grant cannot be given.
    #[error("it cannot be linked: {0}")]
    Link(String),
}

impl LoadError {
    /// A stable word.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::TooBig { .. } => "load/too-big",
            Self::NotWasm => "load/not-wasm",
            Self::CoreModule => "load/core-module",
            Self::OtherWorld { .. } => "load/other-world",
            Self::OtherVersion { .. } => "load/other-version",
            Self::Import { .. } => "load/import",
            Self::Compile(_) => "load/compile",
            Self::CompileTime(_) => "load/compile-time",
            Self::Helper(_) => "load/helper",
            Self::Link(_) => "load/link",
        }
    }
}

/// Why the runtime cannot start.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The engine refused its configuration.
    #[error("the WebAssembly engine cannot start: {0}")]
    Engine(String),
    /// The ticker's thread could not be started.
    #[error("the deadline thread cannot start: {0}")]
    Thread(#[source] io::Error),
    /// The cache directory is not ours alone.
    #[error("the cache `{path}` cannot be used: {reason}")]
    Cache {
        /// The directory.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}
