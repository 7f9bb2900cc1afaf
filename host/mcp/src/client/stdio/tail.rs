//! The end of what a server says on its standard error.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crate::client::limits::{SAID_MAX, TAIL_MAX};
use crate::client::secret::Secrets;

#[derive(Debug, Default)]
pub(super) struct Tail(Mutex<VecDeque<u8>>);

impl Tail {
    pub(super) fn push(&self, bytes: &[u8]) {
        let kept = bytes.get(bytes.len().saturating_sub(SAID_MAX)..).unwrap_or_default();
        let mut tail = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let over = tail.len().saturating_add(kept.len()).saturating_sub(SAID_MAX);
        tail.drain(..over);
        tail.extend(kept);
    }

    /// The last lines, for people: without secrets and without control characters.
    pub(super) fn text(&self, secrets: &Secrets) -> String {
        let bytes: Vec<u8> = self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        // What is hidden is looked for in all of it, so that no part of one is left at the cut.
        let text = plain(&secrets.hide(&String::from_utf8_lossy(&bytes)));
        let mut from = text.len().saturating_sub(TAIL_MAX);
        while !text.is_char_boundary(from) {
            from = from.saturating_add(1);
        }
        text.get(from..).unwrap_or_default().trim().to_owned()
    }
}

/// Without what moves a terminal's cursor or colours it.
pub(super) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        if character == '\u{1b}' && characters.next_if_eq(&'[').is_some() {
            for character in characters.by_ref() {
                if character.is_ascii_alphabetic() {
                    break;
                }
            }
        } else if !character.is_control() || character == '\n' {
            plain.push(character);
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::{SAID_MAX, Secrets, TAIL_MAX, Tail};

    #[test]
    fn the_end_is_kept_and_no_more() {
        let tail = Tail::default();
        for _ in 0..10 {
            tail.push(&vec![b'a'; SAID_MAX]);
        }
        tail.push("é the end\n".as_bytes());
        assert_eq!(tail.0.lock().unwrap().len(), SAID_MAX);
        let text = tail.text(&Secrets::default());
        assert!(text.ends_with("é the end") && text.len() <= TAIL_MAX, "{text}");
    }

    #[test]
    fn no_secret_and_no_colour_is_in_it() {
        let tail = Tail::default();
        tail.push(b"\x1b[31mtoken is s3cret\x07\x1b[0m\n");
        let secrets = Secrets::new(["s3cret".to_owned()]);
        assert_eq!(tail.text(&secrets), "token is [hidden]");
        tail.push(&vec![b'-'; TAIL_MAX - 3]);
        assert!(!tail.text(&secrets).contains("ret"), "a part of it at the cut");
    }
}
