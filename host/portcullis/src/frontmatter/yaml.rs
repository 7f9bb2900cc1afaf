//! Frontmatter as a tree that keeps what was written: the text of each scalar, and the
//! line of each field.
//!
//! A reader into typed values would have turned `8004` into a number and lost where a
//! value stands, so this goes by the events of the parser.

use std::collections::HashMap;

use granit_parser::{ErrorKind, Event, Parser, ScalarStyle, Tag};
use serde_json::{Map, Number, Value};

/// How deep values may be within one another, aliases followed.
const DEPTH_MAX: usize = 32;
/// The most nodes, aliases followed.
const NODES_MAX: usize = 10_000;

/// A value with the line on which it begins, from 0.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) line: usize,
    pub(crate) kind: NodeKind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Scalar(Scalar),
    List(Vec<Node>),
    Map(Vec<Pair>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Pair {
    pub(crate) key: Node,
    pub(crate) value: Node,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scalar {
    /// What was written, without quotes and escapes.
    pub(crate) text: String,
    /// It has no quotes and is no block, so its type goes by its looks.
    plain: bool,
    /// It says its type itself.
    tag: Option<String>,
    /// The last line that it is on.
    pub(crate) last_line: usize,
}

/// Why a text is no tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct YamlError {
    /// From 0.
    pub(crate) line: usize,
    pub(crate) message: String,
    /// It is YAML, and too much of it.
    pub(crate) budget: bool,
}

impl Node {
    pub(crate) fn scalar(&self) -> Option<&Scalar> {
        match &self.kind {
            NodeKind::Scalar(scalar) => Some(scalar),
            NodeKind::List(_) | NodeKind::Map(_) => None,
        }
    }

    /// The text, where it is one to the readers of YAML too.
    pub(crate) fn string(&self) -> Option<&str> {
        self.scalar().filter(|scalar| scalar.is_string()).map(|scalar| scalar.text.as_str())
    }

    /// A value in brackets as people mean it who forget that brackets are a list.
    pub(crate) fn as_written(&self) -> String {
        match &self.kind {
            NodeKind::Scalar(scalar) => scalar.text.trim().to_owned(),
            NodeKind::List(items) => {
                format!("[{}]", items.iter().map(Self::as_written).collect::<Vec<_>>().join(", "))
            }
            NodeKind::Map(pairs) => {
                let pair = |pair: &Pair| format!("{}: {}", pair.key.as_written(), pair.value.as_written());
                pairs.iter().map(pair).collect::<Vec<_>>().join(", ")
            }
        }
    }

    /// As JSON; none where it has no such form: a key that is no scalar, or a number that
    /// is none.
    pub(crate) fn json(&self) -> Option<Value> {
        match &self.kind {
            NodeKind::Scalar(scalar) => scalar.json(),
            NodeKind::List(items) => items.iter().map(Self::json).collect::<Option<_>>().map(Value::Array),
            NodeKind::Map(pairs) => map_json(pairs).map(Value::Object),
        }
    }
}

/// As a JSON object; the last one of a key counts.
pub(crate) fn map_json(pairs: &[Pair]) -> Option<Map<String, Value>> {
    let mut map = Map::new();
    for Pair { key, value } in pairs {
        map.insert(key.scalar()?.text.clone(), value.json()?);
    }
    Some(map)
}

impl Scalar {
    /// This text, on one line.
    pub(crate) fn text(text: &str, line: usize) -> Self {
        Self { text: text.to_owned(), plain: false, tag: None, last_line: line }
    }

    /// A text, for readers of YAML 1.1 and 1.2 alike.
    pub(crate) fn is_string(&self) -> bool {
        const WORDS: [&str; 4] = ["yes", "no", "on", "off"];
        match self.tag.as_deref() {
            Some("str") => true,
            Some(_) => matches!(self.json(), Some(Value::String(_))),
            None => {
                !self.plain
                    || (!WORDS.contains(&self.text.to_ascii_lowercase().as_str())
                        && matches!(self.json(), Some(Value::String(_))))
            }
        }
    }

    pub(crate) fn is_null(&self) -> bool {
        self.json() == Some(Value::Null)
    }

    /// The value by the core schema of YAML 1.2.
    fn json(&self) -> Option<Value> {
        let text = self.text.as_str();
        if self.tag.as_deref() == Some("str") || (self.tag.is_none() && !self.plain) {
            return Some(Value::String(text.to_owned()));
        }
        Some(match text {
            "" | "~" | "null" | "Null" | "NULL" => Value::Null,
            "true" | "True" | "TRUE" => Value::Bool(true),
            "false" | "False" | "FALSE" => Value::Bool(false),
            _ => match number(text) {
                Some(number) => Value::Number(number),
                None if is_no_number(text) => return None,
                None => Value::String(text.to_owned()),
            },
        })
    }
}

fn is_no_number(text: &str) -> bool {
    let text = text.strip_prefix(['+', '-']).unwrap_or(text);
    matches!(text, ".inf" | ".Inf" | ".INF" | ".nan" | ".NaN" | ".NAN")
}

/// The number that a plain scalar is. Its digits stay as they are.
fn number(text: &str) -> Option<Number> {
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().map(Number::from);
    if let Some(digits) = text.strip_prefix("0x") {
        return radix(digits, 16).filter(|_| !digits.starts_with('+'));
    }
    if let Some(digits) = text.strip_prefix("0o") {
        return radix(digits, 8).filter(|_| !digits.starts_with('+'));
    }
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match rest.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (rest, None),
    };
    let (whole, part) = match mantissa.split_once('.') {
        Some((whole, part)) => (whole, Some(part)),
        None => (mantissa, None),
    };
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let exponent_digits = exponent.map(|own| own.strip_prefix(['+', '-']).unwrap_or(own));
    let is_number = digits(whole)
        && part.is_none_or(digits)
        && !(whole.is_empty() && part.is_none_or(str::is_empty))
        && exponent_digits.is_none_or(|own| !own.is_empty() && digits(own));
    if !is_number {
        return None;
    }
    // JSON has no zeros in front, and digits on both sides of the point.
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let part = part.map(|part| format!(".{}", if part.is_empty() { "0" } else { part })).unwrap_or_default();
    let exponent = exponent.map(|own| format!("e{own}")).unwrap_or_default();
    format!("{sign}{whole}{part}{exponent}").parse().ok()
}

