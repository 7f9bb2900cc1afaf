//! Which tools a few words mean.

use std::collections::BTreeSet;

use serde_json::Value;

use portcullis_model::extension::ToolEntry;

/// What a word counts in the name, in the description and in the schema.
const WEIGHTS: [u32; 3] = [8, 3, 1];

/// The tools that `query` means, the best first: those with more of its words, and with
/// those in weightier places. Equals stand by name.
pub(super) fn best<'t>(
    query: &str,
    tools: impl IntoIterator<Item = &'t ToolEntry>,
    most: usize,
) -> Vec<&'t ToolEntry> {
    let wanted = words(query);
    let whole = query.trim().to_lowercase();
    let mut found: Vec<(u32, &ToolEntry)> = tools
        .into_iter()
        .map(|tool| (score(&wanted, &whole, tool), tool))
        .filter(|(score, _)| *score > 0)
        .collect();
    found.sort_by(|(one, tool), (other, another)| other.cmp(one).then_with(|| tool.name.cmp(&another.name)));
    found.into_iter().take(most).map(|(_, tool)| tool).collect()
}

fn score(wanted: &BTreeSet<String>, whole: &str, tool: &ToolEntry) -> u32 {
    let mut named = String::new();
    names(&tool.schema, &mut named);
    let places = [words(&tool.name), words(&tool.description), words(&named)];
    let mut score = 0_u32;
    for word in wanted {
        for (place, weight) in places.iter().zip(WEIGHTS) {
            if place.contains(word) {
                score += weight * 2;
            } else if word.len() > 2 && place.iter().any(|own| own.starts_with(word.as_str())) {
                score += weight;
            }
        }
    }
    if tool.name.to_lowercase() == whole { score + 1000 } else { score }
}

/// The names and descriptions in a schema.
fn names(schema: &Value, into: &mut String) {
    match schema {
        Value::Object(object) => {
            for (key, value) in object {
                if key == "properties"
                    && let Some(properties) = value.as_object()
                {
                    properties.keys().for_each(|name| {
                        into.push_str(name);
                        into.push(' ');
                    });
                }
                if key == "description"
                    && let Some(text) = value.as_str()
                {
                    into.push_str(text);
                    into.push(' ');
                }
                names(value, into);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| names(item, into)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The words of a text, also those of `snake_case` and `camelCase`, in lower case.
fn words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in text.chars() {
        let begins = c.is_uppercase() && was_lower;
        if (!c.is_alphanumeric() || begins) && !word.is_empty() {
            words.insert(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    if !word.is_empty() {
        words.insert(word);
    }
    words
}
