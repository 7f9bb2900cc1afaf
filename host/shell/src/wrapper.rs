//! Programs that run the program in their arguments.

mod table;

use self::table::Wrapper;
use crate::{expand::Field, text::Text};

/// What is left of a command when its wrappers are off.
#[derive(Debug, Default)]
pub(crate) struct Peeled {
    /// Where the program is.
    pub(crate) start: usize,
    pub(crate) via: Vec<String>,
    pub(crate) assignments: Vec<(String, Text)>,
    /// The innermost wrapper puts the words of its standard input behind the program.
    pub(crate) appends: bool,
}

pub(crate) fn peel(fields: &[Field]) -> Peeled {
    let mut peeled = Peeled::default();
    while let Some(name) = fields.get(peeled.start).and_then(Field::known) {
        let name = basename(name);
        let rest = fields.get(peeled.start + 1..).unwrap_or_default();
        let mut assignments = Vec::new();
        let found = table::named(name).find_map(|wrapper| {
            let verbs = verbs(wrapper, rest)?;
            let own = rest.get(verbs..).unwrap_or_default();
            let (length, replaces) = arguments(wrapper, own, &mut assignments)?;
            (length < own.len()).then_some((wrapper, verbs + length, replaces))
        });
        let Some((wrapper, length, replaces)) = found else { break };
        peeled.start += 1 + length;
        peeled.via.push(wrapper.name.to_owned());
        peeled.assignments.append(&mut assignments);
        peeled.appends = wrapper.name == "xargs" && !replaces;
    }
    peeled
}

/// How many arguments go up to the wrapper's verb, with that verb.
fn verbs(wrapper: &Wrapper, rest: &[Field]) -> Option<usize> {
    if wrapper.verbs.is_empty() {
        return Some(0);
    }
    wrapper.verbs.iter().find_map(|row| {
        let mut at = 0;
        for verb in *row {
            at += options(wrapper, rest.get(at..)?);
            if rest.get(at)?.known() != Some(*verb) {
                return None;
            }
            at += 1;
        }
        Some(at)
    })
}

/// How many arguments at the start are options and their values.
fn options(wrapper: &Wrapper, rest: &[Field]) -> usize {
    let mut at = 0;
    while let Some(text) = rest.get(at).and_then(Field::known).filter(|text| text.starts_with('-')) {
        let valued = match text.strip_prefix("--") {
            Some(_) => wrapper.long.contains(&text),
            None => text.len() == 2 && text.ends_with(|letter| wrapper.short.contains(letter)),
        };
        at += if valued { 2 } else { 1 };
    }
    at
}

/// How many arguments are the wrapper's own; whether it has its own way to use
/// its standard input. `None` when it runs no program.
fn arguments(
    wrapper: &Wrapper,
    rest: &[Field],
    assignments: &mut Vec<(String, Text)>,
) -> Option<(usize, bool)> {
    let mut at = 0;
    let mut replaces = false;
    while let Some(text) = rest.get(at).and_then(Field::known) {
        if text == "--" {
            at += 1;
            break;
        }
        if text.starts_with("--") {
            if wrapper.name == "env" && text.starts_with("--split-string") {
                return None;
            }
            replaces |= text.starts_with("--replace") || text.starts_with("--arg-file");
            at += if wrapper.long.contains(&text) { 2 } else { 1 };
            continue;
        }
        let Some(letters) = text.strip_prefix('-') else { break };
        at += 1;
        for (index, letter) in letters.char_indices() {
            if wrapper.other.contains(letter) {
                return None;
            }
            replaces |= wrapper.name == "xargs" && matches!(letter, 'I' | 'i' | 'a');
            if wrapper.short.contains(letter) {
                // The value is the rest of the argument, or the next one.
                if index + letter.len_utf8() == letters.len() {
                    at += 1;
                }
                break;
            }
        }
    }
    // `time` is a keyword before a whole pipeline.
    while wrapper.name == "time" && rest.get(at).and_then(Field::known) == Some("!") {
        at += 1;
    }
    if wrapper.assigns {
        while let Some((name, value)) = rest.get(at).and_then(|field| field.text.assignment()) {
            assignments.push((name, value));
            at += 1;
        }
    }
    at += wrapper.operands;
    let text = |field: &&Field| {
        let letters = field.known().and_then(|text| text.strip_prefix('-'));
        letters.is_some_and(|letters| letters.starts_with(|letter| wrapper.other.contains(letter)))
    };
    if wrapper.operands > 0 && rest.get(at).filter(text).is_some() {
        return None;
    }
    if wrapper.dashes
        && let Some(dashes) = rest.iter().position(|field| field.known() == Some("--"))
    {
        at = dashes + 1;
    }
    Some((at, replaces))
}

/// The last component of a path.
pub(crate) fn basename(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
