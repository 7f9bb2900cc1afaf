//! What holds of a ledger as a whole. The rows of `docs/reference/requirements.md`
//! name these tests.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test ends when anything is wrong")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use portcullis_model::config::AuditConfig;
use tempfile::TempDir;

use super::epoch::Epoch;
use super::{
    BreakKind, Entry, EntryKind, LINE_MAX, Ledger, LedgerError, LedgerOptions, PluginEntry, Record, Verified,
    read, verify,
};

/// A directory for a ledger that is not there yet.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn dir(&self) -> PathBuf {
        self.0.path().join("state/ledger")
    }

    fn current(&self) -> PathBuf {
        self.dir().join("ledger.jsonl")
    }

    fn ledger(&self, audit: &str) -> Ledger {
        let audit: AuditConfig = toml::from_str(audit).unwrap();
        // Many writers share one slow machine with other tests.
        let options = LedgerOptions { lock_wait: Duration::from_secs(120), ..LedgerOptions::new(self.dir()) };
        Ledger::new(options, audit, &BTreeMap::new())
    }

    /// A ledger with `count` entries.
    fn filled(count: u64) -> Self {
        let place = Self::new();
        let ledger = place.ledger("");
        for at in 1..=count {
            assert_eq!(ledger.append(note(at)).unwrap(), at);
        }
        place
    }

    fn text(&self) -> String {
        fs::read_to_string(self.current()).unwrap()
    }

    fn verify(&self) -> Verified {
        verify(&self.dir()).unwrap()
    }

    fn records(&self) -> Vec<Record> {
        let mut records = Vec::new();
        read(&self.dir(), |_, record| records.push(record)).unwrap();
        records
    }

    /// Rewrites the file that is written, line by line.
    fn rewrite(&self, change: impl FnOnce(&mut Vec<String>)) {
        let mut lines: Vec<String> = self.text().lines().map(str::to_owned).collect();
        change(&mut lines);
        fs::write(self.current(), lines.join("\n") + "\n").unwrap();
    }

    /// Where and how the chain breaks.
    fn broken(&self) -> (String, BreakKind) {
        let broken = self.verify().broken.unwrap();
        (broken.spot.to_string(), broken.kind)
    }
}

fn note(at: u64) -> Entry {
    Entry::new(EntryKind::Config, format!("note {at}"))
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().mode() & 0o7777
}

#[test]
fn what_is_written_is_read_back_in_order_and_the_chain_is_whole() {
    let place = Place::filled(3);
    let records = place.records();
    let seen: Vec<_> = records.iter().map(|record| (record.seq, record.reason.as_deref().unwrap())).collect();
    assert_eq!(seen, [(1, "note 1"), (2, "note 2"), (3, "note 3")]);
    assert!(records.iter().all(|record| record.kind == "config" && record.v == 1));
    assert!(records.windows(2).all(|pair| pair[0].time <= pair[1].time));
    let verified = place.verify();
    assert_eq!((verified.entries, verified.files, verified.broken), (3, 1, None));
    assert_eq!((verified.first.unwrap().seq, verified.last.unwrap().seq), (1, 3));
}

#[test]
fn a_ledger_that_is_not_there_is_empty_and_whole() {
    let place = Place::new();
    assert_eq!(place.verify(), Verified::default());
    assert!(place.records().is_empty());
    fs::create_dir_all(place.dir()).unwrap();
    assert_eq!(place.verify(), Verified::default());
}

