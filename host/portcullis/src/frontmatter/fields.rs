//! The fields between the fences. What is YAML is read as it is; what is not gets one
//! repair for each field, because the author meant a text and forgot the quotes.

use super::flaw::{Flaw, FlawKind};
use super::text::Parts;
use super::yaml::{Node, NodeKind, Oddity, Pair, Scalar, Tree, YamlError, parse};

/// Reads the fields, their lines being those of the file. None: there is nothing to go
/// on with, and the last flaw says why.
pub(crate) fn read(parts: &Parts<'_>, flaws: &mut Vec<Flaw>) -> Option<Vec<Pair>> {
    let mut pairs = match parse(parts.frontmatter) {
        Ok(Tree { root: None, .. }) => Vec::new(),
        Ok(Tree { root: Some(Node { kind: NodeKind::Map(pairs), .. }), oddities }) => {
            tell(&oddities, &pairs, parts.first_line, flaws);
            pairs
        }
        Ok(Tree { root: Some(node), .. }) if node.scalar().is_some_and(Scalar::is_null) => Vec::new(),
        Ok(Tree { root: Some(node), .. }) => {
            flaws.push(Flaw::new(
                FlawKind::YamlNotMap,
                Some(parts.first_line + node.line),
                "what is between the fences are no fields",
                "write each field as `key: value` on a line",
            ));
            return None;
        }
        Err(error) if error.budget => {
            flaws.push(over_budget(&error, parts.first_line));
            return None;
        }
        Err(error) => repaired(parts, &error, flaws)?,
    };
    pairs.iter_mut().for_each(|pair| shift(pair, parts.first_line));
    Some(without_doubles(pairs, flaws))
}

fn over_budget(error: &YamlError, first_line: usize) -> Flaw {
    Flaw::new(
        FlawKind::YamlBudget,
        Some(first_line + error.line),
        format!("the frontmatter is too much: {}", error.message),
        "write less, and without aliases",
    )
}

fn tell(oddities: &[(Oddity, usize)], pairs: &[Pair], first_line: usize, flaws: &mut Vec<Flaw>) {
    // A comment behind a name is one; a description most often goes on behind ` #`.
    let is_description = |line: usize| {
        let mut described = pairs.iter().filter(|pair| is_key(pair, "description"));
        described.any(|pair| pair.value.line == line && pair.value.scalar().is_some())
    };
    for (oddity, at) in oddities {
        let line = Some(first_line + at);
        let flaw = match oddity {
            Oddity::QuoteAtMargin => Flaw::new(
                FlawKind::YamlIndentInQuotes,
                line,
                "a text in quotes goes on at the beginning of a line, and some readers refuse that",
                "indent the line, or write the text on one line",
            ),
            Oddity::Surrogates => Flaw::new(
                FlawKind::YamlSurrogateEscape,
                line,
                "a character is written as two halves (`\\ud83d…`), which YAML does not know",
                "write the character itself",
            ),
            Oddity::Comment if is_description(*at) => Flaw::new(
                FlawKind::YamlCommentInText,
                line,
                "the description ends before ` #`, because what follows is a comment",
                "put the description in quotes",
            ),
            Oddity::Comment => continue,
        };
        flaws.push(flaw);
    }
}

fn is_key(pair: &Pair, key: &str) -> bool {
    pair.key.scalar().is_some_and(|own| own.text == key)
}

fn shift(pair: &mut Pair, by: usize) {
    shift_node(&mut pair.key, by);
    shift_node(&mut pair.value, by);
}

fn shift_node(node: &mut Node, by: usize) {
    node.line += by;
    match &mut node.kind {
        NodeKind::Scalar(_) => {}
        NodeKind::List(items) => items.iter_mut().for_each(|item| shift_node(item, by)),
        NodeKind::Map(pairs) => pairs.iter_mut().for_each(|pair| shift(pair, by)),
    }
}

/// The last one of a key counts, as it does to most readers that take two at all.
fn without_doubles(pairs: Vec<Pair>, flaws: &mut Vec<Flaw>) -> Vec<Pair> {
    let mut single: Vec<Pair> = Vec::with_capacity(pairs.len());
    for pair in pairs {
        let key = pair.key.scalar().map(|key| key.text.clone());
        let before = key.as_ref().and_then(|key| single.iter().position(|other| is_key(other, key)));
        if let (Some(at), Some(key)) = (before, key) {
            let first = single.remove(at);
            flaws.push(Flaw::new(
                FlawKind::DuplicateKey,
                Some(pair.key.line),
                format!("`{key}` is there twice, and the first time on line {}", first.key.line),
                "keep one of them",
            ));
        }
        single.push(pair);
    }
    single
}

