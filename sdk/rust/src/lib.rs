//! Write a Portcullis plugin in Rust.
//!
//! A plugin is a WebAssembly component. It is one [`Plugin`], and any mix of
//! [`Guard`] (refuses tool calls), [`Hook`] (follows the agent's life), [`Tool`]
//! (brings tools) and [`CommandExpander`] (brings slash commands);
//! [`export_plugin!`] says which. A component imports only what it uses: one that
//! never asks for the time has no clock.
//!
//! ```
#![doc = include_str!("../examples/no-scp.rs")]
//! ```
//!
//! Every call gets a fresh instance: what must outlive a call goes into
//! [`store`]. Tests run natively and need no host, see [`testing`].

/// The guide's own code, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/guides/writing-a-guard.md")]
mod guide {}

mod call;
mod command;
mod effect;
mod error;
mod guard;
mod hook;
mod packed;
mod pipeline;
mod plugin;
mod script;
mod tool;

pub mod clock;
pub mod log;
pub mod settings;
pub mod store;
pub mod terminal;
#[cfg(not(target_family = "wasm"))]
pub mod testing;

#[doc(hidden)]
pub mod bindings;
#[cfg(all(target_family = "wasm", feature = "layout"))]
mod layout;

pub use call::Call;
pub use command::{CommandDefinition, CommandExpander, Invocation};
pub use effect::{Effect, EffectKind};
pub use error::Error;
pub use guard::{Guard, Refusal, Verdict};
pub use hook::{Decision, Hook, Occurrence, Subscription};
pub use pipeline::{Assignment, Command, Pipeline, Word};
#[doc(hidden)]
pub use plugin::Adapter;
pub use plugin::{Info, Plugin};
pub use script::Script;
pub use tool::{Claims, Content, Output, Tool, ToolDefinition};

/// Exports a plugin with the kinds that it has.
///
/// The kinds are `guard`, `hook`, `tool` and `command`, in any mix; the type has
/// to implement the trait of each. `export_plugin!(Mine)` alone exports who the
/// plugin is and nothing else. Off WebAssembly it only checks the traits.
///
/// ```
/// # use portcullis_sdk::{Call, Error, Guard, Hook, Info, Plugin, Verdict, export_plugin};
/// struct Both;
///
/// impl Plugin for Both {
///     fn describe() -> Info {
///         Info::new("both", "Judges, and listens.")
///     }
/// }
///
/// impl Guard for Both {
///     fn before_tool_call(_call: &Call<'_>) -> Verdict {
///         Ok(None)
///     }
/// }
///
/// impl Hook for Both {}
///
/// export_plugin!(Both: guard, hook);
/// ```
#[macro_export]
macro_rules! export_plugin {
    ($plugin:ident $(: $($kind:ident),+ $(,)?)?) => {
        const _: () = {
            $crate::__export!(plugin $plugin);
            $($($crate::__export!($kind $plugin);)+)?
        };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! __export {
    (plugin $plugin:ident) => {
        $crate::__export!(@ $plugin, Plugin, $crate::bindings::plugin);
    };
    (guard $plugin:ident) => {
        $crate::__export!(@ $plugin, Guard, $crate::bindings::guard);
    };
    (hook $plugin:ident) => {
        $crate::__export!(@ $plugin, Hook, $crate::bindings::hook);
    };
    (tool $plugin:ident) => {
        $crate::__export!(@ $plugin, Tool, $crate::bindings::tool);
    };
    (command $plugin:ident) => {
        $crate::__export!(@ $plugin, CommandExpander, $crate::bindings::command);
    };
    (@ $plugin:ident, $kind:ident, $($bindings:tt)+) => {
        #[allow(unsafe_code, reason = "an export has to name its symbol")]
        const _: () = {
            const fn implements<T: $crate::$kind>() {}
            implements::<$plugin>();
            #[cfg(target_family = "wasm")]
            type Exported = $crate::Adapter<$plugin>;
            #[cfg(target_family = "wasm")]
            $($bindings)+::export_interface!(Exported with_types_in $($bindings)+);
        };
    };
    ($kind:ident $plugin:ident) => {
        compile_error!(concat!(
            "`", stringify!($kind), "` is no kind of plugin; the kinds are `guard`, `hook`, `tool` and `command`"
        ));
    };
}
