//! Hooks: components and programs that are asked at moments of an agent's life.
//!
//! A program hears one JSON object on its standard input and answers with
//! `{"decision": "block" | "approve", "reason": …}` on its standard output, or with
//! exit code 2 and the reason on standard error; exit code 0 without output is no
//! opinion. A component hears and says the same through the contract. All of them are
//! asked in one order, and the first that blocks decides. `approve` grants nothing: it
//! only means that this hook does not object.

mod answer;
mod event;
mod handler;
mod listening;
mod memory;
mod occasion;
mod row;
mod run;
mod script;
mod words;

#[cfg(test)]
mod tests;

pub use event::Event;
pub use handler::DEPTH;
pub(crate) use handler::{ComponentHook, Handler, Surroundings};
pub use listening::{HookError, Listening};
pub(crate) use memory::{Memory, Rounds};
pub(crate) use occasion::{Happening, HeardCall, Occasion};
pub use row::HookRow;
pub(crate) use run::{Asking, Blocked, Outcome, TOGETHER, ask_all};
pub use run::{HookRun, HookSaid};
pub use script::ScriptHook;
pub(crate) use words::forgotten_session;
