//! Which crate may name which dependency.

use super::tree::{Crate, Tree};

/// A dependency, by the beginning of its name when it ends in `*`; the crates
/// that may name it; and what the others do instead.
const RESERVED: &[(&str, &[&str], &str)] = &[
    ("wasmtime*", &["host/runtime"], "ask portcullis-runtime"),
    ("rmcp", &["host/mcp"], "ask portcullis-mcp"),
    ("anyhow", &["host/cli", "xtask"], "return an error of the crate's own"),
    ("brush-parser", &["host/shell"], SHELL),
    ("conch-parser", &["host/shell"], SHELL),
    ("shlex", &["host/shell"], SHELL),
    ("shell-words", &["host/shell"], SHELL),
    ("tree-sitter*", &["host/shell"], SHELL),
    ("yash-*", &["host/shell"], SHELL),
];

const SHELL: &str = "ask portcullis-shell";

/// The crates of ours that each crate may name: model, then shell, runtime and
/// mcp, then portcullis, then cli.
const DIRECTION: &[(&str, &[&str])] = &[
    ("host/model", &[]),
    ("host/shell", &["portcullis-model"]),
    ("host/runtime", &["portcullis-model"]),
    ("host/mcp", &["portcullis-model"]),
    ("host/schedule", &["portcullis-model"]),
    (
        "host/portcullis",
        &[
            "portcullis-model",
            "portcullis-shell",
            "portcullis-runtime",
            "portcullis-mcp",
            "portcullis-schedule",
        ],
    ),
    ("host/serve", &["portcullis"]),
    ("docs/examples/loop", &["portcullis"]),
    // Its tests drive the binary with guests that misbehave on demand.
    ("host/cli", &["portcullis", "portcullis-mcp", "portcullis-serve", "portcullis-tests"]),
    ("sdk/rust", &[]),
    (
        "tests",
        // The SDK, to hold what it reads against what the host packs.
        &[
            "portcullis",
            "portcullis-model",
            "portcullis-shell",
            "portcullis-runtime",
            "portcullis-mcp",
            "portcullis-schedule",
            "portcullis-sdk",
            "portcullis-serve",
        ],
    ),
    ("fuzz", &["portcullis", "portcullis-model", "portcullis-sdk", "portcullis-shell"]),
    // It proves that the folder `wit` is enough.
    ("tests/guests/plain-guard", &[]),
    ("xtask", &[]),
];

/// A crate that is not in [`DIRECTION`]: a plugin, and a guest of the tests,
/// names the SDK alone.
fn direction(dir: &str) -> Option<&'static [&'static str]> {
    let listed = DIRECTION.iter().find(|(listed, _)| *listed == dir).map(|(_, may)| *may);
    listed.or_else(|| {
        let plugin: &[&str] = &["portcullis-sdk"];
        (dir.starts_with("plugins/") || dir.starts_with("tests/guests/")).then_some(plugin)
    })
}

/// No `Cargo.toml` lists a dependency that is not its crate's to name.
pub(super) fn by_manifest(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for krate in &tree.crates {
        if direction(&krate.dir).is_none() {
            problems.push(format!(
                "{}/Cargo.toml: nothing says which crates `{}` may name; add it to `DIRECTION` in \
                 xtask/src/tidy/dependency.rs",
                krate.dir, krate.name
            ));
        }
        for dependency in dependencies(&krate.manifest) {
            if let Some(instead) = refused(tree, krate, &dependency) {
                problems.push(format!("{}/Cargo.toml: lists `{dependency}`; {instead}", krate.dir));
            }
        }
    }
    problems
}

/// No source names a crate that is not its crate's to name.
pub(super) fn by_name(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, rust) in tree.rust() {
        let Some(krate) = tree.crate_of(&file.path) else { continue };
        // A module that bindings generate may be called like one of our crates.
        let listed: Vec<String> =
            dependencies(&krate.manifest).iter().map(|name| name.replace('-', "_")).collect();
        for name in &rust.names {
            let root = name.root().replace('_', "-");
            let ours = tree.crates.iter().any(|other| other.name == root);
            if name.segments.len() < 2 || (ours && !listed.contains(&name.root().to_owned())) {
                continue;
            }
            if let Some(instead) = refused(tree, krate, &root) {
                problems.push(format!("{}:{}: names `{}`; {instead}", file.path, name.line, name.text()));
            }
        }
    }
    problems
}

