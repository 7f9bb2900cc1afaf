//! Nothing public of the runtime mentions its engine.

#![allow(clippy::wildcard_enum_match_arm, reason = "of the many kinds of items few matter here")]

use std::collections::{BTreeMap, BTreeSet};

use syn::visit::Visit;
use syn::{ImplItem, Item, TraitItem, Type, UseTree, Visibility};

use super::tree::{File, Rust, Tree};

const SOURCE: &str = "host/runtime/src/";

/// No `wasmtime` type in a signature, a field or a trait that other crates see.
pub(super) fn no_engine_in_public(tree: &Tree) -> Vec<String> {
    let files: Vec<(&File, &Rust)> = tree.rust().filter(|(file, _)| file.path.starts_with(SOURCE)).collect();
    let Some((root, lib)) = files.iter().find(|(file, _)| file.path == format!("{SOURCE}lib.rs")) else {
        return Vec::new();
    };
    let mut seen = Public::default();
    for item in &lib.ast.items {
        match item {
            Item::Mod(module) if is_public(&module.vis) => {
                seen.modules.insert(module.ident.to_string());
            }
            Item::Use(import) if is_public(&import.vis) => {
                if names_engine(&imported_root(&import.tree)) {
                    seen.problems.push(told(root, import, "hands on the engine"));
                }
                seen.add_names(&import.tree);
            }
            _ => {}
        }
    }
    for (file, rust) in &files {
        seen.file(file, rust);
    }
    seen.problems
}

#[derive(Default)]
struct Public {
    /// Modules whose every public item other crates see.
    modules: BTreeSet<String>,
    /// Items of private modules that are handed on.
    names: BTreeSet<String>,
    problems: Vec<String>,
}

impl Public {
    fn add_names(&mut self, tree: &UseTree) {
        match tree {
            UseTree::Path(path) => self.add_names(&path.tree),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add_names(tree)),
            UseTree::Name(name) => drop(self.names.insert(name.ident.to_string())),
            UseTree::Rename(rename) => drop(self.names.insert(rename.ident.to_string())),
            _ => {}
        }
    }

    fn file(&mut self, file: &File, rust: &Rust) {
        let module =
            file.path.strip_prefix(SOURCE).and_then(|path| path.split(['/', '.']).next()).unwrap_or_default();
        let open = self.modules.contains(module);
        let engine = engine_names(rust);
        for item in &rust.ast.items {
            let mut found = Vec::new();
            let seen = |vis: &Visibility, name: &syn::Ident| {
                is_public(vis) && (open || self.names.contains(&name.to_string()))
            };
            match item {
                Item::Struct(item) if seen(&item.vis, &item.ident) => {
                    for field in item.fields.iter().filter(|field| is_public(&field.vis)) {
                        found.extend(mentions(&engine, |v| v.visit_type(&field.ty)));
                    }
                }
                Item::Enum(item) if seen(&item.vis, &item.ident) => {
                    for field in item.variants.iter().flat_map(|variant| &variant.fields) {
                        found.extend(mentions(&engine, |v| v.visit_type(&field.ty)));
                    }
                }
                Item::Type(item) if seen(&item.vis, &item.ident) => {
                    found.extend(mentions(&engine, |v| v.visit_type(&item.ty)));
                }
                Item::Const(item) if seen(&item.vis, &item.ident) => {
                    found.extend(mentions(&engine, |v| v.visit_type(&item.ty)));
                }
                Item::Fn(item) if seen(&item.vis, &item.sig.ident) => {
                    found.extend(mentions(&engine, |v| v.visit_signature(&item.sig)));
                }
                Item::Trait(item) if seen(&item.vis, &item.ident) => {
                    for item in &item.items {
                        let TraitItem::Fn(function) = item else { continue };
                        found.extend(mentions(&engine, |v| v.visit_signature(&function.sig)));
                    }
                }
                Item::Impl(item) if self.is_seen(&item.self_ty, open) => match &item.trait_ {
                    Some((of, _)) => found.extend(mentions(&engine, |v| v.visit_path(of))),
                    None => {
                        for item in &item.items {
                            let ImplItem::Fn(function) = item else { continue };
                            if is_public(&function.vis) {
                                found.extend(mentions(&engine, |v| v.visit_signature(&function.sig)));
                            }
                        }
                    }
                },
                _ => {}
            }
            for what in found {
                self.problems.push(told(file, item, &format!("mentions `{what}`")));
            }
        }
    }

    fn is_seen(&self, ty: &Type, open: bool) -> bool {
        let Type::Path(path) = ty else { return false };
        let last = path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
        open || self.names.contains(&last)
    }
}