/// One field with all of its lines.
struct Field<'t> {
    line: usize,
    key: &'t str,
    lines: Vec<&'t str>,
}

/// Reads each field by itself, and those that are not YAML as the text that they are.
fn repaired(parts: &Parts<'_>, error: &YamlError, flaws: &mut Vec<Flaw>) -> Option<Vec<Pair>> {
    let file_line = |line: usize| Some(parts.first_line + line);
    let Some(fields) = fields(parts.frontmatter) else {
        flaws.push(Flaw::new(
            FlawKind::YamlInvalid,
            file_line(error.line),
            format!("the frontmatter is not YAML: {}", error.message),
            "write each field as `key: value` on a line, with quotes around texts that hold `: ` or ` #`",
        ));
        return None;
    };
    let mut pairs = Vec::new();
    for field in fields {
        match alone(&field) {
            Ok(own) => pairs.extend(own),
            Err(error) if error.budget => {
                flaws.push(over_budget(&error, parts.first_line));
                return None;
            }
            Err(error) => match mended(&field) {
                Some((pair, what, fix)) => {
                    let flaw = Flaw::new(
                        FlawKind::YamlRepaired,
                        file_line(field.line),
                        format!("`{}` is not YAML ({}), and is read {what}", field.key, error.message),
                        "most hosts lose the skill for that, so write it as YAML",
                    );
                    flaws.push(match fix {
                        Some(fix) => flaw.fixed_by(fix),
                        None => flaw,
                    });
                    pairs.push(pair);
                }
                None => flaws.push(Flaw::new(
                    FlawKind::FieldDropped,
                    file_line(field.line),
                    format!("`{}` is not YAML ({}), and is left out", field.key, error.message),
                    "write it so that it is YAML",
                )),
            },
        }
    }
    Some(pairs)
}

/// The fields by their lines; none when something stands before the first one.
fn fields(text: &str) -> Option<Vec<Field<'_>>> {
    let mut fields: Vec<Field<'_>> = Vec::new();
    for (line, own) in text.lines().enumerate() {
        match key_of(own) {
            Some(key) => fields.push(Field { line, key, lines: vec![own] }),
            None => match fields.last_mut() {
                Some(field) => field.lines.push(own),
                None if own.trim().is_empty() || own.starts_with('#') => {}
                None => return None,
            },
        }
    }
    (!fields.is_empty()).then_some(fields)
}

/// The key with which a line begins a field.
fn key_of(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let key = key.trim_end();
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    let plain = key.strip_prefix('"').and_then(|key| key.strip_suffix('"')).unwrap_or(key);
    (!plain.is_empty() && plain.chars().all(is_key) && (rest.is_empty() || rest.starts_with([' ', '\t'])))
        .then_some(plain)
}

fn alone(field: &Field<'_>) -> Result<Vec<Pair>, YamlError> {
    let tree = parse(&field.lines.join("\n"))?;
    match tree.root {
        Some(Node { kind: NodeKind::Map(mut pairs), .. }) => {
            pairs.iter_mut().for_each(|pair| shift(pair, field.line));
            Ok(pairs)
        }
        Some(_) | None => {
            Err(YamlError { line: field.line, message: "it is no field".to_owned(), budget: false })
        }
    }
}

/// A field that is not YAML, how it is read, and the line that would be YAML.
fn mended(field: &Field<'_>) -> Option<(Pair, &'static str, Option<String>)> {
    let (first, rest) = field.lines.split_first()?;
    if rest.iter().any(|line| line.starts_with(char::is_whitespace) && indent(line).contains('\t')) {
        let spaced = rest.iter().map(|line| {
            let indent = indent(line);
            line.replacen(indent, &indent.replace('\t', "  "), 1)
        });
        let lines: Vec<String> = std::iter::once((*first).to_owned()).chain(spaced).collect();
        let lines = lines.iter().map(String::as_str).collect();
        let spaced = alone(&Field { lines, ..*field }).ok().and_then(|mut pairs| pairs.pop());
        if let Some(pair) = spaced {
            return Some((pair, "with spaces in place of tabs", None));
        }
    }
    let nested = |line: &&&str| {
        let line = line.trim_start();
        line.starts_with("- ") || key_of(line).is_some()
    };
    if !matches!(field.key, "name" | "description") && rest.iter().any(|line| nested(&line)) {
        return None;
    }
    let (_, value) = first.split_once(':')?;
    let words = std::iter::once(value).chain(rest.iter().copied()).map(str::trim);
    let text = words.filter(|line| !line.is_empty()).collect::<Vec<_>>().join(" ");
    let fix = rest.iter().all(|line| line.trim().is_empty());
    let fix = fix.then(|| format!("{}: '{}'", field.key, text.replace('\'', "''")));
    let scalar = |text: &str| NodeKind::Scalar(Scalar::text(text, field.line));
    let key = Node { line: field.line, kind: scalar(field.key) };
    let value = Node { line: field.line, kind: scalar(&text) };
    Some((Pair { key, value }, "as the text that stands there", fix))
}

