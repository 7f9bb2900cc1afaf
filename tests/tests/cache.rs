//! Compiled components are machine code that is mapped into this process, so
//! nothing is taken from the cache that we did not put there ourselves.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::unreachable,
    clippy::indexing_slicing,
    reason = "a test ends when anything is wrong"
)]
#![cfg(unix)]

mod place;
mod stubs;

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use portcullis_model::fault::{Fault, FaultKind};
use portcullis_runtime::{
    Allocation, CacheDir, Compiler, Digest, GuardRefusal, Guest, Known, Runtime, RuntimeOptions,
};
use portcullis_tests::plugin::Plugin;
use tempfile::TempDir;

use crate::place::compiler;
use crate::stubs::{Nothing, far, link, setup};

/// A cache of its own, and a helper that tells when it compiled.
struct Bench {
    dir: TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self { dir: tempfile::tempdir().unwrap() };
        let Compiler::Helper { program, .. } = compiler() else { unreachable!() };
        // One line for each compilation, beside the real helper.
        let script = format!("echo >> '{}'\nexec '{}' \"$@\"", bench.log().display(), program.display());
        fs::write(bench.helper(), script).unwrap();
        bench
    }

    fn log(&self) -> PathBuf {
        self.dir.path().join("compiled")
    }

    fn helper(&self) -> PathBuf {
        self.dir.path().join("helper.sh")
    }

    fn components(&self) -> PathBuf {
        self.dir.path().join("cache/portcullis/components")
    }

    fn key(&self) -> PathBuf {
        self.dir.path().join("state/portcullis/cache.key")
    }

    fn artifacts(&self) -> Vec<PathBuf> {
        let mut files: Vec<_> = fs::read_dir(self.components()).unwrap().map(|e| e.unwrap().path()).collect();
        files.sort();
        files
    }

    /// A process of its own would see this runtime.
    fn runtime(&self) -> Runtime {
        let arguments = vec![self.helper().to_string_lossy().into_owned()];
        let mut options = RuntimeOptions::new(Compiler::Helper { program: "/bin/sh".into(), arguments });
        options.allocation = Allocation::OnDemand;
        options.cache = Some(CacheDir { dir: self.components(), key: self.key() });
        Runtime::new(options).unwrap()
    }

    /// Loads the guard that says `word`, in a new runtime, and asserts that it
    /// says it. The answer is how many components had to be compiled for that.
    fn judge(&self, word: &str) -> usize {
        let before = self.compiled();
        assert_eq!(verdict(&load(&self.runtime(), word)), word);
        self.compiled() - before
    }

    fn compiled(&self) -> usize {
        fs::read(self.log()).map_or(0, |log| log.len())
    }
}

fn guard(word: &str) -> Vec<u8> {
    Plugin::new("strict").refuses("no", word).build().unwrap()
}

fn load(runtime: &Runtime, word: &str) -> Guest {
    link(runtime, &runtime.load(&guard(word)).unwrap()).unwrap()
}

fn verdict(guest: &Guest) -> String {
    answer(guest).unwrap().unwrap().reason
}

