#![allow(clippy::unwrap_used, clippy::panic, reason = "a test ends when anything is wrong")]

use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use portcullis_model::extension::{
    Answer, Change, ChangeKind, Changes, CommandEntry, CommandProvider, Content, Extension, ExtensionError,
    ResourceEntry, SkillEntry, SkillProvider, ToolEntry, ToolProvider, ToolResult, ToolTraits,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;

/// What happened, in order.
type Log = Arc<Mutex<Vec<String>>>;

/// An extension that does what it is told.
#[derive(Debug, Default)]
struct Fake {
    name: String,
    is_remote: bool,
    skills: Option<Vec<&'static str>>,
    tools: Option<Vec<&'static str>>,
    commands: Option<Vec<&'static str>>,
    children: Vec<Arc<dyn Extension>>,
    close: Close,
    news: Mutex<Option<Vec<Result<Change, ExtensionError>>>>,
    fails: bool,
    hangs: bool,
    log: Log,
    asked: AtomicUsize,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Close {
    #[default]
    Well,
    Never,
    Fails,
    Panics,
}

fn fake(name: &str) -> Fake {
    Fake { name: name.to_owned(), ..Fake::default() }
}

impl Fake {
    fn say(&self, what: &str) {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.log.lock().unwrap().push(format!("{}: {what}", self.name));
    }

    fn answer<'a, T: Send + 'a>(&'a self, value: T) -> Answer<'a, T> {
        Box::pin(async move {
            if self.hangs {
                std::future::pending::<()>().await;
            }
            if self.fails {
                return Err(ExtensionError::Unavailable {
                    extension: self.name.clone(),
                    reason: "down".to_owned(),
                    remedy: "start it".to_owned(),
                });
            }
            Ok(value)
        })
    }
}

impl Extension for Fake {
    fn name(&self) -> &str {
        &self.name
    }

    fn is_local(&self) -> bool {
        !self.is_remote
    }

    fn skills(&self) -> Option<&dyn SkillProvider> {
        self.skills.is_some().then_some(self as _)
    }

    fn tools(&self) -> Option<&dyn ToolProvider> {
        self.tools.is_some().then_some(self as _)
    }

    fn commands(&self) -> Option<&dyn CommandProvider> {
        self.commands.is_some().then_some(self as _)
    }

    fn changes(&self) -> Option<Box<dyn Changes>> {
        self.news.lock().unwrap().take().map(|news| Box::new(Given(news.into())) as _)
    }

    fn children(&self) -> Vec<Arc<dyn Extension>> {
        self.children.clone()
    }

    fn close(&self) -> Answer<'_, ()> {
        self.say("close");
        let close = self.close;
        Box::pin(async move {
            match close {
                Close::Well => Ok(()),
                Close::Never => std::future::pending().await,
                Close::Fails => {
                    Err(ExtensionError::Answer { extension: self.name.clone(), reason: "no".to_owned() })
                }
                Close::Panics => panic!("inside"),
            }
        })
    }
}

impl SkillProvider for Fake {
    fn list(&self) -> Answer<'_, Vec<SkillEntry>> {
        self.say("list");
        let entry = |uri: &&str| SkillEntry::new(*uri, "skill", "a skill");
        self.answer(self.skills.iter().flatten().map(entry).collect())
    }

    fn read<'a>(&'a self, uri: &'a str) -> Answer<'a, Option<String>> {
        self.say("read");
        let there = self.skills.iter().flatten().any(|own| *own == uri);
        self.answer(there.then(|| format!("{} of {}", uri, self.name)))
    }

    fn exists<'a>(&'a self, uri: &'a str) -> Answer<'a, bool> {
        self.say("exists");
        self.answer(self.skills.iter().flatten().any(|own| *own == uri))
    }
}

impl ToolProvider for Fake {
    fn list(&self) -> Answer<'_, Vec<ToolEntry>> {
        self.say("list");
        let entry = |name: &&str| ToolEntry {
            name: (*name).to_owned(),
            description: "a tool".to_owned(),
            schema: json!({ "type": "object" }),
            traits: ToolTraits::default(),
        };
        self.answer(self.tools.iter().flatten().map(entry).collect())
    }

    fn call<'a>(&'a self, name: &'a str, _: &'a Value) -> Answer<'a, ToolResult> {
        self.answer(ToolResult { content: Content::Text(name.to_owned()), is_error: false })
    }

    fn resources(&self) -> Answer<'_, Vec<ResourceEntry>> {
        let entry = |name: &&str| ResourceEntry {
            uri: format!("mcp://{}/{name}", self.name),
            name: (*name).to_owned(),
            description: String::new(),
            mime: "application/octet-stream".to_owned(),
        };
        self.answer(self.tools.iter().flatten().map(entry).collect())
    }

    fn read<'a>(&'a self, uri: &'a str) -> Answer<'a, Option<Content>> {
        self.say("read");
        self.answer(Some(Content::Bytes(uri.as_bytes().to_vec())))
    }

    fn exists<'a>(&'a self, uri: &'a str) -> Answer<'a, bool> {
        self.say("exists");
        self.answer(self.tools.iter().flatten().any(|name| uri.ends_with(&format!("{}/{name}", self.name))))
    }
}

