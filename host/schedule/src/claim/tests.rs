//! The algebra of claims: what is the same, what meets, and that nothing is ever missed.

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::{Access, Claim, ClaimError, Conflict, Disk, FileId, Found, Look, PATHS_MAX, Pattern, Place};

/// A file system that says what a test wants.
#[derive(Debug, Default)]
pub(crate) struct FakeDisk {
    links: BTreeMap<&'static str, &'static str>,
    shared: BTreeMap<&'static str, u64>,
    directories: bool,
    folds_case: bool,
    knows_nothing: bool,
}

impl FakeDisk {
    /// `/w/l` is a link to `/w/a`; `/w/a/a` and `/w/b/b` are one file. Everything else that
    /// somebody asks for is a directory.
    pub(crate) fn linked() -> Self {
        Self {
            links: BTreeMap::from([("/w/l", "/w/a")]),
            shared: BTreeMap::from([("/w/a/a", 7), ("/w/b/b", 7)]),
            directories: true,
            ..Self::default()
        }
    }

    fn real(&self, path: &str) -> String {
        let mut real = String::new();
        for name in path.split('/').filter(|name| !name.is_empty() && *name != ".") {
            if name == ".." {
                real.truncate(real.rfind('/').unwrap_or_default());
                continue;
            }
            real.push('/');
            real.push_str(name);
            if let Some(target) = self.links.get(real.as_str()) {
                real = (*target).to_owned();
            }
        }
        real
    }
}

impl Disk for FakeDisk {
    fn look(&self, path: &str) -> Option<Look> {
        let real = self.real(path);
        let found = match self.shared.get(real.as_str()) {
            Some(inode) => Found::Shared(FileId { device: 1, inode: *inode }),
            None if self.directories => Found::Directory,
            None => Found::File,
        };
        (!self.knows_nothing).then_some(Look { real, found, folds_case: self.folds_case })
    }
}

fn writes(disk: &FakeDisk, text: &str) -> Claim {
    Claim::of(Access::Write, Place { cwd: "/w", disk }.pattern(text).unwrap())
}

fn conflict(disk: &FakeDisk, one: &str, other: &str) -> bool {
    let (one, other) = (writes(disk, one), writes(disk, other));
    let found = one.conflict(&other).is_some();
    assert_eq!(found, other.conflict(&one).is_some(), "{one} and {other}");
    found
}

#[test]
fn patterns_conflict_when_one_may_hold_the_other() {
    let disk = FakeDisk::default();
    for (one, other, expected) in [
        ("src/**", "src/auth/**", true),
        ("src/**", "docs/**", false),
        ("docs/**", "docs/a.md", true),
        ("src/auth", "src/authz", false),
        ("a", "ab", false),
        ("a/", "a", true),
        ("**", "docs/a.md", true),
        ("**", "**", true),
        ("/w/src", "src", true),
        ("/src", "src", false),
        ("./src//auth/", "src/auth", true),
        ("src/../docs", "docs/x", true),
        ("../w/docs", "docs/x", true),
        ("../../../w/docs", "docs", true),
        ("src/*/x", "src", true),
        ("src/*/x", "src/a", true),
        ("src/*/x", "src/a/x/y", true),
        ("src/*/x", "src/a/y", false),
        ("src/*.rs", "src/a.rs", true),
        ("src/*.rs", "src/a.md", false),
        ("src/a*", "src/*b", true),
        ("src/a?c", "src/*bc", true),
        ("src/a?c", "src/ac", false),
        ("**/x", "src/a", true),
        ("src/**/x", "src/a/b", true),
        // These may be wildcards, or the very names of files.
        ("app/[id].tsx", "app/[id].tsx", true),
        ("app/[id].tsx", "app/i.tsx", true),
        ("app/[id].tsx", "app/i.css", false),
        ("{src,docs}/x", "docs/x", true),
        ("{src,docs/a}/x", "docs/a/x", true),
        ("a.{md,rs}", "a.md", true),
        ("x/+(a|b)", "x/ab", true),
        ("x/a**b/c", "x/a/q/b/c", true),
        (r"x/a\b", "x/a/b", true),
        ("x/[!a]y", "x/by", true),
        ("A", "a", false),
    ] {
        assert_eq!(conflict(&disk, one, other), expected, "{one} and {other}");
    }
}

