//! Why a request has no result.

use portcullis::model::fault::FaultKind;
use serde_json::{Value, json};

/// Why a request has no result. For a call it is a refusal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum WireError {
    /// The line is not JSON, is nested too deeply or has a key twice.
    #[error("the line cannot be read: {0}")]
    NotJson(String),
    /// The line holds something else than an object.
    #[error("a message is a JSON object")]
    NotAnObject,
    /// The line holds many messages.
    #[error("batches are not served")]
    Batch,
    /// A part of the message is not as JSON-RPC has it.
    #[error("`{field}` {what}")]
    Message {
        /// Which part.
        field: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// The line is too long.
    #[error("the line has more than {max} bytes")]
    LineTooLong {
        /// As many as it may have.
        max: usize,
    },
    /// There is no such method.
    #[error("there is no method `{method}`{near}")]
    UnknownMethod {
        /// What was asked for.
        method: String,
        /// What may have been meant, as the end of the sentence.
        near: String,
    },
    /// A parameter is missing, of another type, or not known.
    #[error("`{field}` {what}")]
    Parameter {
        /// Which.
        field: String,
        /// What is wrong with it.
        what: String,
    },
    /// The arguments of a call are too big.
    #[error("`input` has {size} bytes; the most is {max}")]
    InputTooBig {
        /// Its size in bytes.
        size: usize,
        /// As many as it may have.
        max: usize,
    },
    /// Something was asked before `initialize`.
    #[error("`{0}` was asked before `initialize`")]
    NotInitialized(String),
    /// `initialize` was asked twice.
    #[error("this connection is initialized already")]
    Initialized,
    /// The client speaks another version.
    #[error("protocol version `{asked}` is not spoken here; this is {ours}")]
    Version {
        /// What the client speaks.
        asked: String,
        /// What the server speaks.
        ours: &'static str,
    },
    /// There are as many as there may be.
    #[error("there are {max} {what} already, which is the most")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// As many as there may be.
        max: usize,
    },
    /// Nothing of this connection has that name.
    #[error("this connection has no {what} `{name}`")]
    Unknown {
        /// What sort of thing.
        what: &'static str,
        /// By which name.
        name: String,
    },
    /// The name is in use.
    #[error("this connection has a {what} `{name}` already")]
    Taken {
        /// What sort of thing.
        what: &'static str,
        /// By which name.
        name: String,
    },
    /// It is there and ends.
    #[error("the {what} `{name}` has ended")]
    Ended {
        /// What sort of thing.
        what: &'static str,
        /// By which name.
        name: String,
    },
    /// The client took the request back.
    #[error("the client has cancelled the request")]
    Cancelled,
    /// The client is not there any more.
    #[error("the client went away before it was answered")]
    Gone,
    /// The server is ending.
    #[error("the server is ending")]
    Closing,
    /// The server itself failed.
    #[error("the server failed inside")]
    Internal,
}

impl WireError {
    /// The number that JSON-RPC wants.
    #[must_use]
    pub const fn number(&self) -> i64 {
        match self {
            Self::NotJson(_) => -32700,
            Self::NotAnObject | Self::Batch | Self::Message { .. } | Self::Initialized => -32600,
            Self::UnknownMethod { .. } => -32601,
            Self::Parameter { .. } => -32602,
            Self::Internal => -32603,
            Self::Version { .. } => -32001,
            Self::NotInitialized(_) => -32002,
            Self::TooMany { .. } => -32003,
            Self::Unknown { .. } | Self::Taken { .. } | Self::Ended { .. } => -32004,
            Self::LineTooLong { .. } | Self::InputTooBig { .. } => -32005,
            Self::Closing | Self::Gone => -32006,
            Self::Cancelled => -32800,
        }
    }

