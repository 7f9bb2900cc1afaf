//! A server as an extension: what it brings, and what is done with it.

use std::collections::BTreeSet;
use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use portcullis_model::call::Claims;
use portcullis_model::capability::Domain;
use portcullis_model::extension::{
    Answer, Change, ChangeKind, Changes, CommandEntry, CommandProvider, Extension, ExtensionError, Known,
    SkillEntry, SkillProvider, ToolEntry, ToolProvider, ToolResult,
};
use serde_json::Value;
use tokio::sync::watch;

use super::catalogue::Tool;
use super::error::ServerError;
use super::pool::Pool;
use super::prompt::{self, Prompt};
use super::settings::Settings;
use super::skill;
use super::slot::Slot;

/// One MCP server. Building one does no work, and neither does anything that is known of
/// it already: it is started when somebody lists or calls its tools, or reads its skills.
#[derive(Debug)]
pub(crate) struct Server {
    name: String,
    serves: BTreeSet<Domain>,
    /// The tools that it is said to have.
    said: Vec<String>,
    pool: Arc<Pool>,
    slot: Arc<Slot>,
}

/// How a server stands, for people.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ServerRow {
    /// Its name.
    pub name: String,
    /// `running`, `idle` (it is started when it is called) or `failed`.
    pub state: &'static str,
    /// The generation of the protocol that it speaks, when that is known.
    pub era: Option<String>,
    /// The tools that are known of it.
    pub tools: Vec<String>,
    /// Those whose definitions have changed since they were first seen.
    pub changed: Vec<String>,
    /// Why it failed, and what can be done; none when it did not.
    pub why: Option<String>,
    /// When it is tried again, in milliseconds from now; none when it can be tried now.
    pub retry_ms: Option<u64>,
    /// Lines of it that are no message, since it was started.
    pub noise: u64,
}

impl Server {
    pub(crate) fn new(name: impl Into<String>, settings: Settings, pool: &Arc<Pool>) -> Self {
        let (serves, said) = (settings.serves.clone(), settings.tools());
        Self { name: name.into(), serves, said, slot: pool.slot(settings), pool: Arc::clone(pool) }
    }

    fn failed(&self, error: ServerError) -> ExtensionError {
        error.of(&self.name)
    }

    /// The tools that are known without asking: those of the last list, or of the last one
    /// of another process, or those that the configuration names.
    fn tools_known(&self) -> Vec<Tool> {
        self.pool.recall(&self.slot);
        let state = self.slot.state();
        let kept = state.remembered.as_ref().and_then(|known| known.tools.clone());
        let known = state.catalogue.as_ref().map(|known| known.tools.clone()).or(kept);
        known.unwrap_or_else(|| self.said.iter().map(|name| Tool::said(name)).collect())
    }

    /// What its table says of all its tools.
    fn entry(&self, tool: &Tool) -> ToolEntry {
        let mut entry = tool.entry.clone();
        entry.traits.serves.clone_from(&self.serves);
        entry
    }

    fn skills_known(&self) -> Vec<SkillEntry> {
        self.pool.recall(&self.slot);
        let state = self.slot.state();
        let kept = || state.remembered.as_ref().map(|known| known.skills.clone());
        state.catalogue.as_ref().map(|known| known.skills.clone()).or_else(kept).unwrap_or_default()
    }

    fn prompts_known(&self) -> Vec<Prompt> {
        self.pool.recall(&self.slot);
        let state = self.slot.state();
        let kept = || state.remembered.as_ref().map(|known| known.prompts.clone());
        state.catalogue.as_ref().map(|known| known.prompts.clone()).or_else(kept).unwrap_or_default()
    }

    /// Whose skill it is stands in its name, so that it is never taken for one of the
    /// user's.
    fn named(&self, skill: SkillEntry) -> SkillEntry {
        let (name, description) = (format!("{}/{}", self.name, skill.name), skill.description);
        SkillEntry {
            name,
            description: format!("{description} (of the MCP server `{}`)", self.name),
            ..skill
        }
    }

    /// How it stands.
    pub(crate) fn row(&self) -> ServerRow {
        let tools = self.tools_known().into_iter().map(|tool| tool.entry.name).collect();
        let state = self.slot.state();
        let live = state.live.as_ref().filter(|live| live.client.is_alive());
        let refused = state.backoff.as_ref();
        let left = refused.map(|own| own.until.saturating_duration_since(std::time::Instant::now()));
        let retry_ms =
            left.filter(|left| !left.is_zero()).and_then(|left| u64::try_from(left.as_millis()).ok());
        let why = refused.map(|own| own.error.told()).or_else(|| state.trouble.clone());
        let era = state.remembered.as_ref().and_then(|known| known.era);
        ServerRow {
            name: self.name.clone(),
            state: match (live, &why) {
                (Some(_), _) => "running",
                (None, Some(_)) => "failed",
                (None, None) => "idle",
            },
            era: era.map(|era| format!("{era:?}").to_lowercase()),
            tools,
            changed: state.catalogue.iter().flat_map(|known| known.changed.iter().cloned()).collect(),
            why,
            retry_ms,
            noise: live.map_or(0, |live| live.client.stray().noise),
        }
    }

    /// Ends it, and forgets what is known of it: its tools, its generation, and how its
    /// tools looked when they were first seen.
    pub(crate) async fn forget(&self) {
        self.pool.recall(&self.slot);
        self.pool.end(&self.slot, true).await;
    }
}

impl Extension for Server {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_local(&self) -> bool {
        false
    }

