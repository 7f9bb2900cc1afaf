//! A JSON document with hooks in it, of which only ours change.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstArray, CstInputValue, CstNode, CstObject, CstRootNode};
use serde_json::Value;

use super::file::Snapshot;
use super::{InstallError, State, command};

/// The lists of hooks in a document: one for each event.
#[derive(Debug, Clone)]
pub(super) struct Lists {
    /// The key that the events lie below; none when they are the document's own keys.
    pub(super) below: Option<&'static str>,
    /// What the agent wants to find in the document besides, such as a version.
    pub(super) beside: Vec<(&'static str, Value)>,
    /// Our elements, by event. The first is the one that is asked before a call.
    pub(super) entries: Vec<(&'static str, Value)>,
}

/// The document with exactly these entries of ours; none when it is so already.
pub(super) fn with(held: &Snapshot, lists: &Lists) -> Result<Option<String>, InstallError> {
    let document = Document::read(held)?;
    let ours = document.ours(lists)?;
    let wanted: Vec<_> =
        lists.entries.iter().map(|(event, value)| ((*event).to_owned(), value.clone())).collect();
    if ours == wanted && (wanted.is_empty() || document.has_beside(lists)) {
        return Ok(None);
    }
    document.strip(lists)?;
    document.add(lists)?;
    Ok(Some(document.text()))
}

/// How the document stands.
pub(super) fn state(held: &Snapshot, lists: &Lists) -> Result<State, InstallError> {
    let document = Document::read(held)?;
    let ours = document.ours(lists)?;
    let wanted = lists.entries.iter().map(|(event, value)| (*event, value));
    Ok(if ours.is_empty() {
        State::Absent
    } else if ours.iter().map(|(event, value)| (event.as_str(), value)).eq(wanted)
        && document.has_beside(lists)
    {
        State::Current
    } else {
        State::Outdated
    })
}

/// The command of our entry that is asked before a call.
pub(super) fn command(held: &Snapshot, lists: &Lists) -> Result<Option<String>, InstallError> {
    let first = lists.entries.first().map(|(event, _)| *event);
    let ours = Document::read(held)?.ours(lists)?;
    Ok(ours
        .iter()
        .filter(|(event, _)| Some(event.as_str()) == first)
        .find_map(|(_, value)| text_of_ours(value)))
}

/// The command of ours in a document that is ours alone.
pub(super) fn command_in(text: &str) -> Option<String> {
    serde_json::from_str::<Value>(text).ok().as_ref().and_then(text_of_ours)
}

/// Whether nothing is left in a document but what an entry of ours put beside its lists.
pub(super) fn is_bare(text: &str, lists: &Lists) -> bool {
    let ours = |key: &str, value: &Value| lists.beside.iter().any(|(name, put)| *name == key && put == value);
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(left)) => left.iter().all(|(key, value)| ours(key, value)),
        Ok(_) | Err(_) => false,
    }
}

/// What a document holds at a JSON pointer.
pub(super) fn value_at(held: &Snapshot, pointer: &str) -> Result<Option<Value>, InstallError> {
    let root = Document::read(held)?.root.to_serde_value();
    Ok(root.as_ref().and_then(|root: &Value| root.pointer(pointer)).cloned())
}

/// The document with exactly this member first below a key, or without it where it is
/// ours; none when it is so already.
pub(super) fn with_member(
    held: &Snapshot,
    below: &str,
    name: &str,
    value: Option<&Value>,
    is_ours: fn(&Value) -> bool,
) -> Result<Option<String>, InstallError> {
    let document = Document::read(held)?;
    let there = document.object(below)?.and_then(|object| object.get(name));
    let is = there.as_ref().and_then(|property| property.value()).and_then(|node| node.to_serde_value());
    match value {
        Some(value) if is.as_ref() == Some(value) => return Ok(None),
        Some(value) => {
            if let Some(property) = there {
                property.remove();
            }
            let object = document.root.object_value_or_set().object_value_or_set(below);
            object.insert(0, name, input(value));
        }
        None => {
            let Some(property) = there.filter(|_| is.as_ref().is_some_and(is_ours)) else { return Ok(None) };
            property.remove();
            document.remove_if_empty(below)?;
        }
    }
    Ok(Some(document.text()))
}

