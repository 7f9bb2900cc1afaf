//! Script hooks: programs that are asked at moments of an agent's life.
//!
//! A hook hears one JSON object on its standard input and answers with
//! `{"decision": "block" | "approve", "reason": …}` on its standard output, or with
//! exit code 2 and the reason on standard error; exit code 0 without output is no
//! opinion. The first that blocks decides. `approve` grants nothing: it only means
//! that this hook does not object.

mod answer;
mod event;
mod run;
mod script;

#[cfg(test)]
mod tests;

pub use answer::Answer;
pub use event::{Event, Occasion};
pub use run::{Blocked, Outcome, ask_all};
pub use script::{HookError, ScriptHook};
