//! Bytes in, lines out: none longer than it may be, none that never ends.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt as _, AsyncRead, BufReader};
use tokio::time::{Instant, timeout_at};

/// What is read next.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Frame {
    Line(Vec<u8>),
    /// The beginning of a line that is too long. The rest of it was passed over.
    TooLong(Vec<u8>),
    /// A line was begun and not ended in time.
    Slow,
    End,
}

/// The lines of one client.
#[derive(Debug)]
pub(crate) struct Frames<R> {
    input: BufReader<R>,
    max: usize,
    time: Duration,
    /// What was read of the line so far.
    part: Vec<u8>,
    /// The line has more than `part`.
    is_too_long: bool,
    begun: Option<Instant>,
}

impl<R: AsyncRead + Unpin> Frames<R> {
    pub(crate) fn new(input: R, max: usize, time: Duration) -> Self {
        let input = BufReader::with_capacity(64 << 10, input);
        Self { input, max, time, part: Vec::new(), is_too_long: false, begun: None }
    }

    /// The next line that is not blank. Loses nothing when it is dropped.
    pub(crate) async fn next(&mut self) -> io::Result<Frame> {
        loop {
            let read = self.input.fill_buf();
            let bytes = match self.begun {
                None => read.await?,
                Some(begun) => match timeout_at(begun + self.time, read).await {
                    Ok(bytes) => bytes?,
                    Err(_) => return Ok(Frame::Slow),
                },
            };
            let at_end = bytes.is_empty();
            let line_end = bytes.iter().position(|byte| *byte == b'\n');
            let used = line_end.map_or(bytes.len(), |at| at + 1);
            let bytes = bytes.get(..line_end.unwrap_or(used)).unwrap_or_default();
            let room = self.max.saturating_sub(self.part.len());
            self.is_too_long |= bytes.len() > room;
            self.part.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
            self.input.consume(used);
            if line_end.is_none() && !at_end {
                self.begun.get_or_insert_with(Instant::now);
                continue;
            }
            self.begun = None;
            let line = std::mem::take(&mut self.part);
            if std::mem::take(&mut self.is_too_long) {
                return Ok(Frame::TooLong(line));
            }
            if !line.trim_ascii().is_empty() {
                return Ok(Frame::Line(line));
            }
            if at_end {
                return Ok(Frame::End);
            }
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends when anything is wrong")]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    async fn frames(bytes: &[u8], max: usize) -> Vec<Frame> {
        let mut frames = Frames::new(bytes, max, Duration::from_secs(60));
        let mut seen = Vec::new();
        while seen.last() != Some(&Frame::End) {
            seen.push(frames.next().await.unwrap());
        }
        seen
    }

    #[tokio::test]
    async fn lines_come_one_by_one_and_a_long_one_spoils_no_other() {
        let line = |text: &str| Frame::Line(text.as_bytes().to_vec());
        let seen = frames(b"one\n\n  \r\n12345\n123456\nlast", 5).await;
        let long = Frame::TooLong(b"12345".to_vec());
        assert_eq!(seen, [line("one"), line("12345"), long, line("last"), Frame::End]);
        let seen = frames(&[vec![b'x'; 1 << 20], b"\nnext\n".to_vec()].concat(), 10).await;
        assert_eq!(seen, [Frame::TooLong(vec![b'x'; 10]), line("next"), Frame::End]);
    }

    #[tokio::test]
    async fn a_line_that_is_begun_and_never_ended_is_given_up() {
        let (mut client, server) = tokio::io::duplex(64);
        let mut frames = Frames::new(server, 100, Duration::from_millis(1));
        client.write_all(b"whole\nbegun").await.unwrap();
        assert_eq!(frames.next().await.unwrap(), Frame::Line(b"whole".to_vec()));
        assert_eq!(frames.next().await.unwrap(), Frame::Slow);
    }
}