#[test]
fn case_counts_unless_the_volume_folds_it() {
    let folding = FakeDisk { folds_case: true, ..FakeDisk::default() };
    assert!(conflict(&folding, "README.md", "readme.MD") && conflict(&folding, "SRC/*.rs", "src/A.RS"));
    assert!(!conflict(&folding, "readme.md", "readme.rs"));
    // How letters beyond ASCII are folded is the volume's own affair.
    assert!(conflict(&folding, "stra\u{df}e", "STRASSE") && conflict(&folding, "\u{212a}", "k"));
    assert!(!conflict(&FakeDisk::default(), "\u{212a}", "k"));
}

#[test]
fn a_link_and_a_second_name_are_the_same_file() {
    let disk = FakeDisk::linked();
    assert!(conflict(&disk, "l/x", "a/x") && conflict(&disk, "l/*.rs", "a/b.rs"));
    assert!(!conflict(&disk, "l/x", "a/y") && !conflict(&disk, "l/x", "c/x"));
    // The link itself may be removed.
    assert!(conflict(&disk, "l", "l/x"));
    // Behind a link, `..` leaves where the link leads, for some.
    let deep = FakeDisk { links: BTreeMap::from([("/w/l", "/o/p/q")]), ..FakeDisk::default() };
    assert!(conflict(&deep, "l/../x", "/o/p/x") && conflict(&deep, "l/../x", "x"));
    // Two names of one file, and a tree in which a third one may be.
    assert!(conflict(&disk, "a/a", "b/b") && conflict(&disk, "a/a", "c/**"));
    let known = FakeDisk { directories: false, ..FakeDisk::linked() };
    assert!(!conflict(&known, "a/a", "c") && conflict(&known, "l/a", "b/b"));
}

#[test]
fn what_nobody_can_place_is_no_claim() {
    let disk = FakeDisk::default();
    let place = Place { cwd: "/w", disk: &disk };
    for (text, expected) in [
        ("", ClaimError::Empty),
        (" ", ClaimError::Empty),
        ("a\0b", ClaimError::Nul),
        ("!src/**", ClaimError::Excludes("!src/**".to_owned())),
        ("~/x", ClaimError::Home("~/x".to_owned())),
        ("src/**/../x", ClaimError::Climbs("/w/src/**/../x".to_owned())),
        ("src/*/../x", ClaimError::Climbs("/w/src/*/../x".to_owned())),
    ] {
        assert_eq!(place.pattern(text), Err(expected), "{text}");
    }
    assert!(matches!(place.pattern(&"a/".repeat(9000)), Err(ClaimError::TooLong { .. })));
    assert!(matches!(Place { cwd: "w", disk: &disk }.pattern("x"), Err(ClaimError::Relative(_))));
    let nobody = FakeDisk { knows_nothing: true, ..FakeDisk::default() };
    assert!(matches!(Place { cwd: "/w", disk: &nobody }.path("x"), Err(ClaimError::Unknown(_))));
    // In a path of a call no character is a wildcard.
    let (literal, other) = (place.path("/w/*").unwrap(), place.path("/w/a").unwrap());
    assert!(!literal[0].meets(&other[0]) && literal[0].meets(&literal[0]));
}

#[test]
fn a_pattern_that_costs_too_much_to_compare_meets() {
    let disk = FakeDisk::default();
    let long = |end: &str| format!("{}{end}", "*a".repeat(120));
    assert!(conflict(&disk, &long("x"), &long("y")));
    assert!(!conflict(&disk, "*ax", "*ay"));
    let deep = "a/".repeat(400);
    assert!(conflict(&disk, &format!("{deep}x"), &format!("{deep}y")), "it counts as the directory above");
}

#[test]
fn claims_of_each_kind_conflict_as_they_should() {
    let disk = FakeDisk::default();
    let reads = |text| Claim::of(Access::Read, Place { cwd: "/w", disk: &disk }.path(text).unwrap());
    let (write, read) = (writes(&disk, "src/a"), reads("src/a"));
    let all = [Claim::none(), Claim::read_only(), read, Claim::reads_everything(), write, Claim::exclusive()];
    let expected = [
        [false, false, false, false, false, false],
        [false, false, false, false, false, false],
        [false, false, false, false, true, true],
        [false, false, false, false, true, true],
        [false, false, true, true, true, true],
        [false, false, true, true, true, true],
    ];
    for (one, row) in all.iter().zip(expected) {
        for (other, expected) in all.iter().zip(row) {
            assert_eq!(one.conflict(other).is_some(), expected, "{one} and {other}");
        }
    }
    let why = all[2].conflict(&all[4]).unwrap().to_string();
    assert_eq!(why, "read of `/w/src/a` meets write of `/w/src/a`");
    assert_eq!(all[5].conflict(&all[4]), Some(Conflict::Exclusive));
    // One of them all is as good as all of them.
    let both = reads("docs").and(writes(&disk, "src"));
    assert!(both.conflict(&writes(&disk, "docs/x")).is_some() && both.conflict(&reads("docs/x")).is_none());
    assert!(both.and(Claim::exclusive()).is_exclusive());
    let many = (0..=PATHS_MAX).map(|n| writes(&disk, &n.to_string()));
    assert!(many.fold(Claim::none(), Claim::and).is_exclusive());
    let same = (0..=PATHS_MAX).map(|_| writes(&disk, "x"));
    assert!(!same.fold(Claim::none(), Claim::and).is_exclusive());
}

