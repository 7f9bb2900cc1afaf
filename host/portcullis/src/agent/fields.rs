//! The fields of a payload, each of them checked when it is taken.

use portcullis_model::call::ToolCall;
use portcullis_model::input::{Input, InputError, strict_value};
use portcullis_model::limits::INPUT_MAX;
use serde_json::{Map, Value};

use super::{HookEvent, HookInputError, HookRequest};

/// The largest payload: the largest call, and a mebibyte around it.
pub(super) const PAYLOAD_MAX: usize = INPUT_MAX + (1 << 20);

pub(super) struct Fields {
    /// What to put before a field's name in an error: `input.` for a field of
    /// the field `input`.
    prefix: String,
    map: Map<String, Value>,
}

impl Fields {
    pub(super) fn parse(payload: &[u8]) -> Result<Self, HookInputError> {
        if payload.len() > PAYLOAD_MAX {
            return Err(HookInputError::TooBig { size: payload.len(), max: PAYLOAD_MAX });
        }
        let text = std::str::from_utf8(payload).map_err(|_| HookInputError::NotUtf8)?;
        match strict_value(text) {
            Ok(Value::Object(map)) => Ok(Self { prefix: String::new(), map }),
            Ok(_) => Err(HookInputError::NotAnObject),
            Err(InputError::NotJson(why)) => Err(HookInputError::NotJson(why)),
            Err(InputError::TooBig { size }) => Err(HookInputError::TooBig { size, max: PAYLOAD_MAX }),
        }
    }

    /// Is there such a field, holding anything but null?
    pub(super) fn has(&self, name: &str) -> bool {
        self.map.get(name).is_some_and(|value| !value.is_null())
    }

    /// The text in a field, if it is there and is text.
    pub(super) fn peek(&self, name: &str) -> Option<&str> {
        self.map.get(name).and_then(Value::as_str)
    }

    /// A field that must be there and must hold a text that is not empty.
    pub(super) fn text(&self, name: &str) -> Result<String, HookInputError> {
        match self.map.get(name) {
            None => Err(HookInputError::Missing { field: self.path(name) }),
            Some(Value::String(text)) if !text.is_empty() => Ok(text.clone()),
            Some(_) => Err(self.mistyped(name, "a text that is not empty")),
        }
    }

    /// A text that some versions leave out, in which case it is empty.
    pub(super) fn optional_text(&self, name: &str) -> Result<String, HookInputError> {
        match self.map.get(name) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(self.mistyped(name, "a text")),
        }
    }

    /// The absolute path of a directory, of this or of another system.
    pub(super) fn directory(&self, name: &str) -> Result<String, HookInputError> {
        let text = self.text(name)?;
        let drive = text.get(1..3).is_some_and(|rest| rest == ":\\" || rest == ":/")
            && text.starts_with(|first: char| first.is_ascii_alphabetic());
        if (text.starts_with('/') || text.starts_with("\\\\") || drive) && !text.contains('\0') {
            Ok(text)
        } else {
            Err(self.mistyped(name, "an absolute path"))
        }
    }

    /// A field that must be there and must hold an object.
    pub(super) fn object(&mut self, name: &str) -> Result<Self, HookInputError> {
        match self.map.swap_remove(name) {
            None => Err(HookInputError::Missing { field: self.path(name) }),
            Some(Value::Object(map)) => Ok(Self { prefix: format!("{}.", self.path(name)), map }),
            Some(_) => Err(self.mistyped(name, "an object")),
        }
    }

    /// A call's arguments, whatever they are: whether they make sense is for the
    /// gate to say.
    pub(super) fn arguments(&mut self, name: &str) -> Result<Input, HookInputError> {
        let value = self.map.swap_remove(name).unwrap_or_default();
        Input::from_value(value).map_err(HookInputError::Arguments)
    }

    /// Reads the payload that Claude Code introduced and that others took over,
    /// in which only the names of the events differ.
    pub(super) fn request(
        &mut self,
        before_tool: &str,
        turn_end: &str,
    ) -> Result<HookRequest, HookInputError> {
        let name = self.text("hook_event_name")?;
        let session_id = self.text("session_id")?;
        let cwd = self.directory("cwd")?;
        let event = if name == before_tool {
            HookEvent::PreToolUse(Box::new(ToolCall {
                id: self.optional_text("tool_use_id")?,
                tool: self.text("tool_name")?,
                input: self.arguments("tool_input")?,
                cwd: cwd.clone(),
                session_id: session_id.clone(),
            }))
        } else if name == turn_end {
            HookEvent::TurnEnd
        } else {
            HookEvent::Other(name)
        };
        Ok(HookRequest { event, session_id, cwd })
    }

    fn path(&self, name: &str) -> String {
        format!("{}{name}", self.prefix)
    }

    fn mistyped(&self, name: &str, expected: &'static str) -> HookInputError {
        HookInputError::Mistyped { field: self.path(name), expected }
    }
}

#[cfg(test)]
mod tests {
    use super::{Fields, HookInputError};

    fn fields(text: &str) -> Fields {
        Fields::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn a_field_that_is_absent_null_empty_or_no_text_is_named_in_the_error() {
        assert_eq!(fields("{}").text("a"), Err(HookInputError::Missing { field: "a".into() }));
        for text in [r#"{"a":null}"#, r#"{"a":""}"#, r#"{"a":["x"]}"#] {
            let error = fields(text).text("a").unwrap_err();
            assert!(matches!(error, HookInputError::Mistyped { field, .. } if field == "a"), "{text}");
        }
    }

    #[test]
    fn a_field_of_an_object_is_named_with_its_path() {
        let mut outer = fields(r#"{"input":{"n":{}}}"#);
        let mut input = outer.object("input").unwrap();
        let inner = input.object("n").unwrap();
        assert_eq!(inner.text("tool"), Err(HookInputError::Missing { field: "input.n.tool".into() }));
    }

    #[test]
    fn only_an_absolute_path_is_a_directory() {
        for path in ["/", "/home/dev", r"C:\\Users\\dev", "d:/app", r"\\\\server\\share"] {
            assert!(fields(&format!(r#"{{"cwd":"{path}"}}"#)).directory("cwd").is_ok(), "{path}");
        }
        for path in [".", "app", "C:", "C:app", "1:/x", "~", "é:/", "/a\\u0000b", " /x"] {
            assert!(fields(&format!(r#"{{"cwd":"{path}"}}"#)).directory("cwd").is_err(), "{path}");
        }
    }

    #[test]
    fn arguments_are_passed_on_as_they_are() {
        for text in ["{\"b\":1,\"a\":1e400}", "[1]", "\"x\"", "null"] {
            let input = fields(&format!("{{\"i\":{text}}}")).arguments("i").unwrap();
            assert_eq!(input.text(), text.replace("1e400", "1e+400"));
        }
        assert_eq!(fields("{}").arguments("i").unwrap().text(), "null");
    }
}
