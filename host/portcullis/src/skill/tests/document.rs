//! The corpus of skills: each file with the verdicts and the codes that it gets.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::skill::{Effect, Load, ScanCode, SkillCode, SkillDocument};

fn corpus() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/skills")
}

fn cases() -> Vec<Value> {
    let text = fs::read_to_string(corpus().join("cases.jsonl")).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn read(case: &Value) -> SkillDocument {
    let path = corpus().join(case["path"].as_str().unwrap());
    let directory = path.parent().unwrap().file_name().unwrap().to_str().unwrap();
    let bytes = fs::read(&path).unwrap();
    SkillDocument::read(&bytes, Some(directory))
}

#[test]
fn every_case_of_the_corpus_gets_its_verdicts_codes_name_and_description() {
    let mut wrong = Vec::new();
    let cases = cases();
    assert!(cases.len() >= 32);
    // What a file is called is not in its bytes; `filename_case` is a case of discovery.
    for case in cases.iter().filter(|case| case["id"] != "lowercase-file") {
        let document = read(case);
        let codes: BTreeSet<&str> = document.findings.iter().map(|finding| finding.code.as_str()).collect();
        let wanted = case["codes"].as_array().unwrap().iter().map(|code| code.as_str().unwrap());
        let wanted: BTreeSet<&str> = wanted
            .map(|code| if code.starts_with("yaml_repaired") { "yaml_repaired" } else { code })
            .collect();
        let strict = if document.is_conforming() { "valid" } else { "invalid" };
        let mut differs = vec![(codes != wanted).then(|| format!("{codes:?} for {wanted:?}"))];
        let mut compare = |what: &str, is: Value| {
            let wanted = &case[what];
            differs.push((*wanted != is).then(|| format!("{what}: {is} for {wanted}")));
        };
        compare("load", document.load().as_str().into());
        compare("name", document.name.clone().into());
        if case["id"] != "dup-key" {
            compare("description", document.description.clone().into());
        }
        if case["strict"] != "either" {
            compare("strict", strict.into());
        }
        if case.get("allowed_tools").is_some() {
            compare("allowed_tools", document.fields.allowed_tools.clone().into());
        }
        if case.get("argument_hint").is_some() {
            compare("argument_hint", document.fields.argument_hint.clone().into());
        }
        let differs: Vec<String> = differs.into_iter().flatten().collect();
        if !differs.is_empty() {
            wrong.push(format!("{}: {}", case["id"], differs.join("; ")));
        }
        assert!(document.findings.iter().all(|own| !own.message.is_empty() && !own.remedy.is_empty()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn codes(text: &str, directory: &str) -> (Load, bool, Vec<SkillCode>) {
    let document = SkillDocument::read(text.as_bytes(), Some(directory));
    let codes = document.findings.iter().map(|finding| finding.code).collect();
    (document.load(), document.is_conforming(), codes)
}

fn skill(fields: &str) -> String {
    format!("---\n{fields}---\n\n# Steps\n")
}

#[test]
fn a_skill_needs_a_frontmatter_with_a_name_and_a_description() {
    for (text, code) in [
        ("# Steps\n", SkillCode::FrontmatterMissing),
        ("---\nname: a\n", SkillCode::FrontmatterUnclosed),
        ("---\ndescription: A.\n---\n", SkillCode::NameMissing),
        ("---\nname:\ndescription: A.\n---\n", SkillCode::NameEmpty),
        ("---\nname: [a]\ndescription: A.\n---\n", SkillCode::NameNotString),
        ("---\nname: a\n---\n", SkillCode::DescriptionMissing),
        ("---\nname: a\ndescription: ' '\n---\n", SkillCode::DescriptionEmpty),
        ("---\nname: a\ndescription: [TODO]\n---\n", SkillCode::DescriptionNotString),
    ] {
        assert_eq!(codes(text, "a"), (Load::Skip, false, vec![code]), "{text}");
    }
}

#[test]
fn names_and_descriptions_are_measured_in_characters() {
    let described = |text: &str| codes(&skill(&format!("name: a\ndescription: {text}\n")), "a");
    assert_eq!(described(&"é".repeat(1024)), (Load::Load, true, vec![]));
    assert_eq!(described(&"é".repeat(1025)), (Load::Warn, false, vec![SkillCode::DescriptionTooLong]));
    assert_eq!(described(&format!("'{}'", "a b ".repeat(3000))).2, [SkillCode::DescriptionTooLong]);
    let named = |name: &str| codes(&skill(&format!("name: {name}\ndescription: A.\n")), name);
    assert_eq!(named(&"a".repeat(64)), (Load::Load, true, vec![]));
    for (name, code) in [
        ("a".repeat(65).as_str(), SkillCode::NameTooLong),
        ("Log-Trim", SkillCode::NameNotLowercase),
        ("log_trim", SkillCode::NameBadChars),
        ("größe", SkillCode::NameNotAscii),
        ("a--b", SkillCode::NameHyphens),
        ("-a", SkillCode::NameHyphens),
        ("a-", SkillCode::NameHyphens),
    ] {
        assert_eq!(named(name), (Load::Warn, false, vec![code]), "{name}");
    }
}

#[test]
fn an_empty_body_is_fine() {
    assert_eq!(codes("---\nname: a\ndescription: A.\n---", "a"), (Load::Load, true, vec![]));
    assert_eq!(SkillDocument::body("---\nname: a\ndescription: A.\n---"), "");
}

#[test]
fn what_a_skill_serves_has_two_spellings() {
    let serves = |value: &str| {
        let text = skill(&format!("name: a\ndescription: A.\n{value}"));
        let document = SkillDocument::read(text.as_bytes(), Some("a"));
        document.fields.serves.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(serves("serves: documents, live-data\n"), serves("serves: [live-data, documents]\n"));
    assert_eq!(serves("serves: documents, live-data\n"), "live-data documents");
    assert_eq!(serves("serves:\n- quantum\n"), "quantum");
    assert_eq!(serves(""), "");
}

#[test]
fn findings_stand_on_their_lines_and_offer_what_would_be_right() {
    let text = skill("name: Log_Trim\ndescription: Use when: long\nversion: 1\n");
    let document = SkillDocument::read(text.as_bytes(), Some("log-trim"));
    let findings: Vec<_> =
        document.findings.iter().map(|own| (own.code, own.line.unwrap(), own.fix.as_deref())).collect();
    assert_eq!(
        findings,
        [
            (SkillCode::NameNotLowercase, 2, Some("name: log-trim")),
            (SkillCode::NameBadChars, 2, Some("name: log-trim")),
            (SkillCode::NameDirMismatch, 2, Some("name: log-trim")),
            (SkillCode::YamlRepaired, 3, Some("description: 'Use when: long'")),
            (SkillCode::UnknownField, 4, None),
        ]
    );
}

#[test]
fn the_frontmatter_is_kept_losslessly_and_is_the_same_json_each_time() {
    let text = skill("name: a\ndescription: A.\nmetadata: {x: 1.50, y: [true, 007]}\nk: 'v'\n");
    let document = SkillDocument::read(text.as_bytes(), Some("a"));
    let json = serde_json::to_string(&document.frontmatter().unwrap()).unwrap();
    let same = r#"{"name":"a","description":"A.","metadata":{"x":1.50,"y":[true,7]},"k":"v"}"#;
    assert_eq!(json, same);
    assert!(document.digest.is_some());
}

#[test]
fn every_code_is_listed_and_says_one_thing() {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/codes.md"));
    let page = page.unwrap();
    let mut seen = BTreeSet::new();
    for code in SkillCode::ALL {
        let strict = if code.is_conforming() { "yes" } else { "no" };
        let load = match code.effect() {
            Effect::Note => "load",
            Effect::Warn => "warn",
            Effect::Skip => "skip",
        };
        let row = format!("| `{code}` | {strict} | {load} |");
        assert!(page.contains(&row), "docs/reference/codes.md has no row {row}");
        assert!(seen.insert(code.as_str()));
    }
    for code in ScanCode::ALL {
        assert!(page.contains(&format!("| `{code}` | ")), "docs/reference/codes.md does not list {code}");
        assert!(seen.insert(code.as_str()));
    }
}

proptest::proptest! {
    #[test]
    fn any_bytes_give_a_document(bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..400)) {
        let framed = [b"---\n".as_slice(), &bytes, b"\n---\nx"].concat();
        for bytes in [bytes, framed] {
            let document = SkillDocument::read(&bytes, Some("a"));
            let is_whole = document.name.is_some() && document.description.is_some();
            proptest::prop_assert!(document.load() == Load::Skip || is_whole);
            proptest::prop_assert!(is_whole || !document.findings.is_empty());
        }
    }

    #[test]
    fn any_fields_give_a_document_and_those_that_load_have_a_name(
        text in "((name|description|metadata|x): [a-z:#*&!%@`'\"\\[\\]{}|> -]{0,12}\n( |\t)?){0,5}"
    ) {
        let document = SkillDocument::read(skill(&text).as_bytes(), Some("a"));
        if document.load() != Load::Skip {
            proptest::prop_assert!(document.name.is_some() && document.description.is_some());
        }
    }
}
