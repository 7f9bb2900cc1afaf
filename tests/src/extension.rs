//! An extension that does what a test tells it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context, Poll, Waker};

use portcullis::Host;
use portcullis::extension::{Level, Scope};
use portcullis_model::extension::{
    Answer, Change, ChangeKind, Changes, CommandEntry, CommandProvider, Content, Extension, ExtensionError,
    Known, SkillEntry, SkillProvider, ToolEntry, ToolProvider, ToolResult, ToolTraits,
};
use serde_json::{Value, json};

/// Registers it for everything that the host has.
///
/// # Panics
/// When it cannot be registered.
#[allow(clippy::unwrap_used, reason = "a test ends when anything is wrong")]
pub async fn register(host: &Host, extension: &Arc<Fake>) {
    let extension = Arc::clone(extension) as Arc<dyn Extension>;
    host.register(extension, Level::Pool, &Scope::new(), None).await.unwrap();
}

/// A tool of that name, which takes anything and serves nothing in particular.
#[must_use]
pub fn tool(name: &str) -> ToolEntry {
    ToolEntry {
        name: name.to_owned(),
        description: format!("Does {name}. And more."),
        schema: json!({ "type": "object" }),
        traits: ToolTraits::default(),
    }
}

/// An extension that does what it is told. What it brings can change at any time.
#[derive(Debug)]
pub struct Fake {
    name: String,
    is_local: bool,
    brings: Mutex<Known>,
    /// It does not answer.
    hangs: AtomicBool,
    /// It panics where it should answer.
    panics: AtomicBool,
    /// Whether whoever asks it has to wait.
    shut: Mutex<bool>,
    opened: Condvar,
    /// How often a tool of it ran.
    pub calls: AtomicUsize,
    /// How often it was asked for a list.
    pub lists: AtomicUsize,
    /// It was closed.
    pub closed: AtomicBool,
    news: Arc<Mutex<News>>,
}

#[derive(Debug, Default)]
struct News {
    waits: usize,
    waker: Option<Waker>,
}

