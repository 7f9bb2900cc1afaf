//! Pipelines in one value: the form of `script.packed`, which `wit/` specifies.

use portcullis_model::script::{Assignment, Command, Pipeline, Word};

/// Of the form.
const VERSION: u32 = 1;
/// Bytes of a number.
const NUMBER: usize = size_of::<u32>();

/// `pipelines` in the form of `script.packed`. None when a length does not fit in its
/// number, which takes more text than a call can hold.
#[must_use]
pub fn pack(pipelines: &[Pipeline]) -> Option<Vec<u8>> {
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
