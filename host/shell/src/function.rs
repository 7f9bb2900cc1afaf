//! Functions: a call runs the body with what it is given.

use portcullis_model::script::{Command, Word};

use crate::{
    expand::Field,
    syntax::Stage,
    text::Text,
    variable::Value,
    walk::{Function, Scope, Walker},
};

/// Bytes of function bodies that calls may follow, beside four times the script.
pub(crate) const REPLAY_MIN: usize = 64 << 10;

/// Levels of a function inside itself.
const RECURSION_MAX: usize = 3;

const POSITIONAL: [&str; 11] = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "@", "*"];

fn is_open(command: &Command) -> bool {
    let computed = |word: &Word| word.literal().is_none();
    let assigned = command.assignments.iter().map(|assignment| &assignment.value);
    let words = command.words.iter().chain(&command.reads).chain(&command.writes).chain(&command.stdin);
    words.chain(assigned).any(computed)
}

impl Walker<'_> {
    /// Reports the body once, for callers that nobody sees, and keeps it for those
    /// that the script holds itself.
    pub(crate) fn define(&mut self, name: &str, body: &Stage, names: &[String], scope: &Scope<'_>) {
        let mark = self.variables.mark();
        let outer = self.variables.enter_function(names);
        let defining = std::mem::replace(&mut self.defining, true);
        let from = self.pipelines.len();
        self.via.push(format!("{name}()"));
        self.pipeline(std::slice::from_ref(body), &scope.without_feed());
        self.via.pop();
        self.defining = defining;
        self.variables.leave_function(outer);
        self.variables.restore(mark);
        let span = match body {
            Stage::Simple(simple) => &simple.span,
            Stage::Compound(compound) => &compound.span,
        };
        let inner = self.pipelines.get(from..).unwrap_or_default();
        let open = inner.iter().flat_map(|pipeline| &pipeline.commands).any(is_open);
        let text = span.slice();
        if self.budget.output(text.len()) {
            self.functions.insert(name.to_owned(), Function { body: text, open });
        }
    }

    /// Follows the function that `argv` calls; `None` when it calls none, or one
    /// that is running already. The body was reported once, so a call that there
    /// is no room for hides nothing but what its arguments make of it.
    pub(crate) fn function(&mut self, argv: &[Field], feed: Option<&Text>) -> Option<Option<Text>> {
        let (program, arguments) = argv.split_first()?;
        let name = program.known()?;
        if self.defining || self.functions.is_empty() {
            return None;
        }
        let function = self.functions.get(name)?;
        if !function.open && feed.is_none() {
            return None;
        }
        let body = function.body.clone();
        let key = format!("{name}()");
        self.replays = self.replays.checked_sub(body.len())?;
        // A function that calls itself, perhaps with other arguments, is followed a few levels.
        let level = (1..=RECURSION_MAX)
            .map(|level| format!("{key}{level}"))
            .find(|level| !self.expanding.contains(level))?;
        self.expanding.insert(level.clone());
        let outer = POSITIONAL.map(|name| self.variables.get(name).cloned());
        self.positional(arguments);
        let output = self.text(body, std::slice::from_ref(&key), false, feed.cloned());
        for (name, value) in POSITIONAL.iter().zip(outer) {
            self.variables.set(name, value.unwrap_or(Value::Unknown));
        }
        self.expanding.remove(&level);
        Some(output)
    }
}