impl CommandProvider for Fake {
    fn list(&self) -> Answer<'_, Vec<CommandEntry>> {
        self.say("list");
        let entry = |name: &&str| CommandEntry::new(*name, "a command");
        self.answer(self.commands.iter().flatten().map(entry).collect())
    }

    fn resolve<'a>(&'a self, name: &'a str, arguments: &'a str) -> Answer<'a, String> {
        self.answer(format!("{name} {arguments} of {}", self.name))
    }
}

/// News that were known before.
struct Given(VecDeque<Result<Change, ExtensionError>>);

impl Changes for Given {
    fn poll_next(&mut self, _: &mut Context<'_>) -> Poll<Option<Result<Change, ExtensionError>>> {
        Poll::Ready(self.0.pop_front())
    }
}

fn names(seen: &[Seen]) -> Vec<&str> {
    seen.iter().map(|one| one.extension.name()).collect()
}

fn register(extensions: &Extensions, fake: Fake, level: Level, scope: &Scope) {
    extensions.register(Arc::new(fake), level, scope, None).unwrap();
}

#[tokio::test]
async fn wider_ones_are_seen_from_narrower_places_and_never_the_other_way() {
    let extensions = Extensions::default();
    let scope = Scope::new().session("a").agent("main").turn("1");
    for level in Level::ALL {
        register(&extensions, fake(level.as_str()), level, &scope);
    }
    let seen = |scope: &Scope| names(&extensions.seen(scope)).join(" ");
    assert_eq!(seen(&scope), "turn agent session pool");
    assert_eq!(seen(&Scope::new()), "pool");
    assert_eq!(seen(&Scope::new().session("a")), "session pool");
    assert_eq!(seen(&Scope::new().session("b").agent("main").turn("1")), "pool", "a sibling");
    assert_eq!(
        seen(&Scope::new().session("a").agent("worker")),
        "session pool",
        "a worker sees no other agent's"
    );
    assert_eq!(seen(&Scope::new().session("a").turn("1")), "session pool", "that turn is another agent's");
    let elsewhere = Scope { pool: "other".to_owned(), ..scope.clone() };
    assert_eq!(seen(&elsewhere), "");
    // Empty parts skip their level.
    let turn = Scope { pool: String::new(), ..Scope::new().turn("9") };
    register(&extensions, fake("lone"), Level::Turn, &turn);
    assert_eq!(seen(&turn), "lone");
    let error = extensions.register(Arc::new(fake("x")), Level::Session, &turn, None);
    assert_eq!(error, Err(RegisterError::NoSuchPlace(Level::Session)));
}

