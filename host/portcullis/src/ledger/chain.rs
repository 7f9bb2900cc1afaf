//! How one line follows from the one before: SHA-256 over the text of a line, which
//! holds the digest of the line before.
//!
//! What is hashed are the bytes of the line itself, up to its last member, so that
//! nobody has to agree on how JSON is written to check it.

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::entry::{Prepared, TornBytes};

/// Moves when the meaning of a member changes.
pub const SCHEMA: u32 = 1;
/// What the first line of all has as the digest of the line before.
pub(super) const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

const HASH_MEMBER: &str = ",\"hash\":\"";
const HASH_DIGITS: usize = 64;
const CLOSE: &str = "\"}";

/// Where a chain ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) seq: u64,
    pub(super) hash: String,
}

impl Link {
    /// Before the first line.
    pub(super) fn genesis() -> Self {
        Self { seq: 0, hash: GENESIS.to_owned() }
    }
}

/// When and by whom a line is written.
#[derive(Debug, Clone)]
pub(super) struct Stamp {
    pub(super) time: String,
    pub(super) pid: u32,
}

#[derive(Serialize)]
struct Body<'a> {
    v: u32,
    seq: u64,
    time: &'a str,
    pid: u32,
    #[serde(flatten)]
    entry: &'a Prepared,
    prev: &'a str,
}

/// The line that follows `before`, its end included, and where the chain ends then.
pub(super) fn line(
    before: &Link,
    stamp: &Stamp,
    entry: &Prepared,
) -> Result<(String, Link), serde_json::Error> {
    let seq = before.seq.saturating_add(1);
    let body = Body { v: SCHEMA, seq, time: &stamp.time, pid: stamp.pid, entry, prev: &before.hash };
    let mut line = serde_json::to_string(&body)?;
    // The object stays open for its last member.
    line.pop();
    let hash = hex(line.as_bytes());
    for part in [HASH_MEMBER, &hash, CLOSE, "\n"] {
        line.push_str(part);
    }
    Ok((line, Link { seq, hash }))
}

/// The part of a line that puts it in its place.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Place {
    pub(super) seq: u64,
    pub(super) time: String,
    pub(super) prev: String,
    pub(super) hash: String,
    #[serde(default)]
    pub(super) torn: Option<TornBytes>,
    /// The digest of the line's own text.
    #[serde(skip)]
    pub(super) is_whole: bool,
}

impl Place {
    /// Reads a line without its end. None when it is not one of a ledger.
    pub(super) fn read(line: &[u8]) -> Option<Self> {
        let line = std::str::from_utf8(line).ok()?;
        let (body, hash) = line.strip_suffix(CLOSE)?.rsplit_once(HASH_MEMBER)?;
        let is_digest = hash.len() == HASH_DIGITS && hash.bytes().all(|b| b.is_ascii_hexdigit());
        let mut place: Self = serde_json::from_str(line).ok().filter(|_| is_digest)?;
        place.is_whole = hex(body.as_bytes()) == place.hash;
        Some(place)
    }

    pub(super) fn link(&self) -> Link {
        Link { seq: self.seq, hash: self.hash.clone() }
    }
}

/// The SHA-256 of `bytes` in lowercase hexadecimal.
pub(super) fn hex(bytes: &[u8]) -> String {
    let digest = Sha256::digest(bytes);
    let digits = digest.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from_digit(u32::from(digit), 16).unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Link, Place, Stamp, line};
    use crate::ledger::entry::Prepared;

    fn first() -> (String, Link) {
        let stamp = Stamp { time: "2026-01-02T03:04:05.000006Z".to_owned(), pid: 7 };
        line(&Link::genesis(), &stamp, &Prepared::default()).unwrap()
    }

    #[test]
    fn a_line_is_read_back_and_follows_from_the_one_before() {
        let (text, link) = first();
        assert!(
            text.starts_with(
                "{\"v\":1,\"seq\":1,\"time\":\"2026-01-02T03:04:05.000006Z\",\"pid\":7,\"kind\":"
            )
        );
        let place = Place::read(text.trim_end().as_bytes()).unwrap();
        assert!(place.is_whole);
        assert_eq!((place.link(), place.prev.as_str()), (link, super::GENESIS));
    }

    #[test]
    fn no_byte_of_a_line_can_be_changed_unseen() {
        let (text, _) = first();
        let line = text.trim_end().as_bytes();
        for at in 0..line.len() {
            let mut changed = line.to_vec();
            changed[at] ^= 1;
            assert!(Place::read(&changed).is_none_or(|place| !place.is_whole), "byte {at}");
        }
        assert!((0..line.len()).all(|end| Place::read(&line[..end]).is_none()));
    }
}
