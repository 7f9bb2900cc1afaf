//! The fork bomb: a function that pipes itself into itself.

use portcullis_sdk::{Command, Pipeline, Script};

use crate::category::Category;
use crate::finding::Finding;

pub(crate) fn check(script: &Script, pipeline: &Pipeline) -> Option<Finding> {
    let calls = pipeline.commands.iter().filter(|command| calls_itself(command)).count();
    (calls > 1).then(|| Finding::new(Category::ForkBomb, script.source()))
}

/// Whether a command in the body of a function calls that function: the host
/// names the function among what led to the command.
fn calls_itself(command: &Command) -> bool {
    let Some(name) = command.words.first().and_then(|word| word.literal()) else { return false };
    command.via.iter().any(|via| via.strip_suffix("()") == Some(name))
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::testing::script;
    use portcullis_sdk::{Pipeline, Script};

    use super::check;

    fn bombs(commands: &str, function: &str) -> bool {
        let mut pipeline: Pipeline = script(commands).pipelines()[0].clone();
        for command in &mut pipeline.commands {
            command.via.push(format!("{function}()"));
        }
        check(&Script::new("", true, Vec::new()), &pipeline).is_some()
    }

    #[test]
    fn a_function_that_pipes_itself_into_itself_is_a_bomb() {
        assert!(bombs(": | :", ":"));
        assert!(bombs("bomb | bomb", "bomb"));
        assert!(bombs("bomb | cat | bomb", "bomb"));
    }

    #[test]
    fn an_ordinary_function_is_no_bomb() {
        assert!(!bombs("grep x | sort", "f"));
        assert!(!bombs("walk left", "walk"));
        assert!(!bombs("cat | cat", "f"));
    }
}
