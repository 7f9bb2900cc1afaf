//! Expansions that make another text of a known value: `${x#a}`, `${x:1:2}`,
//! `${x/a/b}`, `${x^^}`, `${!x}`, `${x[1]}`, `$((1 + 1))`.
//!
//! What is not known, or is written in a way that is not followed here, stays a hole.

use crate::{
    text::Text,
    variable::{Value, Variables},
};

/// Longer values and patterns are not worked with, in bytes: matching tries every
/// place of one against the other.
const VALUE_MAX: usize = 64;
const PATTERN_MAX: usize = 16;
/// What one expansion counts for among the bytes that expansions may make.
pub(crate) const COST: usize = 2 << 10;

/// The value of an expansion that is written `raw`, with its dollar sign.
pub(crate) fn value(raw: &str, variables: &Variables) -> Option<Text> {
    if let Some(sum) = raw.strip_prefix("$((").and_then(|rest| rest.strip_suffix("))")) {
        return arithmetic(sum, variables).map(|number| Text::known(number.to_string()));
    }
    if let Some(sum) = raw.strip_prefix("$[").and_then(|rest| rest.strip_suffix(']')) {
        return arithmetic(sum, variables).map(|number| Text::known(number.to_string()));
    }
    let body = raw.strip_prefix("${")?.strip_suffix('}')?;
    if let Some(name) = body.strip_prefix('#') {
        let text = known(name, variables)?;
        return Some(Text::known(text.chars().count().to_string()));
    }
    if let Some(name) = body.strip_prefix('!') {
        let name = known(name, variables)?;
        return match variables.get(name)? {
            Value::Text(text) => Some(text.clone()),
            Value::List(_) | Value::Unknown => None,
        };
    }
    let length = body.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    let (name, operation) = body.split_at_checked(length)?;
    if let Some(index) = operation.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let Value::List(texts) = variables.get(name)? else { return None };
        return texts.get(index.trim().parse::<usize>().ok()?).cloned();
    }
    let text = known(name, variables).filter(|text| text.len() <= VALUE_MAX)?;
    operate(text, operation).map(Text::known)
}

fn known<'v>(name: &str, variables: &'v Variables) -> Option<&'v str> {
    match variables.get(name)? {
        Value::Text(text) => text.as_known(),
        Value::List(_) | Value::Unknown => None,
    }
}

fn operate(text: &str, operation: &str) -> Option<String> {
    if let Some(pattern) = operation.strip_prefix("##") {
        return cut_front(text, &plain(pattern)?, true);
    }
    if let Some(pattern) = operation.strip_prefix('#') {
        return cut_front(text, &plain(pattern)?, false);
    }
    if let Some(pattern) = operation.strip_prefix("%%") {
        return cut_back(text, &plain(pattern)?, true);
    }
    if let Some(pattern) = operation.strip_prefix('%') {
        return cut_back(text, &plain(pattern)?, false);
    }
    if let Some(rest) = operation.strip_prefix('/') {
        let (all, rest) = rest.strip_prefix('/').map_or((false, rest), |rest| (true, rest));
        let (pattern, with) = rest.split_once('/').unwrap_or((rest, ""));
        let (pattern, with) = (plain(pattern)?, plain(with)?);
        if pattern.is_empty() || pattern.contains(['*', '?', '[', '#', '%']) {
            return None;
        }
        return Some(if all { text.replace(&pattern, &with) } else { text.replacen(&pattern, &with, 1) });
    }
    match operation {
        "^^" | "@U" => return Some(text.to_uppercase()),
        ",," | "@L" => return Some(text.to_lowercase()),
        "^" | "@u" => return first(text, |c| c.to_uppercase().collect()),
        "," => return first(text, |c| c.to_lowercase().collect()),
        "@P" | "@E" if !text.contains(['\\', '$', '`']) => return Some(text.to_owned()),
        _ => {}
    }
    slice(text, operation.strip_prefix(':')?)
}

/// A pattern or a text without its quotes; none when more than quotes is in it.
fn plain(text: &str) -> Option<String> {
    let simple = text.len() <= PATTERN_MAX && !text.contains(['$', '`']);
    simple.then(|| text.chars().filter(|c| !matches!(c, '"' | '\'' | '\\')).collect())
}

fn first(text: &str, change: impl Fn(char) -> String) -> Option<String> {
    let mut chars = text.chars();
    let first = chars.next().map(change).unwrap_or_default();
    Some(first + chars.as_str())
}

fn slice(text: &str, range: &str) -> Option<String> {
    let (from, length) = range.split_once(':').map_or((range, None), |(from, length)| (from, Some(length)));
    let chars: Vec<char> = text.chars().collect();
    let place = |number: &str| -> Option<usize> {
        let number = number.trim().trim_matches(['(', ')']).parse::<i64>().ok()?;
        let from_end = i64::try_from(chars.len()).ok()? + number;
        usize::try_from(if number < 0 { from_end } else { number }).ok()
    };
    let from = place(from)?.min(chars.len());
    let to = match length {
        None => chars.len(),
        Some(length) if length.trim().starts_with('-') => place(length)?,
        Some(length) => from.saturating_add(place(length)?).min(chars.len()),
    };
    Some(chars.get(from..to)?.iter().collect())
}

