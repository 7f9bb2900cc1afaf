//! Compiling a component in a process of its own.
//!
//! A component can be written so that compiling it takes hours or all memory.
//! The engine's own rules call that no vulnerability, so the compiler runs where
//! it can be stopped: in a helper with a limit on time and memory.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use portcullis_model::limits::COMPONENT_MAX;
use wasmtime::Engine;

use crate::engine;
use crate::error::LoadError;
use crate::process::Process;

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
    /// This process, without any limit. Only for components that the embedder
    /// trusts as much as its own code.
    InProcess,
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
    let Compiler::Helper { program, arguments } = compiler else {
        return engine.precompile_component(bytes).map_err(|e| LoadError::Compile(format!("{e:#}")));
    };
    let mut arguments = arguments.clone();
    arguments.extend([limits.memory.to_string(), limits.time.as_secs().max(1).to_string()]);
    let helper = Process {
        program,
        arguments: arguments.iter().map(AsRef::as_ref).collect(),
        directory: Path::new("/"),
        variables: Vec::new(),
        input: bytes,
        time: limits.time,
        output_max: ARTIFACT_MAX,
    };
    match helper.run() {
        Ok(ended) if ended.late => Err(LoadError::CompileTime(limits.time)),
        Ok(ended) if ended.code == Some(0) => Ok(ended.stdout),
        Ok(ended) => {
            let said = ended.complaint();
            match said.strip_prefix(REFUSED) {
                Some(reason) => Err(LoadError::Compile(reason.to_owned())),
                None => Err(LoadError::Helper(said)),
            }
        }
        Err(error) => Err(LoadError::Helper(format!("`{}` cannot be run: {error}", program.display()))),
    }
}

/// What the helper says before the compiler's reason.
const REFUSED: &str = "refused: ";

/// The whole of the compile helper: reads a component from standard input and
/// writes what it compiles to on standard output. `arguments` are the limits that
/// the parent put behind the helper's own: bytes of memory, seconds of processor
/// time. The answer is the process's exit code.
#[must_use]
pub fn helper_main(arguments: &[String]) -> ExitCode {
    match help(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(said) => {
            // There is nobody to tell when standard error is closed.
            let _ = std::io::stderr().write_all(said.as_bytes());
            ExitCode::FAILURE
        }
    }
}

fn help(arguments: &[String]) -> Result<(), String> {
    let [memory, seconds] = arguments else {
        return Err("expected two arguments: bytes of memory, and seconds".to_owned());
    };
    let number = |text: &String| text.parse::<u64>().map_err(|_| format!("not a number: `{text}`"));
    confine(number(memory)?, number(seconds)?)?;
    let mut bytes = Vec::new();
    let max = u64::try_from(COMPONENT_MAX).unwrap_or(u64::MAX);
    std::io::stdin().take(max).read_to_end(&mut bytes).map_err(|e| format!("reading the component: {e}"))?;
    let engine = engine::on_demand().map_err(|e| e.to_string())?;
    let artifact = engine.precompile_component(&bytes).map_err(|e| format!("{REFUSED}{e:#}"))?;
    std::io::stdout().write_all(&artifact).map_err(|e| format!("writing the artifact: {e}"))
}

#[cfg(unix)]
fn confine(memory: u64, seconds: u64) -> Result<(), String> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let limits = [
        (Resource::As, memory),
        // Processor time is counted for every thread.
        (Resource::Cpu, seconds.saturating_mul(4)),
        (Resource::Fsize, 0),
        (Resource::Core, 0),
    ];
    for (resource, max) in limits {
        let limit = Rlimit { current: Some(max), maximum: Some(max) };
        setrlimit(resource, limit).map_err(|e| format!("limiting {resource:?}: {e}"))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn confine(_memory: u64, _seconds: u64) -> Result<(), String> {
    Ok(())
}
