//! What a host that runs for weeks does again and again: opening with many plugins,
//! taking a changed file over, and looking at a world in which nothing changed.
//!
//! Goals: 100 cached plugins open in 60 ms; a pass over 1,000 skills in 20 ms and over
//! 10,000 in 250 ms; a changed file serves within 1 s, of which 500 ms are the quiet
//! window that only a broken file is given; at most 300 kB for a plugin that is loaded.
//! The peers are the same with a tenth of the work, so that the lines say whether the cost
//! grows with it.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a benchmark prints, and ends when anything is wrong"
)]

/// The one of the binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

mod measure;

use std::cell::Cell;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use measure::{Case, print, ratio, side_by_side};
use portcullis::extension::{Level, Scope};
use portcullis::{Host, HostOptions};
use portcullis_model::extension::{Known, SkillEntry};
use portcullis_runtime::{CacheDir, Compiler};
use portcullis_tests::extension::Fake;
use portcullis_tests::plugin::Plugin;

fn options(dir: &Path, plugins: usize) -> HostOptions {
    let user = dir.join(format!("user{plugins}"));
    fs::create_dir_all(&user).unwrap();
    for n in 0..plugins {
        let name = format!("plugin{n}");
        let plugin = Plugin::new(&name).allows("").tool(&format!("tool_{n}"), false).answers("done");
        fs::write(user.join(name).with_extension("wasm"), plugin.build().unwrap()).unwrap();
    }
    // They are ours, so they may be compiled in this process.
    let mut options = HostOptions::new(Compiler::InProcess);
    options.cache = Some(CacheDir { dir: dir.join("cache"), key: dir.join("cache.key") });
    options.plugin_dir = Some(user);
    options
}

fn resident() -> usize {
    let pages = fs::read_to_string("/proc/self/statm").unwrap();
    let pages: usize = pages.split_whitespace().nth(1).unwrap().parse().unwrap();
    pages * rustix::param::page_size()
}

fn main() {
    let executor = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let many = options(dir.path(), 100);
    let few = options(dir.path(), 10);
    let open = |options: &HostOptions| executor.block_on(Host::open(options.clone())).unwrap();
    // What is compiled once is in the cache from here on.
    let (first, before) = (open(&few), resident());
    let second = open(&many);
    let each = resident().saturating_sub(before) / 100;
    drop((first, second));

    let with_skills = |count: usize| {
        let host = open(&few);
        let own = Arc::new(Fake::new("own"));
        let skill = |n| {
            SkillEntry::new(
                format!("skill://s{n}/SKILL.md"),
                format!("s{n}"),
                "What it is for, in some words.",
            )
        };
        own.brings(Known { skills: (0..count).map(skill).collect(), ..Known::default() });
        executor.block_on(host.register(own, Level::Pool, &Scope::new(), None)).unwrap();
        host
    };
    let (thousand, ten_thousand) = (with_skills(1_000), with_skills(10_000));
    let pass = |host: &Host| assert_eq!(executor.block_on(host.reconcile()), None);

    let mut watching = options(dir.path(), 10);
    watching.watch = true;
    let file = watching.plugin_dir.clone().unwrap().join("changing.wasm");
    let version = |word: &str| Plugin::new("changing").tool("change", false).answers(word).build().unwrap();
    let versions = [version("one"), version("two")];
    fs::write(&file, &versions[0]).unwrap();
    let watched = open(&watching);
    let round = Cell::new(0);
    let reload = || {
        round.set(round.get() + 1);
        let epoch = watched.capabilities().epoch;
        fs::write(&file, &versions[round.get() % 2]).unwrap();
        while watched.capabilities().epoch == epoch {
            std::thread::yield_now();
        }
    };
    let mut cases = [
        Case::new("open with 100 plugins in the cache", 1, || drop(open(&many))),
        Case::new("open with 10 plugins in the cache", 1, || drop(open(&few))),
        Case::new("a pass, nothing changed, 10,000 skills", 1, || pass(&ten_thousand)),
        Case::new("a pass, nothing changed, 1,000 skills", 1, || pass(&thousand)),
        Case::new("a changed plugin file serves", 1, reload),
    ];
    let figures = side_by_side(40, &mut cases);
    print("a host that runs for long, side by side", &cases, &figures);
    println!("100 plugins against 10: {:.1} times", ratio(figures[0], figures[1]));
    println!("10,000 skills against 1,000: {:.1} times", ratio(figures[2], figures[3]));
    println!("memory for each of 100 loaded plugins: {} kB", each / 1000);
}
