//! The compile helper itself: it ends with its one component.

use std::io::{Read, Write};
use std::process::ExitCode;

use portcullis_model::limits::COMPONENT_MAX;

use super::REFUSED;
use crate::engine;

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
    let (memory, seconds, portable) = match arguments {
        [memory, seconds] => (memory, seconds, false),
        [memory, seconds, word] if word == PORTABLE => (memory, seconds, true),
        _ => return Err("expected two arguments: bytes of memory, and seconds".to_owned()),
    };
    let number = |text: &String| text.parse::<u64>().map_err(|_| format!("not a number: `{text}`"));
    confine(number(memory)?, number(seconds)?)?;
    let mut bytes = Vec::new();
    let max = u64::try_from(COMPONENT_MAX).unwrap_or(u64::MAX);
    std::io::stdin().take(max).read_to_end(&mut bytes).map_err(|e| format!("reading the component: {e}"))?;
    let engine = if portable { engine::portable() } else { engine::on_demand() };
    let engine = engine.map_err(|e| e.to_string())?;
    let artifact = engine.precompile_component(&bytes).map_err(|e| format!("{REFUSED}{e:#}"))?;
    std::io::stdout().write_all(&artifact).map_err(|e| format!("writing the artifact: {e}"))
}

/// Asks for code that runs on every machine of this kind, and not on this one alone.
const PORTABLE: &str = "portable";

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
