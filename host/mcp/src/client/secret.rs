//! Values that nobody is shown.

use std::sync::Arc;

/// What stands in the place of a secret.
const HIDDEN: &str = "[hidden]";

/// Bytes below which a value is no secret: it would be found in every text.
const LEAST: usize = 4;

/// The values of a server's environment, which stand in no text that leaves the client.
#[derive(Clone, Default)]
pub struct Secrets(Arc<[String]>);

impl Secrets {
    /// These values. One of less than 4 bytes, such as `1`, cannot be hidden.
    #[must_use]
    pub fn new(values: impl IntoIterator<Item = String>) -> Self {
        let mut values: Vec<String> = values.into_iter().filter(|value| value.len() >= LEAST).collect();
        // The longest first, so that nothing is left of one that holds another.
        values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        values.dedup();
        Self(values.into())
    }

    /// The same text, with none of them in it.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        self.0.iter().fold(text.to_owned(), |text, secret| text.replace(secret.as_str(), HIDDEN))
    }
}

impl std::fmt::Debug for Secrets {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} values", self.0.len())
    }
}

#[cfg(test)]
mod tests {
    use super::Secrets;

    #[test]
    fn no_value_is_shown_wherever_it_stands() {
        let secrets = Secrets::new(["tok-1".to_owned(), "tok-1-long".to_owned(), "1".to_owned()]);
        assert_eq!(secrets.hide("a tok-1-long b tok-1; 1"), "a [hidden] b [hidden]; 1");
        assert_eq!(format!("{secrets:?}"), "2 values");
    }
}