#[tokio::test]
async fn what_ends_takes_what_is_within_along_the_last_registered_first() {
    let (extensions, log) = (Extensions::default(), Log::default());
    let scope = Scope::new().session("a").agent("main").turn("1");
    for (name, level) in [
        ("pool", Level::Pool),
        ("turn one", Level::Turn),
        ("session", Level::Session),
        ("agent", Level::Agent),
        ("turn two", Level::Turn),
    ] {
        let child = Fake { log: Arc::clone(&log), ..fake(&format!("child of {name}")) };
        let own = Fake { log: Arc::clone(&log), children: vec![Arc::new(child)], ..fake(name) };
        register(&extensions, own, level, &scope);
    }
    let other = Scope::new().session("b");
    register(&extensions, Fake { log: Arc::clone(&log), ..fake("other") }, Level::Session, &other);
    let closed = extensions.end(Level::Session, &scope).await.unwrap();
    let order = ["turn two", "turn one", "agent", "session"];
    let expected: Vec<_> =
        order.iter().flat_map(|name| [format!("child of {name}"), (*name).to_owned()]).collect();
    assert_eq!(closed, Closed { closed: expected, failed: Vec::new() });
    assert_eq!(names(&extensions.seen(&scope)), ["pool", "child of pool"]);
    assert_eq!(names(&extensions.seen(&other)), ["other", "pool", "child of pool"]);
    extensions.end(Level::Pool, &scope).await.unwrap();
    assert_eq!(extensions.places(), 0);
}

/// A healthy end, one that fails, one that panics and one that never comes.
#[tokio::test(start_paused = true)]
async fn an_extension_that_does_not_end_keeps_no_other_from_its_end() {
    let extensions = Extensions::default();
    let scope = Scope::new();
    for (name, close) in
        [("one", Close::Well), ("two", Close::Never), ("three", Close::Panics), ("four", Close::Fails)]
    {
        register(&extensions, Fake { close, ..fake(name) }, Level::Pool, &scope);
    }
    let start = tokio::time::Instant::now();
    let closed = extensions.end(Level::Pool, &scope).await.unwrap();
    assert_eq!(start.elapsed(), CLOSE_TIME, "the one that hangs has its time, and no other waits");
    assert_eq!(closed.closed, ["one"]);
    let failed: Vec<_> = closed.failed.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    assert_eq!(
        failed,
        [
            "four: the answer of `four` cannot be used: no",
            "three: it failed inside",
            "two: it took more than 5 s and was left alone"
        ]
    );
}

#[tokio::test]
async fn a_name_is_registered_once_at_a_place_and_shadows_a_wider_one() {
    let extensions = Extensions::default();
    let (pool, session) = (Scope::new(), Scope::new().session("a"));
    register(&extensions, fake("x"), Level::Pool, &pool);
    let again = extensions.register(Arc::new(fake("x")), Level::Pool, &pool, None);
    assert!(matches!(again, Err(RegisterError::AlreadyThere { .. })), "{again:?}");
    register(&extensions, fake("x"), Level::Session, &session);
    assert_eq!(names(&extensions.seen(&session)), ["x"]);
    let inventory = extensions.inventory(&session);
    assert_eq!(
        inventory.iter().map(|one| (one.level, one.is_shadowed)).collect::<Vec<_>>(),
        [(Level::Session, false), (Level::Pool, true)]
    );
    extensions.unregister("x", Level::Session, &session).await.unwrap();
    assert_eq!(extensions.seen(&session).first().unwrap().level, Level::Pool);
    let gone = extensions.unregister("x", Level::Session, &session).await;
    assert!(matches!(gone, Err(RegisterError::NotThere { .. })), "{gone:?}");
    let scheme = extensions.register(Arc::new(fake("y")), Level::Pool, &pool, Some("no scheme"));
    assert!(matches!(scheme, Err(RegisterError::Scheme(_))), "{scheme:?}");
}

