//! Pipelines that the host packs come out of the SDK as they went in.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]

use portcullis_model::script::{Assignment, Command, Pipeline, Word};
use portcullis_runtime::pack;
use portcullis_sdk::testing::unpack;
use proptest::prelude::*;

/// Pieces of scripts that fill every part of a command.
const PIECES: &[&str] = &[
    "echo ",
    "sudo -u root ",
    "A=b ",
    "X=$(pwd) ",
    "\"$Y\" ",
    "'a b' ",
    "''",
    "π",
    "\u{1F980}",
    "\0",
    "> out ",
    "2>> err ",
    "< in ",
    "<<E\nbody $X\nE\n",
    "<<< fed ",
    "<(sort a) ",
    "f() { rm $1; }\n",
    "f a",
    "sh -c 'ls | wc' ",
    "$(",
    ")",
    "`",
    "\"",
    "'",
    " | ",
    ";",
    " && ",
    "\n",
    "{a,b}",
    "for x in 1 2; do ",
    "done",
];

/// The types of the host and of the SDK print alike.
fn comes_back(pipelines: &[Pipeline]) {
    let packed = pack(pipelines).unwrap();
    assert_eq!(format!("{:?}", unpack(&packed)), format!("{:?}", Some(pipelines)));
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), "[a-c]{1,3}", ".{0,8}"]
}

fn word() -> impl Strategy<Value = Word> {
    prop_oneof![text().prop_map(Word::Literal), text().prop_map(Word::Computed)]
}

fn words() -> impl Strategy<Value = Vec<Word>> {
    prop::collection::vec(word(), 0..4)
}

prop_compose! {
    fn command()(
        (words, reads, writes) in (words(), words(), words()),
        assignments in prop::collection::vec((text(), word()), 0..3),
        stdin in prop::option::of(word()),
        via in prop::collection::vec(text(), 0..3),
        source in text(),
    ) -> Command {
        let assignments = assignments.into_iter().map(|(name, value)| Assignment { name, value }).collect();
        Command { words, assignments, reads, writes, stdin, via, source }
    }
}

proptest! {
    #[test]
    fn what_the_analysis_makes_of_any_text_comes_out_as_it_went_in(
        pieces in prop::collection::vec(prop_oneof![prop::sample::select(PIECES).prop_map(str::to_owned), ".{0,6}"], 0..24),
    ) {
        comes_back(&portcullis_shell::analyse(&pieces.concat()).pipelines);
    }

    #[test]
    fn any_pipelines_come_out_as_they_went_in(
        commands in prop::collection::vec(prop::collection::vec(command(), 0..3), 0..4),
    ) {
        let pipelines: Vec<_> = commands.into_iter().map(|commands| Pipeline { commands }).collect();
        comes_back(&pipelines);
    }

    #[test]
    fn a_value_that_was_tampered_with_is_read_without_a_panic(
        command in command(),
        change in any::<prop::sample::Index>(),
        to in any::<u8>(),
        end in any::<prop::sample::Index>(),
    ) {
        let packed = pack(&[Pipeline { commands: vec![command] }]).unwrap();
        let mut changed = packed.clone();
        changed[change.index(packed.len())] = to;
        let _ = unpack(&changed);
        prop_assert_eq!(unpack(&packed[..end.index(packed.len())]), None);
    }

    #[test]
    fn bytes_that_nobody_packed_are_read_without_a_panic(bytes in prop::collection::vec(0..4_u8, 0..400)) {
        let _ = unpack(&[&[1, 0, 0, 0], &*bytes].concat());
    }
}
