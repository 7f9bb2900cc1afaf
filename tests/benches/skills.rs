//! Looking for skills: 1,000, 10,000 and 20,000 of every quirk, unchanged and for the
//! first time, side by side with `find DIRECTORY -name SKILL.md`, which opens no file.
//!
//! Goals: 1,000 unchanged under 20 ms, 10,000 and 20,000 unchanged under 250 ms.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::disallowed_methods,
    reason = "a benchmark prints, starts the peer that it is measured against, and ends when anything is wrong"
)]

/// The one of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod measure;

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Instant;

use measure::{Case, print, ratio, side_by_side};
use portcullis::skill::{ScanLimits, Scanner, SkillOrigin, SkillRoot};
use portcullis_tests::quirk;

fn scanner(directory: &Path) -> Scanner {
    let root = SkillRoot::new(directory.to_owned(), SkillOrigin::Named);
    Scanner::new(vec![root], ScanLimits::default())
}

fn find(directory: &Path) {
    let found = Command::new("find")
        .arg(directory)
        .args(["-name", "SKILL.md"])
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(found.success());
}

fn main() {
    for count in [1_000, 10_000, 20_000] {
        let place = tempfile::tempdir().unwrap();
        let directory = place.path();
        let written = quirk::write(directory, count).unwrap();
        let start = Instant::now();
        let mut known = scanner(directory);
        let first = known.look();
        let first_time = start.elapsed();
        assert_eq!(first.all().len(), written.len());
        // What changed a moment ago is looked at again, until that is some seconds ago.
        while known.work().listed > 0 || known.work().read > 0 {
            known.look();
        }
        let mut cases = [
            Case::new("looking again, nothing changed", 1, || {
                assert!(Arc::ptr_eq(&known.look(), &first));
            }),
            Case::new("looking for the first time", 1, || drop(scanner(directory).look())),
            Case::new("`find` by name", 1, || find(directory)),
        ];
        let figures = side_by_side(10, &mut cases);
        print(&format!("{count} skills; the very first look took {first_time:.0?}"), &cases, &figures);
        println!("looking again takes {:.2} of the time of `find`", ratio(figures[0], figures[2]));
    }
}