pub(crate) const NAMES: [&str; 4] = ["a", "b", "ab", "c"];

/// Runs as many cases as `PROPTEST_CASES` says.
pub(crate) fn runner() -> TestRunner {
    TestRunner::new(Config { failure_persistence: None, ..Config::default() })
}

/// Every path of a small tree, below `/w`.
pub(crate) fn tree() -> Vec<String> {
    let mut all = vec!["/w".to_owned()];
    let mut last = all.clone();
    for _ in 0..3 {
        last = last.iter().flat_map(|path| NAMES.map(|name| format!("{path}/{name}"))).collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// A pattern by the letter, as slow as it can be: what it means of the tree.
pub(crate) fn meaning(disk: &FakeDisk, pattern: &str, tree: &[String]) -> Vec<usize> {
    let names: Vec<&str> = pattern.split('/').filter(|name| !name.is_empty()).collect();
    let plain = names.iter().take_while(|name| !name.contains(['*', '?', '['])).count();
    let head = disk.real(&format!("/w/{}", names[..plain].join("/")));
    let below = |path: &str| {
        let rest = path.strip_prefix(head.as_str())?;
        (rest.is_empty() || rest.starts_with('/'))
            .then(|| rest.split('/').filter(|name| !name.is_empty()).map(str::to_owned).collect::<Vec<_>>())
    };
    let is_meant = |path: &str| {
        below(path).is_some_and(|rest| {
            let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
            holds(&names[plain..], &rest)
        })
    };
    let mut meant: Vec<usize> = (0..tree.len()).filter(|at| is_meant(&tree[*at])).collect();
    // A path that is one of a file's names means all of them. Two whole trees of which each
    // has a name of the same file are not known to share it.
    let shared = |at: &usize| disk.shared.contains_key(tree[*at].as_str());
    if plain == names.len() && disk.shared.contains_key(head.as_str()) {
        meant.extend((0..tree.len()).filter(shared));
    }
    meant
}

fn holds(pattern: &[&str], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], _) => true,
        (["**", rest @ ..], _) => holds(rest, path) || (!path.is_empty() && holds(pattern, &path[1..])),
        (_, []) => false,
        ([first, rest @ ..], [name, below @ ..]) => {
            fits(first.as_bytes(), name.as_bytes()) && holds(rest, below)
        }
    }
}

fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], _) => name.is_empty(),
        ([b'*', rest @ ..], _) => fits(rest, name) || (!name.is_empty() && fits(pattern, &name[1..])),
        (_, []) => false,
        ([b'[', one, other, b']', rest @ ..], [char, below @ ..]) => {
            (one == char || other == char) && fits(rest, below)
        }
        ([b'?', rest @ ..], [_, below @ ..]) => fits(rest, below),
        ([first, rest @ ..], [char, below @ ..]) => first == char && fits(rest, below),
    }
}

/// Patterns of the tree, in many spellings.
pub(crate) fn spelling() -> impl Strategy<Value = String> {
    let name = prop_oneof![
        6 => proptest::sample::select(NAMES.to_vec()).prop_map(str::to_owned),
        1 => Just("l".to_owned()),
        2 => proptest::sample::select(vec!["*", "?", "a*", "*b", "[ac]", "**", "?b"]).prop_map(str::to_owned),
    ];
    (proptest::collection::vec(name, 1..4), 0..6_u8).prop_map(|(names, spelt)| {
        let joined = names.join("/");
        match spelt {
            0 => format!("./{joined}/"),
            1 => format!("/w//{joined}"),
            2 => format!("b/../{joined}"),
            _ => joined,
        }
    })
}