/// What was read.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Tree {
    /// None: the text is empty.
    pub(crate) root: Option<Node>,
    /// What is odd about how it is written.
    pub(crate) oddities: Vec<(Oddity, usize)>,
}

/// Something that is YAML, and that some readers do not take or people do not mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Oddity {
    /// A quoted text goes on at the beginning of a line.
    QuoteAtMargin,
    /// A character is written as two halves.
    Surrogates,
    /// There is a comment behind a text without quotes.
    Comment,
}

/// Reads one document.
pub(crate) fn parse(text: &str) -> Result<Tree, YamlError> {
    let options = granit_parser::options! {
        disallow_directives: true,
        flow_nesting_limit: DEPTH_MAX,
        block_nesting_limit: DEPTH_MAX,
    };
    let mut builder = Builder::default();
    for event in Parser::new_from_str_with_options(text, options) {
        let (event, span) = event.map_err(|error| YamlError {
            line: error.marker().line().saturating_sub(1),
            message: error.info(),
            budget: matches!(error.kind(), ErrorKind::RecursionLimitExceeded),
        })?;
        let (line, last_line) = (span.start.line().saturating_sub(1), span.end.line().saturating_sub(1));
        if let Event::Scalar(_, style, ..) = &event
            && let Some(range) = span.byte_range()
        {
            let oddity = oddity(*style, text.get(range.clone()), text.get(range.end..));
            builder.tree.oddities.extend(oddity.map(|oddity| (oddity, line)));
        }
        builder.take(event, line, last_line)?;
    }
    Ok(builder.tree)
}