fn told(file: &File, at: &impl syn::spanned::Spanned, what: &str) -> String {
    format!(
        "{}:{}: something public {what}; other crates must not see the engine, so wrap it or make it `pub(crate)`",
        file.path,
        at.span().start().line
    )
}

fn is_public(vis: &Visibility) -> bool {
    matches!(vis, Visibility::Public(_))
}

fn names_engine(root: &str) -> bool {
    root.starts_with("wasmtime")
}

fn imported_root(tree: &UseTree) -> String {
    match tree {
        UseTree::Path(path) => path.ident.to_string(),
        UseTree::Name(name) => name.ident.to_string(),
        UseTree::Rename(rename) => rename.ident.to_string(),
        _ => String::new(),
    }
}

/// The names by which a file knows what is the engine's.
fn engine_names(rust: &Rust) -> BTreeMap<String, String> {
    let imports = rust.names.iter().filter(|name| names_engine(name.root()));
    imports.filter_map(|name| Some((name.import.clone()?, name.text()))).collect()
}

/// What of the engine's is mentioned in a piece of syntax.
fn mentions(engine: &BTreeMap<String, String>, visit: impl FnOnce(&mut Mentions<'_>)) -> Vec<String> {
    let mut seen = Mentions { engine, found: Vec::new() };
    visit(&mut seen);
    seen.found
}

struct Mentions<'a> {
    engine: &'a BTreeMap<String, String>,
    found: Vec<String>,
}

impl<'ast> Visit<'ast> for Mentions<'_> {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let root = path.segments.first().map(|segment| segment.ident.to_string()).unwrap_or_default();
        if names_engine(&root) {
            let text: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
            self.found.push(text.join("::"));
        } else if let Some(full) = self.engine.get(&root) {
            self.found.push(full.clone());
        }
        syn::visit::visit_path(self, path);
    }
}

#[cfg(test)]
mod tests {
    use super::no_engine_in_public;
    use crate::tidy::tests::broken;

    fn problems(lib: &str, guest: &str) -> Vec<String> {
        broken(no_engine_in_public, &[("host/runtime/src/lib.rs", lib), ("host/runtime/src/guest.rs", guest)])
    }

    #[test]
    fn a_public_signature_that_mentions_the_engine_is_told() {
        for guest in [
            "use wasmtime::Engine; pub struct Guest; impl Guest { pub fn engine(&self) -> &Engine { &self.0 } }",
            "pub struct Guest { pub engine: Option<wasmtime::Engine> }",
            "pub enum Guest { Failed(wasmtime::Error) }",
            "use wasmtime::component as c; pub trait Guest { fn f(&self, l: c::Linker); }",
            "use wasmtime::Error; impl From<Error> for Guest {}",
            "pub fn Guest(store: wasmtime::Store<u8>) {}",
            "pub type Guest = wasmtime_wasi::WasiCtx;",
        ] {
            let found = problems("mod guest; pub use guest::{Guest, Other};", guest);
            assert_eq!(found.len(), 1, "{guest}: {found:?}");
            assert!(found[0].starts_with("host/runtime/src/guest.rs:1: something public mentions `wasmtime"));
        }
        assert_eq!(problems("pub use wasmtime::Engine;", "").len(), 1);
        assert_eq!(problems("pub mod guest;", "pub fn f() -> wasmtime::Engine {}").len(), 1);
    }

    #[test]
    fn what_other_crates_do_not_see_may_mention_it() {
        let guest = "use wasmtime::Engine; pub struct Guest { pub(crate) engine: Engine } pub struct Hidden(pub Engine);
            impl Guest { pub(crate) fn f() -> Engine {} } pub fn hidden(e: Engine) {}";
        assert_eq!(problems("mod guest; pub use guest::Guest;", guest), [""; 0]);
    }
}