/// What a spelling means, once its `.` and `..` are gone.
pub(crate) fn plainly(spelt: &str) -> &str {
    let text = spelt.strip_prefix("/w//").or_else(|| spelt.strip_prefix("b/../")).unwrap_or(spelt);
    text.strip_prefix("./").unwrap_or(text)
}

#[test]
fn patterns_that_share_a_file_always_conflict() {
    let (disk, tree) = (FakeDisk::linked(), tree());
    let (apart, needless) = (Cell::new(0_u64), Cell::new(0_u64));
    let pairs = proptest::collection::vec((spelling(), spelling()), 16);
    runner()
        .run(&pairs, |pairs| {
            for (one, other) in pairs {
                let meaning = |text: &str| meaning(&disk, plainly(text), &tree);
                let (ones, others) = (meaning(&one), meaning(&other));
                let meets = ones.iter().any(|at| others.contains(at));
                let conflicts = conflict(&disk, &one, &other);
                prop_assert!(conflicts || !meets, "{one} and {other} are not disjoint");
                apart.set(apart.get() + u64::from(!meets));
                needless.set(needless.get() + u64::from(!meets && conflicts));
            }
            Ok(())
        })
        .unwrap();
    // Trees meet a file of two names wherever it is, which is most of it.
    println!("of {} pairs that are apart {} conflict", apart.get(), needless.get());
    assert!(needless.get() < apart.get(), "everything conflicts");
}

fn any_claim() -> impl Strategy<Value = (Vec<(bool, String)>, u8)> {
    (proptest::collection::vec((any::<bool>(), spelling()), 0..4), 0..12_u8)
}

fn claim(disk: &FakeDisk, (paths, kind): &(Vec<(bool, String)>, u8)) -> Claim {
    let place = Place { cwd: "/w", disk };
    let named = paths.iter().fold(Claim::none(), |claim, (writes, text)| {
        let access = if *writes { Access::Write } else { Access::Read };
        claim.and(Claim::of(access, place.pattern(text).unwrap()))
    });
    match kind {
        0 => Claim::exclusive(),
        1 => Claim::read_only(),
        2 => Claim::reads_everything(),
        _ => named,
    }
}

proptest! {
    #[test]
    fn the_algebra_of_claims_holds(one in any_claim(), other in any_claim(), third in any_claim()) {
        let disk = FakeDisk::linked();
        let [one, other, third] = [&one, &other, &third].map(|own| claim(&disk, own));
        let conflicts = |one: &Claim, other: &Claim| one.conflict(other).is_some();
        prop_assert_eq!(conflicts(&one, &other), conflicts(&other, &one));
        // A writer conflicts with itself, and a reader does not.
        prop_assert_eq!(conflicts(&one, &one), !one.only_reads());
        // Who needs more conflicts with no less.
        let both = one.clone().and(third.clone());
        prop_assert!(!conflicts(&one, &other) || conflicts(&both, &other));
        prop_assert_eq!(conflicts(&both, &other), conflicts(&one, &other) || conflicts(&third, &other));
        // What is handed on within a claim is kept from others by that claim.
        if one.covers_writes_of(&third) && !one.reserves_nothing() {
            let inner = third.within(&one);
            prop_assert!(!conflicts(&inner, &other) || conflicts(&one, &other), "{} in {} by {}", inner, one, other);
        }
    }

    #[test]
    fn a_spelling_is_what_it_means(text in spelling()) {
        let disk = FakeDisk::linked();
        let (one, other) = (writes(&disk, &text), writes(&disk, plainly(&text)));
        let shown = |claim: &Claim| {
            let mut shown: Vec<String> = claim.paths().map(|(_, pattern)| pattern.to_string()).collect();
            shown.sort();
            shown
        };
        prop_assert_eq!(shown(&one), shown(&other));
    }

    #[test]
    fn no_text_is_too_odd_for_a_claim(text in r"[a-c/.*?\[\]{}()!~\\ ]{0,24}") {
        let disk = FakeDisk::default();
        if let Ok(patterns) = (Place { cwd: "/w", disk: &disk }).pattern(&text) {
            // A tool that reads it as a name means that file.
            let names: Vec<&str> = text.split('/').collect();
            if !names.contains(&"..") {
                let own = Place { cwd: "/w", disk: &disk }.path(&text).unwrap();
                prop_assert!(patterns.iter().any(|pattern| own.iter().any(|own| pattern.meets(own))), "{}", text);
            }
            prop_assert!(patterns.iter().all(|pattern| pattern.covers(pattern) && Pattern::everything().covers(pattern)));
        }
    }
}