fn indent(line: &str) -> &str {
    let length = line.len() - line.trim_start().len();
    line.get(..length).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::frontmatter::flaw::{Flaw, FlawKind};
    use crate::frontmatter::text::Parts;
    use crate::frontmatter::yaml::map_json;

    fn said(text: &str) -> (Option<String>, Vec<Flaw>) {
        let mut flaws = Vec::new();
        let parts = Parts { frontmatter: text, first_line: 2, body: "" };
        let pairs = read(&parts, &mut flaws);
        (pairs.and_then(|pairs| Some(serde_json::to_string(&map_json(&pairs)?).unwrap())), flaws)
    }

    #[track_caller]
    fn repaired(text: &str, value: &str, code: FlawKind, line: usize, fix: Option<&str>) {
        let (json, flaws) = said(text);
        assert_eq!(json.as_deref(), Some(value), "{flaws:?}");
        let [flaw] = flaws.as_slice() else { panic!("{flaws:?}") };
        assert_eq!((flaw.kind, flaw.line, flaw.fix.as_deref()), (code, Some(line), fix));
    }

    #[test]
    fn a_line_that_is_not_yaml_is_read_as_the_text_that_it_is() {
        use FlawKind::YamlRepaired;
        let b = r#"{"a":"1 2"}"#;
        assert_eq!(said("a: 1 2\n"), (Some(b.to_owned()), Vec::new()));
        for (line, text) in [
            ("x: y: z", "y: z"),
            ("x: **y** z", "**y** z"),
            ("x: `y` z", "`y` z"),
            ("x: > y z", "> y z"),
            ("x: \"y\" z", "\\\"y\\\" z"),
            ("x: @y", "@y"),
            ("x: [y] z", "[y] z"),
            ("x: 'y", "'y"),
        ] {
            let fix = format!("x: '{}'", text.replace("\\\"", "\"").replace('\'', "''"));
            repaired(
                &format!("a: 1\n{line}\nb: [2]\n"),
                &format!("{{\"a\":1,\"x\":\"{text}\",\"b\":[2]}}"),
                YamlRepaired,
                3,
                Some(&fix),
            );
            assert_eq!(said(&format!("{fix}\n")).1, [], "the fix is YAML: {fix}");
        }
        repaired("x: y: z\ngoes on\n  here\n", r#"{"x":"y: z goes on here"}"#, YamlRepaired, 2, None);
        repaired("x:\n\ty: z\n", r#"{"x":{"y":"z"}}"#, YamlRepaired, 2, None);
    }

    #[test]
    fn a_field_that_no_repair_helps_is_left_out_or_all_is() {
        repaired("a: 1\nx: [\n  - y\n", r#"{"a":1}"#, FlawKind::FieldDropped, 3, None);
        let (json, flaws) = said("a b c\nx: y: z\n");
        assert_eq!((json, flaws[0].kind, flaws[0].line.is_some()), (None, FlawKind::YamlInvalid, true));
        assert_eq!(said("- a\n").1[0].kind, FlawKind::YamlNotMap);
        assert_eq!(said("# nothing\n"), (Some("{}".to_owned()), Vec::new()));
    }

    #[test]
    fn the_last_of_two_counts_and_what_is_odd_is_told() {
        repaired("a: 1\nb: 2\na: 3\n", r#"{"b":2,"a":3}"#, FlawKind::DuplicateKey, 4, None);
        let cut = r#"{"description":"x"}"#;
        repaired("description: x # y\n", cut, FlawKind::YamlCommentInText, 2, None);
        assert_eq!(said("name: x # y\n").1, []);
        repaired("x: \"\\ud83d\\udcc4\"\n", r#"{"x":"📄"}"#, FlawKind::YamlSurrogateEscape, 2, None);
        repaired("x: \"y\nz\"\n", r#"{"x":"y z"}"#, FlawKind::YamlIndentInQuotes, 2, None);
    }
}
