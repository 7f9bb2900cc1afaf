//! Any bytes as a script: it is answered, and what comes back is bounded.

#![no_main]

use libfuzzer_sys::fuzz_target;
use portcullis_model::script::{Script, Word};
use portcullis_shell::{Limits, analyse_within};

/// Small, so that an input of a few bytes can reach every one of them.
const LIMITS: Limits =
    Limits { bytes: 64 << 10, depth: 64, pipelines: 2_000, words: 10_000, output: 1 << 20, braces: 256 };

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let script = analyse_within(&text, LIMITS);
    assert_eq!(script.source, text);
    assert!(script.pipelines.len() <= LIMITS.pipelines);
    assert!(script.pipelines.iter().all(|pipeline| !pipeline.commands.is_empty()));
    assert!(words(&script).count() <= LIMITS.words);
    let held: usize = words(&script).map(|word| text_of(word).len()).sum();
    // The last piece may go past the limit, and the words of a text that is run
    // are counted once for all that they are part of.
    assert!(held <= 4 * LIMITS.output, "{held} bytes of words");
});

fn words(script: &Script) -> impl Iterator<Item = &Word> {
    script.pipelines.iter().flat_map(|pipeline| &pipeline.commands).flat_map(|command| &command.words)
}

fn text_of(word: &Word) -> &str {
    match word {
        Word::Literal(text) | Word::Computed(text) => text,
    }
}
