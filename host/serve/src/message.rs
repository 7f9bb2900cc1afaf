//! One line in, one message out.

use portcullis::model::input::{InputError, strict_value};
use serde_json::{Map, Number, Value, json};

use crate::error::WireError;

/// An id, a session's or a turn's name has at most this many bytes.
pub(crate) const NAME_MAX: usize = 256;

/// The id of a request, as the client wrote it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) enum Id {
    Text(String),
    Number(Number),
}

impl Id {
    pub(crate) fn to_json(&self) -> Value {
        match self {
            Self::Text(text) => json!(text),
            Self::Number(number) => Value::Number(number.clone()),
        }
    }

    pub(crate) fn of(value: Value) -> Option<Self> {
        match value {
            Value::String(text) if text.len() <= NAME_MAX => Some(Self::Text(text)),
            Value::Number(number) if number.to_string().len() <= NAME_MAX => Some(Self::Number(number)),
            Value::Null
            | Value::Bool(_)
            | Value::String(_)
            | Value::Number(_)
            | Value::Array(_)
            | Value::Object(_) => None,
        }
    }
}

/// What a client sends.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Request {
        id: Id,
        method: String,
        params: Map<String, Value>,
    },
    Notification {
        method: String,
        params: Map<String, Value>,
    },
    /// An answer, although nothing was asked.
    Answer,
}

/// A line that is no message, and whose it is as far as that can be known.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unread {
    pub(crate) id: Option<Id>,
    pub(crate) error: WireError,
}

/// Reads one line.
pub(crate) fn read(line: &[u8]) -> Result<Message, Unread> {
    let text = std::str::from_utf8(line)
        .map_err(|_| Unread { id: id_in(line), error: WireError::NotJson("it is not UTF-8".to_owned()) })?;
    let value = strict_value(text).map_err(|error| {
        let why = match error {
            InputError::NotJson(why) => why,
            InputError::TooBig { .. } => error.to_string(),
        };
        Unread { id: id_in(line), error: WireError::NotJson(why) }
    })?;
    let mut object = match value {
        Value::Object(object) => object,
        Value::Array(_) => return Err(Unread { id: None, error: WireError::Batch }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            return Err(Unread { id: None, error: WireError::NotAnObject });
        }
    };
    let id = match object.remove("id") {
        None => None,
        Some(value) => match Id::of(value) {
            Some(id) => Some(id),
            None => {
                let what = format!("is a string of at most {NAME_MAX} bytes, or a number");
                return Err(Unread { id: None, error: WireError::Message { field: "id", what } });
            }
        },
    };
    let wrong = |field, what: &str, id: &Option<Id>| {
        Err(Unread { id: id.clone(), error: WireError::Message { field, what: what.to_owned() } })
    };
    if object.remove("jsonrpc") != Some(json!("2.0")) {
        return wrong("jsonrpc", "is \"2.0\"", &id);
    }
    let method = match object.remove("method") {
        Some(Value::String(method)) => method,
        None if object.contains_key("result") || object.contains_key("error") => return Ok(Message::Answer),
        None => return wrong("method", "is missing", &id),
        Some(_) => return wrong("method", "is a string", &id),
    };
    let params = match object.remove("params") {
        None => Map::new(),
        Some(Value::Object(params)) => params,
        Some(_) => return wrong("params", "is an object", &id),
    };
    Ok(match id {
        Some(id) => Message::Request { id, method, params },
        None => Message::Notification { method, params },
    })
}

/// The `id` in the text of a message that is no JSON, or that is cut off: whoever sent it
/// is told, and waits no longer. None when there are two.
pub(crate) fn id_in(line: &[u8]) -> Option<Id> {
    let mut scan = Scan { rest: line };
    scan.space();
    scan.eat(b'{')?;
    let mut found = None;
    let mut depth = 1_usize;
    // Where a key of the message itself may stand.
    let mut at_key = true;
    while let Some(byte) = scan.peek() {
        match byte {
            b'"' => {
                let Some(text) = scan.text() else { break };
                scan.space();
                if depth == 1 && at_key && text == b"\"id\"" && scan.eat(b':').is_some() {
                    if found.is_some() {
                        return None;
                    }
                    scan.space();
                    let Some(value) = scan.scalar() else { break };
                    found = Some(Id::of(serde_json::from_slice(value).ok()?)?);
                }
                at_key = false;
                continue;
            }
            b'{' | b'[' => depth = depth.saturating_add(1),
            b'}' | b']' => depth = depth.saturating_sub(1),
            b',' => at_key = true,
            _ => {}
        }
        scan.step();
    }
    found
}

struct Scan<'a> {
    rest: &'a [u8],
}

impl<'a> Scan<'a> {
    fn peek(&self) -> Option<u8> {
        self.rest.first().copied()
    }

    fn step(&mut self) {
        self.rest = self.rest.get(1..).unwrap_or_default();
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_ascii_start();
    }

