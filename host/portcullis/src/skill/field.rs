//! What the fields of a skill say, and what is wrong with them.

use std::collections::BTreeSet;

use portcullis_model::capability::Domain;

use super::code::{Finding, SkillCode, shown};
use super::glob::expansions;
use super::name;
use crate::frontmatter::{Node, NodeKind, Pair};

/// The fields of the specification.
const KNOWN: [&str; 6] = ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];

const DESCRIPTION_MAX: usize = 1024;
const COMPATIBILITY_MAX: usize = 500;
const GLOBS_MAX: usize = 1000;

/// What the fields of a skill say, beside its name and its description.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    /// The tools that the author would have allowed. They are shown and grant nothing.
    pub allowed_tools: Vec<String>,
    /// The domains that it serves; none: it does not say.
    pub serves: BTreeSet<Domain>,
    /// Its text is given to the model in every turn.
    pub always_active: bool,
    /// The model is not told of it; a person can still load it.
    pub hidden_from_model: bool,
    /// A hint at what can be typed behind its name.
    pub argument_hint: Option<String>,
    /// Files beside it that it shares with other skills, as it writes them.
    pub references: Vec<String>,
}

/// Everything that the fields say.
#[derive(Debug, Default)]
pub(super) struct Said {
    pub(super) name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) fields: Fields,
}

/// Reads the fields of the skill in the directory `directory`.
pub(super) fn read(pairs: &[Pair], directory: Option<&str>, findings: &mut Vec<Finding>) -> Said {
    let mut said = Said::default();
    let (mut has_name, mut has_description) = (false, false);
    for Pair { key, value } in pairs {
        let field = key.scalar().map_or("", |key| key.text.as_str());
        if !KNOWN.contains(&field) {
            findings.push(unknown(field, key.line));
        }
        match field {
            "name" => {
                has_name = true;
                said.name = name::read(value, directory, findings);
            }
            "description" => {
                has_description = true;
                said.description = read_description(value, findings);
            }
            "license" => one_text(value, SkillCode::LicenseNotString, "license", findings),
            "compatibility" => read_compatibility(value, findings),
            "metadata" => read_metadata(value, findings),
            "allowed-tools" => said.fields.allowed_tools = read_tools(value, findings),
            "argument-hint" => said.fields.argument_hint = Some(read_hint(value, findings)),
            "serves" => said.fields.serves = read_serves(value, findings),
            "always_active" | "always-active" => said.fields.always_active = flag(field, value, findings),
            "disable-model-invocation" => said.fields.hidden_from_model = flag(field, value, findings),
            "references" => said.fields.references = read_references(value, findings),
            "paths" => read_paths(value, findings),
            _ => {}
        }
    }
    if !has_name {
        let fix = directory.map(|own| format!("name: {own}"));
        let finding = Finding::new(SkillCode::NameMissing, None, "there is no `name`", "add it");
        findings.push(Finding { fix, ..finding });
    }
    if !has_description {
        let remedy = "add it, and say what the skill does and when to use it";
        findings.push(Finding::new(SkillCode::DescriptionMissing, None, "there is no `description`", remedy));
    }
    said
}

fn unknown(name: &str, line: usize) -> Finding {
    let shown = shown(name);
    Finding::new(
        SkillCode::UnknownField,
        Some(line),
        format!("the specification has no field `{shown}`"),
        "put it into `metadata`, unless a host that you use knows it",
    )
}

fn read_description(value: &Node, findings: &mut Vec<Finding>) -> Option<String> {
    let line = Some(value.line);
    let Some(scalar) = value.scalar() else {
        let remedy = "write one text, in quotes if it begins with `[` or `{`";
        let finding =
            Finding::new(SkillCode::DescriptionNotString, line, "the description is no text", remedy);
        findings.push(finding.skip());
        return None;
    };
    let text = scalar.text.trim();
    if text.is_empty() || scalar.is_null() {
        let remedy = "say what the skill does and when to use it";
        findings.push(Finding::new(SkillCode::DescriptionEmpty, line, "the description is empty", remedy));
        return None;
    }
    if !scalar.is_string() {
        findings.push(Finding::new(
            SkillCode::DescriptionNotString,
            line,
            "the description is no text to some readers",
            "put it in quotes",
        ));
    }
    let length = text.chars().count();
    if length > DESCRIPTION_MAX {
        findings.push(Finding::new(
            SkillCode::DescriptionTooLong,
            line,
            format!("the description has {length} characters, and {DESCRIPTION_MAX} is the most"),
            "shorten it, or put what is long into the body",
        ));
    }
    if has_markup(text) {
        findings.push(Finding::new(
            SkillCode::DescriptionHasMarkup,
            line,
            "the description holds what looks like markup, and some hosts refuse it",
            "write it without `<` and `>`",
        ));
    }
    Some(text.to_owned())
}

