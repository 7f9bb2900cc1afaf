//! The fork bomb: a function that pipes itself into itself.

use portcullis_sdk::{Pipeline, Script};

use crate::category::Category;
use crate::finding::Finding;

pub(crate) fn check(script: &Script, pipeline: &Pipeline) -> Option<Finding> {
    let mut names = pipeline.commands.iter().map(|command| match command.words.as_slice() {
        [name] => name.literal(),
        _ => None,
    });
    let name = names.next()??;
    let twice = pipeline.commands.len() > 1 && names.all(|other| other == Some(name));
    (twice && defines(script.source(), name)).then(|| Finding::new(Category::ForkBomb, script.source()))
}

/// Whether a text holds `NAME(){`, whatever space is in it.
fn defines(source: &str, name: &str) -> bool {
    let dense: String = source.chars().filter(|c| !c.is_whitespace()).collect();
    dense.contains(&format!("{name}(){{")) || dense.contains(&format!("function{name}{{"))
}

#[cfg(test)]
mod tests {
    use portcullis_sdk::Script;
    use portcullis_sdk::testing::script;

    use super::check;

    fn bombs(source: &str, commands: &str) -> bool {
        let script = Script::new(source, true, script(commands).pipelines().to_vec());
        script.pipelines().iter().any(|pipeline| check(&script, pipeline).is_some())
    }

    #[test]
    fn the_classic_fork_bomb_is_refused_in_every_spacing() {
        for source in [":(){ :|:& };:", ":(){:|:&};:", ": ( ) { : | : & } ; :"] {
            assert!(bombs(source, ": | :"), "{source}");
        }
        assert!(bombs("bomb(){ bomb|bomb& };bomb", "bomb | bomb"));
        assert!(bombs("function bomb { bomb|bomb& };bomb", "bomb | bomb"));
    }

    #[test]
    fn a_text_or_an_ordinary_function_is_no_bomb() {
        assert!(!bombs("echo ':(){ :|:& };:'", "echo x"));
        assert!(!bombs("retry(){ npm test || npm test; }; retry npm test", "npm test; npm test"));
        assert!(!bombs("cat|cat", "cat | cat"));
    }
}
