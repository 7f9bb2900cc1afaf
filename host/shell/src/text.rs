//! Text that may have holes: places whose content only the shell will know.

use std::rc::Rc;

/// Stands for a hole inside a text. It means one only at an offset that the
/// text lists, so a script cannot forge a hole by writing this character.
const HOLE: char = '\u{FFFC}';

/// Text with the holes in it, by offset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Text {
    text: String,
    holes: Vec<(usize, Rc<str>)>,
}

impl Text {
    pub(crate) fn known(text: impl Into<String>) -> Self {
        Self { text: text.into(), holes: Vec::new() }
    }

    pub(crate) fn hole(source: &str) -> Self {
        let mut text = Self::default();
        text.push_hole(source);
        text
    }

    pub(crate) fn as_known(&self) -> Option<&str> {
        self.holes.is_empty().then_some(self.text.as_str())
    }

    /// The whole of it, when it is known.
    pub(crate) fn into_known(self) -> Result<String, Self> {
        if self.holes.is_empty() { Ok(self.text) } else { Err(self) }
    }

    /// With a placeholder where a hole is.
    pub(crate) fn raw(&self) -> &str {
        &self.text
    }

    pub(crate) fn holes(&self) -> &[(usize, Rc<str>)] {
        &self.holes
    }

    pub(crate) fn len(&self) -> usize {
        self.text.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    pub(crate) fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
    }

    pub(crate) fn push_hole(&mut self, source: &str) {
        self.holes.push((self.text.len(), Rc::from(source)));
        self.text.push(HOLE);
    }

    pub(crate) fn push(&mut self, other: &Self) {
        let base = self.text.len();
        self.text.push_str(&other.text);
        self.holes.extend(other.holes.iter().map(|(at, source)| (base + at, Rc::clone(source))));
    }

    /// With the source of each hole in its place.
    pub(crate) fn rendered(&self) -> String {
        if self.holes.is_empty() {
            return self.text.clone();
        }
        let mut out = String::with_capacity(self.text.len());
        let mut from = 0;
        for (at, source) in &self.holes {
            out.push_str(self.text.get(from..*at).unwrap_or_default());
            out.push_str(source);
            from = at + HOLE.len_utf8();
        }
        out.push_str(self.text.get(from..).unwrap_or_default());
        out
    }

    /// The text between two offsets, holes and all.
    pub(crate) fn slice(&self, start: usize, end: usize) -> Self {
        let from = self.holes.partition_point(|(at, _)| *at < start);
        let to = self.holes.partition_point(|(at, _)| *at < end);
        let held = self.holes.get(from..to).unwrap_or_default();
        Self {
            text: self.text.get(start..end).unwrap_or_default().to_owned(),
            holes: held.iter().map(|(at, source)| (at - start, Rc::clone(source))).collect(),
        }
    }

    /// The text from `at` on.
    pub(crate) fn after(&self, at: usize) -> Self {
        self.slice(at, self.text.len())
    }

    /// The name and the value, if this reads `NAME=value`.
    pub(crate) fn assignment(&self) -> Option<(String, Self)> {
        let length = self.text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let name = self.text.get(..length)?;
        let named = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let equals = self.text.as_bytes().get(length) == Some(&b'=');
        (named && equals).then(|| (name.to_owned(), self.after(length + 1)))
    }

    /// Without the newlines at its end, as `$(...)` takes them off.
    pub(crate) fn trimmed(mut self) -> Self {
        self.text.truncate(self.text.trim_end_matches('\n').len());
        self
    }

    /// The pieces between blanks; whether there is a blank at the start and at the end.
    pub(crate) fn split(&self) -> (bool, Vec<Self>, bool) {
        self.split_at(" \t\n")
    }

    /// The pieces between separators; whether there is one at the start and at the end.
    pub(crate) fn split_at(&self, separators: &str) -> (bool, Vec<Self>, bool) {
        let blank = |c: char| separators.contains(c);
        let mut pieces = Vec::new();
        let mut holes = self.holes.iter().peekable();
        let mut start = None;
        let ends = self.text.char_indices().map(|(at, c)| (at, blank(c)));
        for (at, separates) in ends.chain(std::iter::once((self.text.len(), true))) {
            match (start, separates) {
                (None, false) => start = Some(at),
                (Some(from), true) => {
                    let mut piece = Self::known(self.text.get(from..at).unwrap_or_default());
                    while let Some((hole, source)) = holes.next_if(|(hole, _)| *hole < at) {
                        piece.holes.push((hole - from, Rc::clone(source)));
                    }
                    pieces.push(piece);
                    start = None;
                }
                (None, true) | (Some(_), false) => {}
            }
        }
        (self.text.starts_with(blank), pieces, self.text.ends_with(blank))
    }
}

/// A stretch of one parsed text.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub(crate) text: Rc<Text>,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Span {
    /// The text there, with a placeholder where a hole is.
    pub(crate) fn raw(&self) -> &str {
        self.text.text.get(self.start..self.end).unwrap_or_default()
    }

    /// The text there, with the source of each hole in its place.
    pub(crate) fn rendered(&self) -> String {
        if self.text.holes.is_empty() { self.raw().to_owned() } else { self.slice().rendered() }
    }

    /// The text there, holes and all.
    pub(crate) fn slice(&self) -> Text {
        self.text.slice(self.start, self.end)
    }
}

#[cfg(test)]
mod tests {
    use super::Text;

    #[test]
    fn splitting_keeps_each_hole_in_its_piece() {
        let mut text = Text::known(" rm -rf ");
        text.push_hole("$x");
        text.push_str("/y ");
        let (front, pieces, back) = text.split();
        assert!(front && back);
        let rendered: Vec<_> = pieces.iter().map(Text::rendered).collect();
        assert_eq!(rendered, ["rm", "-rf", "$x/y"]);
        assert_eq!(pieces[1].as_known(), Some("-rf"));
        assert_eq!(pieces[2].as_known(), None);
    }
}