/// The document with or without a word in the list at `key`, below `below`; none when it is
/// so already.
pub(super) fn with_word(
    held: &Snapshot,
    (below, key): (&str, &str),
    word: &str,
    is_wanted: bool,
) -> Result<Option<String>, InstallError> {
    let document = Document::read(held)?;
    let list = match document.object(below)?.and_then(|object| object.get(key)) {
        None => None,
        Some(property) => {
            let wrong = || document.shape(&format!("{below}.{key}"), "a list");
            Some(property.array_value().ok_or_else(wrong)?)
        }
    };
    let is_word = |node: &CstNode| node.to_serde_value() == Some(Value::String(word.to_owned()));
    let there = list.as_ref().and_then(|list| list.elements().into_iter().find(is_word));
    match (there, is_wanted) {
        (Some(_), true) | (None, false) => return Ok(None),
        (None, true) => {
            let object = document.root.object_value_or_set().object_value_or_set(below);
            object.array_value_or_set(key).append(CstInputValue::String(word.to_owned()));
        }
        (Some(element), false) => {
            element.remove();
            if list.is_some_and(|list| list.elements().is_empty())
                && let Some(property) = document.object(below)?.and_then(|object| object.get(key))
            {
                property.remove();
                document.remove_if_empty(below)?;
            }
        }
    }
    Ok(Some(document.text()))
}

fn text_of_ours(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => command::is_ours(text).then(|| text.clone()),
        Value::Array(items) => items.iter().find_map(text_of_ours),
        Value::Object(members) => members.values().find_map(text_of_ours),
        Value::Null | Value::Bool(_) | Value::Number(_) => None,
    }
}

struct Document<'h> {
    held: &'h Snapshot,
    root: CstRootNode,
}

impl<'h> Document<'h> {
    /// Comments and commas at the end are left alone: agents that allow them are
    /// many, and the others say so themselves.
    fn read(held: &'h Snapshot) -> Result<Self, InstallError> {
        let options = ParseOptions {
            allow_comments: true,
            allow_trailing_commas: true,
            allow_loose_object_property_names: false,
            allow_missing_commas: false,
            allow_single_quoted_strings: false,
            allow_hexadecimal_numbers: false,
            allow_unary_plus_numbers: false,
            allow_bare_decimal_point_numbers: false,
            allow_non_finite_numbers: false,
            allow_extended_string_escapes: false,
        };
        let text = held.text().unwrap_or_default();
        let root = CstRootNode::parse(text, &options).map_err(|error| InstallError::NotJson {
            path: held.path().to_owned(),
            reason: error.to_string(),
        })?;
        let document = Self { held, root };
        match document.root.value() {
            None => {}
            Some(value) if value.as_object().is_some() => document.no_key_twice(&value)?,
            Some(_) => return Err(document.shape("the document", "an object")),
        }
        Ok(document)
    }

    /// Which of two equal keys an agent believes is anybody's guess.
    fn no_key_twice(&self, node: &CstNode) -> Result<(), InstallError> {
        let mut seen = std::collections::BTreeSet::new();
        for property in node.as_object().map(|object| object.properties()).unwrap_or_default() {
            let name = property.decoded_name().unwrap_or_default();
            if let Some(value) = property.value() {
                self.no_key_twice(&value)?;
            }
            if !seen.insert(name.clone()) {
                let reason = format!("the key `{name}` occurs twice");
                return Err(InstallError::NotJson { path: self.held.path().to_owned(), reason });
            }
        }
        for element in node.as_array().map(|array| array.elements()).unwrap_or_default() {
            self.no_key_twice(&element)?;
        }
        Ok(())
    }

    /// The object at a key of the document, if it is there.
    fn object(&self, key: &str) -> Result<Option<CstObject>, InstallError> {
        let Some(property) = self.root.object_value().and_then(|root| root.get(key)) else { return Ok(None) };
        property.object_value().map(Some).ok_or_else(|| self.shape(key, "an object"))
    }

    fn remove_if_empty(&self, key: &str) -> Result<(), InstallError> {
        if self.object(key)?.is_some_and(|object| object.properties().is_empty())
            && let Some(property) = self.root.object_value().and_then(|root| root.get(key))
        {
            property.remove();
        }
        Ok(())
    }

