//! A call, as rules look at it.

use portcullis_model::call::{Effect, EffectKind};
use portcullis_model::script::{Command, Script};
use serde_json::Value;

/// A call, as rules look at it.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The canonical name.
    pub tool: &'a str,
    /// The agent's own name.
    pub agent_tool: &'a str,
    /// The canonical names of the tools that it calls, when it is a batch.
    pub inner: &'a [String],
    /// What it would do.
    pub effects: &'a [Effect],
    /// Its scripts, taken apart.
    pub scripts: &'a [Script],
    /// Its arguments.
    pub input: &'a Value,
    /// The directory that it runs in.
    pub cwd: &'a str,
    /// The user's home directory.
    pub home: Option<&'a str>,
}

impl Subject<'_> {
    /// Every command of every script, its words with a blank between them. What the
    /// shell would compute stands as it is written.
    pub(super) fn commands(&self) -> impl Iterator<Item = String> {
        let pipelines = self.scripts.iter().flat_map(|script| &script.pipelines);
        pipelines.flat_map(|pipeline| &pipeline.commands).map(words)
    }

    /// Nothing is known of what it does.
    pub(super) fn is_unexplained(&self) -> bool {
        self.effects.iter().all(|effect| effect.kind == EffectKind::Opaque)
    }

    /// Every text among the arguments.
    pub(super) fn texts(&self) -> Vec<&str> {
        let mut texts = Vec::new();
        let mut left = vec![self.input];
        while let Some(value) = left.pop() {
            match value {
                Value::String(text) => texts.push(text.as_str()),
                Value::Array(items) => left.extend(items),
                Value::Object(members) => left.extend(members.values()),
                Value::Null | Value::Bool(_) | Value::Number(_) => {}
            }
        }
        texts
    }

    /// True when each command of the script that `run` runs is understood and does no
    /// more than its words say, and the words satisfy `meant`.
    pub(super) fn all_commands(&self, run: &Effect, meant: impl Fn(&str) -> bool) -> bool {
        // Code of another language has no script.
        let Some(script) = self.scripts.iter().find(|script| script.source == run.target) else {
            return false;
        };
        script.complete
            && !script.cut_short
            && !script.pipelines.is_empty()
            && script
                .pipelines
                .iter()
                .flat_map(|pipeline| &pipeline.commands)
                .all(|command| says_all(command) && meant(&words(command)))
    }
}

fn words(command: &Command) -> String {
    let words = command.words.iter().map(|word| match word {
        portcullis_model::script::Word::Literal(text) | portcullis_model::script::Word::Computed(text) => {
            text.as_str()
        }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Nothing is computed, set, redirected, fed or wrapped.
fn says_all(command: &Command) -> bool {
    command.words.iter().all(|word| word.literal().is_some())
        && command.assignments.is_empty()
        && command.reads.is_empty()
        && command.writes.iter().all(|file| file.literal() == Some("/dev/null"))
        && command.stdin.is_none()
        && command.via.is_empty()
}