#[test]
fn the_directory_and_its_files_are_their_owners_alone() {
    let place = Place::new();
    fs::create_dir_all(place.dir()).unwrap();
    fs::set_permissions(place.dir(), fs::Permissions::from_mode(0o755)).unwrap();
    place.ledger("").append(note(1)).unwrap();
    assert_eq!(mode(&place.dir()), 0o700);
    for entry in fs::read_dir(place.dir()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}

#[test]
fn a_line_that_was_edited_is_named() {
    let place = Place::filled(5);
    place.rewrite(|lines| lines[2] = lines[2].replace("note 3", "note 9"));
    assert_eq!(place.broken(), ("ledger.jsonl:3".to_owned(), BreakKind::Edited));
    // One that somebody gave a new digest is told by the line behind it.
    let place = Place::filled(5);
    place.rewrite(|lines| {
        let text = lines[2].replace("note 3", "note 9");
        let (body, _) = text.rsplit_once(",\"hash\":").unwrap();
        lines[2] = format!("{body},\"hash\":\"{}\"}}", super::chain::hex(body.as_bytes()));
    });
    assert_eq!(place.broken(), ("ledger.jsonl:4".to_owned(), BreakKind::Replaced));
}

#[test]
fn a_line_that_was_taken_out_or_moved_is_named() {
    let place = Place::filled(5);
    place.rewrite(|lines| drop(lines.remove(1)));
    assert_eq!(place.broken(), ("ledger.jsonl:2".to_owned(), BreakKind::Removed));
    let place = Place::filled(5);
    place.rewrite(|lines| drop(lines.remove(0)));
    assert_eq!(place.broken(), ("ledger.jsonl:1".to_owned(), BreakKind::Removed));
    let place = Place::filled(5);
    place.rewrite(|lines| lines.insert(4, lines[1].clone()));
    assert_eq!(place.broken(), ("ledger.jsonl:5".to_owned(), BreakKind::Reordered));
    let place = Place::filled(5);
    place.rewrite(|lines| lines.swap(1, 2));
    assert_eq!(place.broken(), ("ledger.jsonl:2".to_owned(), BreakKind::Removed));
}

#[test]
fn a_line_that_is_no_entry_is_named() {
    let place = Place::filled(3);
    place.rewrite(|lines| lines.insert(1, "what is this".to_owned()));
    assert_eq!(place.broken(), ("ledger.jsonl:2".to_owned(), BreakKind::Torn));
}

/// Row D02 of the faults: a writer that is killed at any byte.
#[test]
fn a_line_that_a_crash_cut_anywhere_is_set_aside_and_the_chain_goes_on() {
    let whole = Place::filled(2).text();
    let first = whole.find('\n').unwrap() + 1;
    let steps = (first + 1..whole.len()).step_by(7).chain([whole.len() - 2, whole.len() - 1]);
    for cut in steps {
        let place = Place::new();
        fs::create_dir_all(place.dir()).unwrap();
        fs::write(place.current(), &whole.as_bytes()[..cut]).unwrap();
        let is_only_open = cut == whole.len() - 1;
        assert_eq!(place.verify().broken.is_none(), is_only_open, "{cut}");
        let seq = place.ledger("").append(note(9)).unwrap();
        // The entry that lacks nothing but its end counts; anything less is told of.
        assert_eq!(seq, 3, "{cut}");
        let verified = place.verify();
        assert_eq!(verified.broken, None, "{cut}");
        assert_eq!(verified.torn.len(), usize::from(!is_only_open), "{cut}");
        assert!(place.text().as_bytes().starts_with(&whole.as_bytes()[..cut]), "what was there stays: {cut}");
        let kinds: Vec<_> = place.records().into_iter().map(|record| record.kind).collect();
        assert_eq!(kinds, ["config", if is_only_open { "config" } else { "torn" }, "config"], "{cut}");
    }
}

#[test]
fn zeros_at_the_end_and_a_repair_that_was_cut_itself_are_set_aside() {
    for rest in
        ["\0".repeat(200_000), "{\"v\":1\n{\"v\"".to_owned(), "{\"v\":1\n".to_owned(), "\n\n".to_owned()]
    {
        let place = Place::filled(2);
        fs::OpenOptions::new()
            .append(true)
            .open(place.current())
            .unwrap()
            .write_all(rest.as_bytes())
            .unwrap();
        assert_eq!(place.broken(), ("ledger.jsonl:3".to_owned(), BreakKind::Unfinished));
        assert_eq!(place.ledger("").append(note(9)).unwrap(), 4);
        let verified = place.verify();
        assert_eq!((verified.broken, verified.torn.len(), verified.entries), (None, 1, 4));
        // What was set aside cannot be changed unseen either.
        place.rewrite(|lines| lines[2].push('x'));
        assert_eq!(place.broken(), ("ledger.jsonl:3".to_owned(), BreakKind::Torn));
    }
    // A file with nothing else in it.
    let place = Place::new();
    fs::create_dir_all(place.dir()).unwrap();
    fs::write(place.current(), "{\"v\"").unwrap();
    assert_eq!(place.ledger("").append(note(9)).unwrap(), 2);
    assert_eq!(place.verify().broken, None);
}

#[test]
fn a_full_file_is_set_aside_the_chain_goes_on_and_the_oldest_go() {
    let place = Place::new();
    let ledger = place.ledger("max_bytes = 65536\nkeep = 2");
    let long = "x ".repeat(1_000);
    for at in 1..=200 {
        let entry = Entry { reason: Some(format!("{at} {long}")), ..note(at) };
        assert_eq!(ledger.append(entry).unwrap(), at);
        assert_eq!(place.verify().broken, None, "{at}");
    }
    let verified = place.verify();
    assert_eq!(verified.files, 3);
    let first = verified.first.unwrap().seq;
    assert!((2..200).contains(&first) && verified.entries == 201 - first, "{first}");
    for entry in fs::read_dir(place.dir()).unwrap() {
        let meta = entry.unwrap().metadata().unwrap();
        assert!(meta.len() <= 65536 && meta.mode() & 0o777 == 0o600);
    }
    // A file of the middle that is gone is a hole, and so is the current one's beginning.
    let mut aside: Vec<_> = fs::read_dir(place.dir()).unwrap().map(|entry| entry.unwrap().path()).collect();
    aside.retain(|path| path.file_name().unwrap().to_str().unwrap().starts_with("ledger-"));
    aside.sort();
    fs::remove_file(&aside[1]).unwrap();
    assert_eq!(place.broken(), ("ledger.jsonl:1".to_owned(), BreakKind::Removed));
    fs::remove_file(&aside[0]).unwrap();
    assert_eq!(place.broken(), ("ledger.jsonl:1".to_owned(), BreakKind::Removed));
}

#[test]
fn a_file_that_was_set_aside_is_followed_from_when_the_next_one_is_not_there() {
    let place = Place::filled(3);
    fs::rename(place.current(), place.dir().join("ledger-000000000003.jsonl")).unwrap();
    assert_eq!(place.ledger("").append(note(4)).unwrap(), 4);
    assert_eq!((place.verify().entries, place.verify().broken), (4, None));
}

#[test]
fn two_hundred_writers_at_once_lose_nothing_and_the_chain_is_whole() {
    const WRITERS: u64 = 200;
    const EACH: u64 = 3;
    let place = Place::new();
    // Each with a lock of its own, as in as many processes, and rotation in between.
    let ledgers: Vec<_> = (0..8).map(|_| Arc::new(place.ledger("max_bytes = 65536\nkeep = 1000"))).collect();
    std::thread::scope(|scope| {
        for writer in 0..WRITERS {
            let ledger = Arc::clone(&ledgers[usize::try_from(writer).unwrap() % ledgers.len()]);
            scope.spawn(move || {
                for at in 0..EACH {
                    ledger.append(note(writer * EACH + at)).unwrap();
                }
            });
        }
    });
    let verified = place.verify();
    assert_eq!((verified.entries, verified.broken, verified.torn.len()), (WRITERS * EACH, None, 0));
    assert!(verified.files > 1);
    let mut reasons: Vec<_> = place.records().into_iter().map(|record| record.reason.unwrap()).collect();
    reasons.sort();
    reasons.dedup();
    assert_eq!(reasons.len() as u64, WRITERS * EACH);
}

#[test]
fn a_writer_that_is_held_up_gives_up_in_its_time_and_writes_nothing() {
    let place = Place::filled(1);
    let held = place.ledger("").lock().unwrap();
    let options = LedgerOptions { lock_wait: Duration::from_millis(30), ..LedgerOptions::new(place.dir()) };
    let ledger = Ledger::new(options, AuditConfig::default(), &BTreeMap::new());
    let error = ledger.append(note(2)).unwrap_err();
    assert!(matches!(error, LedgerError::Busy { millis: 30, .. }), "{error}");
    assert!(ledger.try_write(&ledger.prepare(note(2))).unwrap().is_none());
    drop(held);
    assert_eq!(ledger.append(note(2)).unwrap(), 2);
}

/// Row D04 of the faults, as far as a test can make it without a disk of its own.
#[test]
fn what_cannot_be_written_is_an_error_that_names_the_file_and_the_reason() {
    let outside = tempfile::tempdir().unwrap();
    let stranger = outside.path().join("stranger");
    fs::write(&stranger, "").unwrap();
    type Spoil<'a> = (&'a str, &'a dyn Fn(&Place));
    let cases: [Spoil<'_>; 5] = [
        ("no plain file", &|place| symlink(&stranger, place.current()).unwrap()),
        ("no plain file", &|place| fs::create_dir(place.current()).unwrap()),
        ("no plain file", &|place| symlink("/dev/full", place.current()).unwrap()),
        ("no plain file", &|place| symlink(&stranger, place.dir().join("lock")).unwrap()),
        ("cannot be used", &|place| {
            fs::remove_dir(place.dir()).unwrap();
            fs::write(place.dir(), "").unwrap();
        }),
    ];
    for (at, (part, spoil)) in cases.into_iter().enumerate() {
        let place = Place::new();
        fs::create_dir_all(place.dir()).unwrap();
        spoil(&place);
        let ledger = place.ledger("");
        let error = ledger.append(note(1)).unwrap_err();
        assert!(error.to_string().contains(part), "{at}: {error}");
        assert!(error.to_string().contains(place.dir().to_str().unwrap()), "{at}: {error}");
        assert!(!error.without_paths().contains('/'), "{at}: {}", error.without_paths());
        assert_eq!(fs::read_to_string(&stranger).unwrap(), "", "{at}: a link was followed");
        assert!(at == 3 || ledger.check().is_err(), "{at}");
    }
    assert!(Place::filled(1).ledger("").check().is_ok());
}

#[test]
fn no_secret_and_no_long_text_gets_into_the_file() {
    let place = Place::new();
    let env = [("SERVICE_TOKEN".to_owned(), "correct horse".to_owned())].into();
    let ledger = Ledger::new(LedgerOptions::new(place.dir()), AuditConfig::default(), &env);
    let secret = "ghp_0123456789abcdefghij0123456789abcdef";
    let text = || Some(format!("say {secret} correct horse {}", "\u{7f}\n\u{1f600}".repeat(10_000)));
    let effect = portcullis_model::call::Effect::new(
        portcullis_model::call::EffectKind::Run,
        format!("curl -H 'Authorization: Bearer {secret}' {}", "x ".repeat(10_000)),
    );
    let entry = Entry {
        session: text(),
        agent: text(),
        call: text(),
        tool: text(),
        canonical: text(),
        code: text(),
        reason: text(),
        effects: vec![effect; 50],
        ..Entry::default()
    };
    ledger.append(entry).unwrap();
    let text = place.text();
    assert!(text.len() <= LINE_MAX, "{}", text.len());
    assert!(!text.contains("ghp_") && !text.contains("correct horse"), "{text}");
    assert_eq!(text.lines().count(), 1);
    assert_eq!(place.verify().entries, 1);
}

#[test]
fn a_change_of_the_plugins_is_one_entry_and_the_first_look_is_none() {
    let place = Place::new();
    let plugin = |name: &str, digest: &str| PluginEntry {
        name: name.to_owned(),
        state: "active".to_owned(),
        from: Some("user".to_owned()),
        digest: Some(digest.to_owned()),
    };
    let set = |plugins: &[PluginEntry]| Epoch { plugins: plugins.to_vec(), configured: None };
    let (old, new) =
        (set(&[plugin("guard", "a"), plugin("time", "b")]), set(&[plugin("guard", "c"), plugin("x", "d")]));
    // Two processes see the same; another one looks elsewhere.
    for _ in 0..2 {
        assert!(!place.ledger("").note_plugins("here", &old).unwrap());
        assert!(!place.ledger("").note_plugins("there", &new).unwrap());
    }
    assert!(place.ledger("").note_plugins("here", &new).unwrap());
    assert!(!place.ledger("").note_plugins("here", &new).unwrap());
    let records = place.records();
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].kind.as_str(), records[0].epoch.as_deref()), ("plugins", Some(new.id().as_str())));
    let reason = records[0].reason.as_deref().unwrap();
    for part in ["x came", "time went", "guard is another one"] {
        assert!(reason.contains(part), "{reason}");
    }
    assert!(
        place.text().contains(r#""plugins":[{"name":"guard","state":"active","from":"user","digest":"c"}"#)
    );
}

#[test]
fn a_later_version_of_a_line_is_still_read_and_checked() {
    let place = Place::filled(1);
    let (_, rest) =
        place.text().split_once("\"hash\":\"").map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let prev = &rest[..64];
    let body = format!(
        "{{\"v\":2,\"seq\":2,\"time\":\"2030-01-01T00:00:00.000000Z\",\"pid\":1,\"kind\":\"new\",\"more\":[1],\"prev\":\"{prev}\""
    );
    let line = format!("{body},\"hash\":\"{}\"}}\n", super::chain::hex(body.as_bytes()));
    fs::OpenOptions::new().append(true).open(place.current()).unwrap().write_all(line.as_bytes()).unwrap();
    assert_eq!((place.verify().entries, place.verify().broken), (2, None));
    assert_eq!(place.records()[1].kind, "new");
    assert_eq!(place.ledger("").append(note(3)).unwrap(), 3);
    assert_eq!(place.verify().broken, None);
}
