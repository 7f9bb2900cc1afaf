//! What extensions bring, as they said when they were asked last.

use std::collections::BTreeSet;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use portcullis_model::capability::{Capability, CapabilityId, CapabilityKind, Declaration, Standing};
use portcullis_model::extension::{Changes, CommandRank, Extension, ExtensionError, Known, ToolEntry};

use super::declare::digest;
use crate::extension::{failed_inside, within};
use crate::schema::Schema;

/// What one extension brings.
#[derive(Debug, Default)]
pub(crate) struct Listed {
    known: Known,
    pub(crate) tools: Vec<ListedTool>,
}

/// A tool of an extension.
#[derive(Debug)]
pub(crate) struct ListedTool {
    pub(crate) entry: ToolEntry,
    pub(crate) schema: Schema,
}

impl Listed {
    fn new(known: Known) -> Self {
        let tool = |entry: &ToolEntry| ListedTool {
            schema: Schema::new(entry.schema.clone()),
            entry: entry.clone(),
        };
        Self { tools: known.tools.iter().map(tool).collect(), known }
    }

    /// What it is known to bring.
    pub(crate) const fn known(&self) -> &Known {
        &self.known
    }

    /// All of it. Another program that brings tools is one server, whose tools are called
    /// through it; what is the user's own are tools of their own.
    pub(super) fn capabilities(
        &self,
        extension: &dyn Extension,
        origin: &str,
    ) -> Vec<(CommandRank, Capability)> {
        let Known { tools, skills, commands, failed } = &self.known;
        let standing = || failed.clone().map_or(Standing::Usable, Standing::Degraded);
        let new = |kind, name: &str, declaration| Capability {
            id: CapabilityId::new(kind, name),
            origin: origin.to_owned(),
            declaration,
            standing: standing(),
        };
        let mut all = Vec::new();
        if extension.is_local() {
            all.extend(tools.iter().map(|tool| {
                let content = digest(&[&tool.description, &tool.schema.to_string(), &flags(tool)]);
                let declaration = Declaration {
                    description: tool.description.clone(),
                    content: Some(content),
                    serves: tool.traits.serves.clone(),
                    ..Declaration::default()
                };
                new(CapabilityKind::Tool, &tool.name, declaration)
            }));
        } else if extension.tools().is_some() {
            let catalogue = tools
                .iter()
                .map(|tool| digest(&[&tool.name, &tool.description, &tool.schema.to_string(), &flags(tool)]));
            let catalogue: Vec<_> = catalogue.collect();
            let catalogue: Vec<_> = catalogue.iter().map(String::as_str).collect();
            let serves: BTreeSet<_> = tools.iter().flat_map(|tool| tool.traits.serves.clone()).collect();
            let declaration = Declaration {
                description: names(tools),
                configuration: Some(digest(&catalogue)),
                serves,
                ..Declaration::default()
            };
            all.push(new(CapabilityKind::Server, extension.name(), declaration));
        }
        all.extend(skills.iter().map(|skill| {
            let declaration = Declaration {
                description: skill.description.clone(),
                content: skill.digest.clone().or_else(|| Some(digest(&[&skill.uri, &skill.mime]))),
                serves: skill.serves.clone(),
                ..Declaration::default()
            };
            new(CapabilityKind::Skill, &skill.name, declaration)
        }));
        let mut all: Vec<_> = all.into_iter().map(|own| (CommandRank::Last, own)).collect();
        all.extend(commands.iter().map(|command| {
            let content = [&command.arguments, &command.from, command.digest.as_deref().unwrap_or_default()];
            let declaration = Declaration {
                description: command.description.clone(),
                content: Some(digest(&content)),
                ..Declaration::default()
            };
            (command.rank, new(CapabilityKind::Command, &command.name, declaration))
        }));
        all
    }
}

/// Names of a server's tools that a prompt holds.
const NAMES_MAX: usize = 40;

/// Which tools are known of a server.
fn names(tools: &[ToolEntry]) -> String {
    let known = format!("{} tools are known of it", tools.len());
    if tools.is_empty() {
        return known;
    }
    let names: Vec<_> = tools.iter().take(NAMES_MAX).map(|tool| tool.name.as_str()).collect();
    let more = if tools.len() > NAMES_MAX { ", …" } else { "" };
    format!("{known}: {}{more}", names.join(", "))
}

fn flags(tool: &ToolEntry) -> String {
    format!("{} {}", tool.traits.always_loaded, tool.traits.presents_card)
}

/// What all extensions bring.
#[derive(Debug, Default)]
pub(super) struct Lists {
    all: Vec<One>,
}

/// One extension, what it brings, and what it tells of itself.
#[derive(Clone)]
struct One {
    extension: Arc<dyn Extension>,
    listed: Arc<Listed>,
    /// Where a change may be one of what it brings.
    places: Arc<[PathBuf]>,
    news: Arc<Mutex<Option<Box<dyn Changes>>>>,
}

