//! The parameters of a request, each of which is named when it is wrong.

use serde_json::{Map, Value};

use crate::error::WireError;
use crate::message::NAME_MAX;

/// The parameters of a request.
#[derive(Debug)]
pub(crate) struct Parameters {
    map: Map<String, Value>,
    known: Vec<&'static str>,
}

pub(crate) fn wrong(field: &str, what: impl Into<String>) -> WireError {
    WireError::Parameter { field: field.to_owned(), what: what.into() }
}

impl Parameters {
    pub(crate) const fn new(map: Map<String, Value>) -> Self {
        Self { map, known: Vec::new() }
    }

    /// Whatever is there; null counts as absent.
    pub(crate) fn any(&mut self, field: &'static str) -> Option<Value> {
        self.known.push(field);
        self.map.remove(field).filter(|value| !value.is_null())
    }

    pub(crate) fn text(&mut self, field: &'static str) -> Result<Option<String>, WireError> {
        match self.any(field) {
            None => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(wrong(field, "is not a string")),
        }
    }

    pub(crate) fn required(&mut self, field: &'static str) -> Result<String, WireError> {
        self.text(field)?.ok_or_else(|| wrong(field, "is missing"))
    }

    /// A name that the client chooses.
    pub(crate) fn name(&mut self, field: &'static str) -> Result<Option<String>, WireError> {
        let name = self.text(field)?;
        match name.as_deref().map(str::len) {
            Some(0) => Err(wrong(field, "is empty")),
            Some(length) if length > NAME_MAX => Err(wrong(field, format!("has more than {NAME_MAX} bytes"))),
            Some(_) | None => Ok(name),
        }
    }

    pub(crate) fn flag(&mut self, field: &'static str) -> Result<Option<bool>, WireError> {
        match self.any(field) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(flag)),
            Some(_) => Err(wrong(field, "is neither true nor false")),
        }
    }

    pub(crate) fn texts(&mut self, field: &'static str) -> Result<Option<Vec<String>>, WireError> {
        let Some(value) = self.any(field) else { return Ok(None) };
        let texts = match value {
            Value::Array(values) => values.iter().map(|value| value.as_str().map(str::to_owned)).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => None,
        };
        texts.map(Some).ok_or_else(|| wrong(field, "is not a list of strings"))
    }

    pub(crate) fn object(&mut self, field: &'static str) -> Result<Option<Self>, WireError> {
        match self.any(field) {
            None => Ok(None),
            Some(Value::Object(map)) => Ok(Some(Self::new(map))),
            Some(_) => Err(wrong(field, "is not an object")),
        }
    }

    /// Nothing else may be there.
    pub(crate) fn end(self) -> Result<(), WireError> {
        let Some(unknown) = self.map.keys().next() else { return Ok(()) };
        Err(wrong(unknown, format!("is not known; the parameters are {}", self.known.join(", "))))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends when anything is wrong")]
mod tests {
    use serde_json::json;

    use super::*;

    fn parameters(value: Value) -> Parameters {
        Parameters::new(value.as_object().unwrap().clone())
    }

    fn field<T: std::fmt::Debug>(result: Result<T, WireError>) -> String {
        let error = result.unwrap_err();
        let WireError::Parameter { field, .. } = error else { panic!("{error}") };
        field
    }

    #[test]
    fn each_wrong_parameter_is_named() {
        let mut all = parameters(json!({"a": 1, "b": "x", "c": [1], "d": [], "n": null, "l": "", "e": "y"}));
        assert_eq!(field(all.text("a")), "a");
        assert_eq!(field(all.flag("b")), "b");
        assert_eq!(field(all.texts("c")), "c");
        assert_eq!(field(all.object("d")), "d");
        assert_eq!(field(all.required("n")), "n");
        assert_eq!(field(all.name("l")), "l");
        assert_eq!(field(all.end()), "e");
        let mut long = parameters(json!({"x": "y".repeat(NAME_MAX + 1)}));
        assert_eq!(field(long.name("x")), "x");
    }

    #[test]
    fn what_is_there_is_taken_and_null_is_absent() {
        let mut all = parameters(json!({"a": "x", "b": true, "c": ["y"], "d": null}));
        assert_eq!(all.required("a"), Ok("x".to_owned()));
        assert_eq!(all.flag("b"), Ok(Some(true)));
        assert_eq!(all.texts("c"), Ok(Some(vec!["y".to_owned()])));
        assert_eq!(all.text("d"), Ok(None));
        assert_eq!(all.end(), Ok(()));
    }
}
