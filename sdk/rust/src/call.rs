//! What the agent is about to do.

use core::cell::OnceCell;

use crate::bindings::host::call as wire;
use crate::effect::{Effect, EffectKind};
use crate::pipeline::Command;
use crate::script::Script;

/// One tool call. What it is asked for is fetched from the host once.
#[derive(Debug, Default)]
pub struct Call<'host> {
    handle: Option<Handle<'host>>,
    pub(crate) id: OnceCell<String>,
    pub(crate) tool: OnceCell<String>,
    pub(crate) input: OnceCell<String>,
    pub(crate) cwd: OnceCell<String>,
    pub(crate) session_id: OnceCell<String>,
    pub(crate) effects: OnceCell<Vec<Effect>>,
    pub(crate) scripts: OnceCell<Vec<Script>>,
}

#[derive(Debug)]
enum Handle<'host> {
    Borrowed(&'host wire::ToolCall),
    Owned(wire::ToolCall),
}

impl Call<'_> {
    fn ask<T: Default>(&self, question: impl FnOnce(&wire::ToolCall) -> T) -> T {
        match &self.handle {
            Some(Handle::Borrowed(call)) => question(call),
            Some(Handle::Owned(call)) => question(call),
            None => T::default(),
        }
    }

    /// The agent's id for this call, unique within its session.
    #[must_use]
    pub fn id(&self) -> &str {
        self.id.get_or_init(|| self.ask(wire::ToolCall::id))
    }

    /// The canonical tool name, such as `bash`; `mcp:SERVER/TOOL` for a tool of
    /// an MCP server.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.tool.get_or_init(|| self.ask(wire::ToolCall::tool))
    }

    /// The arguments, exactly as they will run, as a JSON document.
    #[must_use]
    pub fn input(&self) -> &str {
        self.input.get_or_init(|| self.ask(wire::ToolCall::input))
    }

    /// One value of the input, by JSON Pointer (RFC 6901), as JSON text.
    #[must_use]
    pub fn field(&self, pointer: &str) -> Option<String> {
        #[cfg(not(target_family = "wasm"))]
        if self.handle.is_none() {
            let input: serde_json::Value = serde_json::from_str(self.input()).ok()?;
            return input.pointer(pointer).map(ToString::to_string);
        }
        self.ask(|call| call.field(pointer))
    }

    /// The input as a type of the author's own.
    ///
    /// # Errors
    ///
    /// When the input has another shape.
    #[cfg(feature = "json")]
    pub fn input_as<T: serde::de::DeserializeOwned>(&self) -> Result<T, crate::Error> {
        Ok(serde_json::from_str(self.input())?)
    }

    /// One value of the input, by JSON Pointer, when it is a string.
    #[cfg(feature = "json")]
    #[must_use]
    pub fn text(&self, pointer: &str) -> Option<String> {
        serde_json::from_str(&self.field(pointer)?).ok()
    }

    /// Absolute path of the directory that the call runs in.
    #[must_use]
    pub fn cwd(&self) -> &str {
        self.cwd.get_or_init(|| self.ask(wire::ToolCall::cwd))
    }

    /// The agent's session.
    #[must_use]
    pub fn session_id(&self) -> &str {
        self.session_id.get_or_init(|| self.ask(wire::ToolCall::session_id))
    }

    /// Everything that the call does, whatever the tool is called.
    #[must_use]
    pub fn effects(&self) -> &[Effect] {
        self.effects.get_or_init(|| self.ask(wire::ToolCall::effects).into_iter().map(Effect::from).collect())
    }

    /// The shell scripts that the call runs, taken apart.
    #[must_use]
    pub fn scripts(&self) -> &[Script] {
        self.scripts.get_or_init(|| self.ask(wire::ToolCall::scripts).into_iter().map(Script::from).collect())
    }

    /// Every command of every script.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        self.scripts().iter().flat_map(Script::commands)
    }

    /// Every path that the call creates, changes or removes, one for each file
    /// that a batch or a patch touches. Ask this rather than the tool's name:
    /// nobody has to remember the batch tool.
    pub fn writes(&self) -> impl Iterator<Item = &str> {
        self.targets(|kind| matches!(kind, EffectKind::Write | EffectKind::Delete))
    }

    /// Every path that the call reads.
    pub fn reads(&self) -> impl Iterator<Item = &str> {
        self.targets(|kind| matches!(kind, EffectKind::Read))
    }

    /// Every URL that the call fetches.
    pub fn fetches(&self) -> impl Iterator<Item = &str> {
        self.targets(|kind| matches!(kind, EffectKind::Fetch))
    }

    /// Every tool of an MCP server that the call reaches, as `SERVER/TOOL`.
    pub fn mcp_tools(&self) -> impl Iterator<Item = &str> {
        self.targets(|kind| matches!(kind, EffectKind::Mcp))
    }

    fn targets(&self, wanted: impl Fn(&EffectKind) -> bool) -> impl Iterator<Item = &str> {
        let wanted = move |effect: &&Effect| wanted(&effect.kind);
        self.effects().iter().filter(wanted).map(|effect| effect.target.as_str())
    }
}

impl<'host> From<&'host wire::ToolCall> for Call<'host> {
    fn from(call: &'host wire::ToolCall) -> Self {
        Self { handle: Some(Handle::Borrowed(call)), ..Self::default() }
    }
}

impl From<wire::ToolCall> for Call<'_> {
    fn from(call: wire::ToolCall) -> Self {
        Self { handle: Some(Handle::Owned(call)), ..Self::default() }
    }
}

#[cfg(test)]
mod tests {
    use crate::effect::EffectKind;
    use crate::testing::CallBuilder;

    #[test]
    fn every_path_of_a_batch_is_a_write() {
        let call = CallBuilder::new("multi_edit")
            .effect(EffectKind::Read, "/a")
            .effect(EffectKind::Write, "/b")
            .effect(EffectKind::Delete, "/c")
            .build();
        assert_eq!(call.writes().collect::<Vec<_>>(), ["/b", "/c"]);
        assert_eq!(call.reads().collect::<Vec<_>>(), ["/a"]);
        assert_eq!(call.fetches().count(), 0);
    }

    #[test]
    fn a_field_is_json_text_and_its_text_is_decoded() {
        let call = CallBuilder::new("bash").input(r#"{"command":"a \"b\"","n":[1,2]}"#).build();
        assert_eq!(call.field("/command").as_deref(), Some(r#""a \"b\"""#));
        assert_eq!(call.text("/command").as_deref(), Some(r#"a "b""#));
        assert_eq!(call.field("/n/1").as_deref(), Some("2"));
        assert_eq!((call.text("/n"), call.field("/none")), (None, None));
    }

    #[test]
    fn a_call_of_bash_is_made_in_one_word() {
        let call = CallBuilder::bash("echo \"a\" | wc").build();
        assert_eq!((call.tool(), call.commands().count()), ("bash", 2));
        assert_eq!(call.text("/command").as_deref(), Some("echo \"a\" | wc"));
        assert_eq!(call.effects()[0].kind, EffectKind::Run);
    }

    #[test]
    fn a_null_input_has_no_fields() {
        let call = CallBuilder::new("bash").input("null").build();
        assert_eq!((call.field("/path"), call.input()), (None, "null"));
    }
}
