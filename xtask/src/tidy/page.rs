//! Pages that speak of the code say what it says.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};

use super::names::is_for_tests;
use super::tree::{Rust, Tree, has_extension};

const CODES: &str = "docs/reference/codes.md";
/// Names of tools and of events look like names of tests.
const NAMES: [&str; 2] = ["docs/reference/tools.md", "docs/reference/agents.md"];
const KINDS: &[&str] = &["load", "fault", "input", "host", "self", "wire", "socket"];
const FAULTS: &str = "host/model/src/fault.rs";

/// Every stable code of the host is in the reference, and no other.
pub(super) fn codes_are_listed(tree: &Tree) -> Vec<String> {
    let mut codes = BTreeSet::new();
    for (file, rust) in tree.rust().filter(|(file, _)| file.path.starts_with("host/") && !file.is_aside()) {
        let words = literals(rust);
        if file.path == FAULTS {
            // A fault's word stands behind `fault/`, and behind `load/` when a
            // plugin fails while it is loaded.
            let words: Vec<_> = words.iter().filter(|word| is_word(word)).collect();
            codes.extend(words.iter().flat_map(|word| [format!("fault/{word}"), format!("load/{word}")]));
        }
        codes.extend(words.into_iter().filter(|word| is_code(word)));
    }
    let Some(page) = tree.files.iter().find(|file| file.path == CODES).and_then(|file| file.text()) else {
        return if codes.is_empty() { Vec::new() } else { vec![format!("{CODES}: is not there; write it")] };
    };
    let listed: BTreeSet<String> = quoted(page).filter(|word| is_code(word)).map(str::to_owned).collect();
    let missing = codes.difference(&listed).map(|code| format!("{CODES}: does not list `{code}`; add a row"));
    let extra = listed
        .difference(&codes)
        .map(|code| format!("{CODES}: lists `{code}`, which the host never says; take it out"));
    missing.chain(extra).collect()
}

/// Every test that a page names as a proof is there.
pub(super) fn named_tests_exist(tree: &Tree) -> Vec<String> {
    let mut functions = BTreeSet::new();
    for (_, rust) in tree.rust() {
        let mut seen = Functions(&mut functions);
        seen.visit_file(&rust.ast);
    }
    // A word that the product says, such as a code, is no test's name.
    let said = |word: &str| {
        let quoted = format!("\"{word}\"");
        let mut product = tree.rust().filter(|(file, _)| !file.is_aside());
        product.any(|(file, _)| file.text().is_some_and(|text| text.contains(&quoted)))
    };
    let mut problems = Vec::new();
    for file in tree
        .files
        .iter()
        .filter(|file| has_extension(&file.path, "md") && !NAMES.contains(&file.path.as_str()))
    {
        for (line, text) in file.text().unwrap_or_default().lines().enumerate() {
            for word in
                quoted(text).filter(|word| is_test_name(word) && !functions.contains(*word) && !said(word))
            {
                problems.push(format!(
                    "{}:{}: names the test `{word}`, which is not there; name the one that proves it now",
                    file.path,
                    line + 1
                ));
            }
        }
    }
    problems
}

/// What stands between back-ticks.
fn quoted(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

fn is_word(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')
}

fn is_code(text: &str) -> bool {
    text.split_once('/').is_some_and(|(kind, word)| KINDS.contains(&kind) && is_word(word))
}

/// A test's name is a sentence: at least four words.
fn is_test_name(text: &str) -> bool {
    text.matches('_').count() >= 3
        && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

/// Every text in a file, but for tests.
fn literals(rust: &Rust) -> Vec<String> {
    let mut seen = Literals(Vec::new());
    seen.visit_file(&rust.ast);
    seen.0
}

struct Literals(Vec<String>);

impl<'ast> Visit<'ast> for Literals {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_for_tests(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_lit_str(&mut self, text: &'ast syn::LitStr) {
        self.0.push(text.value());
    }

    fn visit_attribute(&mut self, _: &'ast syn::Attribute) {}
}

struct Functions<'a>(&'a mut BTreeSet<String>);

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.0.insert(signature.ident.to_string());
    }

    fn visit_macro(&mut self, mac: &'ast syn::Macro) {
        // `proptest!` holds functions that only it can read.
        let mut before = String::new();
        for token in mac.tokens.clone() {
            let text = token.to_string();
            if before == "fn" {
                self.0.insert(text.clone());
            }
            before = text;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{codes_are_listed, named_tests_exist};
    use crate::tidy::tests::broken;

    #[test]
    fn a_code_that_no_page_lists_is_told_and_one_that_is_never_said_too() {
        let source = (
            "host/runtime/src/error.rs",
            "fn f() { \"load/link\" } #[cfg(test)] mod tests { fn g() { \"load/x\" } }",
        );
        let faults = (super::FAULTS, "fn g() { \"trap\" }");
        let page = (super::CODES, "| `load/link` | … |\n| `fault/trap` | … |\n| `host/gone` | … |");
        let problems = broken(codes_are_listed, &[source, faults, page]);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(
            problems[0].contains("does not list `load/trap`") && problems[1].contains("lists `host/gone`")
        );
        assert!(broken(codes_are_listed, &[source])[0].contains("is not there"));
    }

    #[test]
    fn a_page_that_names_a_test_that_is_gone_is_told() {
        let source = (
            "tests/tests/a.rs",
            "fn a_guard_that_traps_blocks() {} proptest! { fn any_text_gives_a_value(x in y) {} }",
        );
        let page = |name: &str| format!("proved by `{name}`");
        for good in ["a_guard_that_traps_blocks", "any_text_gives_a_value", "before_tool_call"] {
            assert_eq!(broken(named_tests_exist, &[source, ("A.md", &page(good))]), [""; 0]);
        }
        assert_eq!(broken(named_tests_exist, &[source, ("A.md", &page("a_guard_that_is_gone"))]).len(), 1);
    }
}
