//! Which tools a model is shown in full, and how it finds the others.
//!
//! Every admitted tool can be called. Showing fewer of them in full saves context and
//! permits nothing less: the others are in a catalogue, and one search brings them. A
//! tool says by itself what it serves and whether it is always shown; the host has no
//! table of names.

mod search;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use portcullis_model::capability::Domain;
use portcullis_model::extension::ToolEntry;
use serde_json::{Value, json};

/// The tool by which a model finds the others.
pub const FIND_TOOLS: &str = "find_tools";

/// As many tools as one search gives back.
pub const FOUND_MAX: usize = 8;

/// What a turn is about, as far as somebody has read it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reading {
    /// The domains that it needs.
    pub needs: BTreeSet<Domain>,
    /// The tools whose card the request asks for.
    pub cards: BTreeSet<String>,
}

/// The tools of one turn.
#[derive(Debug, Clone)]
pub struct Surface {
    tools: BTreeMap<String, ToolEntry>,
    /// Shown in full from the start.
    loaded: BTreeSet<String>,
    /// Found since, and shown in full from then on.
    promoted: BTreeSet<String>,
    misread: BTreeSet<String>,
    slices: bool,
}

impl Surface {
    /// The tools that are admitted, of which those are shown that `reading` asks for.
    /// Without one all are shown.
    #[must_use]
    pub fn new(admitted: impl IntoIterator<Item = ToolEntry>, reading: Option<&Reading>) -> Self {
        let tools: BTreeMap<_, _> = admitted.into_iter().map(|tool| (tool.name.clone(), tool)).collect();
        let is_loaded = |tool: &ToolEntry| match reading {
            None => true,
            Some(reading) => {
                can_not_wait(tool)
                    || reading.cards.contains(&tool.name)
                    || (!tool.traits.presents_card && !tool.traits.serves.is_disjoint(&reading.needs))
            }
        };
        let loaded = tools.values().filter(|tool| is_loaded(tool)).map(|tool| tool.name.clone());
        Self {
            loaded: loaded.collect(),
            promoted: BTreeSet::new(),
            misread: BTreeSet::new(),
            slices: reading.is_some(),
            tools,
        }
    }

    /// The tool `name`, shown or not: every admitted one can be called.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&ToolEntry> {
        self.tools.get(name)
    }

    /// The tools that the next request shows in full, by name.
    pub fn shown(&self) -> impl Iterator<Item = &ToolEntry> {
        self.tools.values().filter(|tool| self.is_shown(&tool.name))
    }

    /// The tools that the next request does not show in full, by name.
    pub fn deferred(&self) -> impl Iterator<Item = &ToolEntry> {
        self.tools.values().filter(|tool| !self.is_shown(&tool.name))
    }

    fn is_shown(&self, name: &str) -> bool {
        self.loaded.contains(name) || self.promoted.contains(name)
    }

    /// The tools as a request holds them. A provider that can defer tools by itself gets
    /// all of them, the others marked; any other provider gets those that are shown.
    #[must_use]
    pub fn definitions(&self, provider_defers: bool) -> Vec<Value> {
        let definition = |tool: &ToolEntry| {
            let ToolEntry { name, description, schema, .. } = tool;
            json!({ "name": name, "description": description, "input_schema": schema })
        };
        if !provider_defers {
            return self.shown().map(definition).collect();
        }
        let marked = |tool: &ToolEntry| {
            let mut value = definition(tool);
            if !self.is_shown(&tool.name)
                && let Some(object) = value.as_object_mut()
            {
                object.insert("defer_loading".to_owned(), Value::Bool(true));
            }
            value
        };
        self.tools.values().map(marked).collect()
    }

    /// What the prompt says of the tools that may have to be found: the same bytes in
    /// every turn with the same tools, whatever the turn is about. Nothing when all are
    /// shown anyway.
    #[must_use]
    pub fn catalogue(&self) -> String {
        let mut lines: Vec<String> = self
            .tools
            .values()
            .filter(|tool| self.slices && !can_not_wait(tool))
            .map(|tool| format!("- {}: {}\n", tool.name, first_sentence(&tool.description)))
            .collect();
        if lines.is_empty() {
            return String::new();
        }
        lines.insert(
            0,
            format!(
                "## More tools\n\nThese can be called as well. `{FIND_TOOLS}` shows how, by words of their name or \
                 description.\n\n"
            ),
        );
        lines.concat()
    }

    /// The tools that `query` means, the best first. They are shown in full from the next
    /// request on. `is_permitted` says which may be named now.
    pub fn find(&mut self, query: &str, is_permitted: impl Fn(&str) -> bool) -> Vec<ToolEntry> {
        let candidates = self.tools.values().filter(|tool| is_permitted(&tool.name));
        let found: Vec<_> = search::best(query, candidates, FOUND_MAX).into_iter().cloned().collect();
        self.promoted.extend(found.iter().map(|tool| tool.name.clone()));
        found
    }

    /// The model called `name`. A tool that was not shown from the start is a misread of
    /// the turn, unless it shows a card.
    pub fn used(&mut self, name: &str) {
        if let Some(tool) = self.tools.get(name)
            && !tool.traits.presents_card
            && !self.loaded.contains(name)
        {
            self.misread.insert(name.to_owned());
        }
    }

    /// How many tools the model needed that the reading did not foresee.
    #[must_use]
    pub fn misreads(&self) -> usize {
        self.misread.len()
    }
}

/// It is shown whatever the turn is about.
fn can_not_wait(tool: &ToolEntry) -> bool {
    let traits = &tool.traits;
    traits.always_loaded || (traits.serves.is_empty() && !traits.presents_card)
}

/// Up to the first full stop behind which something new begins, in one line.
fn first_sentence(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut ends = line.match_indices(['.', '!', '?']).map(|(at, _)| at + 1);
    let begins = |rest: &str| match rest.strip_prefix(' ') {
        None => rest.is_empty(),
        // `e.g. this` goes on.
        Some(next) => !next.starts_with(char::is_lowercase),
    };
    let end = ends.find(|end| line.get(*end..).is_some_and(begins));
    end.and_then(|end| line.get(..end)).unwrap_or(&line).to_owned()
}
