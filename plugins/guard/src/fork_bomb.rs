//! The fork bomb: a function that calls itself twice.

use portcullis_sdk::Command;
use portcullis_sdk::Pipeline;

use crate::category::Category;

/// A pipeline that runs, more than once, the function that it is part of; or
/// two bare calls of a function in a row, in its own body: `f(){ f & f; }`.
pub(crate) fn check(pipeline: &Pipeline, before: Option<&Pipeline>) -> Option<Category> {
    let mut calls = pipeline.commands.iter().filter(|command| calls_itself(command));
    let first = calls.next()?;
    let twice = calls.next().is_some();
    let in_a_row = || bare_call(pipeline).is_some() && before.and_then(bare_call) == first.program();
    (twice || in_a_row()).then_some(Category::ForkBomb)
}

/// Whether a command in the body of a function calls that function: the host
/// names the function among what led to the command.
fn calls_itself(command: &Command) -> bool {
    let Some(name) = command.words.first().and_then(|word| word.literal()) else { return false };
    command.via.iter().any(|via| via.strip_suffix("()") == Some(name))
}

/// The function that a pipeline calls without arguments in the function's own
/// body. With arguments it may come to an end, as a walk through a tree does.
fn bare_call(pipeline: &Pipeline) -> Option<&str> {
    match pipeline.commands.as_slice() {
        [only] if only.args().is_empty() && calls_itself(only) => only.program(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::testing::script;

    use super::check;

    fn bombs(commands: &str, function: &str) -> bool {
        let mut pipelines = script(commands).pipelines().to_vec();
        for command in pipelines.iter_mut().flat_map(|pipeline| &mut pipeline.commands) {
            command.via.push(format!("{function}()"));
        }
        let before = pipelines.len().checked_sub(2).and_then(|at| pipelines.get(at));
        check(pipelines.last().unwrap(), before).is_some()
    }

    #[test]
    fn a_function_that_calls_itself_twice_is_a_bomb() {
        assert!(bombs(": | :", ":"));
        assert!(bombs("bomb | bomb", "bomb"));
        assert!(bombs("bomb | cat | bomb", "bomb"));
        assert!(bombs("f ; f", "f"));
    }

    #[test]
    fn an_ordinary_function_is_no_bomb() {
        assert!(!bombs("grep x | sort", "f"));
        assert!(!bombs("walk left ; walk right", "walk"));
        assert!(!bombs("cat | cat", "f"));
        assert!(!bombs("try ; retry", "retry"));
    }
}
