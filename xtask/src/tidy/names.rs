//! Everything that a Rust file names: paths, imports, and paths within macros.

use std::collections::HashMap;

use proc_macro2::{Spacing, Span, TokenStream, TokenTree};
use syn::visit::{self, Visit};
use syn::{Attribute, UseTree};

/// One path, wherever it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Name {
    /// As it is written, but that imported names are spelled out. A glob is `*`.
    pub(super) segments: Vec<String>,
    pub(super) line: usize,
    /// Only tests see it.
    pub(super) test: bool,
    /// It is handed on, by `pub use`.
    pub(super) handed_on: bool,
    /// Under which name an import is known here.
    pub(super) import: Option<String>,
    /// How many inline modules it stands in.
    pub(super) depth: usize,
    /// It is the name of a macro that is called.
    pub(super) is_macro: bool,
}

impl Name {
    /// As it is written.
    pub(super) fn text(&self) -> String {
        self.segments.join("::")
    }

    pub(super) fn root(&self) -> &str {
        self.segments.first().map_or("", String::as_str)
    }

    /// True when it leads to `wanted`, or into it, or imports all of what holds it.
    pub(super) fn reaches(&self, wanted: &str) -> bool {
        let wanted: Vec<&str> = wanted.split("::").collect();
        let alike = |count: usize| self.segments.iter().zip(&wanted).take(count).all(|(a, b)| a == b);
        match self.segments.split_last() {
            Some((last, before)) if last == "*" => {
                !before.is_empty() && alike(before.len().min(wanted.len()))
            }
            _ => self.segments.len() >= wanted.len() && alike(wanted.len()),
        }
    }
}

/// Everything that `file` names.
pub(super) fn names(file: &syn::File) -> Vec<Name> {
    let mut collector = Collector::default();
    collector.visit_file(file);
    let imports: HashMap<String, Vec<String>> = collector
        .names
        .iter()
        .filter_map(|name| Some((name.import.clone()?, name.segments.clone())))
        .collect();
    for name in &mut collector.names {
        let rooted = ["crate", "self", "super", "std"].contains(&name.root());
        if name.import.is_none()
            && !rooted
            && let Some(full) = imports.get(name.root())
        {
            name.segments.splice(..1, full.iter().cloned());
        }
    }
    collector.names
}

/// True for `#[test]`, `#[tokio::test]` and `#[cfg(test)]`.
pub(super) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let last = attribute.path().segments.last();
        let is = |word: &str| last.is_some_and(|segment| segment.ident == word);
        let only_test =
            || attribute.parse_args::<syn::Path>().is_ok_and(|condition| condition.is_ident("test"));
        is("test") || (is("cfg") && only_test())
    })
}

#[derive(Default)]
struct Collector {
    names: Vec<Name>,
    tests: usize,
    depth: usize,
}

impl Collector {
    fn add(&mut self, segments: Vec<String>, at: Span, handed_on: bool, import: Option<String>) {
        let line = at.start().line;
        let (test, depth) = (self.tests > 0, self.depth);
        self.names.push(Name { segments, line, test, handed_on, import, depth, is_macro: false });
    }

    fn within_tests(&mut self, tests: bool, visit: impl FnOnce(&mut Self)) {
        self.tests += usize::from(tests);
        visit(self);
        self.tests -= usize::from(tests);
    }