    /// A stable word.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::NotJson(_) => "wire/not-json",
            Self::NotAnObject | Self::Message { .. } => "wire/message",
            Self::Batch => "wire/batch",
            Self::LineTooLong { .. } | Self::InputTooBig { .. } => "wire/too-big",
            Self::UnknownMethod { .. } => "wire/unknown-method",
            Self::Parameter { .. } => "wire/parameter",
            Self::NotInitialized(_) => "wire/not-initialized",
            Self::Initialized => "wire/initialized",
            Self::Version { .. } => "wire/version",
            Self::TooMany { .. } => "wire/too-many",
            Self::Unknown { .. } => "wire/unknown",
            Self::Taken { .. } => "wire/taken",
            Self::Ended { .. } => "wire/ended",
            Self::Cancelled => "wire/cancelled",
            Self::Gone => "wire/gone",
            Self::Closing => "wire/closing",
            Self::Internal => "wire/internal",
        }
    }

    /// The class of the failure that this is for a call: it was not judged.
    #[must_use]
    pub const fn fault(&self) -> FaultKind {
        match self {
            Self::LineTooLong { .. } | Self::InputTooBig { .. } => FaultKind::TooBig,
            Self::TooMany { .. } => FaultKind::Resource,
            Self::Cancelled | Self::Gone | Self::Closing | Self::Internal => FaultKind::Internal,
            Self::NotJson(_)
            | Self::NotAnObject
            | Self::Batch
            | Self::Message { .. }
            | Self::UnknownMethod { .. }
            | Self::Parameter { .. }
            | Self::NotInitialized(_)
            | Self::Initialized
            | Self::Version { .. }
            | Self::Unknown { .. }
            | Self::Taken { .. }
            | Self::Ended { .. } => FaultKind::BadInput,
        }
    }

    /// The way out.
    #[must_use]
    pub const fn hint(&self) -> &'static str {
        match self {
            Self::NotJson(_) | Self::NotAnObject | Self::Message { .. } => {
                "send one JSON-RPC 2.0 object a line, in UTF-8"
            }
            Self::Batch => "send each message on a line of its own; they run side by side anyway",
            Self::LineTooLong { .. } | Self::InputTooBig { .. } => "make the call smaller",
            Self::UnknownMethod { .. } | Self::Parameter { .. } => {
                "docs/reference/wire.md has every method and its parameters"
            }
            Self::NotInitialized(_) => "send `initialize` first, and wait for its answer",
            Self::Initialized => "send `initialize` once",
            Self::Version { .. } => "use a client and a `portcullis` of the same release",
            Self::TooMany { .. } => "wait for answers, close what is not needed, or open another connection",
            Self::Unknown { .. } => "open it first; what one connection opens no other one sees",
            Self::Taken { .. } => "choose another name",
            Self::Ended { .. } => "begin another one",
            Self::Cancelled => "judge the call again if it is still wanted",
            Self::Gone | Self::Closing => "connect again, and judge the call again",
            Self::Internal => "judge the call again; run `portcullis serve -vv` and report it",
        }
    }

    /// The `error` of an answer.
    pub(crate) fn to_json(&self) -> Value {
        let mut data = json!({ "code": self.code(), "fault": self.fault(), "hint": self.hint() });
        if let Some(data) = data.as_object_mut() {
            match self {
                Self::Message { field, .. } => drop(data.insert("field".to_owned(), json!(field))),
                Self::Parameter { field, .. } => drop(data.insert("field".to_owned(), json!(field))),
                Self::InputTooBig { .. } => drop(data.insert("field".to_owned(), json!("input"))),
                Self::Version { ours, .. } => drop(data.insert("supported".to_owned(), json!([ours]))),
                Self::NotJson(_)
                | Self::NotAnObject
                | Self::Batch
                | Self::LineTooLong { .. }
                | Self::UnknownMethod { .. }
                | Self::NotInitialized(_)
                | Self::Initialized
                | Self::TooMany { .. }
                | Self::Unknown { .. }
                | Self::Taken { .. }
                | Self::Ended { .. }
                | Self::Cancelled
                | Self::Gone
                | Self::Closing
                | Self::Internal => {}
            }
        }
        json!({ "code": self.number(), "message": self.to_string(), "data": data })
    }
}