/// A `<` with something behind it that may be a tag.
fn has_markup(text: &str) -> bool {
    let is_tag = |rest: &str| {
        rest.starts_with(|c: char| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'))
            && rest.contains('>')
    };
    text.match_indices('<').any(|(at, _)| text.get(at + 1..).is_some_and(is_tag))
}

fn one_text(value: &Node, code: SkillCode, field: &str, findings: &mut Vec<Finding>) {
    if value.string().is_none() {
        let message = format!("`{field}` is no text");
        findings.push(Finding::new(code, Some(value.line), message, "write one text, in quotes"));
    }
}

fn read_compatibility(value: &Node, findings: &mut Vec<Finding>) {
    one_text(value, SkillCode::CompatibilityNotString, "compatibility", findings);
    let Some(text) = value.string() else { return };
    let length = text.trim().chars().count();
    if length == 0 {
        let message = "`compatibility` is empty";
        findings.push(Finding::new(
            SkillCode::CompatibilityEmpty,
            Some(value.line),
            message,
            "write it, or leave it out",
        ));
    } else if length > COMPATIBILITY_MAX {
        findings.push(Finding::new(
            SkillCode::CompatibilityTooLong,
            Some(value.line),
            format!("`compatibility` has {length} characters, and {COMPATIBILITY_MAX} is the most"),
            "shorten it",
        ));
    }
}

fn read_metadata(value: &Node, findings: &mut Vec<Finding>) {
    let NodeKind::Map(pairs) = &value.kind else {
        findings.push(Finding::new(
            SkillCode::MetadataNotMap,
            Some(value.line),
            "`metadata` is no mapping",
            "write `key: value` lines below it",
        ));
        return;
    };
    if let Some(odd) = pairs.iter().find(|pair| pair.value.string().is_none()) {
        let key = odd.key.scalar().map_or("", |key| key.text.as_str());
        findings.push(Finding::new(
            SkillCode::MetadataNotStringMap,
            Some(odd.key.line),
            format!("`metadata` holds `{}`, which is no text", shown(key)),
            "put the value in quotes",
        ));
    }
}

fn read_tools(value: &Node, findings: &mut Vec<Finding>) -> Vec<String> {
    let line = Some(value.line);
    match &value.kind {
        NodeKind::Scalar(scalar) if scalar.is_null() => Vec::new(),
        NodeKind::Scalar(scalar) => {
            let (tools, comma) = tools_of(&scalar.text);
            if comma {
                findings.push(Finding::new(
                    SkillCode::AllowedToolsComma,
                    line,
                    "the tools are separated by commas",
                    "separate them by blanks, as the specification says",
                ));
            }
            tools
        }
        NodeKind::List(items) => {
            let texts: Option<Vec<String>> =
                items.iter().map(|item| Some(item.scalar()?.text.trim().to_owned())).collect();
            let (code, message) = match texts {
                Some(_) => (SkillCode::AllowedToolsList, "the tools are a list"),
                None => (SkillCode::AllowedToolsNotString, "the tools are no texts"),
            };
            findings.push(Finding::new(code, line, message, "write them as one text, with blanks between"));
            texts.unwrap_or_default()
        }
        NodeKind::Map(_) => {
            let message = "the tools are a mapping";
            findings.push(Finding::new(
                SkillCode::AllowedToolsNotString,
                line,
                message,
                "write them as one text, with blanks between",
            ));
            Vec::new()
        }
    }
}

/// Splits at blanks and commas that are not within parentheses; true when a comma split.
fn tools_of(text: &str) -> (Vec<String>, bool) {
    let (mut tools, mut depth, mut comma, mut tool) = (Vec::new(), 0_usize, false, String::new());
    for c in text.chars().chain([' ']) {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 && (c == ',' || c.is_whitespace()) {
            comma |= c == ',';
            if !tool.is_empty() {
                tools.push(std::mem::take(&mut tool));
            }
        } else {
            tool.push(c);
        }
    }
    let rest = tool.trim();
    tools.extend((!rest.is_empty()).then(|| rest.to_owned()));
    (tools, comma)
}

fn read_hint(value: &Node, findings: &mut Vec<Finding>) -> String {
    if let Some(text) = value.string() {
        return text.trim().to_owned();
    }
    findings.push(Finding::new(
        SkillCode::ArgumentHintNotString,
        Some(value.line),
        "`argument-hint` is no text, and some hosts drop the skill",
        "put it in quotes",
    ));
    value.as_written()
}

fn read_serves(value: &Node, findings: &mut Vec<Finding>) -> BTreeSet<Domain> {
    let words: Option<Vec<String>> = match &value.kind {
        NodeKind::Scalar(scalar) if scalar.is_null() => Some(Vec::new()),
        NodeKind::Scalar(scalar) => Some(scalar.text.split(',').map(str::to_owned).collect()),
        NodeKind::List(items) => items.iter().map(|item| Some(item.scalar()?.text.clone())).collect(),
        NodeKind::Map(_) => None,
    };
    let Some(words) = words else {
        findings.push(Finding::new(
            SkillCode::ServesNotString,
            Some(value.line),
            "`serves` is neither a text nor a list of texts",
            "write the domains with commas between them",
        ));
        return BTreeSet::new();
    };
    let words = words.iter().map(|word| word.trim()).filter(|word| !word.is_empty());
    words.map(|word| Domain::from(word.to_owned())).collect()
}

/// What a field that says yes or no says. One that says neither says no.
fn flag(field: &str, value: &Node, findings: &mut Vec<Finding>) -> bool {
    let word = value.scalar().map(|scalar| scalar.text.trim().to_ascii_lowercase());
    match word.as_deref() {
        Some("true" | "yes" | "on" | "1") => true,
        Some("false" | "no" | "off" | "0") => false,
        Some(_) | None => {
            findings.push(Finding::new(
                SkillCode::NotBoolean,
                Some(value.line),
                format!("`{field}` says neither yes nor no"),
                "write `true` or `false`",
            ));
            false
        }
    }
}

fn read_references(value: &Node, findings: &mut Vec<Finding>) -> Vec<String> {
    let texts: Option<Vec<String>> = match &value.kind {
        NodeKind::Scalar(scalar) if scalar.is_null() => Some(Vec::new()),
        NodeKind::Scalar(scalar) => Some(vec![scalar.text.trim().to_owned()]),
        NodeKind::List(items) => {
            items.iter().map(|item| Some(item.scalar()?.text.trim().to_owned())).collect()
        }
        NodeKind::Map(_) => None,
    };
    texts.unwrap_or_else(|| {
        findings.push(Finding::new(
            SkillCode::ReferencesNotStrings,
            Some(value.line),
            "`references` is no list of paths",
            "write `- ../references/FILE.md` lines below it",
        ));
        Vec::new()
    })
}

fn read_paths(value: &Node, findings: &mut Vec<Finding>) {
    let texts: Vec<&str> = match &value.kind {
        NodeKind::Scalar(scalar) => vec![&scalar.text],
        NodeKind::List(items) => {
            items.iter().filter_map(Node::scalar).map(|item| item.text.as_str()).collect()
        }
        NodeKind::Map(_) => Vec::new(),
    };
    let count = texts.iter().map(|text| expansions(text)).fold(0_usize, usize::saturating_add);
    if count > GLOBS_MAX {
        findings.push(Finding::new(
            SkillCode::GlobBudget,
            Some(value.line),
            format!("the globs of `paths` stand for more than {GLOBS_MAX}"),
            "write fewer alternatives in braces",
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::{has_markup, tools_of};

    #[test]
    fn tools_are_split_outside_parentheses() {
        let split = |text| {
            let (tools, comma) = tools_of(text);
            (tools.join("|"), comma)
        };
        assert_eq!(
            split("Read, Bash(git log, git show), Grep"),
            ("Read|Bash(git log, git show)|Grep".into(), true)
        );
        assert_eq!(split("Bash(git:*) Read"), ("Bash(git:*)|Read".into(), false));
        assert_eq!(split("Bash(a, b"), ("Bash(a, b".into(), false));
        assert_eq!(split(" "), (String::new(), false));
        assert_eq!(split("*"), ("*".into(), false));
    }

    #[test]
    fn markup_is_a_tag_and_no_arrow() {
        for text in ["see <b>this</b>", "a < b </x>", "<!-- x -->", "use <name> here"] {
            assert!(has_markup(text), "{text}");
        }
        for text in ["a -> b", "> quoted", "1 < 2 > 0", "a <b", "<3 hearts>"] {
            assert!(!has_markup(text), "{text}");
        }
    }
}
