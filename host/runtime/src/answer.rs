//! What guests answer, checked and cut where it enters.

use portcullis_model::call::Claims;
use portcullis_model::fault::{Fault, FaultKind};
use portcullis_model::limits::Limits;
use portcullis_model::name::PluginName;
use serde::{Deserialize, Serialize};

use crate::bindings::exports;
use crate::interface::cut;

/// The longest description, in characters.
const DESCRIPTION_MAX: usize = 1024;
/// The longest code of a refusal, in bytes.
const CODE_MAX: usize = 64;

/// Who a plugin is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginInfo {
    /// Its name.
    pub name: PluginName,
    /// One line.
    pub description: String,
    /// Its own version.
    pub version: String,
    /// What the model is told about it.
    pub appendix: Option<String>,
    /// The domains that it serves.
    pub serves: Vec<String>,
}

/// A guard's no.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GuardRefusal {
    /// A short word of the guard's; may be empty.
    pub code: String,
    /// What the model is told.
    pub reason: String,
}

/// An event that a hook follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subscription {
    /// The event's name.
    pub event: String,
    /// A rule that the occurrence must match.
    pub matching: Option<String>,
}

/// A hook's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// Nothing to say.
    NoOpinion,
    /// No objection. Grants nothing.
    Approve,
    /// A no, with its reason.
    Block(String),
}

/// A tool that a plugin brings.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Its name.
    pub name: String,
    /// What the model is told about it.
    pub description: String,
    /// JSON Schema of its input, as text.
    pub input_schema: String,
    /// The domains that it serves.
    pub serves: Vec<String>,
    /// Loaded in every turn.
    pub always_loaded: bool,
    /// Runs without asking the user.
    pub auto_approve: bool,
}

/// What a tool gives back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolOutput {
    /// In order.
    pub content: Vec<Content>,
    /// The tool ran and failed.
    pub is_error: bool,
}

/// One part of a tool's output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// Text.
    Text(String),
    /// Anything else.
    Binary {
        /// Its media type.
        mime_type: String,
        /// Its bytes.
        bytes: Vec<u8>,
    },
}

/// A slash command that a plugin brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandDefinition {
    /// Its name, without the slash.
    pub name: String,
    /// What the user is told about it.
    pub description: String,
    /// What its arguments look like.
    pub argument_hint: Option<String>,
}

fn bad(detail: impl Into<String>) -> Fault {
    Fault::new(FaultKind::BadVerdict, detail)
}

/// The error case of an answer that is to be a verdict.
pub(crate) fn gave_an_error(error: String) -> Fault {
    bad(format!("it answered with an error: {}", cut(&error, DESCRIPTION_MAX)))
}

pub(crate) fn plugin_info(info: exports::plugin::plugin::Info, limits: &Limits) -> Result<PluginInfo, Fault> {
    let name = PluginName::new(info.name).map_err(|e| bad(e.to_string()))?;
    let characters = info.description.chars().count();
    if characters == 0 || characters > DESCRIPTION_MAX {
        return Err(bad(format!(
            "its description has {characters} characters; 1 to {DESCRIPTION_MAX} are allowed"
        )));
    }
    let appendix = info.appendix.filter(|text| !text.trim().is_empty());
    if let Some(text) = appendix.as_ref().filter(|text| text.len() > limits.appendix) {
        return Err(bad(format!("its appendix has {} bytes; the most is {}", text.len(), limits.appendix)));
    }
    Ok(PluginInfo {
        name,
        description: info.description,
        version: info.version,
        appendix,
        serves: info.serves,
    })
}

pub(crate) fn guard_refusal(
    answer: Result<Option<exports::guard::guard::Refusal>, String>,
    limits: &Limits,
) -> Result<Option<GuardRefusal>, Fault> {
    let Some(refusal) = answer.map_err(gave_an_error)? else { return Ok(None) };
    let word = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_/.".contains(&b);
    // A code is for programs; one that is no code is left out, and the refusal stands.
    let code = if refusal.code.len() <= CODE_MAX && refusal.code.bytes().all(word) {
        refusal.code
    } else {
        String::new()
    };
    Ok(Some(GuardRefusal { code, reason: cut(&refusal.reason, limits.reason).to_owned() }))
}

pub(crate) fn subscriptions(list: Vec<exports::hook::hook::Subscription>) -> Vec<Subscription> {
    list.into_iter().map(|s| Subscription { event: s.event, matching: s.matching }).collect()
}

pub(crate) fn decision(
    answer: Result<exports::hook::hook::Decision, String>,
    limits: &Limits,
) -> Result<Decision, Fault> {
    use exports::hook::hook::Decision as Raw;
    Ok(match answer.map_err(gave_an_error)? {
        Raw::NoOpinion => Decision::NoOpinion,
        Raw::Approve => Decision::Approve,
        Raw::Block(reason) => Decision::Block(cut(&reason, limits.reason).to_owned()),
    })
}

pub(crate) fn tool_definitions(
    list: Vec<exports::tool::tool::Definition>,
    limits: &Limits,
) -> Result<Vec<ToolDefinition>, Fault> {
    if list.len() > limits.tools {
        return Err(bad(format!("it brings {} tools; the most is {}", list.len(), limits.tools)));
    }
    Ok(list
        .into_iter()
        .map(|tool| ToolDefinition {
            name: tool.name,
            description: tool.description,
            input_schema: tool.input_schema,
            serves: tool.serves,
            always_loaded: tool.always_loaded,
            auto_approve: tool.auto_approve,
        })
        .collect())
}

pub(crate) fn claims(claims: exports::tool::tool::Claims) -> Claims {
    Claims { exclusive: claims.exclusive, read_only: claims.read_only, paths: claims.paths }
}

pub(crate) fn tool_output(output: exports::tool::tool::Output) -> ToolOutput {
    use exports::tool::tool::Content as Raw;
    let content = output.content.into_iter().map(|part| match part {
        Raw::Text(text) => Content::Text(text),
        Raw::Binary(blob) => Content::Binary { mime_type: blob.mime_type, bytes: blob.bytes },
    });
    ToolOutput { content: content.collect(), is_error: output.is_error }
}

pub(crate) fn command_definitions(
    list: Vec<exports::command::command::Definition>,
) -> Vec<CommandDefinition> {
    list.into_iter()
        .map(|command| CommandDefinition {
            name: command.name,
            description: command.description,
            argument_hint: command.argument_hint,
        })
        .collect()
}
