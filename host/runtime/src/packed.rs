//! Pipelines in one value: the form of `script.packed`, which `wit/` specifies.

use portcullis_model::script::{Assignment, Command, Pipeline, Word};

/// Of the form.
const VERSION: u32 = 1;
/// Bytes of a number.
const NUMBER: usize = size_of::<u32>();

/// `pipelines`, packed. None when a length does not fit in its number, which takes
/// more text than a call can hold.
pub(crate) fn pack(pipelines: &[Pipeline]) -> Option<Vec<u8>> {
    let mut size = Size::default();
    pipelines_into(&mut size, pipelines)?;
    let text_at = (size.numbers + 2) * NUMBER;
    let mut bytes = vec![0; text_at + size.text];
    let (numbers, text) = bytes.split_at_mut_checked(text_at)?;
    let mut packer = Packer { numbers: numbers.as_chunks_mut().0.iter_mut(), text };
    packer.number(VERSION)?;
    packer.count(size.numbers)?;
    pipelines_into(&mut packer, pipelines)?;
    Some(bytes)
}

/// What the pipelines are told to, once to measure and once to write them.
trait Sink {
    fn number(&mut self, number: u32) -> Option<()>;
    fn bytes(&mut self, text: &str) -> Option<()>;

    fn count(&mut self, count: usize) -> Option<()> {
        self.number(u32::try_from(count).ok()?)
    }

    fn text(&mut self, text: &str) -> Option<()> {
        self.count(text.len())?;
        self.bytes(text)
    }

    fn word(&mut self, word: &Word) -> Option<()> {
        let (text, computed) = match word {
            Word::Literal(text) => (text, 0),
            Word::Computed(text) => (text, 1),
        };
        self.number(u32::try_from(text.len()).ok()?.checked_mul(2)? | computed)?;
        self.bytes(text)
    }

    fn words(&mut self, words: &[Word]) -> Option<()> {
        self.count(words.len())?;
        words.iter().try_for_each(|word| self.word(word))
    }
}

fn pipelines_into(sink: &mut impl Sink, pipelines: &[Pipeline]) -> Option<()> {
    sink.count(pipelines.len())?;
    for pipeline in pipelines {
        sink.count(pipeline.commands.len())?;
        pipeline.commands.iter().try_for_each(|command| command_into(sink, command))?;
    }
    Some(())
}

fn command_into(sink: &mut impl Sink, command: &Command) -> Option<()> {
    let Command { words, assignments, reads, writes, stdin, via, source } = command;
    sink.words(words)?;
    sink.count(assignments.len())?;
    for Assignment { name, value } in assignments {
        sink.text(name)?;
        sink.word(value)?;
    }
    sink.words(reads)?;
    sink.words(writes)?;
    sink.words(stdin.as_slice())?;
    sink.count(via.len())?;
    via.iter().try_for_each(|via| sink.text(via))?;
    sink.text(source)
}

#[derive(Default)]
struct Size {
    numbers: usize,
    text: usize,
}

impl Sink for Size {
    fn number(&mut self, _number: u32) -> Option<()> {
        self.numbers += 1;
        Some(())
    }

    fn bytes(&mut self, text: &str) -> Option<()> {
        self.text += text.len();
        Some(())
    }
}

/// Writes into a value whose size is known.
struct Packer<'a> {
    numbers: std::slice::IterMut<'a, [u8; NUMBER]>,
    text: &'a mut [u8],
}

impl Sink for Packer<'_> {
    fn number(&mut self, number: u32) -> Option<()> {
        *self.numbers.next()? = number.to_le_bytes();
        Some(())
    }

    fn bytes(&mut self, text: &str) -> Option<()> {
        let (here, rest) = std::mem::take(&mut self.text).split_at_mut_checked(text.len())?;
        here.copy_from_slice(text.as_bytes());
        self.text = rest;
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use portcullis_model::script::{Assignment, Command, Pipeline, Word};
    use portcullis_sdk::testing::unpack;
    use proptest::prelude::*;

    use super::pack;

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
}