#[tokio::test]
async fn an_extension_is_found_by_each_role_that_it_plays() {
    let extensions = Extensions::default();
    let scope = Scope::new();
    let both = Fake { skills: Some(vec!["skill://a/SKILL.md"]), commands: Some(vec!["go"]), ..fake("both") };
    register(&extensions, both, Level::Pool, &scope);
    register(&extensions, Fake { tools: Some(vec!["t"]), ..fake("tools") }, Level::Pool, &scope);
    let owners = |names: Vec<String>| names.join(" ");
    assert_eq!(
        owners(extensions.skills(&scope).await.entries.into_iter().map(|one| one.0).collect()),
        "both"
    );
    assert_eq!(
        owners(extensions.commands(&scope).await.entries.into_iter().map(|one| one.0).collect()),
        "both"
    );
    assert_eq!(
        owners(extensions.tools(&scope).await.entries.into_iter().map(|one| one.0).collect()),
        "tools"
    );
    assert_eq!(
        owners(extensions.resources(&scope).await.entries.into_iter().map(|one| one.0).collect()),
        "tools"
    );
    assert_eq!(extensions.resolve("go", "now", &scope).await.as_deref(), Ok("go now of both"));
    let unknown = extensions.resolve("gone", "", &scope).await;
    assert!(matches!(unknown, Err(ExtensionError::Unknown { what: "command", .. })), "{unknown:?}");
}

/// A list with a healthy part, a part that fails and one that hangs.
#[tokio::test(start_paused = true)]
async fn a_list_is_partial_when_a_part_of_it_fails_and_says_so() {
    let extensions = Extensions::default();
    let scope = Scope::new();
    let child = |name: &str, fails, hangs| -> Arc<dyn Extension> {
        Arc::new(Fake { tools: Some(vec!["t"]), fails, hangs, ..fake(name) })
    };
    let children = vec![child("well", false, false), child("down", true, false), child("stuck", false, true)];
    let skill = Fake { skills: Some(vec!["skill://a/SKILL.md"]), children, ..fake("skill") };
    register(&extensions, skill, Level::Pool, &scope);
    let tools = extensions.tools(&scope).await;
    assert_eq!(tools.entries.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), ["well"]);
    let warned: Vec<_> = tools.warnings.iter().map(|(name, why)| format!("{name}: {why}")).collect();
    assert_eq!(
        warned,
        [
            "down: `down` cannot be asked: down; start it",
            "stuck: `stuck` cannot be asked: it did not answer within 10 s; look at what it waits for, or take it away"
        ]
    );
    assert_eq!(extensions.skills(&scope).await.entries.len(), 1, "the skill works on");
}

#[tokio::test]
async fn an_address_is_asked_for_before_it_is_read_and_only_its_owner_is_read() {
    let (extensions, log) = (Extensions::default(), Log::default());
    let scope = Scope::new();
    for at in 0..10 {
        let skills = Some(if at == 4 { vec!["skill://it/SKILL.md"] } else { Vec::new() });
        let own = Fake { skills, log: Arc::clone(&log), ..fake(&format!("p{at}")) };
        register(&extensions, own, Level::Pool, &scope);
    }
    let read = extensions.read("skill://it/SKILL.md", &scope).await.unwrap();
    assert_eq!(read, Some(Content::Text("skill://it/SKILL.md of p4".to_owned())));
    let log = std::mem::take(&mut *log.lock().unwrap());
    assert_eq!(log, ["p0: exists", "p1: exists", "p2: exists", "p3: exists", "p4: exists", "p4: read"]);
    assert_eq!(extensions.read("skill://none/SKILL.md", &scope).await, Ok(None));
    assert_eq!(extensions.read("mcp://none/x", &scope).await, Ok(None));
    let unknown = extensions.read("foo://x", &scope).await;
    assert_eq!(unknown, Err(RouteError::UnknownScheme("foo".to_owned())));
    let leaves = extensions.read("skill://it/../x", &scope).await;
    assert!(matches!(leaves, Err(RouteError::Uri(_))), "{leaves:?}");
}

