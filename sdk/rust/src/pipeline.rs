//! What a script runs: pipelines of commands, and what they are made of.

use crate::bindings::host::call as wire;

/// Commands joined by `|`, first one first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pipeline {
    /// At least one.
    pub commands: Vec<Command>,
}

impl Pipeline {
    /// A pipeline of these commands.
    #[must_use]
    pub fn new(commands: Vec<Command>) -> Self {
        Self { commands }
    }
}

impl From<wire::Pipeline> for Pipeline {
    fn from(pipeline: wire::Pipeline) -> Self {
        Self { commands: pipeline.commands.into_iter().map(Command::from).collect() }
    }
}

/// One program with its arguments.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Command {
    /// Program and arguments; wrappers such as `sudo` or `env` are taken off.
    pub words: Vec<Word>,
    /// Variables that it sets for itself, as in `PAGER=cat git log`.
    pub assignments: Vec<Assignment>,
    /// Files that its redirections read.
    pub reads: Vec<Word>,
    /// Files that its redirections write.
    pub writes: Vec<Word>,
    /// What a heredoc or here-string feeds it.
    pub stdin: Option<Word>,
    /// The wrappers that were taken off, outermost first; `f()` for a command in
    /// the body of the function `f`.
    pub via: Vec<String>,
    /// As it was written.
    pub source: String,
}

impl Command {
    /// The program's name without its directory; `None` when only the shell can
    /// compute it, or when the command has no words.
    #[must_use]
    pub fn program(&self) -> Option<&str> {
        let path = self.words.first()?.literal()?;
        path.rsplit(['/', '\\']).next()
    }

    /// The words behind the program.
    #[must_use]
    pub fn args(&self) -> &[Word] {
        self.words.get(1..).unwrap_or_default()
    }

    /// The arguments that are known before the shell runs.
    pub fn literals(&self) -> impl Iterator<Item = &str> {
        self.args().iter().filter_map(Word::literal)
    }

    /// Whether a flag is set, as `-f`, in a bundle such as `-rf`, as `--force` or
    /// as `--force=…`. Words behind `--` are no flags.
    #[must_use]
    pub fn has_flag(&self, short: char, long: &str) -> bool {
        self.literals().take_while(|word| *word != "--").any(|word| {
            if let Some(name) = word.strip_prefix("--") {
                name.split('=').next() == Some(long)
            } else {
                word.strip_prefix('-').is_some_and(|bundle| bundle.contains(short))
            }
        })
    }
}

impl From<wire::Command> for Command {
    fn from(command: wire::Command) -> Self {
        let words = |words: Vec<wire::Word>| words.into_iter().map(Word::from).collect();
        Self {
            words: words(command.words),
            assignments: command.assignments.into_iter().map(Assignment::from).collect(),
            reads: words(command.reads),
            writes: words(command.writes),
            stdin: command.stdin.map(Word::from),
            via: command.via,
            source: command.source,
        }
    }
}

/// `NAME=value` before a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Assignment {
    /// The variable.
    pub name: String,
    /// What it is set to.
    pub value: Word,
}

impl Assignment {
    /// `name=value`.
    #[must_use]
    pub fn new(name: impl Into<String>, value: Word) -> Self {
        Self { name: name.into(), value }
    }
}

impl From<wire::Assignment> for Assignment {
    fn from(assignment: wire::Assignment) -> Self {
        Self { name: assignment.name, value: assignment.value.into() }
    }
}

/// One word of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Word {
    /// Known before the shell runs; quotes and escapes are resolved.
    Literal(String),
    /// Holds a part that only the shell can compute; this is its source text.
    Computed(String),
}

impl Word {
    /// The text when it is known before the shell runs.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self {
            Self::Literal(text) => Some(text),
            Self::Computed(_) => None,
        }
    }

    /// The text, or the source of what will compute it.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Literal(text) | Self::Computed(text) => text,
        }
    }
}

impl From<wire::Word> for Word {
    fn from(word: wire::Word) -> Self {
        match word {
            wire::Word::Literal(text) => Self::Literal(text),
            wire::Word::Computed(text) => Self::Computed(text),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Word;
    use crate::testing;

    #[test]
    fn a_program_is_named_without_its_directory() {
        assert_eq!(testing::command("/usr/bin/git status").program(), Some("git"));
        assert_eq!(testing::command("git status").program(), Some("git"));
        assert_eq!(testing::command("").program(), None);
    }

    #[test]
    fn a_computed_program_has_no_name() {
        let mut command = testing::command("x -rf");
        command.words[0] = Word::Computed("$(printf rm)".to_owned());
        assert_eq!(command.program(), None);
    }

    #[test]
    fn a_flag_is_found_in_every_spelling() {
        for text in ["rm -f a", "rm -rf a", "rm a -fr", "rm --force a", "rm --force=yes a"] {
            assert!(testing::command(text).has_flag('f', "force"), "{text}");
        }
    }

    #[test]
    fn what_only_looks_like_a_flag_is_none() {
        for text in ["rm a-f", "rm -- -f", "rm --forced", "rm --interactive=f", "rm f"] {
            assert!(!testing::command(text).has_flag('f', "force"), "{text}");
        }
    }
}
