//! Takes the one value of `script.packed` apart; `wit/` specifies its form.

use crate::pipeline::{Assignment, Command, Pipeline, Word};

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
    let mut reader = Reader { numbers: numbers.as_chunks().0.iter(), text: core::str::from_utf8(text).ok()? };
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
            assignments: self
                .list(|reader| Some(Assignment { name: reader.text()?, value: reader.word()? }))?,
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

#[cfg(test)]
mod tests {
    use super::unpack;
    use crate::pipeline::{Assignment, Command, Pipeline, Word};

    fn packed(numbers: &[u32], text: &str) -> Vec<u8> {
        let mut all = vec![1, u32::try_from(numbers.len()).unwrap()];
        all.extend(numbers);
        [all.iter().flat_map(|number| number.to_le_bytes()).collect(), text.as_bytes().to_vec()].concat()
    }

    /// Everything that a command can have.
    const WHOLE: (&[u32], &str) =
        (&[1, 1, 2, 8, 5, 1, 1, 2, 1, 4, 2, 4, 6, 1, 2, 2, 4, 3, 7], "echo$ABcrdπawrhsudof()source!");

    fn whole() -> Vec<Pipeline> {
        let literal = |text: &str| Word::Literal(text.to_owned());
        vec![Pipeline::new(vec![Command {
            words: vec![literal("echo"), Word::Computed("$A".to_owned())],
            assignments: vec![Assignment::new("B", literal("c"))],
            reads: vec![literal("rd")],
            writes: vec![literal("π"), literal("awr")],
            stdin: Some(literal("h")),
            via: vec!["sudo".to_owned(), "f()".to_owned()],
            source: "source!".to_owned(),
        }])]
    }

    #[test]
    fn every_part_of_a_command_comes_out() {
        assert_eq!(unpack(&packed(WHOLE.0, WHOLE.1)), Some(whole()));
        assert_eq!(unpack(&packed(&[0], "")), Some(Vec::new()));
    }

    #[test]
    fn what_ends_early_or_late_is_not_understood() {
        let value = packed(WHOLE.0, WHOLE.1);
        for end in 0..value.len() {
            assert_eq!(unpack(&value[..end]), None, "cut at {end}");
        }
        assert_eq!(unpack(&packed(WHOLE.0, &format!("{}x", WHOLE.1))), None);
        assert_eq!(unpack(&packed(&[WHOLE.0, &[0]].concat(), WHOLE.1)), None);
    }

    #[test]
    fn a_number_that_lies_is_not_understood_and_reserves_no_memory() {
        for at in 0..WHOLE.0.len() {
            for lie in [u32::MAX, u32::MAX - 1, 1 << 31, 1 << 20] {
                let mut numbers = WHOLE.0.to_vec();
                numbers[at] = lie;
                assert_eq!(unpack(&packed(&numbers, WHOLE.1)), None, "{lie} at {at}");
            }
        }
        let mut count = packed(&[0], "");
        count[4..8].copy_from_slice(&u32::MAX.to_le_bytes());
        assert_eq!(unpack(&count), None);
    }

    #[test]
    fn another_version_is_not_understood() {
        for version in [0, 2, u32::MAX] {
            let mut value = packed(WHOLE.0, WHOLE.1);
            value[..4].copy_from_slice(&version.to_le_bytes());
            assert_eq!(unpack(&value), None);
        }
    }

    #[test]
    fn a_text_that_is_no_utf_8_or_is_cut_in_a_character_is_not_understood() {
        let one = |length| [1, 1, 0, 0, 0, 0, 0, 0, length];
        assert!(unpack(&packed(&one(2), "π")).is_some());
        let mut value = packed(&one(2), "π");
        value.pop();
        value.push(b'x');
        assert_eq!(unpack(&value), None);
        let two = [1, 1, 0, 0, 0, 0, 0, 1, 1, 1];
        assert!(unpack(&packed(&two, "ab")).is_some());
        assert_eq!(unpack(&packed(&two, "π")), None);
    }
}
