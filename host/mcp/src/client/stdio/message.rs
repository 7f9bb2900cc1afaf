//! What a line of a server says.

use serde_json::Value;

use super::scan::{Scan, id};
use crate::client::limits::BATCH_MAX;

/// One message.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Message {
    /// A result.
    Result { id: u64, result: Value },
    /// An error of the server's own.
    Error { id: u64, code: i64, message: String },
    /// Something that was to be the answer to this request, and cannot be used.
    Unusable { id: u64, why: &'static str },
    /// An answer to nobody.
    Lost,
    /// A request, which nobody here obeys.
    Request { id: Value, method: String },
    /// A notification.
    Notification { method: String },
    /// No message at all.
    Noise,
}

/// Takes a line apart.
pub(super) fn read(line: &[u8]) -> Vec<Message> {
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line).trim_ascii();
    if line.is_empty() {
        return Vec::new();
    }
    match serde_json::from_slice(line) {
        Ok(Value::Array(all)) => all.into_iter().take(BATCH_MAX).map(one).collect(),
        Ok(value) => vec![one(value)],
        Err(_) => {
            let id = Scan::of(line).id();
            vec![id.map_or(Message::Noise, |id| Message::Unusable { id, why: "it is no JSON, or too deep" })]
        }
    }
}

fn one(value: Value) -> Message {
    let Value::Object(mut object) = value else { return Message::Noise };
    let is_ours = object.get("jsonrpc").and_then(Value::as_str) == Some("2.0");
    let told = object.remove("id");
    if let Some(method) = object.remove("method") {
        let Value::String(method) = method else { return Message::Noise };
        return match told {
            _ if !is_ours => Message::Noise,
            Some(id) => Message::Request { id, method },
            None => Message::Notification { method },
        };
    }
    let (result, error) = (object.remove("result"), object.remove("error"));
    if result.is_none() && error.is_none() {
        return Message::Noise;
    }
    let Some(id) = told.as_ref().and_then(id) else {
        return if is_ours { Message::Lost } else { Message::Noise };
    };
    let unusable = |why| Message::Unusable { id, why };
    match (result, error) {
        _ if !is_ours => unusable("it is no JSON-RPC 2.0"),
        (Some(_), Some(_)) => unusable("it is a result and an error at once"),
        (Some(result), None) => Message::Result { id, result },
        (None, Some(Value::Object(error))) => {
            let code = error.get("code").and_then(Value::as_i64).unwrap_or_default();
            let message = error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned();
            Message::Error { id, code, message }
        }
        (None, _) => unusable("its error is no object"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{Message, read};

    fn of(text: &str) -> Message {
        read(text.as_bytes()).remove(0)
    }

    #[test]
    fn a_line_is_an_answer_a_request_a_notification_or_noise() {
        let result = Message::Result { id: 5, result: json!({ "new": [1.5] }) };
        assert_eq!(of("\u{feff}{\"jsonrpc\":\"2.0\",\"id\":5.0,\"result\":{\"new\":[1.5]}}\r"), result);
        assert_eq!(
            of(r#"{"jsonrpc":"2.0","id":5,"error":{"code":-32601,"message":"no"}}"#),
            Message::Error { id: 5, code: -32601, message: "no".to_owned() }
        );
        assert_eq!(
            of(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#),
            Message::Request { id: json!("a"), method: "ping".to_owned() }
        );
        assert_eq!(
            of(r#"{"jsonrpc":"2.0","method":"notifications/x"}"#),
            Message::Notification { method: "notifications/x".to_owned() }
        );
        for noise in ["listening", "\u{1b}[32mok\u{1b}[0m", "7", r#"{"id":1,"level":"info"}"#, "{}", "[1]"] {
            assert_eq!(of(noise), Message::Noise, "{noise}");
        }
        assert!(read(b"  \r").is_empty());
    }

    #[test]
    fn what_was_to_be_an_answer_is_known_by_its_id() {
        let deep = format!(r#"{{"jsonrpc":"2.0","result":{}1{},"id":3}}"#, "[".repeat(200), "]".repeat(200));
        for text in [
            deep.as_str(),
            r#"{"jsonrpc":"2.0","id":3,"result":{"broken"#,
            r#"{"id":3,"result":{}}"#,
            r#"{"jsonrpc":"2.0","id":3,"result":{},"error":{"code":1,"message":""}}"#,
            r#"{"jsonrpc":"2.0","id":3,"error":"no"}"#,
        ] {
            assert!(matches!(of(text), Message::Unusable { id: 3, .. }), "{text}: {:?}", of(text));
        }
        for lost in [r#"{"jsonrpc":"2.0","id":null,"error":{}}"#, r#"{"jsonrpc":"2.0","id":"3","result":1}"#]
        {
            assert_eq!(of(lost), Message::Lost, "{lost}");
        }
    }

    #[test]
    fn several_answers_in_one_line_are_each_read_and_not_without_end() {
        let one = r#"{"jsonrpc":"2.0","id":1,"result":1}"#;
        assert_eq!(read(format!("[{one},{one}]").as_bytes()).len(), 2);
        assert_eq!(read(format!("[{one}{}]", format!(",{one}").repeat(999)).as_bytes()).len(), 256);
    }
}
