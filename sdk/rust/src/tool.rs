//! Tools that the model may call.

use crate::bindings::host::call::ToolCall;
use crate::bindings::tool::exports::portcullis::tool::tool as wire;
use crate::{Call, Error, Plugin, plugin::Adapter};

/// A plugin that brings tools.
pub trait Tool: Plugin {
    /// The tools that it brings. Must give the same answer every time.
    fn list_tools() -> Vec<ToolDefinition>;

    /// What a call needs for itself while it runs. Unless said, everything: it
    /// runs beside no other writer.
    fn claims_of(_call: &Call<'_>) -> Claims {
        Claims::exclusive()
    }

    /// Runs a call of one of its tools; [`Call::tool`] says which.
    ///
    /// # Errors
    ///
    /// When the tool could not run. A tool that ran and has bad news answers
    /// with [`Output::error`].
    fn call_tool(call: &Call<'_>) -> Result<Output, Error>;
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDefinition {
    name: String,
    description: String,
    input_schema: String,
    serves: Vec<String>,
    always_loaded: bool,
    auto_approve: bool,
}

impl ToolDefinition {
    /// A tool with this name, this description for the model, and this JSON
    /// Schema of its input.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: impl Into<String>,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema: input_schema.into(),
            serves: Vec::new(),
            always_loaded: false,
            auto_approve: false,
        }
    }

    /// One of the domains that it serves.
    #[must_use]
    pub fn serves(mut self, domain: impl Into<String>) -> Self {
        self.serves.push(domain.into());
        self
    }

    /// Loaded in every turn, whatever the turn is about.
    #[must_use]
    pub fn always_loaded(mut self) -> Self {
        self.always_loaded = true;
        self
    }

    /// Runs without asking the user. Guards still judge it.
    #[must_use]
    pub fn auto_approve(mut self) -> Self {
        self.auto_approve = true;
        self
    }
}

/// What a call needs for itself while it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claims {
    exclusive: bool,
    read_only: bool,
    paths: Vec<String>,
}

impl Claims {
    /// Conflicts with every other claimed writer.
    #[must_use]
    pub fn exclusive() -> Self {
        Self { exclusive: true, read_only: false, paths: Vec::new() }
    }

    /// Writes nothing.
    #[must_use]
    pub fn read_only() -> Self {
        Self { exclusive: false, read_only: true, paths: Vec::new() }
    }

    /// Writes only what these patterns match, such as `src/**`.
    #[must_use]
    pub fn paths(patterns: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { exclusive: false, read_only: false, paths: patterns.into_iter().map(Into::into).collect() }
    }
}

/// What a tool answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// One piece behind the other.
    pub content: Vec<Content>,
    /// The tool ran and has bad news.
    pub is_error: bool,
}

impl Output {
    /// A text.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::Text(text.into())], is_error: false }
    }

    /// Bad news.
    #[must_use]
    pub fn error(text: impl Into<String>) -> Self {
        Self { is_error: true, ..Self::text(text) }
    }
}

/// One piece of a tool's answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// A text.
    Text(String),
    /// Bytes of a MIME type, such as an image.
    Binary {
        /// Such as `image/png`.
        mime_type: String,
        /// The bytes.
        bytes: Vec<u8>,
    },
}

impl<P: Tool> wire::Guest for Adapter<P> {
    fn list_tools() -> Vec<wire::Definition> {
        let export = |tool: ToolDefinition| wire::Definition {
            name: tool.name,
            description: tool.description,
            input_schema: tool.input_schema,
            serves: tool.serves,
            always_loaded: tool.always_loaded,
            auto_approve: tool.auto_approve,
        };
        P::list_tools().into_iter().map(export).collect()
    }

    fn claims_of(call: &ToolCall) -> wire::Claims {
        let Claims { exclusive, read_only, paths } = P::claims_of(&Call::from(call));
        wire::Claims { exclusive, read_only, paths }
    }

    fn call_tool(call: &ToolCall) -> Result<wire::Output, String> {
        let output = P::call_tool(&Call::from(call)).map_err(Error::into_text)?;
        let export = |content| match content {
            Content::Text(text) => wire::Content::Text(text),
            Content::Binary { mime_type, bytes } => wire::Content::Binary(wire::Blob { mime_type, bytes }),
        };
        let content = output.content.into_iter().map(export).collect();
        Ok(wire::Output { content, is_error: output.is_error })
    }
}
