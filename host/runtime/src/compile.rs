//! Compiling a component in a process of its own.
//!
//! A component can be written so that compiling it takes hours or all memory.
//! The engine's own rules call that no vulnerability, so the compiler runs where
//! it can be stopped: in a helper with a limit on time and memory.

#[cfg(feature = "compiler")]
mod helper;

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use wasmtime::Engine;

use crate::error::LoadError;
use crate::process::Process;
use crate::sealed::Sealed;

#[cfg(feature = "compiler")]
pub use helper::helper_main;

/// The largest artifact that is read from the helper. Machine code is about
/// three times the component.
const ARTIFACT_MAX: u64 = 512 << 20;

/// Who compiles.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Compiler {
    /// A helper program that ends up in [`helper_main`]: `PROGRAM ARGUMENTS…`,
    /// with the limits behind them.
    Helper {
        /// Absolute path of the program.
        program: PathBuf,
        /// Its first arguments.
        arguments: Vec<String>,
    },
    /// Such a program that this one carries inside itself, so that it cannot be
    /// missing or another one. Linux alone can start it.
    Carried(CarriedCompiler),
    /// This process, without any limit. Only for components that the embedder
    /// trusts as much as its own code.
    #[cfg(feature = "compiler")]
    InProcess,
}

/// A program that ends up in [`helper_main`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct CarriedCompiler {
    /// The whole program.
    pub program: &'static [u8],
    /// What tells it from others, such as its digest: what one has compiled is not
    /// taken for what another would.
    pub identity: &'static str,
}

impl fmt::Debug for CarriedCompiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CarriedCompiler").field(&self.identity).finish()
    }
}

/// How much one compilation may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompileLimits {
    /// From start to end.
    pub time: Duration,
    /// Address space of the helper, in bytes.
    pub memory: u64,
}

impl CompileLimits {
    /// The defaults: 60 s and 4 GiB, enough for a component that holds a whole
    /// Python.
    #[must_use]
    pub const fn new() -> Self {
        Self { time: Duration::from_secs(60), memory: 4 << 30 }
    }
}

impl Default for CompileLimits {
    fn default() -> Self {
        Self::new()
    }
}

pub(crate) fn compile(
    engine: &Engine,
    compiler: &Compiler,
    limits: &CompileLimits,
    bytes: &[u8],
) -> Result<Vec<u8>, LoadError> {
    #[cfg(not(feature = "compiler"))]
    let _ = engine;
    match compiler {
        Compiler::Helper { program, arguments } => {
            let named = program.display().to_string();
            help(&Helper { program, arguments, named: &named }, limits, bytes)
        }
        Compiler::Carried(carried) => {
            let program = Sealed::program(carried.program).map_err(|error| {
                LoadError::Helper(format!(
                    "{CARRIED} cannot be put into memory to be run ({error}); `sysctl vm.memfd_noexec=0` allows it, \
                     and a program that `cargo build --release` made does not need it"
                ))
            })?;
            help(&Helper { program: &program.path(), arguments: &[], named: CARRIED }, limits, bytes)
        }
        #[cfg(feature = "compiler")]
        Compiler::InProcess => {
            engine.precompile_component(bytes).map_err(|e| LoadError::Compile(format!("{e:#}")))
        }
    }
}

/// What the carried compiler is called.
const CARRIED: &str = "the compiler that this program carries";

struct Helper<'a> {
    program: &'a Path,
    arguments: &'a [String],
    /// For people.
    named: &'a str,
}

fn help(helper: &Helper<'_>, limits: &CompileLimits, bytes: &[u8]) -> Result<Vec<u8>, LoadError> {
    let mut arguments = helper.arguments.to_vec();
    arguments.extend([limits.memory.to_string(), limits.time.as_secs().max(1).to_string()]);
    let process = Process {
        program: helper.program,
        arguments: arguments.iter().map(AsRef::as_ref).collect(),
        directory: Path::new("/"),
        variables: Vec::new(),
        input: bytes,
        time: limits.time,
        output_max: ARTIFACT_MAX,
    };
    match process.run() {
        Ok(ended) if ended.late => Err(LoadError::CompileTime(limits.time)),
        Ok(ended) if ended.code == Some(0) => Ok(ended.stdout),
        Ok(ended) => {
            let said = ended.complaint();
            match said.strip_prefix(REFUSED) {
                Some(reason) => Err(LoadError::Compile(reason.to_owned())),
                None => Err(LoadError::Helper(said)),
            }
        }
        Err(error) => Err(LoadError::Helper(format!("`{}` cannot be run: {error}", helper.named))),
    }
}

/// What the helper says before the compiler's reason.
const REFUSED: &str = "refused: ";