fn answer(guest: &Guest) -> Result<Option<GuardRefusal>, Fault> {
    let executor = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    executor.block_on(guest.before_tool_call(std::sync::Arc::new(Nothing), far()))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().mode() & 0o777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

#[test]
fn a_component_is_compiled_once() {
    let bench = Bench::new();
    assert_eq!(bench.judge("one"), 1);
    assert_eq!(bench.judge("one"), 0);
    assert_eq!(bench.judge("two"), 1);
    assert_eq!(bench.judge("one"), 0);
    assert_eq!(bench.artifacts().len(), 2);
}

#[test]
fn a_component_that_is_linked_later_is_loaded_when_it_is_called() {
    let bench = Bench::new();
    let runtime = bench.runtime();
    let bytes: &'static [u8] = guard("one").leak();
    let component = runtime.load(bytes).unwrap();
    let known = Known { digest: component.digest(), contract: component.contract().clone() };
    fs::remove_dir_all(bench.components()).unwrap();
    let guest = runtime.link_later(bytes, known.clone(), setup());
    assert_eq!((guest.digest(), guest.contract()), (known.digest, &known.contract));
    assert_eq!(bench.compiled(), 1);
    assert_eq!((verdict(&guest), verdict(&guest)), ("one".to_owned(), "one".to_owned()));
    assert_eq!(bench.compiled(), 2);
    // What is not what was known of it, and what cannot be loaded, answers nothing.
    let mut other = known.clone();
    other.contract.kinds.clear();
    let broken: &'static [u8] = b"\0asm\x0d\0\x01\0broken";
    let of = |bytes: &[u8]| Known { digest: Digest::of(bytes), ..known.clone() };
    for (guest, why) in [
        (runtime.link_later(bytes, other, setup()), "it is not what was known of it"),
        (runtime.link_later(broken, of(broken), setup()), "does not compile"),
    ] {
        let fault = answer(&guest).unwrap_err();
        assert_eq!(fault.kind, FaultKind::Load);
        assert!(fault.to_string().contains(why), "{fault}");
    }
}

#[test]
fn only_we_can_look_into_the_cache() {
    let bench = Bench::new();
    bench.judge("one");
    for dir in [bench.components(), bench.key().parent().unwrap().to_owned()] {
        assert_eq!(mode(&dir), 0o700, "{}", dir.display());
    }
    for file in bench.artifacts().iter().chain([&bench.key()]) {
        assert_eq!(mode(file), 0o600, "{}", file.display());
    }
    assert_ne!(bench.components(), bench.key().parent().unwrap());
}

#[test]
fn an_artifact_that_was_changed_anywhere_is_compiled_again() {
    let bench = Bench::new();
    bench.judge("one");
    let file = bench.artifacts().remove(0);
    let good = fs::read(&file).unwrap();
    let spots = [0, 31, 32, 40, 100, good.len() / 2, good.len() - 1];
    for spot in spots {
        let mut bad = good.clone();
        bad[spot] ^= 1;
        fs::write(&file, &bad).unwrap();
        assert_eq!(bench.judge("one"), 1, "byte {spot}");
        assert_eq!(fs::read(&file).unwrap().len(), good.len(), "it was put right");
        assert_eq!(bench.judge("one"), 0);
    }
    for length in [0, 1, 31, 32, 33, good.len() / 2, good.len() - 1] {
        fs::write(&file, &good[..length]).unwrap();
        assert_eq!(bench.judge("one"), 1, "{length} bytes");
    }
    fs::write(&file, [good.as_slice(), b"more"].concat()).unwrap();
    assert_eq!(bench.judge("one"), 1);
}

#[test]
fn an_artifact_in_anothers_place_is_compiled_again() {
    let bench = Bench::new();
    bench.judge("one");
    let one = bench.artifacts().remove(0);
    bench.judge("two");
    let two = bench.artifacts().into_iter().find(|file| *file != one).unwrap();
    // Both are ours, and whole; each would answer for the other.
    let kept = fs::read(&one).unwrap();
    fs::copy(&two, &one).unwrap();
    assert_eq!(bench.judge("one"), 1);
    fs::write(&two, kept).unwrap();
    assert_eq!(bench.judge("two"), 1);
}

#[test]
fn an_artifact_under_another_key_is_compiled_again() {
    let (bench, other) = (Bench::new(), Bench::new());
    bench.judge("one");
    other.judge("one");
    let (ours, theirs) = (bench.artifacts().remove(0), other.artifacts().remove(0));
    assert_eq!(ours.file_name(), theirs.file_name());
    fs::copy(&theirs, &ours).unwrap();
    assert_eq!(bench.judge("one"), 1);
    // And when it is the key that changes, all of it is compiled again.
    fs::copy(other.key(), bench.key()).unwrap();
    assert_eq!(bench.judge("one"), 1);
    assert_eq!(bench.judge("one"), 0);
}

#[test]
fn what_others_may_touch_is_not_used() {
    let bench = Bench::new();
    bench.judge("one");
    let file = bench.artifacts().remove(0);
    for open in [0o620, 0o602, 0o666] {
        set_mode(&file, open);
        assert_eq!(bench.judge("one"), 1, "{open:o}");
        assert_eq!(mode(&file), 0o600);
    }
    // A directory that is open is closed again.
    set_mode(&bench.components(), 0o777);
    bench.judge("one");
    assert_eq!(mode(&bench.components()), 0o700);
    // A key that others may have seen is made again, and with it the cache.
    for open in [0o644, 0o640, 0o606, 0o660] {
        let old = fs::read(bench.key()).unwrap();
        set_mode(&bench.key(), open);
        assert_eq!(bench.judge("one"), 1, "{open:o}");
        assert_ne!(fs::read(bench.key()).unwrap(), old);
        assert_eq!(mode(&bench.key()), 0o600);
        assert_eq!(bench.judge("one"), 0);
    }
}

#[test]
fn links_are_not_followed() {
    let bench = Bench::new();
    bench.judge("one");
    let file = bench.artifacts().remove(0);
    let away = bench.dir.path().join("away");
    fs::rename(&file, &away).unwrap();
    std::os::unix::fs::symlink(&away, &file).unwrap();
    assert_eq!(bench.judge("one"), 1);
    assert!(fs::symlink_metadata(&file).unwrap().is_file(), "the link was replaced");
}

#[test]
fn a_key_that_was_cut_short_is_made_again() {
    let bench = Bench::new();
    bench.judge("one");
    let whole = fs::read(bench.key()).unwrap();
    assert_eq!(whole.len(), 32);
    for length in [0, 1, 31] {
        fs::write(bench.key(), &whole[..length]).unwrap();
        assert_eq!(bench.judge("one"), 1, "{length} bytes");
        assert_ne!(fs::read(bench.key()).unwrap()[..length.max(1)], whole[..length.max(1)]);
        assert_eq!(bench.judge("one"), 0);
    }
}

#[test]
fn a_cache_that_cannot_be_used_costs_time_and_nothing_else() {
    for spoiled in ["components", "key", "link"] {
        let bench = Bench::new();
        fs::create_dir_all(bench.components().parent().unwrap()).unwrap();
        fs::create_dir_all(bench.key().parent().unwrap()).unwrap();
        match spoiled {
            "components" => fs::write(bench.components(), "no directory").unwrap(),
            "key" => fs::create_dir(bench.key()).unwrap(),
            _ => std::os::unix::fs::symlink("/dev/full", bench.key()).unwrap(),
        }
        assert_eq!(bench.judge("one"), 1, "{spoiled}");
        assert_eq!(bench.judge("one"), 1, "{spoiled}");
    }
    // It vanishes while the process runs.
    let bench = Bench::new();
    let runtime = bench.runtime();
    assert_eq!(verdict(&load(&runtime, "one")), "one");
    fs::remove_dir_all(bench.components()).unwrap();
    assert_eq!((bench.compiled(), verdict(&load(&runtime, "one"))), (1, "one".to_owned()));
    assert_eq!(bench.compiled(), 2);
}

#[test]
fn two_processes_may_start_at_the_same_time() {
    let bench = Bench::new();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(verdict(&load(&bench.runtime(), "one")), "one"));
        }
    });
    // Whoever lost the race for the key is compiled once more at most.
    bench.judge("one");
    assert_eq!(bench.judge("one"), 0);
}
