//! A server that can be asked.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Map, Value, json};
use tokio::sync::watch;

use super::connection::{Connection, Era, Heard, Stray, Transport};
use super::error::{ClientError, Failure};
use super::handshake::{self, Peer};
use super::limits::Times;
use super::list::{Listed, Pages};

/// Characters of a tool's name.
const NAME_MAX: usize = 128;

/// A server with which the version is settled. It offers the server nothing: no sampling,
/// no roots, no questions to the user.
#[derive(Debug)]
pub struct Client {
    connection: Arc<dyn Connection>,
    peer: Peer,
    times: Times,
}

impl Client {
    /// Connects. `remembered` is the generation that the server had before, which saves
    /// asking.
    ///
    /// # Errors
    /// When the server cannot be started or does not say in time what it is. It is gone
    /// then.
    pub async fn open(
        transport: &dyn Transport,
        remembered: Option<Era>,
        times: Times,
    ) -> Result<Self, ClientError> {
        let (connection, peer) = handshake::open(transport, remembered, &times).await?;
        let client = Self { connection, peer, times };
        client.listen();
        Ok(client)
    }

    /// A legacy server tells of changes by itself; a modern one has to be asked to. One
    /// that cannot says so, and nothing follows from it.
    fn listen(&self) {
        let Peer { era, tools_change, resources_change, prompts_change, .. } = self.peer;
        if era == Era::Legacy || !(tools_change || resources_change || prompts_change) {
            return;
        }
        let wanted = [
            ("toolsListChanged", tools_change),
            ("resourcesListChanged", resources_change),
            ("promptsListChanged", prompts_change),
        ];
        let wanted: Map<_, _> = wanted
            .into_iter()
            .filter(|(_, is)| *is)
            .map(|(name, is)| (name.to_owned(), Value::Bool(is)))
            .collect();
        let params = json!({ "_meta": handshake::meta(), "notifications": wanted });
        self.connection.subscribe("subscriptions/listen", params);
    }

    /// What the server is.
    #[must_use]
    pub const fn peer(&self) -> &Peer {
        &self.peer
    }

    /// Asks anything. The result is as the server sent it.
    ///
    /// # Errors
    /// When there is none, or when it is not the end of the matter.
    pub async fn request(
        &self,
        method: &str,
        mut params: Map<String, Value>,
        time: Duration,
    ) -> Result<Value, ClientError> {
        if self.peer.era == Era::Modern {
            params.insert("_meta".to_owned(), handshake::meta());
        }
        let result = self.connection.request(method, Value::Object(params), time).await?;
        let unusable = |why: &str| ClientError {
            may_have_run: true,
            ..ClientError::unsent(Failure::Answer(why.to_owned()))
        };
        if !result.is_object() {
            return Err(unusable("it is no object"));
        }
        match result.get("resultType").map(Value::as_str) {
            None | Some(Some("complete")) => Ok(result),
            Some(Some("input_required")) => Err(unusable("it asks for input that nobody here can give")),
            Some(_) => Err(unusable("it is of a type that is not known here")),
        }
    }

    /// Every page of a list whose entries are at `key`.
    async fn list(&self, method: &str, key: &'static str) -> Result<Listed, ClientError> {
        let mut pages = Pages::new(key);
        while let Some(params) = pages.next() {
            let page = self.request(method, params, self.times.list).await?;
            pages.take(page)?;
        }
        Ok(pages.end())
    }

