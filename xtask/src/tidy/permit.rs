//! A permit has one constructor, and only the gate can call it.

#![allow(clippy::wildcard_enum_match_arm, reason = "of the many kinds of items few matter here")]

use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};
use syn::{ImplItem, Item, ReturnType, Type, Visibility};

use super::tree::{Rust, Tree};

const HOME: &str = "host/portcullis/src/gate/permit.rs";
const CALLER: &str = "host/portcullis/src/gate/mod.rs";
/// Traits that would make a permit out of something else.
const MAKERS: &[&str] = &["Clone", "Copy", "Default", "Deserialize", "From", "FromStr", "TryFrom"];

/// `Permit` is built in one place: `Permit::new`, which is `pub(super)` in
/// `gate/permit.rs` and called by the gate alone.
pub(super) fn one_constructor(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, rust) in tree.rust().filter(|(file, _)| file.path.starts_with("host/")) {
        let path = &file.path;
        let ours = path.starts_with("host/portcullis/");
        if *path == HOME {
            problems.extend(home(path, rust));
        } else if ours {
            for line in built(rust) {
                problems.push(format!(
                    "{path}:{line}: builds a `Permit`; only gate/permit.rs does, ask the gate for a judgement"
                ));
            }
        }
        for name in rust.names.iter().filter(|name| ours && *path != HOME && *path != CALLER && !name.test) {
            if name.segments.ends_with(&["Permit".to_owned(), "new".to_owned()]) {
                problems.push(format!(
                    "{path}:{}: calls `Permit::new`; only gate/mod.rs does, at the end of a judgement",
                    name.line
                ));
            }
        }
    }
    problems
}

/// The rules of the file that the permit lives in.
fn home(path: &str, rust: &Rust) -> Vec<String> {
    let mut problems = Vec::new();
    let mut makers = 0;
    for item in &rust.ast.items {
        match item {
            Item::Struct(item) if item.ident == "Permit" => {
                if let Some(field) = item.fields.iter().find(|f| !matches!(f.vis, Visibility::Inherited)) {
                    problems.push(format!(
                        "{path}:{}: a field of `Permit` can be seen from outside; make it private",
                        field.span().start().line
                    ));
                }
                for derived in derives(&item.attrs).iter().filter(|name| MAKERS.contains(&name.as_str())) {
                    problems.push(format!(
                        "{path}:{}: `Permit` derives `{derived}`, which makes another one; take it off",
                        item.span().start().line
                    ));
                }
            }
            Item::Impl(item) if is_permit(&item.self_ty) => {
                if let Some((of, _)) = &item.trait_ {
                    let name =
                        of.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default();
                    if MAKERS.contains(&name.as_str()) {
                        problems.push(format!(
                            "{path}:{}: `Permit` is `{name}`, which makes another one; take it off",
                            item.span().start().line
                        ));
                    }
                }
                for item in &item.items {
                    let ImplItem::Fn(function) = item else { continue };
                    let ReturnType::Type(_, answer) = &function.sig.output else { continue };
                    if !is_permit(answer) {
                        continue;
                    }
                    makers += 1;
                    let only_the_gate =
                        matches!(&function.vis, Visibility::Restricted(vis) if vis.path.is_ident("super"));
                    if function.sig.ident != "new" || !only_the_gate {
                        problems.push(format!(
                            "{path}:{}: `{}` makes a `Permit`; its one constructor is `pub(super) fn new`",
                            function.span().start().line,
                            function.sig.ident
                        ));
                    }
                }
            }
            _ => {}
        }
    }
    if makers != 1 {
        problems.push(format!("{path}: `Permit` has {makers} constructors; it has one, `pub(super) fn new`"));
    }
    if built(rust).len() != 1 {
        problems.push(format!(
            "{path}: a `Permit` is built in {} places; it is built in `new` alone",
            built(rust).len()
        ));
    }
    problems
}

fn is_permit(ty: &Type) -> bool {
    matches!(ty, Type::Path(path) if path.path.is_ident("Permit") || path.path.is_ident("Self"))
}

fn derives(attributes: &[syn::Attribute]) -> Vec<String> {
    let mut found = Vec::new();
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("derive")) {
        // What is no list of traits does not compile.
        drop(attribute.parse_nested_meta(|meta| {
            found.extend(meta.path.segments.last().map(|segment| segment.ident.to_string()));
            Ok(())
        }));
    }
    found
}

/// The lines that hold `Permit { … }`, or `Self { … }` in an `impl Permit`.
fn built(rust: &Rust) -> Vec<usize> {
    let mut seen = Built::default();
    seen.visit_file(&rust.ast);
    seen.lines
}

#[derive(Default)]
struct Built {
    lines: Vec<usize>,
    within_permit: bool,
}

impl<'ast> Visit<'ast> for Built {
    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let before = std::mem::replace(&mut self.within_permit, is_permit(&item.self_ty));
        visit::visit_item_impl(self, item);
        self.within_permit = before;
    }

    fn visit_expr_struct(&mut self, expression: &'ast syn::ExprStruct) {
        let last = expression.path.segments.last().map(|segment| segment.ident.to_string());
        if last.as_deref() == Some("Permit") || (self.within_permit && last.as_deref() == Some("Self")) {
            self.lines.push(expression.span().start().line);
        }
        visit::visit_expr_struct(self, expression);
    }
}

#[cfg(test)]
mod tests {
    use super::{HOME, one_constructor};
    use crate::tidy::tests::broken;

    const GOOD: &str = "pub struct Permit { call: u8 } impl Permit { pub(super) fn new(call: u8) -> Self { Self { call } } }";

    #[test]
    fn the_permit_as_it_is_meant_is_fine() {
        assert_eq!(
            broken(
                one_constructor,
                &[(HOME, GOOD), ("host/portcullis/src/gate/mod.rs", "fn f() { Permit::new(1) }")]
            ),
            [""; 0]
        );
    }

    #[test]
    fn another_way_to_a_permit_is_told() {
        for (bad, part) in [
            (GOOD.replace("pub(super)", "pub(crate)"), "its one constructor is"),
            (GOOD.replace("pub struct", "#[derive(Debug, Clone)] pub struct"), "derives `Clone`"),
            (GOOD.replace("{ call: u8 }", "{ pub call: u8 }"), "make it private"),
            (
                format!("{GOOD} impl Default for Permit {{ fn default() -> Self {{ Self::new(1) }} }}"),
                "is `Default`",
            ),
            (format!("{GOOD} fn other() -> Permit {{ Permit {{ call: 1 }} }}"), "built in 2 places"),
        ] {
            let problems = broken(one_constructor, &[(HOME, &bad)]);
            assert!(problems.iter().any(|problem| problem.contains(part)), "{part} in {problems:?}");
        }
        for (path, bad, part) in [
            ("host/portcullis/src/turn.rs", "fn f() { Permit { call: 1 } }", "builds a `Permit`"),
            ("host/portcullis/src/turn.rs", "fn f() { gate::Permit::new(1) }", "calls `Permit::new`"),
        ] {
            let problems = broken(one_constructor, &[(HOME, GOOD), (path, bad)]);
            assert!(problems.iter().any(|problem| problem.contains(part)), "{part} in {problems:?}");
        }
    }
}
