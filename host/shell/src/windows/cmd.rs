//! The commands of `cmd.exe`.

use std::rc::Rc;

use super::Plain;
use crate::{expand::Field, text::Text, walk::Walker};

impl Walker<'_> {
    /// Follows a text as `cmd.exe` would.
    pub(super) fn cmd(&mut self, text: &Text) {
        let text = Rc::new(text.clone());
        let mut pipeline = Vec::new();
        let mut command = Plain::default();
        let mut word: Option<Text> = None;
        let mut quoted = false;
        let mut chars = text.raw().char_indices().peekable();
        let whole = text.raw().len();
        while let Some((at, c)) = chars.next() {
            let end = at + c.len_utf8();
            match c {
                '"' => {
                    quoted = !quoted;
                    word.get_or_insert_default();
                }
                _ if quoted => word.get_or_insert_default().push(&text.slice(at, end)),
                '^' => {
                    if let Some((from, next)) = chars.next() {
                        word.get_or_insert_default().push(&text.slice(from, from + next.len_utf8()));
                    }
                }
                '%' => {
                    let rest = text.raw().get(end..).unwrap_or_default();
                    let length = rest.bytes().take(64).position(|b| b == b'%' || b == b' ').unwrap_or(0);
                    let close = end + length + usize::from(rest.as_bytes().get(length) == Some(&b'%'));
                    word.get_or_insert_default().push_hole(text.raw().get(at..close).unwrap_or_default());
                    while chars.next_if(|(next, _)| *next < close).is_some() {}
                }
                ' ' | '\t' | ',' | '=' => finish(&mut word, &mut command, at),
                '&' | '|' | '\n' | '\r' | '(' | ')' => {
                    finish(&mut word, &mut command, at);
                    let double = chars.next_if(|(_, next)| *next == c && matches!(c, '&' | '|')).is_some();
                    pipeline.push(std::mem::take(&mut command));
                    if c != '|' || double {
                        self.batch(&text, std::mem::take(&mut pipeline));
                    }
                    command.start = end + usize::from(double);
                    command.end = command.start;
                }
                '>' => {
                    finish(&mut word, &mut command, at);
                    while chars.next_if(|(_, next)| matches!(next, '>' | ' ')).is_some() {}
                    let mut target = Text::default();
                    while let Some((from, next)) =
                        chars.next_if(|(_, next)| !next.is_whitespace() && *next != '&')
                    {
                        if next != '"' {
                            target.push(&text.slice(from, from + next.len_utf8()));
                        }
                    }
                    command.writes.push(Field::new(target));
                }
                _ => word.get_or_insert_default().push(&text.slice(at, end)),
            }
        }
        self.broken |= quoted;
        finish(&mut word, &mut command, whole);
        pipeline.push(command);
        self.batch(&text, pipeline);
    }

    fn batch(&mut self, text: &Rc<Text>, mut pipeline: Vec<Plain>) {
        for command in &mut pipeline {
            unwrapped(&mut command.words);
        }
        self.plain(text, pipeline);
    }
}

fn finish(word: &mut Option<Text>, command: &mut Plain, end: usize) {
    command.words.extend(word.take().map(Field::new));
    command.end = end;
}

/// Takes off what stands before a command: `if exist x`, `for … do`, `call`, `@`.
fn unwrapped(words: &mut Vec<Field>) {
    loop {
        let low = |at: usize| words.get(at).map(|field| field.text.raw().to_ascii_lowercase());
        let Some(first) = low(0) else { return };
        let count = match first.as_str() {
            "call" | "@" | "do" | "else" => 1,
            "start" => {
                1 + words
                    .iter()
                    .skip(1)
                    .take_while(|w| w.text.raw().starts_with('/') || w.text.is_empty())
                    .count()
            }
            "if" => {
                let mut at = 1;
                while low(at).is_some_and(|word| matches!(word.as_str(), "/i" | "not")) {
                    at += 1;
                }
                at + if low(at)
                    .is_some_and(|word| matches!(word.as_str(), "exist" | "defined" | "errorlevel"))
                {
                    2
                } else {
                    1
                }
            }
            "for" => match words.iter().position(|field| field.text.raw().eq_ignore_ascii_case("do")) {
                Some(at) => at + 1,
                None => return,
            },
            _ if first.starts_with('@') && first.len() > 1 => {
                if let Some(field) = words.first_mut() {
                    *field = Field::new(field.text.after(1));
                }
                continue;
            }
            _ => return,
        };
        words.drain(..count.min(words.len()));
    }
}
