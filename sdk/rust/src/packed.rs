//! Takes the one value of `script.packed` apart; `wit/` specifies its form.

use crate::{Assignment, Command, Pipeline, Word};

/// Of the form.
const VERSION: u32 = 1;
/// Bytes of a number.
const NUMBER: usize = size_of::<u32>();

/// The pipelines in `bytes`. None when anything is not as the form has it.
pub(crate) fn unpack(bytes: &[u8]) -> Option<Vec<Pipeline>> {
    let (head, body) = bytes.split_at_checked(2 * NUMBER)?;
    let &[version, count] = head.as_chunks().0 else { return None };
    if u32::from_le_bytes(version) != VERSION {
        return None;
    }
    let (numbers, text) = body.split_at_checked(size(count)?.checked_mul(NUMBER)?)?;
    let mut reader =
        Reader { numbers: numbers.as_chunks().0.iter(), text: core::str::from_utf8(text).ok()? };
    let pipelines = reader.list(|reader| reader.list(Reader::command).map(Pipeline::new))?;
    let whole = reader.numbers.len() == 0 && reader.text.is_empty();
    whole.then_some(pipelines)
}

fn size(number: [u8; NUMBER]) -> Option<usize> {
    usize::try_from(u32::from_le_bytes(number)).ok()
}

struct Reader<'a> {
    numbers: core::slice::Iter<'a, [u8; NUMBER]>,
    text: &'a str,
}

impl Reader<'_> {
    fn number(&mut self) -> Option<usize> {
        size(*self.numbers.next()?)
    }

    fn list<T>(&mut self, item: impl Fn(&mut Self) -> Option<T>) -> Option<Vec<T>> {
        let count = self.number()?;
        // An item has a number at least, so a count that lies reserves no memory.
        if count > self.numbers.len() {
            return None;
        }
        let mut items = Vec::with_capacity(count);
        for _ in 0..count {
            items.push(item(self)?);
        }
        Some(items)
    }

    fn command(&mut self) -> Option<Command> {
        Some(Command {
            words: self.list(Self::word)?,
            assignments: self.list(|reader| Some(Assignment { name: reader.text()?, value: reader.word()? }))?,
            reads: self.list(Self::word)?,
            writes: self.list(Self::word)?,
            stdin: self.at_most_one_word()?,
            via: self.list(Self::text)?,
            source: self.text()?,
        })
    }

    fn at_most_one_word(&mut self) -> Option<Option<Word>> {
        match self.number()? {
            0 => Some(None),
            1 => self.word().map(Some),
            _ => None,
        }
    }

    fn word(&mut self) -> Option<Word> {
        let number = self.number()?;
        let text = self.take(number / 2)?;
        Some(if number % 2 == 0 { Word::Literal(text) } else { Word::Computed(text) })
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number()?;
        self.take(length)
    }

    fn take(&mut self, length: usize) -> Option<String> {
        let (text, rest) = self.text.split_at_checked(length)?;
        self.text = rest;
        Some(text.to_owned())
    }
}
