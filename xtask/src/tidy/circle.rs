//! No two modules of a crate need one another.
//!
//! A folder and the files in it count as one thing; what a `mod.rs` or `lib.rs`
//! hands on belongs to the file that it comes from. So at every level, the
//! children of one module form a graph without a circle.

use std::collections::{BTreeMap, BTreeSet};

use super::names::Name;
use super::tree::{Crate, Tree};

/// The ways back of circles that are there on purpose: the crate, the module, the
/// module that it needs, and why.
const ALLOWED: &[(&str, &str, &str, &str)] = &[
    ("host/shell", "command", "walk", RECURSION),
    ("host/shell", "expand", "walk", RECURSION),
    ("sdk/rust", "clock", "testing", NATIVE),
    ("sdk/rust", "script", "testing", NATIVE),
];

const RECURSION: &str = "a script holds commands and expansions, which hold scripts";
const NATIVE: &str = "off the host, `testing` answers in its stead, in the words of the modules that ask";

type Module = Vec<String>;

/// Two children of one module, and a place where the first needs the second.
type Edges = BTreeMap<(Module, String), BTreeMap<String, String>>;

/// No circles between the modules of any crate.
pub(super) fn circles(tree: &Tree) -> Vec<String> {
    tree.crates.iter().flat_map(|krate| circles_of(tree, krate)).collect()
}

fn circles_of(tree: &Tree, krate: &Crate) -> Vec<String> {
    let source = format!("{}/src/", krate.dir);
    let modules: Vec<_> = tree
        .rust()
        .filter(|(file, _)| !file.is_aside() || krate.dir == "tests")
        .filter_map(|(file, rust)| Some((module_path(file.path.strip_prefix(&source)?), file, rust)))
        .collect();
    let known: BTreeSet<Module> = modules.iter().map(|(module, ..)| module.clone()).collect();
    // What each module hands on from another.
    let mut handed_on: BTreeMap<(Module, String), Module> = BTreeMap::new();
    for (module, _, rust) in &modules {
        for name in rust.names.iter().filter(|name| name.handed_on) {
            if let (Some(path), Some(known_as)) = (absolute(&known, module, name), &name.import) {
                handed_on.insert((module.clone(), known_as.clone()), path);
            }
        }
    }
    let mut edges = Edges::new();
    for (module, file, rust) in &modules {
        for name in rust.names.iter().filter(|name| !name.test && !name.handed_on) {
            let Some(path) = absolute(&known, module, name) else { continue };
            let target = home(&known, &handed_on, path);
            let shared = module.iter().zip(&target).take_while(|(a, b)| a == b).count();
            if let (Some(from), Some(to)) = (module.get(shared), target.get(shared)) {
                if ALLOWED.iter().any(|(dir, a, b, _)| *dir == krate.dir && a == from && b == to) {
                    continue;
                }
                let parent = module.get(..shared).unwrap_or_default().to_vec();
                let place = format!("{}:{}", file.path, name.line);
                edges.entry((parent, from.clone())).or_default().entry(to.clone()).or_insert(place);
            }
        }
    }
    let mut problems = Vec::new();
    let mut told = BTreeSet::new();
    for (parent, start) in edges.keys() {
        let Some(circle) = circle(&edges, parent, start) else { continue };
        let mut members: Vec<&str> = circle.iter().map(|(module, _)| module.as_str()).collect();
        members.sort_unstable();
        members.dedup();
        if !told.insert((parent.clone(), members.join(" "))) {
            continue;
        }
        let steps: Vec<_> = circle.iter().map(|(module, place)| format!("`{module}` ({place})")).collect();
        problems.push(format!(
            "{}: a circle: {} and back; move what both need into a module below them",
            krate.dir,
            steps.join(" needs ")
        ));
    }
    problems
}

/// The shortest way from `start` back to it: modules, and where each needs the next.
fn circle(edges: &Edges, parent: &Module, start: &String) -> Option<Vec<(String, String)>> {
    let next = |module: &String| edges.get(&(parent.clone(), module.clone())).into_iter().flatten();
    let mut ways: Vec<Vec<(String, String)>> = next(start)
        .map(|(to, place)| vec![(start.clone(), place.clone()), (to.clone(), String::new())])
        .collect();
    let mut seen = BTreeSet::new();
    while !ways.is_empty() {
        let mut longer = Vec::new();
        for mut way in ways {
            let (last, _) = way.pop()?;
            if last == *start {
                return Some(way);
            }
            if !seen.insert(last.clone()) {
                continue;
            }
            for (to, place) in next(&last) {
                let mut way = way.clone();
                way.push((last.clone(), place.clone()));
                way.push((to.clone(), String::new()));
                longer.push(way);
            }
        }
        ways = longer;
    }
    None
}

