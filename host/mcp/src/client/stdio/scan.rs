//! Whose answer a message is, told from its bytes alone: for messages that are too long to
//! be kept, and for those that are no JSON to the end.

use serde_json::Value;

/// Bytes kept of a key or an id.
const KEPT: usize = 32;

/// The id of one of our own requests. `5.0` is one too: some servers make floats of all
/// numbers.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it is whole and small")]
pub(super) fn id(value: &Value) -> Option<u64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let number = value.as_number()?;
    let float = || number.as_f64().filter(|float| float.fract() == 0.0 && (0.0..EXACT).contains(float));
    number.as_u64().or_else(|| float().map(|float| float as u64))
}

/// Reads the top of an object byte by byte, and keeps next to nothing.
#[derive(Debug, Default)]
pub(super) struct Scan {
    began: bool,
    is_object: bool,
    depth: usize,
    in_text: bool,
    escaped: bool,
    /// Between a key's colon and the comma behind its value.
    in_value: bool,
    key: Vec<u8>,
    value: Vec<u8>,
    id: Option<Vec<u8>>,
    ids: usize,
    has_method: bool,
}

impl Scan {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut scan = Self::default();
        scan.feed(bytes);
        scan
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.take(*byte);
        }
    }

    fn take(&mut self, byte: u8) {
        if !self.began {
            if byte.is_ascii_whitespace() {
                return;
            }
            self.began = true;
            self.is_object = byte == b'{';
            self.depth = 1;
            return;
        }
        if !self.is_object || self.depth == 0 {
            return;
        }
        let at_top = self.depth == 1;
        if self.in_text {
            if self.escaped {
                self.escaped = false;
            } else if byte == b'\\' {
                self.escaped = true;
            } else if byte == b'"' {
                self.in_text = false;
            }
            if at_top {
                self.keep(byte);
            }
            return;
        }
        match byte {
            b'"' => {
                self.in_text = true;
                if at_top {
                    self.keep(byte);
                }
            }
            b'{' | b'[' => self.depth = self.depth.saturating_add(1),
            b'}' | b']' => {
                if at_top {
                    self.member();
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b',' if at_top => self.member(),
            b':' if at_top => self.in_value = true,
            _ if at_top && !byte.is_ascii_whitespace() => self.keep(byte),
            _ => {}
        }
    }

    fn keep(&mut self, byte: u8) {
        let kept = if self.in_value { &mut self.value } else { &mut self.key };
        if kept.len() < KEPT {
            kept.push(byte);
        }
    }

    /// A key and its value are over.
    fn member(&mut self) {
        match self.key.as_slice() {
            b"\"id\"" => {
                self.ids = self.ids.saturating_add(1);
                self.id = Some(std::mem::take(&mut self.value));
            }
            b"\"method\"" => self.has_method = true,
            _ => {}
        }
        self.key.clear();
        self.value.clear();
        self.in_value = false;
    }

    /// The id, when these are the bytes of an answer and say one id.
    pub(super) fn id(&self) -> Option<u64> {
        if !self.is_object || self.has_method || self.ids != 1 {
            return None;
        }
        id(&serde_json::from_slice(self.id.as_deref()?).ok()?)
    }

    /// These may be the bytes of an answer, whosever it is.
    pub(super) const fn may_be_an_answer(&self) -> bool {
        self.is_object && !self.has_method
    }
}

#[cfg(test)]
mod tests {
    use super::Scan;

    #[test]
    fn the_id_is_found_wherever_it_stands() {
        for (text, id) in [
            (r#"{"jsonrpc":"2.0","id":5,"result":{"id":9,"method":"x"}}"#, Some(5)),
            (r#"  {"result":{"text":"\"id\":1,}"},"jsonrpc":"2.0","id" : 7 }"#, Some(7)),
            (r#"{"result":[[{"id":1}]],"id":8"#, None),
            (r#"{"result":[[{"id":1}]],"id":8,"x"#, Some(8)),
            (r#"{"id":1,"method":"ping"}"#, None),
            (r#"{"id":1,"id":2,"result":{}}"#, None),
            (r#"{"id":"one","result":{}}"#, None),
            (r#"[{"id":1}]"#, None),
            ("text", None),
            ("", None),
        ] {
            assert_eq!(Scan::of(text.as_bytes()).id(), id, "{text}");
            let mut piecemeal = Scan::default();
            text.bytes().for_each(|byte| piecemeal.feed(&[byte]));
            assert_eq!(piecemeal.id(), id, "{text}");
        }
    }

    #[test]
    fn a_long_text_costs_nothing() {
        let mut scan = Scan::default();
        scan.feed(b"{\"result\":\"");
        for _ in 0..1000 {
            scan.feed(&[b'x'; 1024]);
        }
        scan.feed(b"\",\"id\":3}");
        assert_eq!(scan.id(), Some(3));
        assert!(scan.value.capacity() <= 64 && scan.key.capacity() <= 64);
    }
}
