//! What the host offers to plugins, and in which versions.

use std::collections::BTreeSet;

use wasmtime::component::{HasSelf, Linker};

use crate::bindings::host;
use crate::error::LoadError;
use crate::state::CallState;

/// The versions of `portcullis:host` that are served, the newest one first. It is
/// the one that is linked; the linker lets it stand in for the earlier ones, which
/// it holds whole.
const VERSIONS: [&str; 2] = ["0.1.1", "0.1.0"];

type Add = fn(&mut Linker<CallState>) -> wasmtime::Result<()>;

/// Every interface that a plugin may import.
const INTERFACES: &[(&str, Add)] = &[
    ("log", |l| host::log::add_to_linker::<_, HasSelf<CallState>>(l, |s| s)),
    ("settings", |l| host::settings::add_to_linker::<_, HasSelf<CallState>>(l, |s| s)),
    ("store", |l| host::store::add_to_linker::<_, HasSelf<CallState>>(l, |s| s)),
    ("clock", |l| host::clock::add_to_linker::<_, HasSelf<CallState>>(l, |s| s)),
    ("terminal", |l| host::terminal::add_to_linker::<_, HasSelf<CallState>>(l, |s| s)),
    ("call", |l| host::call::add_to_linker::<_, HasSelf<CallState>>(l, |s| s)),
    ("event", |l| host::event::add_to_linker::<_, HasSelf<CallState>>(l, |s| s)),
    ("invocation", |l| host::invocation::add_to_linker::<_, HasSelf<CallState>>(l, |s| s)),
];

/// Links `imports`, each of them once, whatever version of it is asked for.
pub(crate) fn link(linker: &mut Linker<CallState>, imports: &[&str]) -> Result<(), LoadError> {
    let mut linked = BTreeSet::new();
    for import in imports {
        let (interface, add) = find(import)?;
        if linked.insert(interface) {
            add(linker).map_err(|e| LoadError::Link(format!("`{import}`: {e:#}")))?;
        }
    }
    Ok(())
}

fn find(import: &str) -> Result<(&'static str, Add), LoadError> {
    let (name, version) = import.split_once('@').unwrap_or((import, ""));
    let interface = name.strip_prefix("portcullis:host/");
    let Some((interface, add)) = INTERFACES.iter().find(|(known, _)| interface == Some(known)) else {
        return Err(LoadError::Import {
            import: import.to_owned(),
            why: "this host does not offer to plugins",
        });
    };
    if VERSIONS.contains(&version) {
        return Ok((interface, *add));
    }
    let [newest, ..] = VERSIONS;
    Err(LoadError::OtherVersion { expected: format!("{name}@{newest}"), found: import.to_owned() })
}

#[cfg(test)]
mod tests {
    use wasmtime::Engine;
    use wasmtime::component::Linker;

    use super::{INTERFACES, VERSIONS, link};

    #[test]
    fn every_version_is_offered_even_to_a_plugin_that_asks_for_all_of_them() {
        let all = VERSIONS.map(|version| INTERFACES.iter().map(move |(name, _)| (name, version)));
        let imports: Vec<_> = all
            .into_iter()
            .flatten()
            .map(|(name, version)| format!("portcullis:host/{name}@{version}"))
            .collect();
        let imports: Vec<_> = imports.iter().map(String::as_str).collect();
        link(&mut Linker::new(&Engine::default()), &imports).unwrap();
    }

    #[test]
    fn a_version_that_is_not_served_is_named_with_the_newest_that_is() {
        for found in ["call@0.1.2", "call@0.2.0", "call@0.0.9", "call@", "call"] {
            let import = format!("portcullis:host/{found}");
            let error = link(&mut Linker::new(&Engine::default()), &[&import]).unwrap_err().to_string();
            let speaks = format!("`portcullis:host/call@{}`", VERSIONS[0]);
            assert_eq!(error, format!("built for `{import}`; this host speaks {speaks}"));
        }
    }
}
