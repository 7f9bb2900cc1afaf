//! The arguments of a call: JSON that is read strictly, and kept as it was sent.

use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Error as _, MapAccess, SeqAccess, Visitor};
use serde::{Deserializer, de};
use serde_json::{Map, Number, Value};

use crate::limits::INPUT_MAX;

/// A JSON document, both as text and taken apart.
///
/// Numbers keep every digit, and the order of keys is kept. A document with a
/// key that occurs twice in one object is refused, because two readers of such a
/// document may see two different calls.
#[derive(Debug, Clone)]
pub struct Input {
    text: String,
    value: Value,
}

/// Why a text is not the arguments of a call.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// More bytes than [`INPUT_MAX`].
    #[error("the input has {size} bytes; the most is {INPUT_MAX}")]
    TooBig {
        /// Its size in bytes.
        size: usize,
    },
    /// Not JSON, nested too deeply, or with a key twice.
    #[error("the input is not valid JSON: {0}")]
    NotJson(String),
}

impl Input {
    /// Reads `text`.
    ///
    /// # Errors
    /// When it is larger than [`INPUT_MAX`], is not JSON, is nested more than
    /// 127 levels deep, or holds an object with a key that occurs twice.
    pub fn parse(text: impl Into<String>) -> Result<Self, InputError> {
        let text = text.into();
        if text.len() > INPUT_MAX {
            return Err(InputError::TooBig { size: text.len() });
        }
        let value = strict_value(&text)?;
        Ok(Self { text, value })
    }

    /// Keeps a document that was already read strictly, such as a part of a
    /// larger one that [`strict_value`] has read.
    ///
    /// # Errors
    /// When it is larger than [`INPUT_MAX`] as text.
    pub fn from_value(value: Value) -> Result<Self, InputError> {
        let text = value.to_string();
        if text.len() > INPUT_MAX {
            return Err(InputError::TooBig { size: text.len() });
        }
        Ok(Self { text, value })
    }

    /// The document as JSON text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The document, taken apart.
    #[must_use]
    pub const fn value(&self) -> &Value {
        &self.value
    }
}

/// Reads a JSON document in which no object has a key twice.
///
/// # Errors
/// When it is not JSON, too deep, or holds a key twice.
pub fn strict_value(text: &str) -> Result<Value, InputError> {
    let mut reader = serde_json::Deserializer::from_str(text.trim_start_matches('\u{feff}'));
    let value = StrictValue.deserialize(&mut reader).map_err(|e| InputError::NotJson(e.to_string()))?;
    reader.end().map_err(|e| InputError::NotJson(e.to_string()))?;
    Ok(value)
}

/// With `arbitrary_precision`, `serde_json` hands a number over as a map with
/// this one key. A document that holds it as a key of its own is refused.
const NUMBER_TOKEN: &str = "$serde_json::private::Number";

struct StrictValue;

impl<'de> DeserializeSeed<'de> for StrictValue {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for StrictValue {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("a number that is not finite"))
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E: de::Error>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(StrictValue)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if key == NUMBER_TOKEN {
                let digits: String = map.next_value()?;
                let number: Number =
                    digits.parse().map_err(|_| A::Error::custom("a key that JSON documents may not hold"))?;
                return if object.is_empty() && map.next_key::<String>()?.is_none() {
                    Ok(Value::Number(number))
                } else {
                    Err(A::Error::custom("a key that JSON documents may not hold"))
                };
            }
            if !seen.insert(key.clone()) {
                return Err(A::Error::custom(format_args!("the key `{key}` occurs twice in one object")));
            }
            object.insert(key, map.next_value_seed(StrictValue)?);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::{Input, InputError, strict_value};
    use proptest::prelude::*;

    #[test]
    fn a_document_keeps_its_text_and_every_digit() {
        let text = r#"{"b":1,"a":[null,"ü",12345678901234567890123,1e400]}"#;
        let input = Input::parse(text).unwrap();
        assert_eq!(input.text(), text);
        assert_eq!(input.value()["a"][2].to_string(), "12345678901234567890123");
        assert_eq!(input.value()["a"][3].to_string(), "1e+400");
    }

    #[test]
    fn a_key_that_occurs_twice_is_refused_at_any_depth() {
        for text in [r#"{"a":1,"a":2}"#, r#"{"x":[{"a":1,"\u0061":2}]}"#] {
            assert!(
                matches!(strict_value(text), Err(InputError::NotJson(m)) if m.contains("twice")),
                "{text}"
            );
        }
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in ["", "{", "{} x", "{\"a\":}", "\u{0}", &"[".repeat(200_000)] {
            assert!(strict_value(text).is_err());
        }
    }

    #[test]
    fn a_byte_order_mark_is_taken_off() {
        assert!(strict_value("\u{feff}{}").is_ok());
    }

    #[test]
    fn a_document_past_the_limit_is_too_big() {
        let text = format!("\"{}\"", "x".repeat(crate::limits::INPUT_MAX));
        assert!(matches!(Input::parse(text), Err(InputError::TooBig { .. })));
    }

    proptest! {
        #[test]
        fn any_bytes_give_a_value_or_an_error(text in ".*") {
            let _ = strict_value(&text);
        }

        #[test]
        fn what_serde_json_reads_is_read_the_same(n in any::<i64>(), s in ".*", b in any::<bool>()) {
            let text = serde_json::json!({"n": n, "s": s, "b": b, "l": [n, null]}).to_string();
            let plain: serde_json::Value = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(strict_value(&text).unwrap(), plain);
        }
    }
}
