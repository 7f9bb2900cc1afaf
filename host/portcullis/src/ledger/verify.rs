//! Does every line follow from the one before?

use std::fmt;
use std::path::Path;

use serde::Serialize;

use super::chain::{GENESIS, Link, Place, hex};
use super::error::LedgerError;
use super::reader::Snapshot;

/// What a check of the chain found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Verified {
    /// How many files there are.
    pub files: usize,
    /// How many entries follow from one another.
    pub entries: u64,
    /// The first of them; none in an empty ledger.
    pub first: Option<Mark>,
    /// The last of them.
    pub last: Option<Mark>,
    /// What writers left that did not finish, and a later entry tells of.
    pub torn: Vec<Spot>,
    /// Where the chain breaks; none when it is whole.
    pub broken: Option<Break>,
}

/// One entry.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mark {
    /// Its number.
    pub seq: u64,
    /// When it was written.
    pub time: String,
    /// Its digest. Whoever has noted it elsewhere can tell later that nothing before
    /// it was changed.
    pub hash: String,
}

/// A line of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Spot {
    /// The file's name.
    pub file: String,
    /// Counted from 1.
    pub line: u64,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The first place where the chain does not hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Break {
    /// Where.
    #[serde(flatten)]
    pub spot: Spot,
    /// How.
    pub kind: BreakKind,
    /// The same in words.
    pub what: String,
}

/// How a chain can break.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BreakKind {
    /// The line's text is not the one that was written.
    Edited,
    /// Entries before this line are not there, or stand elsewhere.
    Removed,
    /// The line should stand further up.
    Reordered,
    /// The entry before this line is not the one that was there.
    Replaced,
    /// The line is no entry, and no later one tells of it.
    Torn,
    /// The last line is no entry. The next writer will tell of it.
    Unfinished,
}

/// Checks the chain over every file of the ledger in `dir`.
///
/// # Errors
/// When a file cannot be read.
pub fn verify(dir: &Path) -> Result<Verified, LedgerError> {
    let snapshot = Snapshot::take(dir)?;
    let mut check =
        Check { found: Verified { files: snapshot.files.len(), ..Verified::default() }, ..Check::default() };
    let mut line = Vec::new();
    for mut part in snapshot.files {
        let mut number = 0;
        while part.line(&mut line)? {
            number += 1;
            let spot = Spot { file: part.name.clone(), line: number };
            if let Err(broken) = check.line(spot, &line, part.is_current) {
                check.found.broken = Some(broken);
                return Ok(check.found);
            }
        }
    }
    check.found.broken = check.pending.take().map(|pending| Break {
        spot: pending.spot,
        kind: BreakKind::Unfinished,
        what: "the line is not finished; the next entry will set it aside".to_owned(),
    });
    Ok(check.found)
}

#[derive(Default)]
struct Check {
    found: Verified,
    before: Option<Link>,
    pending: Option<Pending>,
}

/// Lines that are no entries, until one tells of them.
struct Pending {
    spot: Spot,
    bytes: Vec<u8>,
}

impl Check {
    fn line(&mut self, spot: Spot, line: &[u8], is_current: bool) -> Result<(), Break> {
        let Some(place) = Place::read(line.strip_suffix(b"\n").unwrap_or(line)) else {
            let pending = self.pending.get_or_insert_with(|| Pending { spot, bytes: Vec::new() });
            pending.bytes.extend_from_slice(line);
            return Ok(());
        };
        let broken = |kind, what: String| Break { spot: spot.clone(), kind, what };
        if let Some(pending) = self.pending.take() {
            let told = place.is_whole
                && place.torn.as_ref().is_some_and(|torn| {
                    torn.bytes == pending.bytes.len() as u64 && torn.sha256 == hex(&pending.bytes)
                });
            if !told {
                return Err(torn(pending.spot));
            }
            self.found.torn.push(pending.spot);
        } else if place.is_whole && place.torn.is_some() {
            let what = "the half-written line that this entry tells of is not there".to_owned();
            return Err(broken(BreakKind::Removed, what));
        }
        if !place.is_whole {
            let what = format!("the text of entry {} is not the one that was written", place.seq);
            return Err(broken(BreakKind::Edited, what));
        }
        self.follows(&place, is_current).map_err(|(kind, what)| broken(kind, what))?;
        self.before = Some(place.link());
        let mark = Mark { seq: place.seq, time: place.time, hash: place.hash };
        self.found.entries += 1;
        self.found.first.get_or_insert_with(|| mark.clone());
        self.found.last = Some(mark);
        Ok(())
    }

    fn follows(&self, place: &Place, is_current: bool) -> Result<(), (BreakKind, String)> {
        let seq = place.seq;
        let Some(before) = &self.before else {
            // Old files go when the ledger grows, but never all of them.
            return match (seq, is_current) {
                (1, _) if place.prev == GENESIS => Ok(()),
                (1, _) => Err((BreakKind::Replaced, "the first entry follows from another one".to_owned())),
                (_, false) => Ok(()),
                (_, true) => Err((BreakKind::Removed, format!("the entries before {seq} are not there"))),
            };
        };
        let expected = before.seq.saturating_add(1);
        if seq < expected {
            Err((BreakKind::Reordered, format!("entry {seq} stands behind entry {}", before.seq)))
        } else if seq > expected {
            Err((BreakKind::Removed, format!("entry {expected} should stand here, and it is entry {seq}")))
        } else if place.prev != before.hash {
            let what =
                format!("entry {seq} follows from another entry {} than the one before it", before.seq);
            Err((BreakKind::Replaced, what))
        } else {
            Ok(())
        }
    }
}

fn torn(spot: Spot) -> Break {
    let what = "the line is no entry, and the next entry does not tell of it".to_owned();
    Break { spot, kind: BreakKind::Torn, what }
}
