//! Lists of a server, page by page.

use std::collections::HashSet;
use std::time::Duration;

use serde_json::{Map, Value};

use super::error::Failure;
use super::limits::{ENTRIES_MAX, LIST_MAX, PAGES_MAX};

/// Warnings about one list.
const WARNINGS_MAX: usize = 16;

/// A list, as far as it could be read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listed {
    /// The entries, each as the server sent it, in its order.
    pub entries: Vec<Value>,
    /// What is missing or odd, in words; 16 at most.
    pub warnings: Vec<String>,
    /// How long the server says that it stays so; none when it does not say.
    pub fresh: Option<Duration>,
}

impl Listed {
    pub(super) fn warn(&mut self, warning: impl Into<String>) {
        if self.warnings.len() < WARNINGS_MAX {
            self.warnings.push(warning.into());
        }
    }
}

/// Reads one page after the other. A server whose pages do not come to an end is believed
/// up to there.
#[derive(Debug)]
pub(super) struct Pages {
    key: &'static str,
    listed: Listed,
    cursors: HashSet<String>,
    /// What the next page is asked for with; none when there is no next page.
    next: Option<Map<String, Value>>,
    bytes: usize,
    count: usize,
}

impl Pages {
    /// The pages of a list whose entries are at `key`.
    pub(super) fn new(key: &'static str) -> Self {
        Self {
            key,
            listed: Listed::default(),
            cursors: HashSet::new(),
            next: Some(Map::new()),
            bytes: 0,
            count: 0,
        }
    }

    /// What to ask for the next page with; none when all of it is there.
    pub(super) fn next(&mut self) -> Option<Map<String, Value>> {
        self.next.take()
    }

    pub(super) fn take(&mut self, mut page: Value) -> Result<(), Failure> {
        self.count = self.count.saturating_add(1);
        let fresh = page.get("ttlMs").and_then(Value::as_u64).map(Duration::from_millis);
        self.listed.fresh = match (self.listed.fresh, fresh) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        let Some(Value::Array(entries)) = page.get_mut(self.key).map(Value::take) else {
            return Err(Failure::Answer(format!("it holds no list of {}", self.key)));
        };
        for entry in entries {
            self.bytes = self.bytes.saturating_add(entry.to_string().len());
            if self.listed.entries.len() >= ENTRIES_MAX || self.bytes > LIST_MAX {
                let limits = format!("{ENTRIES_MAX} entries or {LIST_MAX} bytes");
                self.listed.warn(format!("more than {limits}: the rest is not read"));
                return Ok(());
            }
            self.listed.entries.push(entry);
        }
        let cursor = page.get("nextCursor").and_then(Value::as_str).filter(|cursor| !cursor.is_empty());
        if let Some(cursor) = cursor {
            if self.count >= PAGES_MAX {
                self.listed.warn(format!("more than {PAGES_MAX} pages: the rest is not read"));
            } else if self.cursors.insert(cursor.to_owned()) {
                self.next = Some(Map::from_iter([("cursor".to_owned(), cursor.into())]));
            } else {
                self.listed.warn("its pages begin anew: each was read once");
            }
        }
        Ok(())
    }

    pub(super) fn end(self) -> Listed {
        self.listed
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ENTRIES_MAX, Listed, PAGES_MAX, Pages};

    /// Reads all pages of a server that gives them so, and counts them.
    fn read(page: impl Fn(usize) -> Value) -> (Listed, usize) {
        let (mut pages, mut count) = (Pages::new("tools"), 0);
        while pages.next().is_some() {
            pages.take(page(count)).unwrap();
            count += 1;
        }
        (pages.end(), count)
    }

    #[test]
    fn every_page_is_read_and_none_twice() {
        let (listed, count) = read(|at| match at {
            0 => json!({ "tools": [1, 2], "nextCursor": "a", "ttlMs": 5000 }),
            1 => json!({ "tools": [], "nextCursor": "b", "ttlMs": 100 }),
            _ => json!({ "tools": [3], "nextCursor": "" }),
        });
        assert_eq!((listed.entries, count), (vec![json!(1), json!(2), json!(3)], 3));
        assert_eq!((listed.warnings.len(), listed.fresh.unwrap().as_millis()), (0, 100));
    }

    #[test]
    fn pages_that_do_not_end_are_read_up_to_there() {
        let (listed, count) = read(|_| json!({ "tools": [1], "nextCursor": "same" }));
        assert_eq!((listed.entries.len(), count), (2, 2));
        assert!(listed.warnings[0].contains("begin anew"));
        let (listed, count) = read(|at| json!({ "tools": [at], "nextCursor": at.to_string() }));
        assert_eq!((listed.entries.len(), count), (PAGES_MAX, PAGES_MAX));
        assert!(listed.warnings[0].contains("pages"));
        let (listed, count) = read(|at| json!({ "tools": vec![0; 6000], "nextCursor": at.to_string() }));
        assert_eq!((listed.entries.len(), count), (ENTRIES_MAX, 2));
        assert!(listed.warnings[0].contains("entries"));
    }

    #[test]
    fn a_page_without_a_list_is_an_error() {
        let error = Pages::new("tools").take(json!({ "tools": {} })).unwrap_err().to_string();
        assert!(error.contains("no list of tools"), "{error}");
    }
}
