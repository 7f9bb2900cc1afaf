//! The standing section of the prompt: what a model is told of what it can use.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use portcullis_model::capability::{Capability, CapabilityId, CapabilityKind, Standing};
use serde::Serialize;

use super::Admitted;
use crate::registry::Delta;
use crate::world::Count;

/// As many names of one change are told.
const NAMES_MAX: usize = 40;

/// What a model is told of what it can use, as one text. The parts stand in one order,
/// the one that changes most last, so that a provider can keep the beginning.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Section {
    /// The whole text; empty when there is nothing to tell.
    pub text: String,
    /// About how many tokens it is: one for every four characters, rounded up.
    pub tokens: usize,
    /// Its parts, in their order, each with about how many tokens it is.
    pub parts: Vec<(Part, usize)>,
    /// How many capabilities of each kind there are for the turn.
    pub counts: BTreeMap<CapabilityKind, Count>,
}

/// A part of the section.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// What plugins say of themselves.
    Plugins,
    /// The tools that have to be found.
    Tools,
    /// The skills.
    Skills,
    /// The MCP servers.
    Servers,
    /// What should be there and is broken.
    Broken,
    /// What changed since the turn before.
    Changes,
}

fn tokens(text: &str) -> usize {
    text.chars().count().div_ceil(4)
}

impl Admitted {
    /// The section, with the `catalogue` of the tools that have to be found and the `news`
    /// that the model has not heard.
    pub(crate) fn section(&self, catalogue: String, news: Option<&Delta>) -> Section {
        let all = self.all();
        let parts = [
            (Part::Plugins, self.appendices()),
            (Part::Tools, catalogue),
            (
                Part::Skills,
                list(&all, CapabilityKind::Skill, "## Skills\n\nLoad one when its description fits.\n\n"),
            ),
            (
                Part::Servers,
                list(
                    &all,
                    CapabilityKind::Server,
                    "## MCP servers\n\nThey are started when they are called.\n\n",
                ),
            ),
            (Part::Broken, self.broken()),
            (Part::Changes, news.map(changes).unwrap_or_default()),
        ];
        let parts: Vec<_> = parts.into_iter().filter(|(_, text)| !text.is_empty()).collect();
        let text = parts.iter().map(|(_, text)| text.trim_end()).collect::<Vec<_>>().join("\n\n");
        Section {
            tokens: tokens(&text),
            text,
            parts: parts.iter().map(|(part, text)| (*part, tokens(text))).collect(),
            counts: self.counts(),
        }
    }

    /// What should be there and is broken, so that a model does not look for it.
    fn broken(&self) -> String {
        let mut text = String::new();
        for own in self.unusable() {
            if let Standing::Broken(why) = &own.standing {
                let heading = if text.is_empty() { "## Not available\n\n" } else { "" };
                // Writing to a text does not fail.
                let _ = writeln!(text, "{heading}- {} `{}`: it is broken: {why}", own.id.kind, own.id.name);
            }
        }
        text
    }

    fn counts(&self) -> BTreeMap<CapabilityKind, Count> {
        let mut counts: BTreeMap<_, Count> =
            CapabilityKind::ALL.into_iter().map(|kind| (kind, Count::default())).collect();
        for own in self.all() {
            counts.entry(own.id.kind).or_default().usable += 1;
        }
        for own in self.unusable() {
            counts.entry(own.id.kind).or_default().unusable += 1;
        }
        counts
    }

    /// What the plugins say of themselves. What came with a project is silent until the
    /// project is trusted.
    fn appendices(&self) -> String {
        let mut text = String::new();
        for plugin in self.plugins.plugins().filter(|plugin| plugin.is_trusted()) {
            if let Some(appendix) = &plugin.info.appendix {
                let heading = if text.is_empty() { "## Plugins\n\n" } else { "\n" };
                // Writing to a text does not fail.
                let _ = writeln!(text, "{heading}### {}\n\n{}", plugin.info.name, appendix.trim());
            }
        }
        text
    }
}

fn list(all: &[&Capability], kind: CapabilityKind, heading: &str) -> String {
    let own = all.iter().filter(|own| own.id.kind == kind);
    let line = |own: &&Capability| {
        let description = own.declaration.description.split_whitespace().collect::<Vec<_>>().join(" ");
        let failed = own.standing.why().map(|why| format!(" (its last use failed: {why})"));
        format!("- {}: {description}{}\n", own.id.name, failed.unwrap_or_default())
    };
    let lines: Vec<_> = own.map(line).collect();
    if lines.is_empty() { String::new() } else { format!("{heading}{}", lines.concat()) }
}

/// What changed, in words.
fn changes(delta: &Delta) -> String {
    let told = |what: &str, ids: &[CapabilityId]| {
        if ids.is_empty() {
            return String::new();
        }
        let shown: Vec<_> =
            ids.iter().take(NAMES_MAX).map(|id| format!("{} `{}`", id.kind, id.name)).collect();
        let more = ids.len().saturating_sub(NAMES_MAX);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        format!("- {what}: {}{more}\n", shown.join(", "))
    };
    let lines = [told("new", &delta.added), told("gone", &delta.removed), told("changed", &delta.changed)];
    format!("## Changes since your last turn\n\n{}", lines.concat())
}
