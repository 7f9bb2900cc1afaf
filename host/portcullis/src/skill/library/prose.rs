//! A text that may have a frontmatter of its own: a prompt, or a shared file.

use serde_json::{Map, Value};

use crate::frontmatter::{self, map_json};

/// A text without its frontmatter.
#[derive(Debug, PartialEq)]
pub(super) struct Prose {
    /// Every field of the frontmatter; none when it has none, or none that can be read.
    pub(super) fields: Option<Map<String, Value>>,
    pub(super) body: String,
}

impl Prose {
    /// None: the bytes are no text. What looks like a frontmatter and cannot be read is a
    /// part of the text, so that nothing is lost.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let whole = std::str::from_utf8(bytes).ok()?;
        let whole = whole.strip_prefix('\u{feff}').unwrap_or(whole);
        let parts = frontmatter::split(whole.as_bytes(), &mut Vec::new());
        let read = parts.and_then(|parts| {
            let pairs = frontmatter::read(&parts, &mut Vec::new())?;
            Some(Self { fields: Some(map_json(&pairs)?), body: parts.body.to_owned() })
        });
        Some(read.unwrap_or_else(|| Self { fields: None, body: whole.to_owned() }))
    }

    /// A field that is a text with something in it.
    pub(super) fn text(&self, field: &str) -> Option<&str> {
        let text = self.fields.as_ref()?.get(field)?.as_str()?.trim();
        (!text.is_empty()).then_some(text)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Prose;

    #[test]
    fn what_is_no_frontmatter_stays_text() {
        let read = |text: &str| Prose::read(text.as_bytes()).unwrap();
        let prose = read("\u{feff}---\nname: x\nn: 1\n---\nbody\n");
        assert_eq!(serde_json::to_value(&prose.fields).unwrap(), json!({ "name": "x", "n": 1 }));
        assert_eq!((prose.body.as_str(), prose.text("name"), prose.text("n")), ("body\n", Some("x"), None));
        for plain in ["no fence\n", "---\nname: x\nno end\n", "---\n[1]\n---\nx", "---\nx: .nan\n---\n", ""] {
            assert_eq!(read(plain), Prose { fields: None, body: plain.to_owned() });
        }
        assert_eq!(Prose::read(b"\xff"), None);
    }
}