#[tokio::test]
async fn schemes_go_by_roles_and_ties_to_the_narrowest_and_the_local_one() {
    let extensions = Extensions::default();
    let (pool, session) = (Scope::new(), Scope::new().session("a"));
    let uri = "skill://pdf/SKILL.md";
    let with = |name: &str, is_remote| Fake { skills: Some(vec![uri]), is_remote, ..fake(name) };
    register(&extensions, with("remote", true), Level::Pool, &pool);
    register(&extensions, with("local", false), Level::Pool, &pool);
    let owner = |scope: Scope| {
        let extensions = extensions.clone();
        async move {
            match extensions.read(uri, &scope).await.unwrap() {
                Some(Content::Text(text)) => text.rsplit(' ').next().unwrap().to_owned(),
                other => panic!("{other:?}"),
            }
        }
    };
    assert_eq!(owner(pool.clone()).await, "local");
    register(&extensions, with("narrow", true), Level::Session, &session);
    assert_eq!(owner(session.clone()).await, "narrow");
    assert_eq!(owner(pool.clone()).await, "local");
    // A tool's resource is no skill, whatever its address says.
    register(&extensions, Fake { tools: Some(vec!["r"]), ..fake("server") }, Level::Pool, &pool);
    assert_eq!(extensions.exists("mcp://server/r", &pool).await, Ok(true));
    assert_eq!(extensions.exists("skill://server/r", &pool).await, Ok(false));
    let read = extensions.read("mcp://server/r", &pool).await.unwrap();
    assert_eq!(read, Some(Content::Bytes(b"mcp://server/r".to_vec())));
    let own = Fake { tools: Some(vec!["page"]), ..fake("wiki") };
    extensions.register(Arc::new(own), Level::Pool, &pool, Some("Wiki")).unwrap();
    assert_eq!(extensions.exists("wiki://wiki/page", &pool).await, Ok(true));
    assert_eq!(extensions.exists("wiki://wiki/none", &pool).await, Ok(false));
}

/// Nobody can tell whether a provider that is down has it; another one that has it is
/// found all the same.
#[tokio::test]
async fn an_owner_that_cannot_be_asked_is_an_error_and_not_nothing() {
    let extensions = Extensions::default();
    let (pool, uri) = (Scope::new(), "skill://pdf/SKILL.md");
    let down = Fake { skills: Some(Vec::new()), fails: true, ..fake("down") };
    register(&extensions, down, Level::Pool, &pool);
    for _ in 0..2 {
        let error = extensions.read(uri, &pool).await;
        assert!(matches!(error, Err(RouteError::Extension(ExtensionError::Unavailable { .. }))), "{error:?}");
    }
    register(&extensions, Fake { skills: Some(vec![uri]), ..fake("well") }, Level::Pool, &pool);
    assert!(extensions.read(uri, &pool).await.unwrap().is_some());
}

#[tokio::test]
async fn depth_is_warned_of_and_a_cycle_is_an_error() {
    let chain = |length: usize| {
        let last: Arc<dyn Extension> = Arc::new(fake(&format!("e{length}")));
        (1..length)
            .rev()
            .fold(last, |child, at| Arc::new(Fake { children: vec![child], ..fake(&format!("e{at}")) }) as _)
    };
    let scope = Scope::new();
    let warned = |options: ExtensionOptions, length: usize| {
        let extensions = Extensions::new(options);
        extensions.register(chain(length), Level::Pool, &scope, None)?;
        Ok::<_, RegisterError>(extensions.seen(&scope).first().unwrap().warning.is_some())
    };
    let options = ExtensionOptions::default();
    assert_eq!((warned(options, 3), warned(options, 4)), (Ok(false), Ok(true)));
    assert_eq!(warned(ExtensionOptions { depth_max: 4, ..options }, 4), Ok(false));
    let strict = ExtensionOptions { enforce_depth: true, ..options };
    assert!(matches!(warned(strict, 4), Err(RegisterError::TooDeep { depth: 4, most: 3, .. })));
    assert!(matches!(warned(options, 100), Err(RegisterError::TooDeep { most: 64, .. })));
    let inner: Arc<dyn Extension> = Arc::new(fake("a"));
    let middle: Arc<dyn Extension> = Arc::new(Fake { children: vec![inner], ..fake("b") });
    let outer = Arc::new(Fake { children: vec![middle], ..fake("a") });
    let extensions = Extensions::default();
    let cycle = extensions.register(outer, Level::Pool, &scope, None);
    assert_eq!(cycle, Err(RegisterError::Cycle("a".to_owned())));
    assert_eq!(extensions.places(), 0, "nothing is left of it");
}