/// What is odd about a scalar that is written like this, with this behind it.
fn oddity(style: ScalarStyle, source: Option<&str>, behind: Option<&str>) -> Option<Oddity> {
    let source = source?;
    let at_margin = || source.lines().skip(1).any(|line| line.starts_with(|c: char| !c.is_whitespace()));
    let halves = || {
        source.split("\\u").skip(1).any(|code| {
            let mut digits = code.chars();
            matches!(digits.next(), Some('d' | 'D'))
                && matches!(digits.next(), Some('8' | '9' | 'a' | 'b' | 'A' | 'B'))
        })
    };
    let comment = || {
        let rest = behind.and_then(|behind| behind.lines().next()).unwrap_or_default();
        rest.trim_start().starts_with('#')
    };
    match style {
        ScalarStyle::DoubleQuoted if halves() => Some(Oddity::Surrogates),
        ScalarStyle::DoubleQuoted | ScalarStyle::SingleQuoted => at_margin().then_some(Oddity::QuoteAtMargin),
        ScalarStyle::Plain => comment().then_some(Oddity::Comment),
        ScalarStyle::Literal | ScalarStyle::Folded => None,
    }
}

/// What is being put together.
#[derive(Default)]
struct Builder {
    tree: Tree,
    open: Vec<Open>,
    anchors: HashMap<usize, (Node, usize, usize)>,
    nodes: usize,
    documents: usize,
}

struct Open {
    node: Node,
    anchor: usize,
    /// The key that waits for its value.
    key: Option<Node>,
    /// How many nodes there were before.
    nodes_before: usize,
    /// How deep the deepest value in it is.
    height: usize,
}

impl Builder {
    fn take(&mut self, event: Event<'_>, line: usize, last_line: usize) -> Result<(), YamlError> {
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents > 1 {
                    return Err(wrong(line, "there is a second document"));
                }
            }
            Event::Scalar(text, style, anchor, tag) => {
                self.count(1, line)?;
                let scalar = Scalar {
                    text: text.into_owned(),
                    plain: matches!(style, ScalarStyle::Plain),
                    tag: tag.as_deref().map(own_type),
                    last_line,
                };
                let node = Node { line, kind: NodeKind::Scalar(scalar) };
                self.keep(anchor, &node, 1, 0);
                self.put(node, 0)?;
            }
            Event::Alias(anchor) => {
                let known = self.anchors.get(&anchor).cloned();
                let (node, nodes, height) =
                    known.ok_or_else(|| wrong(line, "an alias stands within itself"))?;
                self.count(nodes, line)?;
                self.put(Node { line, ..node }, height)?;
            }
            Event::SequenceStart(_, anchor, _) => self.open(NodeKind::List(Vec::new()), anchor, line)?,
            Event::MappingStart(_, anchor, _) => self.open(NodeKind::Map(Vec::new()), anchor, line)?,
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(Open { node, anchor, nodes_before, height, .. }) = self.open.pop() {
                    self.keep(anchor, &node, self.nodes - nodes_before, height);
                    self.put(node, height)?;
                }
            }
            Event::UnresolvedAlias(name) => {
                return Err(wrong(line, &format!("nothing is called `{name}`")));
            }
            Event::StreamStart | Event::StreamEnd | Event::DocumentEnd | Event::Anchor(..) => {}
            // The parser may learn more events than it knows today.
            _ => return Err(wrong(line, "this cannot be read")),
        }
        Ok(())
    }

    fn count(&mut self, nodes: usize, line: usize) -> Result<(), YamlError> {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > NODES_MAX {
            return Err(too_much(line, format!("it has more than {NODES_MAX} values")));
        }
        Ok(())
    }

    fn keep(&mut self, anchor: usize, node: &Node, nodes: usize, height: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, (node.clone(), nodes, height));
        }
    }

    fn open(&mut self, kind: NodeKind, anchor: usize, line: usize) -> Result<(), YamlError> {
        let nodes_before = self.nodes;
        self.count(1, line)?;
        self.open.push(Open { node: Node { line, kind }, anchor, key: None, nodes_before, height: 0 });
        Ok(())
    }

    fn put(&mut self, node: Node, height: usize) -> Result<(), YamlError> {
        let depth = self.open.len();
        if depth + height > DEPTH_MAX {
            return Err(too_much(node.line, format!("its values are more than {DEPTH_MAX} deep")));
        }
        let Some(open) = self.open.last_mut() else {
            self.tree.root = Some(node);
            return Ok(());
        };
        open.height = open.height.max(height + 1);
        match &mut open.node.kind {
            NodeKind::List(items) => items.push(node),
            NodeKind::Map(pairs) => match open.key.take() {
                None => open.key = Some(node),
                Some(key) => pairs.push(Pair { key, value: node }),
            },
            NodeKind::Scalar(_) => {}
        }
        Ok(())
    }
}

