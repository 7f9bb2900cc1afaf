//! Where the chain ends: the end of the file that is written.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

use super::chain::{Link, Place, hex};
use super::entry::TornBytes;

/// How much is read at first. Most lines are a quarter of this.
const FIRST_LOOK: u64 = 4 << 10;
/// No more is read: a crash leaves a few pages, and this much is somebody's doing.
const LAST_LOOK: u64 = 64 << 20;

/// How a file ends.
#[derive(Debug)]
pub(super) struct Tail {
    /// The last entry; none in a file without one.
    pub(super) link: Option<Link>,
    /// What is behind it.
    pub(super) torn: Option<TornBytes>,
    /// A line end is missing.
    pub(super) is_open: bool,
}

/// Reads how `file`, which has `len` bytes, ends.
pub(super) fn read(file: &File, len: u64) -> io::Result<Tail> {
    let mut look = FIRST_LOOK.min(len);
    loop {
        let from = len - look;
        let mut bytes = vec![0; usize::try_from(look).map_err(io::Error::other)?];
        file.read_exact_at(&mut bytes, from)?;
        if let Some(tail) = within(&bytes, from == 0) {
            return Ok(tail);
        }
        if look >= LAST_LOOK {
            return Err(io::Error::other(format!("its last {look} bytes hold no entry")));
        }
        look = look.saturating_mul(2).min(len);
    }
}

/// The same for the last bytes of a file. None when they hold no entry, and there is
/// more before them.
fn within(bytes: &[u8], is_all: bool) -> Option<Tail> {
    let is_open = bytes.last().is_some_and(|byte| *byte != b'\n');
    let mut end = if is_open { bytes.len() } else { bytes.len().saturating_sub(1) };
    loop {
        let before = bytes.get(..end)?;
        let start = before.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
        // A line that begins before these bytes is seen with the next look.
        if start.is_none() && !is_all {
            return None;
        }
        let first = start.unwrap_or(0);
        let is_last = is_open && end == bytes.len();
        // A line that only lacks its end has to be whole to count as one.
        let place = before.get(first..).and_then(Place::read).filter(|place| place.is_whole || !is_last);
        if let Some(place) = place {
            let behind = bytes.get(end + 1..).unwrap_or_default();
            return Some(Tail { link: Some(place.link()), torn: torn(behind, is_open), is_open });
        }
        match start {
            Some(first) if first > 0 => end = first - 1,
            _ => return Some(Tail { link: None, torn: torn(bytes, is_open), is_open }),
        }
    }
}

/// What `bytes` are when they are no entry, with the line end that they will get.
fn torn(bytes: &[u8], is_open: bool) -> Option<TornBytes> {
    if bytes.is_empty() {
        return None;
    }
    let mut bytes = bytes.to_vec();
    if is_open {
        bytes.push(b'\n');
    }
    Some(TornBytes { bytes: bytes.len() as u64, sha256: hex(&bytes) })
}