    fn eat(&mut self, wanted: u8) -> Option<()> {
        (self.peek()? == wanted).then(|| self.step())
    }

    fn cut(&mut self, end: usize) -> Option<&'a [u8]> {
        let (part, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        Some(part)
    }

    /// A text with its quotes.
    fn text(&mut self) -> Option<&'a [u8]> {
        let mut escaped = false;
        for (at, byte) in self.rest.iter().enumerate().skip(1) {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => return self.cut(at + 1),
                _ => {}
            }
        }
        None
    }

    /// A text or a number, when it is there to its end.
    fn scalar(&mut self) -> Option<&'a [u8]> {
        if self.peek()? == b'"' {
            return self.text();
        }
        let end =
            self.rest.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"+-.".contains(byte))?;
        self.cut(end)
    }
}

/// The answer to a request.
pub(crate) fn answer(id: Option<&Id>, outcome: &Result<Value, WireError>) -> Vec<u8> {
    let id = id.map_or(Value::Null, Id::to_json);
    let (key, value) = match outcome {
        Ok(result) => ("result", result.clone()),
        Err(error) => ("error", error.to_json()),
    };
    line(&json!({ "jsonrpc": "2.0", "id": id, key: value }))
}

/// What nobody asked for.
pub(crate) fn notification(method: &str, params: &Value) -> Vec<u8> {
    line(&json!({ "jsonrpc": "2.0", "method": method, "params": params }))
}

fn line(value: &Value) -> Vec<u8> {
    let mut line = value.to_string().into_bytes();
    line.push(b'\n');
    line
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends when anything is wrong")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(n: i64) -> Id {
        Id::Number(n.into())
    }

    fn refused(line: &str) -> (Option<Id>, WireError) {
        let unread = read(line.as_bytes()).unwrap_err();
        (unread.id, unread.error)
    }

    #[test]
    fn a_request_keeps_its_id_as_it_was_written() {
        for id in ["1", "\"1\"", "-7", "1.50", "12345678901234567890123"] {
            let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            let Ok(Message::Request { id: read, .. }) = read(line.as_bytes()) else { panic!("{line}") };
            assert_eq!(read.to_json().to_string(), id);
        }
    }

    #[test]
    fn what_is_no_message_is_refused_with_the_field_and_the_id() {
        for (line, id, field) in [
            (r#"{"id":1,"method":"m"}"#, Some(number(1)), "jsonrpc"),
            (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, Some(number(1)), "jsonrpc"),
            (r#"{"jsonrpc":"2.0","id":1}"#, Some(number(1)), "method"),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, Some(number(1)), "method"),
            (r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}"#, Some(number(1)), "params"),
            (r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#, None, "id"),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, None, "id"),
        ] {
            let (seen, error) = refused(line);
            assert_eq!(seen, id, "{line}");
            assert!(
                matches!(error, WireError::Message { field: named, .. } if named == field),
                "{line}: {error}"
            );
        }
        assert_eq!(refused("[]"), (None, WireError::Batch));
        assert_eq!(refused("7"), (None, WireError::NotAnObject));
    }

    #[test]
    fn a_line_that_cannot_be_read_is_refused_under_its_own_id() {
        let deep = format!(r#"{{"jsonrpc":"2.0","id":"x","params":{}"#, "[".repeat(500));
        for (line, id) in [
            (r#"{"id":1,"method":"a","method":"b"}"#, Some(number(1))),
            (r#"{"method":"say \"id\": 7","id": "x\"y" , "params":{"id":3},"#, Some(Id::Text("x\"y".into()))),
            (deep.as_str(), Some(Id::Text("x".into()))),
            (r#"{"id":1,"id":2}"#, None),
            (r#"{"params":{"id":1}, oops"#, None),
            (r#"{"x":"id","id":12"#, None),
            (r#"{"a":{},"id":9,"#, Some(number(9))),
            ("nonsense", None),
            ("", None),
        ] {
            let (seen, error) = refused(line);
            assert_eq!(seen, id, "{line}");
            assert!(matches!(error, WireError::NotJson(_)), "{line}");
        }
        let unread = read(b"{\"id\":4,\"x\":\"\xff\"}").unwrap_err();
        assert_eq!(unread.id, Some(number(4)));
    }

    #[test]
    fn an_answer_is_no_request() {
        assert_eq!(read(br#"{"jsonrpc":"2.0","id":1,"result":null}"#), Ok(Message::Answer));
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_message_or_an_error(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = read(&line);
            let _ = id_in(&line);
        }

        #[test]
        fn wherever_a_message_is_cut_its_id_is_right_or_unknown(
            id in ".{0,8}",
            before in ".{0,8}",
            cut in 0_usize..200,
        ) {
            let whole = json!({"a": {"id": before, "b": [before]}, "c": before, "id": id}).to_string();
            let part = whole.as_bytes().get(..cut).unwrap_or(whole.as_bytes());
            let found = id_in(part);
            prop_assert!(found.is_none() || found == Some(Id::Text(id)));
        }
    }
}
