//! Any script, taken apart by the host and judged by the bundled guard; any
//! query to a database server, when the first byte is a `?`.

#![no_main]

use guard_plugin::Irreversible;
use libfuzzer_sys::fuzz_target;
use portcullis_model::script as model;
use portcullis_sdk::testing::CallBuilder;
use portcullis_sdk::{Assignment, Command, EffectKind, Guard, Pipeline, Script, Word};

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let call = match text.strip_prefix('?') {
        Some(input) => {
            CallBuilder::new("mcp:postgres/query").input(input).effect(EffectKind::Mcp, "postgres/query")
        }
        None => CallBuilder::new("bash")
            .effect(EffectKind::Run, text.as_ref())
            .script(script(&portcullis_shell::analyse(&text))),
    };
    if let Some(refusal) = Irreversible::before_tool_call(&call.build()).expect("the guard gives a verdict") {
        assert!(!refusal.code_word().is_empty() && !refusal.reason().is_empty());
    }
});

fn script(script: &model::Script) -> Script {
    let pipelines = script.pipelines.iter();
    let pipelines = pipelines.map(|pipeline| Pipeline::new(pipeline.commands.iter().map(command).collect()));
    Script::new(script.source.as_str(), script.complete, pipelines.collect())
}

fn command(from: &model::Command) -> Command {
    let words = |words: &[model::Word]| words.iter().map(word).collect();
    let mut command = Command::default();
    command.words = words(&from.words);
    command.assignments =
        from.assignments.iter().map(|set| Assignment::new(set.name.as_str(), word(&set.value))).collect();
    command.reads = words(&from.reads);
    command.writes = words(&from.writes);
    command.stdin = from.stdin.as_ref().map(word);
    command.via.clone_from(&from.via);
    command.source.clone_from(&from.source);
    command
}

fn word(word: &model::Word) -> Word {
    match word {
        model::Word::Literal(text) => Word::Literal(text.clone()),
        model::Word::Computed(text) => Word::Computed(text.clone()),
    }
}