/// The module of a file below `src/`. The root has the empty path.
pub(super) fn module_path(below_source: &str) -> Module {
    let path = below_source.strip_suffix(".rs").unwrap_or(below_source);
    let mut segments: Module = path.split('/').map(str::to_owned).collect();
    let last = segments.last().map(String::as_str);
    if last == Some("mod") || (segments.len() == 1 && matches!(last, Some("lib" | "main"))) {
        segments.pop();
    }
    segments
}

/// The path from the crate's root, for a name that begins with `crate`, `self`
/// or `super`.
pub(super) fn resolve(module: &Module, name: &Name) -> Option<Module> {
    let mut segments = name.segments.iter().peekable();
    let mut path = match segments.next()?.as_str() {
        "crate" => Vec::new(),
        "self" => module.clone(),
        "super" => {
            // An inline module's parent is the file's own module.
            let mut path = module.clone();
            if name.depth == 0 {
                path.pop();
            }
            path
        }
        _ => return None,
    };
    while segments.next_if(|segment| *segment == "super").is_some() {
        path.pop();
    }
    path.extend(segments.cloned());
    Some(path)
}

/// The same, and for a name that begins with a child of the module.
fn absolute(known: &BTreeSet<Module>, module: &Module, name: &Name) -> Option<Module> {
    resolve(module, name).or_else(|| {
        let mut path = module.clone();
        path.push(name.root().to_owned());
        known.contains(&path).then(|| {
            path.extend(name.segments.iter().skip(1).cloned());
            path
        })
    })
}

/// The module that what `path` names is written in.
fn home(known: &BTreeSet<Module>, handed_on: &BTreeMap<(Module, String), Module>, path: Module) -> Module {
    let mut path = path;
    // As many steps as a sane chain of `pub use` has.
    for _ in 0..8 {
        let mut module = path.clone();
        while !known.contains(&module) && module.pop().is_some() {}
        let next = path.get(module.len()).cloned();
        match next.and_then(|next| handed_on.get(&(module.clone(), next))) {
            Some(from) if *from != path => path.clone_from(from),
            _ => return module,
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::circles;
    use crate::tidy::tests::broken;

    const CRATE: (&str, &str) = ("host/model/Cargo.toml", "[package]\nname = \"portcullis-model\"");

    #[test]
    fn two_modules_that_need_one_another_are_told() {
        let a = ("host/model/src/a.rs", "use crate::b::B;");
        let problems = broken(
            circles,
            &[
                CRATE,
                a,
                ("host/model/src/b.rs", "fn f() { super::c::g() }"),
                ("host/model/src/c.rs", "\nuse crate::a::A;"),
            ],
        );
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("`a` (host/model/src/a.rs:1) needs `b` (host/model/src/b.rs:1) needs `c` (host/model/src/c.rs:2) and back"), "{problems:?}");
        let in_tests = ("host/model/src/b.rs", "#[cfg(test)] mod tests { use crate::a::A; }");
        assert!(broken(circles, &[CRATE, a, in_tests]).is_empty());
    }

    #[test]
    fn what_a_folder_hands_on_belongs_to_the_file_that_it_comes_from() {
        let files = |b: &'static str| {
            [
                CRATE,
                ("host/model/src/x/mod.rs", "mod a; mod b; pub(crate) use a::A; pub use b::B; struct Own;"),
                ("host/model/src/x/a.rs", "use crate::x::{B, Own};"),
                ("host/model/src/x/b.rs", b),
            ]
        };
        assert!(broken(circles, &files("use super::Own;")).is_empty());
        assert_eq!(broken(circles, &files("use crate::x::A;")).len(), 1);
    }

    #[test]
    fn folders_that_need_one_another_through_their_files_are_told() {
        let files = [
            CRATE,
            ("host/model/src/x/mod.rs", "mod a;"),
            ("host/model/src/x/a.rs", "use crate::y::Y;"),
            ("host/model/src/y/mod.rs", "mod b; struct Y;"),
            ("host/model/src/y/b.rs", "use crate::x::a;"),
        ];
        assert_eq!(broken(circles, &files).len(), 1);
    }
}
