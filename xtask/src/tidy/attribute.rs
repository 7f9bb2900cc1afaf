//! Attributes: every exception from a lint has a reason, and no test is skipped.

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned as _;
use syn::visit::Visit;

use super::tree::Tree;

/// `allow` and `expect` say why, and nothing is ignored.
pub(super) fn attributes(tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    for (file, rust) in tree.rust() {
        let mut seen = Attributes::default();
        seen.visit_file(&rust.ast);
        for (line, what) in seen.found {
            problems.push(format!("{}:{line}: {what}", file.path));
        }
    }
    problems
}

#[derive(Default)]
struct Attributes {
    found: Vec<(usize, &'static str)>,
}

impl Attributes {
    fn look(&mut self, line: usize, name: &str, arguments: &TokenStream) {
        const NO_REASON: &str = "an exception without a reason; add `reason = \"…\"`";
        let has_reason = || {
            arguments.clone().into_iter().any(|t| matches!(&t, TokenTree::Ident(ident) if ident == "reason"))
        };
        match name {
            "allow" | "expect" if !has_reason() => self.found.push((line, NO_REASON)),
            "ignore" => self.found.push((line, "a test that is never run; make it pass, or take it out")),
            // `cfg_attr(condition, allow(…))`
            "cfg_attr" => {
                let mut before: Option<String> = None;
                for token in arguments.clone() {
                    match (&token, before.take()) {
                        (TokenTree::Group(group), Some(name)) => self.look(line, &name, &group.stream()),
                        (TokenTree::Ident(ident), _) if ident == "ignore" => {
                            self.look(line, "ignore", arguments)
                        }
                        (TokenTree::Ident(ident), _) => before = Some(ident.to_string()),
                        (TokenTree::Punct(_) | TokenTree::Literal(_) | TokenTree::Group(_), _) => {}
                    }
                }
            }
            _ => {}
        }
    }
}

impl<'ast> Visit<'ast> for Attributes {
    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        let name = attribute.path().get_ident().map(ToString::to_string).unwrap_or_default();
        let arguments = match &attribute.meta {
            syn::Meta::List(list) => list.tokens.clone(),
            syn::Meta::Path(_) | syn::Meta::NameValue(_) => TokenStream::new(),
        };
        self.look(attribute.span().start().line, &name, &arguments);
    }
}

#[cfg(test)]
mod tests {
    use super::attributes;
    use crate::tidy::tests::broken;

    #[test]
    fn an_exception_without_a_reason_and_a_skipped_test_are_told() {
        for bad in [
            "#![allow(dead_code)]",
            "#[expect(clippy::panic)] fn f() {}",
            "#[cfg_attr(unix, allow(dead_code))] fn f() {}",
            "#[test]\n#[ignore = \"slow\"]\nfn f() {}",
            "mod tests { #[cfg_attr(windows, ignore)] fn f() {} }",
        ] {
            assert_eq!(broken(attributes, &[("host/model/src/lib.rs", bad)]).len(), 1, "{bad}");
        }
        let good = "#![allow(dead_code, reason = \"generated\")] #[derive(Debug)] struct A;";
        assert_eq!(broken(attributes, &[("host/model/src/lib.rs", good)]), [""; 0]);
    }
}
