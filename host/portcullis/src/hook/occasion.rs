//! One event, as it happens: what hooks hear of it.

use std::fmt;
use std::sync::Arc;

use portcullis_runtime::{CallView, OccurrenceView};
use serde_json::{Value, json};

use super::Event;
use crate::rule::Subject;

/// One event, as it happens. Script hooks and component hooks hear the same of it.
#[derive(Debug, Clone)]
pub(crate) struct Occasion {
    /// Which.
    pub(crate) event: Event,
    /// The agent's session.
    pub(crate) session_id: String,
    /// The directory that the agent works in.
    pub(crate) cwd: String,
    /// The call, for the events that are about one.
    pub(crate) call: Option<HeardCall>,
    /// The user's words, the tool's result, or the agent's last words.
    pub(crate) text: Option<Arc<str>>,
}

/// What an event can be about, as components and as rules look at it.
pub(crate) trait Happening: CallView + fmt::Debug {
    /// The call, as rules look at it, for a user whose home directory this is.
    fn subject<'a>(&'a self, home: Option<&'a str>) -> Subject<'a>;
}

/// A call that an event is about.
#[derive(Debug, Clone)]
pub(crate) struct HeardCall {
    pub(crate) call: Arc<dyn Happening>,
    /// The user's home directory.
    pub(crate) home: Option<String>,
}

impl HeardCall {
    /// The call, as rules look at it.
    pub(super) fn subject(&self) -> Subject<'_> {
        self.call.subject(self.home.as_deref())
    }
}

impl Occasion {
    /// What a script hook hears.
    pub(super) fn payload(&self) -> Value {
        let mut payload = json!({
            "event": self.event.as_str(), "session_id": self.session_id, "cwd": self.cwd,
        });
        if let Some(object) = payload.as_object_mut() {
            if let Some(call) = &self.call {
                let call = call.subject();
                object.insert("tool".to_owned(), json!({ "name": call.tool, "input": call.input }));
            }
            if let Some(text) = &self.text {
                object.insert("text".to_owned(), Value::from(&**text));
            }
        }
        payload
    }
}

impl OccurrenceView for Occasion {
    fn name(&self) -> &str {
        self.event.as_str()
    }

    fn session_id(&self) -> &str {
        &self.session_id
    }

    fn cwd(&self) -> &str {
        &self.cwd
    }

    fn call(&self) -> Option<Arc<dyn CallView>> {
        self.call.as_ref().map(|heard| Arc::clone(&heard.call) as _)
    }

    fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }
}