    fn text(&self) -> String {
        let mut text = self.root.to_string();
        if self.held.text().is_none_or(|text| text.trim().is_empty()) && !text.ends_with('\n') {
            text.push('\n');
        }
        text
    }

    fn shape(&self, key: &str, expected: &'static str) -> InstallError {
        InstallError::Shape { path: self.held.path().to_owned(), key: key.to_owned(), expected }
    }

    /// The object that the events lie in, if it is there.
    fn events(&self, lists: &Lists) -> Result<Option<CstObject>, InstallError> {
        let Some(root) = self.root.object_value() else { return Ok(None) };
        let Some(key) = lists.below else { return Ok(Some(root)) };
        let Some(property) = root.get(key) else { return Ok(None) };
        property.object_value().map(Some).ok_or_else(|| self.shape(key, "an object"))
    }

    fn has_beside(&self, lists: &Lists) -> bool {
        let root = self.root.object_value();
        lists.beside.iter().all(|(key, _)| root.as_ref().is_some_and(|root| root.get(key).is_some()))
    }

    /// Every event's list.
    fn lists(&self, lists: &Lists) -> Result<Vec<(String, CstArray)>, InstallError> {
        let Some(events) = self.events(lists)? else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for property in events.properties() {
            let name = property.decoded_name().unwrap_or_default();
            match property.array_value() {
                Some(array) => found.push((name, array)),
                // Switches such as `enabled` and `disabled` lie there as well.
                None if !lists.entries.iter().any(|(event, _)| *event == name) => {}
                None => {
                    let above = lists.below.map(|key| format!("{key}.")).unwrap_or_default();
                    return Err(self.shape(&format!("{above}{name}"), "a list"));
                }
            }
        }
        Ok(found)
    }

    /// Our elements, in order, with the event that each belongs to.
    fn ours(&self, lists: &Lists) -> Result<Vec<(String, Value)>, InstallError> {
        let mut ours = Vec::new();
        for (event, array) in self.lists(lists)? {
            let values = array.elements().into_iter().filter_map(|element| element.to_serde_value());
            ours.extend(
                values.filter(|value| text_of_ours(value).is_some()).map(|value| (event.clone(), value)),
            );
        }
        let place = |event: &str| lists.entries.iter().position(|(name, _)| *name == event);
        ours.sort_by_key(|(event, _)| place(event));
        Ok(ours)
    }

    /// Takes our elements out, and what they leave empty.
    fn strip(&self, lists: &Lists) -> Result<(), InstallError> {
        for (event, array) in self.lists(lists)? {
            let before = array.elements().len();
            for element in array.elements() {
                strip_element(element);
            }
            if before > 0
                && array.elements().is_empty()
                && let Some(property) = self.events(lists)?.and_then(|events| events.get(&event))
            {
                property.remove();
            }
        }
        if let Some(key) = lists.below
            && self.events(lists)?.is_some_and(|events| events.properties().is_empty())
            && let Some(property) = self.root.object_value().and_then(|root| root.get(key))
        {
            property.remove();
        }
        Ok(())
    }

    fn add(&self, lists: &Lists) -> Result<(), InstallError> {
        if lists.entries.is_empty() {
            return Ok(());
        }
        let root = self.root.object_value_or_set();
        for (index, (key, value)) in lists.beside.iter().enumerate() {
            if root.get(key).is_none() {
                root.insert(index, key, input(value));
            }
        }
        let below = match lists.below {
            Some(key) => root.object_value_or_set(key),
            None => root,
        };
        for (event, value) in &lists.entries {
            let list = below.array_value_or_set(event);
            list.ensure_multiline();
            list.append(input(value));
        }
        Ok(())
    }
}

/// Takes one handler out of a group that has others, or the group with it.
fn strip_element(element: CstNode) {
    let ours = |node: &CstNode| node.to_serde_value().as_ref().and_then(text_of_ours).is_some();
    if !ours(&element) {
        return;
    }
    if let Some(hooks) = element.as_object().and_then(|group| group.array_value("hooks")) {
        for hook in hooks.elements().into_iter().filter(ours) {
            hook.remove();
        }
        if !hooks.elements().is_empty() {
            return;
        }
    }
    element.remove();
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(flag) => CstInputValue::Bool(*flag),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(members) => {
            CstInputValue::Object(members.iter().map(|(key, value)| (key.clone(), input(value))).collect())
        }
    }
}
