//! Bytes of a pipe, taken apart into lines of which none is longer than it may be.

use std::io::{self, BufRead, BufReader, Read};

use super::scan::Scan;

/// One line.
#[derive(Debug)]
pub(super) enum Frame {
    /// Without the line break.
    Line(Vec<u8>),
    /// It was longer than it may be, and is gone; this is left of it.
    TooLong(Scan),
}

/// Reads lines.
#[derive(Debug)]
pub(super) struct Frames<R> {
    source: BufReader<R>,
    most: usize,
}

impl<R: Read> Frames<R> {
    pub(super) fn new(source: R, most: usize) -> Self {
        Self { source: BufReader::with_capacity(64 << 10, source), most }
    }

    /// The next line; none at the end. A last line without a line break is one too.
    pub(super) fn next(&mut self) -> io::Result<Option<Frame>> {
        let mut line = Vec::new();
        let mut left: Option<Scan> = None;
        let mut any = false;
        loop {
            let bytes = match self.source.fill_buf() {
                Ok(bytes) => bytes,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if bytes.is_empty() {
                break;
            }
            any = true;
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let piece = bytes.get(..end.unwrap_or(bytes.len())).unwrap_or_default();
            match &mut left {
                Some(scan) => scan.feed(piece),
                None if line.len().saturating_add(piece.len()) > self.most => {
                    let mut scan = Scan::of(&line);
                    scan.feed(piece);
                    line = Vec::new();
                    left = Some(scan);
                }
                None => line.extend_from_slice(piece),
            }
            let used = end.map_or(bytes.len(), |end| end.saturating_add(1));
            self.source.consume(used);
            if end.is_some() {
                break;
            }
        }
        Ok(any.then(|| left.map_or_else(|| Frame::Line(line), Frame::TooLong)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Frame, Frames};

    fn told(bytes: &[u8], most: usize) -> Vec<String> {
        let mut frames = Frames::new(bytes, most);
        let mut told = Vec::new();
        while let Some(frame) = frames.next().unwrap() {
            told.push(match frame {
                Frame::Line(line) => String::from_utf8(line).unwrap(),
                Frame::TooLong(scan) => format!("too long: {:?}", scan.id()),
            });
        }
        told
    }

    #[test]
    fn a_line_that_is_too_long_is_gone_and_the_next_is_read() {
        let long = format!("{{\"x\":\"{}\",\"id\":4}}\nb\n\nc", "y".repeat(200_000));
        assert_eq!(told(long.as_bytes(), 10), ["too long: Some(4)", "b", "", "c"]);
        assert_eq!(told(b"0123456789\n01234567890\n", 10), ["0123456789", "too long: None"]);
        assert!(told(b"", 10).is_empty());
    }
}
