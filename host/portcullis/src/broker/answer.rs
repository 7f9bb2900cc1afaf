//! From what a server answers to what a model reads.

use std::fmt::Write as _;

use portcullis_model::extension::{Content, ToolResult};
use serde_json::Value;

use super::memory::Memory;

/// Bytes of an answer that a model is shown; the whole is in a file then.
pub(super) const SHOWN_MAX: usize = 50 << 10;

/// The text of a tool's answer. What is no text is kept in a file and told of, and so is a
/// text that is too long.
pub(super) fn of_tool(result: &Value, memory: &Memory) -> ToolResult {
    let mut text = String::new();
    let parts = result.get("content").and_then(Value::as_array);
    for part in parts.into_iter().flatten() {
        if !text.is_empty() {
            text.push('\n');
        }
        part_of(part, memory, &mut text);
    }
    // Most servers say the same twice.
    if let (true, Some(structured)) = (text.is_empty(), result.get("structuredContent")) {
        text = structured.to_string();
    }
    let is_error = result.get("isError").and_then(Value::as_bool).unwrap_or(false);
    ToolResult { content: Content::Text(shortened(harmless(&text), memory)), is_error }
}

fn part_of(part: &Value, memory: &Memory, text: &mut String) {
    let word = |name: &str| part.get(name).and_then(Value::as_str);
    // Writing to a text does not fail.
    let _ = match (word("type").unwrap_or_default(), word("text"), word("data"), word("uri")) {
        ("text", Some(own), ..) => write!(text, "{own}"),
        ("image" | "audio", _, Some(data), _) => {
            let mime = word("mimeType").unwrap_or("unknown type");
            let bytes = data.len() / 4 * 3;
            match memory.keep(data.as_bytes(), "base64") {
                Some(file) => write!(text, "[{mime}, about {bytes} bytes, in base64 in {}]", file.display()),
                None => write!(text, "[{mime}, about {bytes} bytes, not kept]"),
            }
        }
        ("resource_link", _, _, Some(uri)) => write!(text, "[resource {uri}]"),
        ("resource", ..) => match part.pointer("/resource/text").and_then(Value::as_str) {
            Some(own) => write!(text, "{own}"),
            None => write!(text, "{part}"),
        },
        // What no version knows is passed on as it is.
        _ => write!(text, "{part}"),
    };
}

/// Without what moves a terminal's cursor: the text is data, whatever it looks like.
fn harmless(text: &str) -> String {
    text.chars().filter(|own| !own.is_control() || matches!(own, '\n' | '\t')).collect()
}

/// As much as a model is shown, and where the rest is.
pub(super) fn shortened(text: String, memory: &Memory) -> String {
    if text.len() <= SHOWN_MAX {
        return text;
    }
    let mut end = SHOWN_MAX;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let shown = text.get(..end).unwrap_or_default();
    let all = text.len();
    match memory.keep(text.as_bytes(), "txt") {
        Some(file) => {
            format!("{shown}\n[{end} of {all} bytes are shown; all of it is in {}]", file.display())
        }
        None => format!("{shown}\n[{end} of {all} bytes are shown; the rest is not kept]"),
    }
}

#[cfg(test)]
mod tests {
    use portcullis_model::extension::Content;
    use serde_json::json;

    use super::{Memory, SHOWN_MAX, of_tool};

    fn text(result: &serde_json::Value, memory: &Memory) -> String {
        match of_tool(result, memory).content {
            Content::Text(text) => text,
            Content::Bytes(_) => String::new(),
        }
    }

    #[test]
    fn texts_are_put_together_and_what_is_unknown_is_passed_on() {
        let result = json!({
            "content": [
                { "type": "text", "text": "a\u{1b}[2Jb" }, { "type": "hologram", "angle": 1 },
                { "type": "resource_link", "uri": "db://t" },
                { "type": "image", "mimeType": "image/png", "data": "AAAA" },
            ],
            "structuredContent": { "twice": true }, "isError": true,
        });
        let told = text(&result, &Memory::default());
        assert_eq!(
            told,
            "a[2Jb\n{\"type\":\"hologram\",\"angle\":1}\n[resource db://t]\n[image/png, about 3 bytes, not kept]"
        );
        assert!(of_tool(&result, &Memory::default()).is_error);
        let structured = json!({ "content": [], "structuredContent": { "n": 1 } });
        assert_eq!(text(&structured, &Memory::default()), "{\"n\":1}");
    }

    #[test]
    fn what_is_too_long_is_in_a_file_that_is_the_users_alone() {
        use std::os::unix::fs::PermissionsExt as _;
        let there = tempfile::tempdir().unwrap();
        let memory = Memory::new(Some(there.path().to_owned()));
        let long = "é".repeat(SHOWN_MAX);
        let told = text(&json!({ "content": [{ "type": "text", "text": long }] }), &memory);
        assert!(told.len() < SHOWN_MAX + 500);
        let file = told.rsplit_once(" is in ").unwrap().1.trim_end_matches(']');
        assert_eq!(std::fs::read_to_string(file).unwrap(), long);
        assert_eq!(std::fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
        let short = text(&json!({ "content": [{ "type": "text", "text": long }] }), &Memory::default());
        assert!(short.ends_with("the rest is not kept]"));
    }
}