    fn skills(&self) -> Option<&dyn SkillProvider> {
        Some(self)
    }

    fn tools(&self) -> Option<&dyn ToolProvider> {
        Some(self)
    }

    fn commands(&self) -> Option<&dyn CommandProvider> {
        Some(self)
    }

    fn known(&self) -> Option<Known> {
        let tools = self.tools_known().iter().map(|tool| self.entry(tool)).collect();
        let skills = self.skills_known().into_iter().map(|skill| self.named(skill)).collect();
        let state = self.slot.state();
        let failed = state.backoff.as_ref().map(|own| own.error.told()).or_else(|| state.trouble.clone());
        drop(state);
        let commands = self.prompts_known().iter().map(|prompt| prompt.entry(&self.name)).collect();
        Some(Known { tools, skills, commands, failed })
    }

    fn changes(&self) -> Option<Box<dyn Changes>> {
        Some(Box::new(News::new(self.name.clone(), self.slot.news())))
    }

    fn close(&self) -> Answer<'_, ()> {
        Box::pin(async move {
            self.pool.end(&self.slot, false).await;
            Ok(())
        })
    }
}

impl ToolProvider for Server {
    fn list(&self) -> Answer<'_, Vec<ToolEntry>> {
        Box::pin(async move {
            let learned = self.pool.learned(&self.slot).await.map_err(|error| self.failed(error))?;
            let is_shown =
                |tool: &&Tool| !self.pool.bounds.pin || !learned.changed.contains(&tool.entry.name);
            Ok(learned.tools.iter().filter(is_shown).map(|tool| self.entry(tool)).collect())
        })
    }

    fn call<'a>(&'a self, name: &'a str, arguments: &'a Value) -> Answer<'a, ToolResult> {
        Box::pin(async move {
            let called = self.pool.call(&self.slot, name, arguments).await;
            called.map_err(|error| self.failed(error))
        })
    }

    fn claims(&self, name: &str, _arguments: &Value) -> Option<Claims> {
        let tool = self.tools_known().into_iter().find(|tool| tool.entry.name == name)?;
        tool.only_reads.then(|| Claims { exclusive: false, read_only: true, paths: Vec::new() })
    }

    fn time(&self) -> Option<Duration> {
        // Its own error says more than that it was given up.
        Some(self.slot.settings.time().saturating_add(Duration::from_secs(2)))
    }
}

impl SkillProvider for Server {
    fn list(&self) -> Answer<'_, Vec<SkillEntry>> {
        Box::pin(async move {
            let learned = self.pool.learned(&self.slot).await.map_err(|error| self.failed(error))?;
            Ok(learned.skills.iter().cloned().map(|skill| self.named(skill)).collect())
        })
    }

    fn read<'a>(&'a self, uri: &'a str) -> Answer<'a, Option<String>> {
        Box::pin(async move {
            let Some(skill) = self.skills_known().into_iter().find(|skill| skill.uri == uri) else {
                return Ok(None);
            };
            let read = async {
                let used = self.pool.client(&self.slot).await?;
                let result = used.client().read(uri).await?;
                skill::text(&self.name, &skill, &result)
            };
            read.await.map(Some).map_err(|error| self.failed(error))
        })
    }

    fn exists<'a>(&'a self, uri: &'a str) -> Answer<'a, bool> {
        Box::pin(async move { Ok(self.skills_known().iter().any(|skill| skill.uri == uri)) })
    }
}

impl CommandProvider for Server {
    fn list(&self) -> Answer<'_, Vec<CommandEntry>> {
        Box::pin(async move {
            let learned = self.pool.learned(&self.slot).await.map_err(|error| self.failed(error))?;
            Ok(learned.prompts.iter().map(|prompt| prompt.entry(&self.name)).collect())
        })
    }

    fn resolve<'a>(&'a self, name: &'a str, arguments: &'a str) -> Answer<'a, String> {
        Box::pin(async move {
            let own = name.strip_prefix(self.name.as_str()).and_then(|rest| rest.strip_prefix(':'));
            let known = self.prompts_known();
            let Some(prompt) = known.iter().find(|prompt| Some(prompt.name.as_str()) == own) else {
                return Err(ExtensionError::Unknown {
                    extension: self.name.clone(),
                    what: "command",
                    name: name.to_owned(),
                });
            };
            let asked = async {
                let given = prompt.arguments(arguments)?;
                let used = self.pool.client(&self.slot).await?;
                prompt::text(&used.client().prompt(&prompt.name, given).await?)
            };
            asked.await.map_err(|error| self.failed(error))
        })
    }
}

type Waiting = Pin<Box<dyn Future<Output = (watch::Receiver<u64>, bool)> + Send>>;

/// Tells when what is known of a server may have changed.
struct News {
    name: String,
    waiting: Option<Waiting>,
}

impl fmt::Debug for News {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the news of {}", self.name)
    }
}

impl News {
    fn new(name: String, news: watch::Receiver<u64>) -> Self {
        Self { name, waiting: Some(next(news)) }
    }
}

fn next(mut news: watch::Receiver<u64>) -> Waiting {
    Box::pin(async move {
        let told = news.changed().await.is_ok();
        (news, told)
    })
}

impl Changes for News {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Change, ExtensionError>>> {
        let Some(waiting) = &mut self.waiting else { return Poll::Ready(None) };
        let Poll::Ready((news, told)) = waiting.as_mut().poll(context) else { return Poll::Pending };
        self.waiting = told.then(|| next(news));
        Poll::Ready(told.then(|| Ok(Change::of(self.name.clone(), ChangeKind::Tools))))
    }
}