/// What `krate` does instead of naming `dependency`, when it may not.
fn refused(tree: &Tree, krate: &Crate, dependency: &str) -> Option<String> {
    let is = |pattern: &str| match pattern.strip_suffix('*') {
        Some(start) => dependency.starts_with(start),
        None => dependency == pattern,
    };
    if let Some((_, may, instead)) = RESERVED.iter().find(|(pattern, ..)| is(pattern)) {
        return (!may.contains(&krate.dir.as_str()))
            .then(|| format!("only {} may, so {instead}", may.join(" and ")));
    }
    let ours = tree.crates.iter().any(|other| other.name == dependency);
    let may = direction(&krate.dir)?;
    let own = dependency == krate.name;
    (ours && !own && !may.contains(&dependency)).then(|| {
        let may = if may.is_empty() { "none".to_owned() } else { may.join(", ") };
        format!("of our own crates `{}` may name {may}", krate.name)
    })
}

/// The packages that a manifest lists, whatever it calls them.
fn dependencies(manifest: &toml::Table) -> Vec<String> {
    const KINDS: [&str; 3] = ["dependencies", "dev-dependencies", "build-dependencies"];
    let targets = manifest.get("target").and_then(toml::Value::as_table);
    let targets = targets.into_iter().flat_map(|targets| targets.values()).filter_map(toml::Value::as_table);
    let mut found = Vec::new();
    for table in std::iter::once(manifest).chain(targets) {
        for kind in KINDS {
            for (name, value) in table.get(kind).and_then(toml::Value::as_table).into_iter().flatten() {
                let package = value.get("package").and_then(toml::Value::as_str);
                found.push(package.unwrap_or(name).to_owned());
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{by_manifest, by_name};
    use crate::tidy::tests::broken;

    const MODEL: (&str, &str) = ("host/model/Cargo.toml", "[package]\nname = \"portcullis-model\"");

    #[test]
    fn a_manifest_that_lists_what_is_not_its_own_is_told() {
        let shell = "[package]\nname = \"portcullis-shell\"\n[dependencies]\nportcullis-model = {}\n\
                     [target.'cfg(unix)'.dev-dependencies]\nengine = { package = \"wasmtime-wasi\" }";
        let problems = broken(by_manifest, &[MODEL, ("host/shell/Cargo.toml", shell)]);
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert!(problems[0].contains("host/shell/Cargo.toml: lists `wasmtime-wasi`; only host/runtime may"));

        let model =
            "[package]\nname = \"portcullis-model\"\n[dependencies]\nportcullis-shell = {}\nanyhow = \"1\"";
        let problems =
            broken(by_manifest, &[("host/model/Cargo.toml", model), ("host/shell/Cargo.toml", shell)]);
        assert!(
            problems.iter().any(|p| p.contains("lists `anyhow`; only host/cli and xtask may")),
            "{problems:?}"
        );
        assert!(problems.iter().any(|p| p.contains("`portcullis-model` may name none")), "{problems:?}");
    }

    #[test]
    fn a_crate_that_has_no_place_is_told() {
        let problems = broken(by_manifest, &[("host/new/Cargo.toml", "[package]\nname = \"new\"")]);
        assert!(problems[0].contains("nothing says which crates `new` may name"), "{problems:?}");
    }

    #[test]
    fn a_source_that_names_what_is_not_its_own_is_told() {
        let source = "use wasmtime::Engine;\nfn f() -> anyhow::Result<()> { wasmtime_wasi::x() }";
        let problems = broken(by_name, &[MODEL, ("host/model/src/lib.rs", source)]);
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(problems[0].contains("host/model/src/lib.rs:1: names `wasmtime::Engine`"));
    }
}
