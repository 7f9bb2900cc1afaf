//! The server over pipes in memory and over HTTP on the loopback, asked in plain JSON.

mod methods;
mod news;
mod odd;
mod tools;
mod web;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use portcullis_model::extension::{
    Answer, Change, ChangeKind, Changes, Coverage, DeclaredReference, ExtensionError, FileFacts, Library,
    LibraryFile, LibraryPrompt, LibraryRoot, LibrarySkill, LibrarySource, SharedFile,
};
use rmcp::model::sha256_digest;
use serde_json::{Map, Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, DuplexStream, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

use super::{Manner, Server};

const MODERN: &str = "2026-07-28";
const LEGACY: &str = "2025-11-25";

fn facts(size: usize) -> FileFacts {
    let modified = Some("2026-08-04T09:12:33Z".to_owned());
    FileFacts { size: size as u64, modified, created: None }
}

/// A library in memory, which a test changes as a person changes files.
#[derive(Debug, Default)]
struct Shelf {
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    files: BTreeMap<String, Vec<u8>>,
    /// By slug.
    skills: BTreeMap<String, Told>,
    shared: BTreeMap<String, String>,
    prompts: BTreeMap<String, String>,
    roots: Vec<LibraryRoot>,
    last: Arc<Library>,
    told: u64,
    wakers: Vec<Waker>,
}

/// What a skill says: its frontmatter, its shared files, and why it is withheld.
type Told = (Map<String, Value>, Vec<String>, Option<String>);

impl Shelf {
    /// Puts a skill there, or changes its text.
    fn skill(&self, slug: &str, body: &str) {
        self.skill_with(slug, body, json!({}), &[]);
    }

    fn skill_with(&self, slug: &str, body: &str, more: Value, shared: &[&str]) {
        let name = slug.rsplit('/').next().unwrap();
        let mut frontmatter = Map::new();
        frontmatter.insert("name".to_owned(), json!(name));
        frontmatter.insert("description".to_owned(), json!(format!("Does {name}.")));
        frontmatter.extend(more.as_object().unwrap().clone());
        let text = format!("---\n{}\n---\n{body}", json!(frontmatter));
        let mut inner = self.inner.lock().unwrap();
        inner.files.insert(format!("skill://{slug}/SKILL.md"), text.into_bytes());
        let shared = shared.iter().map(|path| (*path).to_owned()).collect();
        inner.skills.insert(slug.to_owned(), (frontmatter, shared, None));
    }

    fn withhold(&self, slug: &str, why: &str) {
        self.inner.lock().unwrap().skills.get_mut(slug).unwrap().2 = Some(why.to_owned());
    }

    fn file(&self, uri: &str, bytes: impl AsRef<[u8]>) {
        self.inner.lock().unwrap().files.insert(uri.to_owned(), bytes.as_ref().to_vec());
    }

    fn shared(&self, path: &str, text: &str) {
        self.inner.lock().unwrap().shared.insert(path.to_owned(), text.to_owned());
    }

    fn prompt(&self, name: &str, text: &str) {
        self.inner.lock().unwrap().prompts.insert(name.to_owned(), text.to_owned());
    }

    fn root(&self, path: &str, coverage: Coverage) {
        self.inner.lock().unwrap().roots.push(LibraryRoot { path: path.to_owned(), coverage });
    }

    fn remove(&self, slug: &str) {
        let mut inner = self.inner.lock().unwrap();
        inner.skills.remove(slug);
        let prefix = format!("skill://{slug}/");
        inner.files.retain(|uri, _| !uri.starts_with(&prefix));
    }

    /// What a watch does when it was quiet for long enough.
    fn tell(&self) {
        let mut inner = self.inner.lock().unwrap();
        inner.told += 1;
        inner.wakers.drain(..).for_each(Waker::wake);
    }
}

impl Inner {
    fn library(&self) -> Library {
        let mut library = Library::default();
        let file = |bytes: &[u8]| LibraryFile {
            bytes: bytes.into(),
            digest: sha256_digest(bytes),
            facts: facts(bytes.len()),
        };
        library.files = self.files.iter().map(|(uri, bytes)| (uri.clone(), file(bytes))).collect();
        let copy = |slug: &str, path: &str| {
            let name = path.rsplit_once("/references/").map(|(_, rest)| rest)?;
            Some(format!("skill://{slug}/references/{name}"))
        };
        for (slug, (_, shared, _)) in &self.skills {
            for (copy, text) in
                shared.iter().filter_map(|path| Some((copy(slug, path)?, self.shared.get(path)?)))
            {
                library.files.insert(copy, file(text.as_bytes()));
            }
        }
        for (slug, (frontmatter, shared, withheld)) in &self.skills {
            let uri = format!("skill://{slug}/SKILL.md");
            let text = String::from_utf8(self.files[&uri].clone()).unwrap();
            let prefix = format!("skill://{slug}/");
            let references = shared.iter().map(|path| {
                let is_there = self.shared.contains_key(path);
                DeclaredReference {
                    label: path.rsplit('/').next().unwrap().trim_end_matches(".md").to_owned(),
                    path: is_there.then(|| path.clone()),
                    copy: is_there.then(|| copy(slug, path)).flatten(),
                }
            });
            library.skills.push(Arc::new(LibrarySkill {
                slug: slug.clone(),
                name: frontmatter["name"].as_str().unwrap().to_owned(),
                title: frontmatter.get("title").map(|title| title.as_str().unwrap().to_owned()),
                description: frontmatter["description"].as_str().unwrap().to_owned(),
                frontmatter: frontmatter.clone(),
                body: text.rsplit("---\n").next().unwrap().into(),
                path: format!("/home/u/skills/{slug}/SKILL.md"),
                directory: format!("/home/u/skills/{slug}"),
                facts: facts(text.len()),
                files: library.files.keys().filter(|file| file.starts_with(&prefix)).cloned().collect(),
                references: references.collect(),
                is_for_the_user: frontmatter.contains_key("disable-model-invocation"),
                withheld: withheld.clone(),
                uri,
            }));
        }
        library.references = self.shared.iter().map(|(path, text)| (path.clone(), text.clone())).collect();
        library.prompts = self
            .prompts
            .iter()
            .map(|(name, text)| {
                Arc::new(LibraryPrompt {
                    name: name.clone(),
                    title: Some(format!("The {name}")),
                    description: Some(format!("Says {name}.")),
                    body: text.as_str().into(),
                    facts: facts(text.len()),
                })
            })
            .collect();
        library
    }
}

struct News {
    shelf: Arc<Shelf>,
    count: u64,
}

impl Changes for News {
    fn poll_next(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Change, ExtensionError>>> {
        let mut inner = self.shelf.inner.lock().unwrap();
        if inner.told == self.count {
            inner.wakers.push(context.waker().clone());
            return Poll::Pending;
        }
        self.count = inner.told;
        Poll::Ready(Some(Ok(Change::of("shelf", ChangeKind::Skills))))
    }
}

/// The shelf as a source: a test keeps the other handle.
#[derive(Debug)]
struct Source(Arc<Shelf>);

impl LibrarySource for Source {
    fn look(&self) -> Answer<'_, Arc<Library>> {
        Box::pin(async {
            let mut inner = self.0.inner.lock().unwrap();
            let library = inner.library();
            if *inner.last != library {
                inner.last = Arc::new(library);
            }
            Ok(Arc::clone(&inner.last))
        })
    }

    fn shared<'a>(&'a self, path: &'a str) -> Answer<'a, Option<SharedFile>> {
        Box::pin(async move {
            let inner = self.0.inner.lock().unwrap();
            Ok(inner.shared.get(path).map(|text| SharedFile {
                path: path.to_owned(),
                name: path.rsplit('/').next().unwrap().trim_end_matches(".md").to_owned(),
                metadata: None,
                body: text.clone(),
                facts: facts(text.len()),
            }))
        })
    }

    fn roots(&self) -> Vec<LibraryRoot> {
        self.0.inner.lock().unwrap().roots.clone()
    }

    fn changes(&self) -> Option<Box<dyn Changes>> {
        let count = self.0.inner.lock().unwrap().told;
        Some(Box::new(News { shelf: Arc::clone(&self.0), count }))
    }
}

async fn server(shelf: &Arc<Shelf>, manner: Manner) -> Server {
    Server::new(Arc::new(Source(Arc::clone(shelf))), manner).await.unwrap()
}

/// A client on a pipe.
struct Client {
    lines: BufReader<ReadHalf<DuplexStream>>,
    output: Option<WriteHalf<DuplexStream>>,
    asked: u64,
    /// What every request says of the protocol; none after a handshake.
    meta: Option<Value>,
    served: JoinHandle<std::io::Result<()>>,
    /// What came without being the answer that was waited for.
    news: Vec<Value>,
}

impl Client {
    async fn raw(shelf: &Arc<Shelf>) -> Self {
        let server = server(shelf, Manner::default()).await;
        let (own, other) = tokio::io::duplex(1 << 20);
        let (read, write) = tokio::io::split(other);
        let served = tokio::spawn(async move { server.serve_pipes(read, write).await });
        let (read, write) = tokio::io::split(own);
        let (lines, output, news) = (BufReader::new(read), Some(write), Vec::new());
        Self { lines, output, asked: 0, meta: None, served, news }
    }

    /// One that says in each request what it speaks.
    async fn modern(shelf: &Arc<Shelf>) -> Self {
        let mut client = Self::raw(shelf).await;
        client.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        }));
        client
    }

    /// One that begins with a handshake.
    async fn legacy(shelf: &Arc<Shelf>) -> (Self, Value) {
        let mut client = Self::raw(shelf).await;
        let hello = json!({
            "protocolVersion": LEGACY, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" },
        });
        let welcome = client.ask("initialize", hello).await;
        client.line(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string()).await;
        (client, welcome)
    }

    async fn line(&mut self, line: &str) {
        let output = self.output.as_mut().unwrap();
        output.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    async fn send(&mut self, method: &str, mut params: Value) -> u64 {
        self.asked += 1;
        if let Some(meta) = &self.meta {
            params["_meta"] = meta.clone();
        }
        let message = json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params });
        self.line(&message.to_string()).await;
        self.asked
    }

    /// The next message; none when the server has closed its end.
    async fn next(&mut self) -> Option<Value> {
        let mut line = String::new();
        let read = self.lines.read_line(&mut line).await.unwrap();
        (read > 0).then(|| serde_json::from_str(&line).unwrap())
    }

    /// The answer to a request, and whatever came before it into `news`.
    async fn answer(&mut self, id: u64) -> Value {
        loop {
            let message = self.next().await.expect("the server closed its end");
            if message["id"] == id {
                return message;
            }
            self.news.push(message);
        }
    }

    async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        let answer = self.answer(id).await;
        assert_eq!(answer["error"], Value::Null, "{method}: {answer}");
        answer["result"].clone()
    }

    /// The code of the error that this is answered with.
    async fn refused(&mut self, method: &str, params: Value) -> i64 {
        let id = self.send(method, params).await;
        let answer = self.answer(id).await;
        answer["error"]["code"].as_i64().unwrap_or_else(|| panic!("{method} is answered: {answer}"))
    }

    async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.ask("tools/call", json!({ "name": tool, "arguments": arguments })).await
    }

    /// Closes the client's end; the answer is what came until the server closed its own.
    async fn end(mut self) -> Vec<Value> {
        self.output.take().unwrap().shutdown().await.unwrap();
        let mut rest = std::mem::take(&mut self.news);
        while let Some(message) = self.next().await {
            rest.push(message);
        }
        self.served.await.unwrap().unwrap();
        rest
    }
}

/// The text of a tool's answer.
fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|item| item.as_str().unwrap()).collect()
}

fn names<'v>(rows: &'v Value, key: &str) -> Vec<&'v str> {
    rows.as_array().unwrap().iter().map(|row| row[key].as_str().unwrap()).collect()
}

/// Two skills, one of them with files, and a prompt.
fn shelf() -> Arc<Shelf> {
    let shelf = Shelf::default();
    shelf.skill_with(
        "git-commit",
        "# Commit\n",
        json!({ "title": "Commit", "Nested": { "kebab-key": [1, 2.50, true, null] } }),
        &["/home/u/skills/references/scm/style.md"],
    );
    shelf.shared("/home/u/skills/references/scm/style.md", "Short lines.\n");
    shelf.skill("acme/billing/refunds", "Refund.\n");
    shelf.file("skill://git-commit/scripts/check.py", "print(1)\r\n");
    shelf.file("skill://git-commit/logo.png", b"\x89PNG\xff");
    shelf.prompt("AGENTS", "Be brief.\n");
    shelf.root("/home/u/skills", Coverage::Watching);
    Arc::new(shelf)
}
