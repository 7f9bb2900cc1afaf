//! One connection with one server, whatever it runs over.

use std::fmt;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::watch;

use super::error::ClientError;

/// What a server gave, or why it gave nothing. Dropping it gives up, and tells the server
/// so.
pub type Reply<'a, T> = Pin<Box<dyn Future<Output = Result<T, ClientError>> + Send + 'a>>;

/// The generation of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Era {
    /// With a handshake: 2025-11-25 and before.
    Legacy,
    /// Without one: 2026-07-28 and after.
    Modern,
}

/// Where connections with one server come from.
pub trait Transport: fmt::Debug + Send + Sync {
    /// Begins one, on which nothing has been said yet.
    fn connect(&self) -> Reply<'_, Arc<dyn Connection>>;
}

/// One connection.
pub trait Connection: fmt::Debug + Send + Sync {
    /// Asks, and waits for the result at most `time`. It is as the server sent it: nothing
    /// is read into it, and nothing is lost of it.
    fn request<'a>(&'a self, method: &'a str, params: Value, time: Duration) -> Reply<'a, Value>;

    /// Tells the server something.
    fn notify(&self, method: &str, params: Option<Value>);

    /// Asks for something that is answered when it ends, and waits for nothing.
    fn subscribe(&self, method: &str, params: Value);

    /// The generation is known from here on. It decides whether a request of the server's
    /// is answered: a modern one must not send any.
    fn speaks(&self, era: Era);

    /// False when nothing can come of it any more.
    fn is_alive(&self) -> bool;

    /// What the server has told by itself, as it is now and when it changes.
    fn heard(&self) -> watch::Receiver<Heard>;

    /// What came over it that was not asked for.
    fn stray(&self) -> Stray;

    /// The end of what the server says on its standard error, without secrets; empty when
    /// it says nothing or has none.
    fn said(&self) -> String;

    /// Ends the server and all that it started; done when they are gone. Dropping the
    /// connection does the same, and nobody waits for it.
    fn close(&self) -> Pin<Box<dyn Future<Output = ()> + Send + '_>>;
}

/// How often a server has told that a list of its has changed. A thousand times in a row
/// are one change to whoever looks afterwards.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Heard {
    /// Of its tools.
    pub tools: u64,
    /// Of its resources, or of one of them.
    pub resources: u64,
    /// Of its prompts.
    pub prompts: u64,
}

impl Heard {
    /// Counts a notification; false when it is about something else.
    pub(super) fn count(&mut self, method: &str) -> bool {
        let counter = match method {
            "notifications/tools/list_changed" => &mut self.tools,
            "notifications/resources/list_changed" | "notifications/resources/updated" => &mut self.resources,
            "notifications/prompts/list_changed" => &mut self.prompts,
            _ => return false,
        };
        *counter = counter.saturating_add(1);
        true
    }
}

/// What came from a server that was not asked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stray {
    /// Lines that are no message.
    pub noise: u64,
    /// The beginning of the first of them, without secrets.
    pub first_noise: String,
    /// Answers to nobody, to somebody who has given up, or to the same request twice.
    pub lost: u64,
    /// Messages that were too long, or could not be read.
    pub unusable: u64,
    /// Requests of the server's.
    pub requests: u64,
}