fn own_type(tag: &Tag) -> String {
    tag.core_suffix().map_or_else(|| "str".to_owned(), str::to_owned)
}

fn wrong(line: usize, message: &str) -> YamlError {
    YamlError { line, message: message.to_owned(), budget: false }
}

fn too_much(line: usize, message: String) -> YamlError {
    YamlError { line, message, budget: true }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{DEPTH_MAX, parse};

    fn json(text: &str) -> serde_json::Value {
        parse(text).unwrap().root.unwrap().json().unwrap()
    }

    #[test]
    fn values_are_those_of_the_core_schema() {
        let text = "a: 8004\nb: '8004'\nc: 0x1F\nd: 1.50\ne: 2024-01-02\nf: ~\ng:\nh: True\ni: yes\nj: 1_000\nk: !!str 5\nl: .5\nm: -0o7\nn: 007\no: 1e3\np: [1, {q: r}]\n";
        assert_eq!(
            json(text).to_string(),
            r#"{"a":8004,"b":"8004","c":31,"d":1.50,"e":"2024-01-02","f":null,"g":null,"h":true,"i":"yes","j":"1_000","k":"5","l":0.5,"m":"-0o7","n":7,"o":1e+3,"p":[1,{"q":"r"}]}"#
        );
        assert_eq!(parse("a: .nan").unwrap().root.unwrap().json(), None);
        assert_eq!(parse("? [a]\n: b").unwrap().root.unwrap().json(), None);
        assert_eq!(json("a: &x {b: 1}\nc: *x\n"), json!({ "a": { "b": 1 }, "c": { "b": 1 } }));
    }

    #[test]
    fn bombs_are_told_and_cost_nothing() {
        let mut bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..9 {
            let refs = vec![format!("*a{}", level - 1); 9].join(", ");
            bomb.push_str(&format!("a{level}: &a{level} [{refs}]\n"));
        }
        assert!(parse(&bomb).unwrap_err().budget);
        assert!(parse(&format!("a: {}", "[".repeat(8000))).unwrap_err().budget);
        let lists = |count: usize| format!("a: {}{}", "[".repeat(count), "]".repeat(count));
        assert!(parse(&lists(DEPTH_MAX)).is_ok());
        assert!(parse(&lists(DEPTH_MAX + 1)).unwrap_err().budget);
        let mut chain = "a0: &a0 [x]\n".to_owned();
        for level in 1..=DEPTH_MAX {
            chain.push_str(&format!("a{level}: &a{level} [*a{}]\n", level - 1));
        }
        assert!(parse(&chain).unwrap_err().budget, "an alias cannot go deeper than what is written");
        assert!(parse("a: &a [*a]").is_err());
    }

    #[test]
    fn the_line_of_what_is_wrong_is_known() {
        let error = parse("a: b\nc: d: e\n").unwrap_err();
        assert_eq!(error.line, 1, "{error:?}");
        assert!(parse("a: b\n--- \nc: d\n").is_err());
        assert_eq!(parse("").unwrap().root, None);
    }
}
