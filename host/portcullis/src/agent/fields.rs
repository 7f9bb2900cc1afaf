//! The fields of a payload, each of them checked when it is taken.
//!
//! A field is named by its path: `input.tool` is the field `tool` of the object
//! in the field `input`.

use portcullis_model::input::{Input, InputError, strict_value};
use portcullis_model::limits::INPUT_MAX;
use serde_json::{Map, Value};

use super::error::HookInputError;

/// The largest payload: the largest call, and a mebibyte around it.
pub(super) const PAYLOAD_MAX: usize = INPUT_MAX + (1 << 20);

/// The top of a payload.
#[derive(Debug)]
pub(super) struct Fields {
    map: Map<String, Value>,
    here: Option<String>,
}

impl Fields {
    /// `here` is the directory that the hook was started in, where it is known.
    pub(super) fn parse(payload: &[u8], here: Option<&str>) -> Result<Self, HookInputError> {
        if payload.len() > PAYLOAD_MAX {
            return Err(HookInputError::TooBig { size: payload.len(), max: PAYLOAD_MAX });
        }
        let text = std::str::from_utf8(payload).map_err(|_| HookInputError::NotUtf8)?;
        match strict_value(text) {
            Ok(Value::Object(map)) => Ok(Self { map, here: here.map(str::to_owned) }),
            Ok(_) => Err(HookInputError::NotAnObject),
            Err(InputError::NotJson(why)) => Err(HookInputError::NotJson(why)),
            Err(InputError::TooBig { size }) => Err(HookInputError::TooBig { size, max: PAYLOAD_MAX }),
        }
    }

    /// What a field holds.
    pub(super) fn get(&self, path: &str) -> Option<&Value> {
        let mut parts = path.split('.');
        let first = self.map.get(parts.next()?)?;
        parts.try_fold(first, |value, part| value.as_object()?.get(part))
    }

    /// Is there such a field, holding anything but null?
    pub(super) fn has(&self, path: &str) -> bool {
        self.get(path).is_some_and(|value| !value.is_null())
    }

    /// The text in a field, if it is there and is text.
    pub(super) fn peek(&self, path: &str) -> Option<&str> {
        self.get(path).and_then(Value::as_str)
    }

    /// What the first of these fields that is there says: its text, or its JSON.
    pub(super) fn words(&self, paths: &[&str]) -> Option<String> {
        let value = paths.iter().find(|path| self.has(path)).and_then(|path| self.get(path))?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    }

    /// A field that must be there and must hold a text that is not empty.
    pub(super) fn text(&self, path: &str) -> Result<String, HookInputError> {
        match self.need(path)?.as_str() {
            Some(text) if !text.is_empty() => Ok(text.to_owned()),
            Some(_) | None => Err(mistyped(path, "a text that is not empty")),
        }
    }

    /// A field that must be there and must hold a text.
    pub(super) fn any_text(&self, path: &str) -> Result<String, HookInputError> {
        self.need(path)?.as_str().map(str::to_owned).ok_or_else(|| mistyped(path, "a text"))
    }

    /// A text that some versions leave out, in which case it is empty.
    pub(super) fn optional_text(&self, path: &str) -> Result<String, HookInputError> {
        match self.get(path) {
            None | Some(Value::Null) => Ok(String::new()),
            Some(Value::String(text)) => Ok(text.clone()),
            Some(_) => Err(mistyped(path, "a text")),
        }
    }

    /// The absolute path of a directory, of this or of another system.
    pub(super) fn directory(&self, path: &str) -> Result<String, HookInputError> {
        let text = self.text(path)?;
        if is_absolute(&text) { Ok(text) } else { Err(mistyped(path, "an absolute path")) }
    }

    /// The first of a list of directories.
    pub(super) fn first_directory(&self, path: &str) -> Result<String, HookInputError> {
        let first = self.need(path)?.as_array().and_then(|list| list.first()).and_then(Value::as_str);
        match first {
            Some(text) if is_absolute(text) => Ok(text.to_owned()),
            Some(_) | None => Err(mistyped(path, "a list that begins with an absolute path")),
        }
    }

    /// The directory in a field, or the one that the hook was started in.
    pub(super) fn directory_or_here(&self, path: &str) -> Result<String, HookInputError> {
        match &self.here {
            Some(here) if !self.has(path) => Ok(here.clone()),
            Some(_) | None => self.directory(path),
        }
    }

    /// A call's arguments, whatever they are: whether they make sense is for the
    /// gate to say. Absent ones are null.
    pub(super) fn arguments(&mut self, path: &str) -> Result<Input, HookInputError> {
        let value = self.take(path)?;
        Input::from_value(value).map_err(HookInputError::Arguments)
    }

    /// Takes what a field holds. The objects that lead to it must be there.
    pub(super) fn take(&mut self, path: &str) -> Result<Value, HookInputError> {
        let (parents, name) = path.rsplit_once('.').unwrap_or(("", path));
        if !parents.is_empty() && !self.need(parents)?.is_object() {
            return Err(mistyped(parents, "an object"));
        }
        let mut map = &mut self.map;
        for part in parents.split('.').filter(|part| !part.is_empty()) {
            let Some(inner) = map.get_mut(part).and_then(Value::as_object_mut) else {
                return Err(mistyped(parents, "an object"));
            };
            map = inner;
        }
        Ok(map.swap_remove(name).unwrap_or_default())
    }