impl fmt::Debug for One {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("One")
            .field("extension", &self.extension)
            .field("listed", &self.listed)
            .finish_non_exhaustive()
    }
}

/// News of one source that are read at once. Who always has more keeps nobody else waiting.
const NEWS_MAX: usize = 64;

/// Directories of one extension that are watched. What changes elsewhere is seen at the
/// next tick.
const PLACES_MAX: usize = 4096;

impl Lists {
    /// The directories in which a change may matter.
    pub(super) fn places(&self) -> impl Iterator<Item = &PathBuf> {
        self.all.iter().flat_map(|one| one.places.iter())
    }

    /// Asks these, all at once. Who does not answer keeps what it said `before`.
    pub(super) async fn of(asked: Vec<Arc<dyn Extension>>, before: &Self) -> Self {
        let asked = asked.into_iter().map(|extension| async {
            let old = before.find(&extension);
            let changes = || catch_unwind(AssertUnwindSafe(|| extension.changes())).ok().flatten();
            let news = old.map_or_else(|| Arc::new(Mutex::new(changes())), |old| Arc::clone(&old.news));
            let said = old.map(|old| old.listed.known());
            let known = AssertUnwindSafe(ask(&*extension, said)).catch_unwind().await;
            let known = known.unwrap_or_else(|_| still(said, &failed_inside(&*extension)));
            let same = old.filter(|old| *old.listed.known() == known);
            let listed = same.map_or_else(|| Arc::new(Listed::new(known)), |old| Arc::clone(&old.listed));
            let places = catch_unwind(AssertUnwindSafe(|| extension.places())).unwrap_or_default();
            let places = places.into_iter().take(PLACES_MAX).collect();
            One { extension, listed, places, news }
        });
        Self { all: join_all(asked).await }
    }

    /// With those of `others` that were not asked, as far as they are among `registered`.
    pub(super) fn beside(mut self, others: &Self, registered: &[Arc<dyn Extension>]) -> Self {
        let is_there = |one: &&One| registered.iter().any(|own| Arc::ptr_eq(own, &one.extension));
        let more: Vec<_> =
            others.all.iter().filter(|one| self.find(&one.extension).is_none()).cloned().collect();
        self.all.extend(more);
        self.all.retain(|one| is_there(&one));
        self
    }

    /// Was it asked?
    pub(super) fn has(&self, extension: &Arc<dyn Extension>) -> bool {
        self.find(extension).is_some()
    }

    fn find(&self, extension: &Arc<dyn Extension>) -> Option<&One> {
        self.all.iter().find(|one| Arc::ptr_eq(&one.extension, extension))
    }

    /// What it brings; nothing for one that was registered since.
    pub(super) fn of_extension(&self, extension: &Arc<dyn Extension>) -> Arc<Listed> {
        self.find(extension).map(|one| Arc::clone(&one.listed)).unwrap_or_default()
    }

    pub(super) fn poll_news(&self, context: &mut Context<'_>) -> bool {
        let mut told = false;
        for one in &self.all {
            let mut news = one.news.lock().unwrap_or_else(PoisonError::into_inner);
            for _ in 0..NEWS_MAX {
                let Some(source) = news.as_mut() else { break };
                let polled = catch_unwind(AssertUnwindSafe(|| source.poll_next(context)));
                let ended = match polled {
                    Ok(Poll::Pending) => break,
                    Ok(Poll::Ready(Some(Ok(_)))) => {
                        told = true;
                        continue;
                    }
                    Ok(Poll::Ready(None)) => None,
                    Ok(Poll::Ready(Some(Err(error)))) => Some(error),
                    Err(_) => Some(failed_inside(&*one.extension)),
                };
                if let Some(error) = ended {
                    let name = one.extension.name();
                    tracing::warn!(extension = name, "it tells of no more changes: {error}");
                }
                *news = None;
            }
        }
        told
    }
}

/// What `extension` brings now. One that is another program is asked for nothing.
async fn ask(extension: &dyn Extension, before: Option<&Known>) -> Known {
    if let Some(known) = extension.known() {
        return known;
    }
    if !extension.is_local() {
        return Known::default();
    }
    let listed = async {
        let mut known = Known::default();
        if let Some(role) = extension.tools() {
            known.tools = within(extension, role.list()).await?;
        }
        if let Some(role) = extension.skills() {
            known.skills = within(extension, role.list()).await?;
        }
        if let Some(role) = extension.commands() {
            known.commands = within(extension, role.list()).await?;
        }
        Ok::<_, ExtensionError>(known)
    };
    listed.await.unwrap_or_else(|error| still(before, &error))
}

/// What it said before, with the reason why that is not new.
fn still(before: Option<&Known>, error: &ExtensionError) -> Known {
    Known { failed: Some(error.to_string()), ..before.cloned().unwrap_or_default() }
}
