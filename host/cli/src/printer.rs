//! Standard output is data that another program could want; everything for a
//! person is on standard error.

use std::io::{self, Write};

/// Writes what this program says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Printer(());

impl Printer {
    pub(crate) const fn new() -> Self {
        Self(())
    }

    /// One line of data. An error means that the reader has gone.
    pub(crate) fn line(self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.write_all(b"\n")?;
        out.flush()
    }

    /// Data as it is, without a line end.
    pub(crate) fn raw(self, text: &str) -> io::Result<()> {
        let mut out = io::stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()
    }

    /// A word to the person. There is nobody to tell when it cannot be written.
    pub(crate) fn tell(self, text: &str) {
        let mut err = io::stderr().lock();
        drop(err.write_all(text.as_bytes()).and_then(|()| err.write_all(b"\n")));
    }

    /// A word to the person, or to an agent that reads standard error, as it is.
    pub(crate) fn tell_raw(self, text: &str) {
        drop(io::stderr().lock().write_all(text.as_bytes()));
    }

    /// Rings the terminal's bell.
    pub(crate) fn bell(self) {
        self.tell_raw("\u{7}");
    }

    /// An error, with its causes, for the person.
    pub(crate) fn error(self, error: &anyhow::Error) {
        self.tell(&format!("error: {error:#}"));
    }
}

/// How many characters a line of the terminal on standard output has; none when it is
/// none.
pub(crate) fn columns() -> Option<usize> {
    terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| usize::from(width.0))
}

/// `text` on one line, without what a terminal would take for a command or show in
/// another order.
pub(crate) fn plain(text: &str) -> String {
    let hidden = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    text.chars().map(|c| if c.is_control() || hidden(c) { ' ' } else { c }).collect()
}

/// Rows in columns, without a header.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let wide = table(&["", ""], rows);
    wide.split_once('\n').map(|(_, rows)| rows.to_owned()).unwrap_or_default()
}

/// A table for people: columns as wide as their widest cell, the last one free.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let widths: Vec<usize> = header
        .iter()
        .enumerate()
        .map(|(at, title)| {
            rows.iter()
                .filter_map(|row| row.get(at))
                .map(|cell| cell.chars().count())
                .fold(title.len(), usize::max)
        })
        .collect();
    let line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut text = String::new();
        for (cell, width) in cells.zip(&widths) {
            text.push_str(cell);
            text.extend(std::iter::repeat_n(' ', width.saturating_sub(cell.chars().count()) + 2));
        }
        text.truncate(text.trim_end().len());
        text
    };
    let mut lines = vec![line(&mut header.iter().copied())];
    lines.extend(rows.iter().map(|row| line(&mut row.iter().map(String::as_str))));
    lines.join("\n")
}
