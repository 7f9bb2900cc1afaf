//! A script in, its pipelines out. A pure function: it runs nothing, reads
//! nothing, and answers the same for the same text.
//!
//! ```
//! use portcullis_model::script::Word;
//!
//! let script = portcullis_shell::analyse("X=rm; sudo sh -c \"$X -rf src\"");
//! assert!(script.complete);
//! let last = &script.pipelines.last().unwrap().commands[0];
//! assert_eq!(last.words[0], Word::Literal("rm".into()));
//! assert_eq!(last.via, ["sudo", "sh"]);
//! ```
//!
//! # What a guard can rely on
//!
//! - Every pipeline that can run is there, in source order; a pipeline comes
//!   before those that are found inside it. A text that a shell would run
//!   (`sh -c`, `eval`, a heredoc to `bash`, `echo … | sh`) is taken apart too.
//! - `words` holds the program with its path as it was written; take the base name.
//! - A word is `Literal` only if the shell would surely make the same of it.
//!   Globs and tildes stay as they are written. An unknown part makes a word
//!   `Computed`; inside a text that a shell runs, the known words around it are
//!   still literal, as `rm` and `-rf` are in `sh -c "rm -rf $DIR"`.
//! - A command without words holds redirections or assignments that stand alone,
//!   or the redirections of a compound command.
//! - A compound command inside a pipeline is represented by its commands:
//!   `{ curl x; } | sh` has a pipeline of `curl x` and `sh`.
//! - `complete` is false when a part was broken or a limit was passed. What
//!   follows a broken part is still reported. `cut_short` tells of a limit alone.
//!
//! # Functions and the fork bomb
//!
//! A command in the body of the function `f` carries `f()` in its `via`. So
//! `:(){ :|:& };:` has a pipeline of two commands, both named `:` and both via
//! `:()`. A pipeline that runs, more than once, the function that it is part of
//! is a fork bomb; so is a body that calls its own function twice.

#![forbid(unsafe_code)]

mod brace;
mod code;
mod command;
mod embedded;
mod escape;
mod expand;
mod feed;
mod function;
mod git;
#[cfg(test)]
mod growth;
mod interpreter;
mod limits;
mod nested;
mod parse;
mod syntax;
mod text;
mod transform;
mod variable;
mod walk;
mod windows;
mod wrapper;

use std::rc::Rc;

use portcullis_model::script::Script;

pub use crate::limits::Limits;
pub use crate::windows::analyse_powershell;
use crate::{
    limits::Budget,
    text::Text,
    walk::{Scope, Walker},
};

/// Takes a script apart, within the default limits.
#[must_use]
pub fn analyse(source: &str) -> Script {
    analyse_within(source, Limits::default())
}

/// Takes a script apart, within limits.
#[must_use]
pub fn analyse_within(source: &str, limits: Limits) -> Script {
    let mut budget = Budget::new(limits);
    analyse_with(source, &mut budget)
}

fn analyse_with(source: &str, budget: &mut Budget) -> Script {
    let script = Script { source: source.to_owned(), cut_short: true, ..Script::default() };
    if !budget.read(source.len()) {
        return script;
    }
    let text = Rc::new(Text::known(source));
    let tree = parse::parse(&text, budget.depth());
    let mut walker = Walker::new(budget);
    walker.replays = function::REPLAY_MIN + 4 * source.len();
    walker.variables.count(&tree.names);
    walker.list(&tree.list, &Scope { heredocs: &tree.heredocs, names: &tree.names, feed: None });
    let broken = walker.broken || tree.broken;
    walker.cut_short |= tree.cut_short;
    finished(script, walker, broken)
}

/// What the walk has found, as the answer.
fn finished(mut script: Script, walker: Walker<'_>, broken: bool) -> Script {
    script.cut_short = walker.cut_short || walker.budget.exhausted;
    script.complete = !broken && !script.cut_short;
    script.pipelines = walker.pipelines;
    script.pipelines.retain(|pipeline| !pipeline.commands.is_empty());
    script
}