    /// What a field holds, or an error that names the first field that is not there.
    fn need(&self, path: &str) -> Result<&Value, HookInputError> {
        self.get(path).ok_or_else(|| {
            let ends = path.match_indices('.').map(|(at, _)| at).chain([path.len()]);
            let missing = ends.filter_map(|end| path.get(..end)).find(|part| self.get(part).is_none());
            HookInputError::Missing { field: missing.unwrap_or(path).to_owned() }
        })
    }
}

/// The object that `value` spells in JSON, or `value` itself: some agents send a
/// call's arguments as a text.
pub(super) fn unwrapped(value: Value) -> Value {
    match value.as_str().map(strict_value) {
        Some(Ok(object @ Value::Object(_))) => object,
        _ => value,
    }
}

pub(super) fn mistyped(path: &str, expected: &'static str) -> HookInputError {
    HookInputError::Mistyped { field: path.to_owned(), expected }
}

/// Is this an absolute path, of this or of another system?
pub(super) fn is_absolute(text: &str) -> bool {
    (text.starts_with('/') || is_windows(text)) && !text.contains('\0')
}

/// Is this an absolute path of Windows?
pub(super) fn is_windows(text: &str) -> bool {
    let drive = text.get(1..3).is_some_and(|rest| rest == ":\\" || rest == ":/")
        && text.starts_with(|first: char| first.is_ascii_alphabetic());
    drive || text.starts_with("\\\\")
}

#[cfg(test)]
mod tests {
    use super::{Fields, HookInputError, unwrapped};
    use serde_json::json;

    fn fields(text: &str) -> Fields {
        Fields::parse(text.as_bytes(), None).unwrap()
    }

    fn missing(field: &str) -> HookInputError {
        HookInputError::Missing { field: field.into() }
    }

    #[test]
    fn a_field_that_is_absent_null_empty_or_no_text_is_named_in_the_error() {
        assert_eq!(fields("{}").text("a"), Err(missing("a")));
        for text in [r#"{"a":null}"#, r#"{"a":""}"#, r#"{"a":["x"]}"#] {
            let error = fields(text).text("a").unwrap_err();
            assert!(matches!(error, HookInputError::Mistyped { field, .. } if field == "a"), "{text}");
        }
        assert_eq!(fields(r#"{"a":""}"#).any_text("a").unwrap(), "");
        assert!(fields(r#"{"a":7}"#).any_text("a").is_err());
    }

    #[test]
    fn a_field_of_an_object_is_named_with_its_path() {
        assert_eq!(fields(r#"{"input":{"n":{}}}"#).text("input.n.tool"), Err(missing("input.n.tool")));
        assert_eq!(fields(r#"{"input":{}}"#).text("input.n.tool"), Err(missing("input.n")));
        assert_eq!(fields("{}").arguments("output.args").unwrap_err(), missing("output"));
        let error = fields(r#"{"output":[]}"#).arguments("output.args").unwrap_err();
        assert!(matches!(error, HookInputError::Mistyped { field, .. } if field == "output"));
    }

    #[test]
    fn only_an_absolute_path_is_a_directory() {
        for path in ["/", "/home/dev", r"C:\\Users\\dev", "d:/app", r"\\\\server\\share"] {
            let payload = fields(&format!(r#"{{"cwd":"{path}","roots":["{path}","x"]}}"#));
            assert!(payload.directory("cwd").is_ok(), "{path}");
            assert_eq!(payload.first_directory("roots"), payload.directory("cwd"));
        }
        for path in [".", "app", "C:", "C:app", "1:/x", "~", "é:/", "/a\\u0000b", " /x"] {
            let payload = fields(&format!(r#"{{"cwd":"{path}","roots":["{path}"]}}"#));
            assert!(payload.directory("cwd").is_err() && payload.first_directory("roots").is_err(), "{path}");
        }
        for roots in ["[]", "\"/x\"", "[7]", "null"] {
            assert!(fields(&format!(r#"{{"roots":{roots}}}"#)).first_directory("roots").is_err(), "{roots}");
        }
    }

    #[test]
    fn where_the_hook_was_started_counts_only_when_the_agent_does_not_say() {
        let read = |text: &str, here| Fields::parse(text.as_bytes(), here).unwrap().directory_or_here("cwd");
        assert_eq!(read("{}", Some("/w")).unwrap(), "/w");
        assert_eq!(read(r#"{"cwd":"/x"}"#, Some("/w")).unwrap(), "/x");
        assert!(read(r#"{"cwd":"x"}"#, Some("/w")).is_err());
        assert_eq!(read("{}", None), Err(missing("cwd")));
    }

    #[test]
    fn arguments_are_passed_on_as_they_are() {
        for text in ["{\"b\":1,\"a\":1e400}", "[1]", "\"x\"", "null"] {
            let input = fields(&format!("{{\"i\":{text}}}")).arguments("i").unwrap();
            assert_eq!(input.text(), text.replace("1e400", "1e+400"));
        }
        assert_eq!(fields("{}").arguments("i").unwrap().text(), "null");
        assert_eq!(fields(r#"{"o":{"i":[2]}}"#).arguments("o.i").unwrap().text(), "[2]");
    }

    #[test]
    fn only_a_text_that_is_an_object_in_json_is_unwrapped() {
        assert_eq!(unwrapped(json!("{\"a\":1}")), json!({"a": 1}));
        for value in [json!("[1]"), json!("ls"), json!("{\"a\":1,\"a\":2}"), json!({"a": "{}"}), json!(null)]
        {
            assert_eq!(unwrapped(value.clone()), value);
        }
    }
}
