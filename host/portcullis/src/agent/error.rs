//! What can be wrong with a payload, or with the name of an agent.

use portcullis_model::fault::FaultKind;
use portcullis_model::input::InputError;

use super::Agent;

/// Why a payload cannot be understood. The answer is [`Agent::failure`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HookInputError {
    /// More bytes than a call and its envelope may have.
    #[error("the payload has {size} bytes; the most is {max}")]
    TooBig {
        /// Its size in bytes.
        size: usize,
        /// The most bytes that are read.
        max: usize,
    },
    /// Bytes that are no text.
    #[error("the payload is not UTF-8")]
    NotUtf8,
    /// Not JSON, nested too deeply, or with a key twice.
    #[error("the payload is not valid JSON: {0}")]
    NotJson(String),
    /// JSON, but no object.
    #[error("the payload is not a JSON object")]
    NotAnObject,
    /// A field that every payload of this kind has.
    #[error("the payload has no field `{field}`")]
    Missing {
        /// Its path, such as `input.tool`.
        field: String,
    },
    /// A field that does not hold what it should.
    #[error("the payload's field `{field}` is not {expected}")]
    Mistyped {
        /// Its path, such as `input.tool`.
        field: String,
        /// What it should be.
        expected: &'static str,
    },
    /// The arguments of the call alone are larger than a call may be.
    #[error("the call's arguments are refused: {0}")]
    Arguments(InputError),
    /// The payload has the shape of another agent's.
    #[error("the hook is installed for `{expected}`, but the payload looks like one of: `{sender}`")]
    OtherAgent {
        /// The agent that the hook was started for.
        expected: Agent,
        /// The agent that the payload's shape belongs to.
        sender: &'static str,
    },
    /// An event of this agent is only known under another spelling.
    #[error("`{agent}` has no such event before a tool call: `{event}`")]
    UnknownPreToolEvent {
        /// The agent that the hook was started for.
        agent: Agent,
        /// The event as it was spelled.
        event: String,
    },
}

impl HookInputError {
    /// The class of failure that this is for the ledger.
    #[must_use]
    pub const fn fault(&self) -> FaultKind {
        match self {
            Self::TooBig { .. } | Self::Arguments(InputError::TooBig { .. }) => FaultKind::TooBig,
            Self::NotUtf8
            | Self::NotJson(_)
            | Self::NotAnObject
            | Self::Missing { .. }
            | Self::Mistyped { .. }
            | Self::Arguments(InputError::NotJson(_))
            | Self::OtherAgent { .. }
            | Self::UnknownPreToolEvent { .. } => FaultKind::BadInput,
        }
    }
}

/// A name that no agent has.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no such agent (known: {}): `{name}`", Agent::ALL.map(Agent::as_str).join(", "))]
pub struct UnknownAgent {
    /// The name, cut to 64 characters.
    pub name: String,
    /// The agent that was probably meant.
    pub near: Option<Agent>,
}