#[tokio::test]
async fn news_come_from_all_and_a_source_that_fails_is_left_out() {
    let extensions = Extensions::default();
    let scope = Scope::new();
    let change = |name: &str| Ok(Change::of(name, ChangeKind::Tools));
    let broken = || Err(ExtensionError::Answer { extension: "two".to_owned(), reason: "no".to_owned() });
    for (name, news) in [
        ("one", Some(vec![change("one"), change("one")])),
        ("two", Some(vec![change("two"), broken(), change("two")])),
        ("three", Some(vec![change("three")])),
        ("silent", None),
    ] {
        register(&extensions, Fake { news: Mutex::new(news), ..fake(name) }, Level::Pool, &scope);
    }
    let mut news = extensions.news(&scope);
    assert_eq!(news.followed(), 3);
    let mut seen = Vec::new();
    while let Some(change) = news.next().await {
        seen.push(change.extension);
    }
    assert_eq!(seen, ["one", "two", "three", "one"]);
    assert_eq!(extensions.news(&Scope::new().session("none")).next().await, None);
}

#[tokio::test]
async fn registering_asks_for_nothing_and_goes_on_while_others_look() {
    let extensions = Extensions::default();
    let scope = Scope::new().session("a").turn("1");
    let own = Arc::new(Fake { skills: Some(Vec::new()), fails: true, ..fake("idle") });
    extensions.register(Arc::clone(&own) as _, Level::Pool, &scope, None).unwrap();
    assert_eq!((own.asked.load(Ordering::SeqCst), names(&extensions.seen(&scope))), (0, vec!["idle"]));
    let racers: Vec<_> = (0..8)
        .map(|racer| {
            let (extensions, scope) = (extensions.clone(), scope.clone());
            tokio::spawn(async move {
                for round in 0..125 {
                    let name = format!("r{racer}-{round}");
                    register(&extensions, fake(&name), Level::Turn, &scope);
                    assert!(names(&extensions.seen(&scope)).contains(&name.as_str()));
                    extensions.unregister(&name, Level::Turn, &scope).await.unwrap();
                }
            })
        })
        .collect();
    for racer in racers {
        racer.await.unwrap();
    }
    assert_eq!(names(&extensions.seen(&scope)), ["idle"]);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    /// Against a list that is searched: what is seen is what the rules say.
    #[test]
    fn what_is_seen_is_what_the_rules_say(
        registered in prop::collection::vec((0_usize..4, "[ab]", "[ab]", "[ab]", "[xyz]"), 0..24),
        session in "[ab]?", agent in "[ab]?", turn in "[ab]?",
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let extensions = Extensions::default();
        let mut model: Vec<(Level, [String; 3], String)> = Vec::new();
        for (level, session, agent, turn, name) in registered {
            let level = *Level::ALL.get(level).unwrap();
            let scope = Scope::new().session(&session).agent(&agent).turn(&turn);
            let path = [session, agent, turn].map(|id| id);
            let mut place = path.clone();
            place.iter_mut().skip(level as usize).for_each(String::clear);
            let is_new = !model.iter().any(|own| (own.0, &own.1, &own.2) == (level, &place, &name));
            let done = extensions.register(Arc::new(fake(&name)), level, &scope, None);
            prop_assert_eq!(done.is_ok(), is_new);
            if is_new {
                model.push((level, place, name));
            }
        }
        let scope = Scope::new().session(&session).agent(&agent).turn(&turn);
        let ids = [session, agent, turn];
        let mut expected: Vec<String> = Vec::new();
        for level in Level::ALL.into_iter().rev() {
            if level != Level::Pool && scope.id(level).is_empty() {
                continue;
            }
            let mut place = ids.clone();
            place.iter_mut().skip(level as usize).for_each(String::clear);
            for (_, _, name) in model.iter().filter(|own| own.0 == level && own.1 == place) {
                if !expected.contains(name) {
                    expected.push(name.clone());
                }
            }
        }
        let seen = extensions.seen(&scope);
        prop_assert_eq!(names(&seen), expected.iter().map(String::as_str).collect::<Vec<_>>());
        runtime.block_on(extensions.end(Level::Pool, &Scope::new())).unwrap();
        prop_assert_eq!(extensions.places(), 0);
    }
}