fn cut_front(text: &str, pattern: &str, longest: bool) -> Option<String> {
    let fits = |at: &usize| matches(pattern, text.get(..*at).unwrap_or_default());
    let mut ends = boundaries(text);
    let at = if longest { ends.rfind(fits) } else { ends.find(fits) };
    Some(text.get(at.unwrap_or(0)..)?.to_owned())
}

fn cut_back(text: &str, pattern: &str, longest: bool) -> Option<String> {
    let fits = |at: &usize| matches(pattern, text.get(*at..).unwrap_or_default());
    let mut starts = boundaries(text);
    let at = if longest { starts.find(fits) } else { starts.rfind(fits) };
    Some(text.get(..at.unwrap_or(text.len()))?.to_owned())
}

fn boundaries(text: &str) -> impl DoubleEndedIterator<Item = usize> + '_ {
    (0..=text.len()).filter(|at| text.is_char_boundary(*at))
}

/// Whether a pattern of plain characters, `*` and `?` fits the whole text.
fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text): (Vec<char>, Vec<char>) = (pattern.chars().collect(), text.chars().collect());
    let (mut p, mut t) = (0, 0);
    let mut star = None;
    while t < text.len() {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(c) if *c == '?' || text.get(t) == Some(c) => {
                p += 1;
                t += 1;
            }
            _ => {
                let Some((at, from)) = star else { return false };
                star = Some((at, from + 1));
                p = at + 1;
                t = from + 1;
            }
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
}

/// A sum of numbers and of variables that hold numbers.
fn arithmetic(source: &str, variables: &Variables) -> Option<i64> {
    if source.len() > PATTERN_MAX {
        return None;
    }
    let mut sum = Sum { rest: source, variables, depth: 16 };
    let value = sum.add()?;
    sum.rest.trim().is_empty().then_some(value)
}

struct Sum<'s> {
    rest: &'s str,
    variables: &'s Variables,
    depth: usize,
}

impl Sum<'_> {
    fn add(&mut self) -> Option<i64> {
        let mut value = self.multiply()?;
        while let Some(sign) = self.take(&['+', '-']) {
            let right = self.multiply()?;
            value = if sign == '+' { value.checked_add(right)? } else { value.checked_sub(right)? };
        }
        Some(value)
    }

    fn multiply(&mut self) -> Option<i64> {
        let mut value = self.unit()?;
        while let Some(sign) = self.take(&['*', '/', '%']) {
            let right = self.unit()?;
            value = match sign {
                '*' => value.checked_mul(right)?,
                '/' => value.checked_div(right)?,
                _ => value.checked_rem(right)?,
            };
        }
        Some(value)
    }

    fn unit(&mut self) -> Option<i64> {
        self.depth = self.depth.checked_sub(1)?;
        if self.take(&['-']).is_some() {
            return self.unit()?.checked_neg();
        }
        if self.take(&['(']).is_some() {
            let value = self.add()?;
            return self.take(&[')']).map(|_| value);
        }
        self.take(&['$']);
        let rest = self.rest.trim_start();
        let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
        let (word, after) = rest.split_at_checked(length)?;
        self.rest = after;
        self.depth += 1;
        // A leading zero would mean another base.
        let decimal =
            |text: &str| (text == "0" || !text.starts_with('0')).then(|| text.parse().ok()).flatten();
        decimal(word).or_else(|| decimal(known(word, self.variables)?))
    }

    fn take(&mut self, signs: &[char]) -> Option<char> {
        let rest = self.rest.trim_start();
        let first = rest.chars().next().filter(|c| signs.contains(c))?;
        self.rest = rest.get(first.len_utf8()..)?;
        Some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::value;
    use crate::text::Text;
    use crate::variable::{Value, Variables};

    #[test]
    fn a_known_value_is_worked_with() {
        let mut variables = Variables::default();
        variables.set("x", Value::Text(Text::known("xrm -rf")));
        variables.set("n", Value::Text(Text::known("2")));
        variables.set("y", Value::Text(Text::known("x")));
        let list = ["rm", "-rf"].map(Text::known);
        variables.set("a", Value::List(list.to_vec()));
        for (raw, expected) in [
            ("${x#x}", Some("rm -rf")),
            ("${x#*r}", Some("m -rf")),
            ("${x##*r}", Some("f")),
            ("${x%f}", Some("xrm -r")),
            ("${x%r*}", Some("xrm -")),
            ("${x%%r*}", Some("x")),
            ("${x%q}", Some("xrm -rf")),
            ("${x/x/}", Some("rm -rf")),
            ("${x//r/q}", Some("xqm -qf")),
            ("${x:1:2}", Some("rm")),
            ("${x: -3}", Some("-rf")),
            ("${x:1:-4}", Some("rm")),
            ("${x^^}", Some("XRM -RF")),
            ("${x^}", Some("Xrm -rf")),
            ("${x@P}", Some("xrm -rf")),
            ("${#x}", Some("7")),
            ("${!y}", Some("xrm -rf")),
            ("${a[1]}", Some("-rf")),
            ("${a[7]}", None),
            ("$((n + 3 * (2 - 1)))", Some("5")),
            ("$[1+1]", Some("2")),
            ("$((n / 0))", None),
            ("$((9223372036854775807 + 1))", None),
            ("${x#$y}", None),
            ("${x/[x]/}", None),
            ("${z#x}", None),
            ("${x@Q}", None),
        ] {
            let found = value(raw, &variables);
            assert_eq!(found.as_ref().and_then(Text::as_known), expected, "{raw}");
        }
    }
}