    /// The tools, each as the server describes it. One without a name that can be called,
    /// and the second of a name, are left out with a warning.
    ///
    /// # Errors
    /// When the list cannot be had.
    pub async fn tools(&self) -> Result<Listed, ClientError> {
        if !self.peer.tools {
            return Ok(Listed::default());
        }
        let mut listed = self.list("tools/list", "tools").await?;
        let mut names = HashSet::new();
        let mut left_out = Vec::new();
        listed.entries.retain(|tool| {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            let fits = !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic());
            let why = if !fits || name.len() > NAME_MAX {
                Some("a tool has a name that cannot be called".to_owned())
            } else if !tool.get("inputSchema").is_some_and(Value::is_object) {
                Some(format!("the tool `{name}` has no schema of its arguments"))
            } else if !names.insert(name.to_owned()) {
                Some(format!("there are several tools `{name}`: the first counts"))
            } else {
                None
            };
            let is_kept = why.is_none();
            left_out.extend(why);
            is_kept
        });
        for why in left_out {
            listed.warn(why);
        }
        Ok(listed)
    }

    /// Runs a tool. A failure of the tool's own is a result too, with `isError` in it.
    ///
    /// # Errors
    /// When there is no result; the error says whether the tool may have run.
    pub async fn call(&self, tool: &str, arguments: &Value, time: Duration) -> Result<Value, ClientError> {
        let mut params = Map::new();
        params.insert("name".to_owned(), tool.into());
        params.insert("arguments".to_owned(), arguments.clone());
        self.request("tools/call", params, time).await
    }

    /// The resources.
    ///
    /// # Errors
    /// When the list cannot be had.
    pub async fn resources(&self) -> Result<Listed, ClientError> {
        if !self.peer.resources {
            return Ok(Listed::default());
        }
        self.list("resources/list", "resources").await
    }

    /// What is at `uri`.
    ///
    /// # Errors
    /// When it cannot be had.
    pub async fn read(&self, uri: &str) -> Result<Value, ClientError> {
        let params = Map::from_iter([("uri".to_owned(), uri.into())]);
        self.request("resources/read", params, self.times.list).await
    }

    /// The prompts.
    ///
    /// # Errors
    /// When the list cannot be had.
    pub async fn prompts(&self) -> Result<Listed, ClientError> {
        if !self.peer.prompts {
            return Ok(Listed::default());
        }
        self.list("prompts/list", "prompts").await
    }

    /// The prompt `name` with these arguments put in.
    ///
    /// # Errors
    /// When it cannot be had.
    pub async fn prompt(&self, name: &str, arguments: Map<String, Value>) -> Result<Value, ClientError> {
        let params =
            Map::from_iter([("name".to_owned(), name.into()), ("arguments".to_owned(), arguments.into())]);
        self.request("prompts/get", params, self.times.list).await
    }

    /// The skills, each with the digests of its files. Nothing of them is read by this.
    ///
    /// # Errors
    /// When the list cannot be had.
    pub async fn skills(&self) -> Result<Listed, ClientError> {
        if !self.peer.skills {
            return Ok(Listed::default());
        }
        self.list("skills/list", "skills").await
    }

    /// Whether it answers at all. A modern server knows no ping; there this is whether its
    /// process lives.
    ///
    /// # Errors
    /// When it does not answer within `time`.
    pub async fn ping(&self, time: Duration) -> Result<(), ClientError> {
        if self.peer.era == Era::Legacy {
            let answer = self.connection.request("ping", json!({}), time).await;
            return match answer {
                // An error is an answer too.
                Ok(_) | Err(ClientError { failure: Failure::Error { .. }, .. }) => Ok(()),
                Err(error) => Err(error),
            };
        }
        if self.is_alive() { Ok(()) } else { Err(Failure::Closed.into()) }
    }

    /// False when nothing can come of it any more.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.connection.is_alive()
    }

    /// What it has told of changes.
    #[must_use]
    pub fn heard(&self) -> watch::Receiver<Heard> {
        self.connection.heard()
    }

    /// What came of it that was not asked for.
    #[must_use]
    pub fn stray(&self) -> Stray {
        self.connection.stray()
    }

    /// The end of what it says on its standard error, without secrets.
    #[must_use]
    pub fn said(&self) -> String {
        self.connection.said()
    }

    /// Ends the server and all that it started; done when they are gone. Dropping the
    /// client does the same, and nobody waits for it.
    pub async fn close(&self) {
        self.connection.close().await;
    }
}
