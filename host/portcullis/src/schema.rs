//! Whether a call's arguments are what its tool wants.

use std::fmt;
use std::sync::OnceLock;

use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

/// The most that is told of one wrong argument, in characters.
const TOLD_MAX: usize = 300;

/// What a tool wants of its arguments. Compiled when it is first needed.
pub(crate) struct Schema {
    value: Value,
    compiled: OnceLock<Result<Validator, String>>,
}

impl fmt::Debug for Schema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Schema").field(&self.value).finish()
    }
}

impl Schema {
    /// The schema that `text` is.
    ///
    /// # Errors
    /// When it is no JSON.
    pub(crate) fn read(text: &str) -> Result<Self, String> {
        serde_json::from_str(text).map(Self::new).map_err(|error| format!("it is no JSON: {error}"))
    }

    /// Not compiled yet.
    pub(crate) const fn new(value: Value) -> Self {
        Self { value, compiled: OnceLock::new() }
    }

    /// The schema as it was given.
    pub(crate) const fn value(&self) -> &Value {
        &self.value
    }

    /// # Errors
    /// Why it is no schema.
    pub(crate) fn check(&self) -> Result<(), &str> {
        self.compiled().map(drop)
    }

    /// What is wrong with `arguments`, with the name of the field; none when nothing is.
    /// Nothing fits a schema that is none.
    pub(crate) fn objection(&self, arguments: &Value) -> Option<String> {
        let validator = match self.compiled() {
            Ok(validator) => validator,
            Err(why) => return Some(format!("the tool's own schema is none ({why})")),
        };
        let wrong = validator.iter_errors(arguments).next()?;
        let place = wrong.instance_path().to_string();
        let field = if place.is_empty() { String::new() } else { format!(" at `{place}`") };
        // A value may be long and secret, and the model knows what it sent.
        let what = wrong.masked_with("the value").to_string();
        let what: String = what.chars().take(TOLD_MAX).collect();
        Some(format!("{what}{field}"))
    }

    fn compiled(&self) -> Result<&Validator, &str> {
        let compiled = self.compiled.get_or_init(|| {
            // Patterns come from whoever wrote the tool: none may take long.
            let mut options = jsonschema::options().with_pattern_options(PatternOptions::regex());
            if self.value.get("$schema").is_none() {
                options = options.with_draft(jsonschema::Draft::Draft202012);
            }
            options.build(&self.value).map_err(|error| error.to_string().chars().take(TOLD_MAX).collect())
        });
        compiled.as_ref().map_err(String::as_str)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test ends when anything is wrong")]
mod tests {
    use serde_json::json;

    use super::Schema;

    #[test]
    fn what_does_not_fit_is_named_by_its_field() {
        let schema = Schema::new(json!({
            "type": "object",
            "properties": {
                "city": { "type": "string", "pattern": "^[A-Z]" },
                "days": { "type": "array", "items": { "type": "integer", "minimum": 1 } },
            },
            "required": ["city"],
            "additionalProperties": false,
        }));
        assert_eq!(schema.check(), Ok(()));
        assert_eq!(schema.objection(&json!({ "city": "Rome", "days": [1, 2] })), None);
        let wrong = |value| schema.objection(&value).unwrap();
        assert!(wrong(json!({})).contains("\"city\" is a required property"));
        assert!(wrong(json!({ "city": 1 })).ends_with("at `/city`"));
        assert!(wrong(json!({ "city": "Rome", "days": [1, 0] })).ends_with("at `/days/1`"));
        assert!(wrong(json!({ "city": "Rome", "town": 1 })).contains("town"));
        let secret = wrong(json!({ "city": "s3cret" }));
        assert!(!secret.contains("s3cret") && secret.ends_with("at `/city`"), "{secret}");
        assert!(wrong(json!({ "city": "x".repeat(10_000) })).len() < 1000);
    }

    #[test]
    fn nothing_fits_what_is_no_schema() {
        for none in [json!({ "type": "strange" }), json!({ "$ref": "http://127.0.0.1:1/x" }), json!(3)] {
            let schema = Schema::new(none.clone());
            assert!(schema.check().is_err(), "{none}");
            assert!(schema.objection(&json!({})).unwrap().contains("schema is none"), "{none}");
        }
        assert!(Schema::read("{").unwrap_err().contains("JSON"));
    }

    #[test]
    fn a_pattern_cannot_take_long() {
        let schema = Schema::new(json!({ "pattern": "^(a+)+$" }));
        assert!(schema.objection(&json!("a".repeat(50_000) + "b")).is_some());
        let backreference = Schema::new(json!({ "pattern": "(a)\\1" }));
        assert!(backreference.check().is_err());
    }
}