impl Fake {
    /// One of the user's own, which brings nothing.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            is_local: true,
            brings: Mutex::default(),
            hangs: AtomicBool::new(false),
            panics: AtomicBool::new(false),
            shut: Mutex::default(),
            opened: Condvar::default(),
            calls: AtomicUsize::new(0),
            lists: AtomicUsize::new(0),
            closed: AtomicBool::new(false),
            news: Arc::default(),
        }
    }

    /// Another program, such as an MCP server.
    #[must_use]
    pub fn server(name: &str) -> Self {
        Self { is_local: false, ..Self::new(name) }
    }

    /// Brings this from now on.
    pub fn brings(&self, known: Known) {
        *self.lock() = known;
    }

    /// Brings these tools from now on, and nothing else.
    pub fn brings_tools(&self, names: &[&str]) {
        self.brings(Known { tools: names.iter().map(|name| tool(name)).collect(), ..Known::default() });
    }

    /// Never answers a list again.
    pub fn hang(&self) {
        self.hangs.store(true, Ordering::SeqCst);
    }

    /// Panics from now on, wherever it is asked.
    pub fn panic(&self) {
        self.panics.store(true, Ordering::SeqCst);
    }

    /// Keeps every thread that asks for a list, until it may go on.
    pub fn shut(&self, shut: bool) {
        *self.shut.lock().unwrap_or_else(PoisonError::into_inner) = shut;
        self.opened.notify_all();
    }

    fn wait(&self) {
        let mut shut = self.shut.lock().unwrap_or_else(PoisonError::into_inner);
        while *shut {
            shut = self.opened.wait(shut).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn may_panic(&self) {
        assert!(!self.panics.load(Ordering::SeqCst), "the extension was told to");
    }

    /// Tells that something changed.
    pub fn tell(&self) {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        news.waits += 1;
        if let Some(waker) = news.waker.take() {
            waker.wake();
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Known> {
        self.brings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer<T: Send + 'static>(&self, part: fn(&Known) -> T) -> Answer<'_, T> {
        self.lists.fetch_add(1, Ordering::SeqCst);
        self.may_panic();
        self.wait();
        let known = self.lock().clone();
        Box::pin(async move {
            if self.hangs.load(Ordering::SeqCst) {
                std::future::pending::<()>().await;
            }
            match known.failed {
                Some(reason) => Err(ExtensionError::Unavailable {
                    extension: self.name.clone(),
                    reason,
                    remedy: "mend it".to_owned(),
                }),
                None => Ok(part(&known)),
            }
        })
    }
}

impl Extension for Fake {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_local(&self) -> bool {
        self.is_local
    }

    fn skills(&self) -> Option<&dyn SkillProvider> {
        self.is_local.then_some(self as _)
    }

    fn tools(&self) -> Option<&dyn ToolProvider> {
        Some(self)
    }

    fn commands(&self) -> Option<&dyn CommandProvider> {
        self.is_local.then_some(self as _)
    }

    fn known(&self) -> Option<Known> {
        (!self.is_local).then(|| self.lock().clone())
    }

    fn changes(&self) -> Option<Box<dyn Changes>> {
        Some(Box::new(Stream { name: self.name.clone(), news: Arc::clone(&self.news) }))
    }

    fn close(&self) -> Answer<'_, ()> {
        self.closed.store(true, Ordering::SeqCst);
        Box::pin(async { Ok(()) })
    }
}

impl SkillProvider for Fake {
    fn list(&self) -> Answer<'_, Vec<SkillEntry>> {
        self.answer(|known| known.skills.clone())
    }

    fn read<'a>(&'a self, uri: &'a str) -> Answer<'a, Option<String>> {
        let found = self.lock().skills.iter().any(|skill| skill.uri == uri);
        Box::pin(async move { Ok(found.then(|| format!("the text of {uri}"))) })
    }

    fn exists<'a>(&'a self, uri: &'a str) -> Answer<'a, bool> {
        let found = self.lock().skills.iter().any(|skill| skill.uri == uri);
        Box::pin(async move { Ok(found) })
    }
}

impl ToolProvider for Fake {
    fn list(&self) -> Answer<'_, Vec<ToolEntry>> {
        self.answer(|known| known.tools.clone())
    }

    fn call<'a>(&'a self, name: &'a str, arguments: &'a Value) -> Answer<'a, ToolResult> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        Box::pin(async move {
            self.may_panic();
            if name == "down" {
                return Err(ExtensionError::Unavailable {
                    extension: self.name.clone(),
                    reason: "the connection was lost".to_owned(),
                    remedy: "start it again".to_owned(),
                });
            }
            if name == "picture" {
                return Ok(ToolResult {
                    content: Content::Bytes(vec![0x89, b'P', 0, 0xff]),
                    is_error: false,
                });
            }
            let text = format!("{} of {} with {arguments}", name, self.name);
            Ok(ToolResult { content: Content::Text(text), is_error: false })
        })
    }
}

impl CommandProvider for Fake {
    fn list(&self) -> Answer<'_, Vec<CommandEntry>> {
        self.answer(|known| known.commands.clone())
    }

    fn resolve<'a>(&'a self, name: &'a str, arguments: &'a str) -> Answer<'a, String> {
        let known = self.lock().commands.iter().any(|own| own.name == name);
        Box::pin(async move {
            known.then(|| format!("{name} {arguments}")).ok_or_else(|| ExtensionError::Unknown {
                extension: self.name.clone(),
                what: "command",
                name: name.to_owned(),
            })
        })
    }
}

#[derive(Debug)]
struct Stream {
    name: String,
    news: Arc<Mutex<News>>,
}

impl Changes for Stream {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Change, ExtensionError>>> {
        let mut news = self.news.lock().unwrap_or_else(PoisonError::into_inner);
        if news.waits == 0 {
            news.waker = Some(context.waker().clone());
            return Poll::Pending;
        }
        news.waits -= 1;
        Poll::Ready(Some(Ok(Change::of(self.name.clone(), ChangeKind::Tools))))
    }
}