    fn import(&mut self, tree: &UseTree, before: &mut Vec<String>, handed_on: bool) {
        match tree {
            UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.import(&path.tree, before, handed_on);
                before.pop();
            }
            UseTree::Group(group) => {
                for tree in &group.items {
                    self.import(tree, before, handed_on);
                }
            }
            UseTree::Name(name) => {
                self.import_as(before, &name.ident, name.ident.to_string(), handed_on);
            }
            UseTree::Rename(rename) => {
                self.import_as(before, &rename.ident, rename.rename.to_string(), handed_on);
            }
            UseTree::Glob(glob) => {
                let mut segments = before.clone();
                segments.push("*".to_owned());
                self.add(
                    segments,
                    glob.star_token.spans.first().copied().unwrap_or_else(Span::call_site),
                    handed_on,
                    None,
                );
            }
        }
    }

    fn import_as(&mut self, before: &[String], last: &syn::Ident, known_as: String, handed_on: bool) {
        let mut segments = before.to_vec();
        let mut known_as = known_as;
        if last == "self" {
            if known_as == "self" {
                known_as = before.last().cloned().unwrap_or_default();
            }
        } else {
            segments.push(last.to_string());
        }
        self.add(segments, last.span(), handed_on, Some(known_as));
    }

    /// Paths in tokens that no parser has looked at.
    fn tokens(&mut self, tokens: &TokenStream) {
        let mut path: Vec<String> = Vec::new();
        let mut start = Span::call_site();
        let mut colons = 0;
        for token in tokens.clone() {
            match &token {
                TokenTree::Ident(ident) if colons == 2 && !path.is_empty() => path.push(ident.to_string()),
                TokenTree::Ident(ident) => {
                    self.flush(&mut path, start);
                    path.push(ident.to_string());
                    start = ident.span();
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' => {
                    colons = if colons == 1 || punct.spacing() == Spacing::Joint { colons + 1 } else { 0 };
                    continue;
                }
                TokenTree::Group(group) => {
                    self.flush(&mut path, start);
                    self.tokens(&group.stream());
                }
                TokenTree::Punct(_) | TokenTree::Literal(_) => self.flush(&mut path, start),
            }
            colons = 0;
        }
        self.flush(&mut path, start);
    }

    fn flush(&mut self, path: &mut Vec<String>, start: Span) {
        if !path.is_empty() {
            self.add(std::mem::take(path), start, false, None);
        }
    }
}

impl<'ast> Visit<'ast> for Collector {
    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        let handed_on = !matches!(item.vis, syn::Visibility::Inherited);
        self.within_tests(is_for_tests(&item.attrs), |this| {
            this.import(&item.tree, &mut Vec::new(), handed_on);
        });
    }

    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        self.depth += 1;
        self.within_tests(is_for_tests(&item.attrs), |this| visit::visit_item_mod(this, item));
        self.depth -= 1;
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        self.within_tests(is_for_tests(&item.attrs), |this| visit::visit_item_fn(this, item));
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let at = path.segments.first().map_or_else(Span::call_site, |segment| segment.ident.span());
        self.add(segments, at, false, None);
        visit::visit_path(self, path);
    }

    fn visit_vis_restricted(&mut self, _: &'ast syn::VisRestricted) {}

    fn visit_attribute(&mut self, attribute: &'ast Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            self.tokens(&list.tokens);
        }
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        self.visit_path(&mac.path);
        if let Some(name) = self.names.last_mut() {
            name.is_macro = true;
        }
        self.tokens(&mac.tokens);
    }
}

#[cfg(test)]
mod tests {
    use super::names;

    fn texts(source: &str) -> Vec<String> {
        names(&syn::parse_file(source).unwrap()).iter().map(super::Name::text).collect()
    }

    #[test]
    fn imports_are_spelled_out_wherever_they_are_used() {
        let found = texts(
            "use std::{fs, process::{self, Command as C}}; fn f() { fs::read(p); C::new(x); process::id() }",
        );
        for wanted in ["std::fs::read", "std::process::Command::new", "std::process::id"] {
            assert!(found.contains(&wanted.to_owned()), "{wanted} in {found:?}");
        }
    }

    #[test]
    fn paths_within_macros_count() {
        let found = texts(
            "fn f() { assert!(a == std::env::var(\"x\"), \"{}\", b) } bindgen!({ with: { \"x\": crate::handle::Call } });",
        );
        for wanted in ["std::env::var", "crate::handle::Call"] {
            assert!(found.contains(&wanted.to_owned()), "{wanted} in {found:?}");
        }
    }

    #[test]
    fn a_glob_reaches_what_it_holds() {
        let found = names(&syn::parse_file("use std::process::*;").unwrap());
        assert!(found.iter().any(|name| name.reaches("std::process::Command")));
        assert!(!found.iter().any(|name| name.reaches("std::env")));
    }

    #[test]
    fn what_only_tests_see_is_marked() {
        let found = names(
            &syn::parse_file("fn a() { x::y() } #[cfg(test)] mod tests { fn b() { z::w() } }").unwrap(),
        );
        let of = |text: &str| found.iter().find(|name| name.text() == text).unwrap().test;
        assert!(!of("x::y") && of("z::w"));
    }
}
