//! Slash commands that expand to a prompt.

use core::cell::OnceCell;

use crate::bindings::command::exports::portcullis::command::command as wire;
use crate::bindings::host::invocation::Invocation as Handle;
use crate::{Error, Plugin, plugin::Adapter};

/// A plugin that brings slash commands.
pub trait CommandExpander: Plugin {
    /// The commands that it brings. Must give the same answer every time.
    fn list_commands() -> Vec<CommandDefinition>;

    /// The prompt that a command stands for.
    ///
    /// # Errors
    ///
    /// With a text for the user, when the arguments make no sense.
    fn expand(invocation: &Invocation<'_>) -> Result<String, Error>;
}

/// One slash command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandDefinition {
    name: String,
    description: String,
    argument_hint: Option<String>,
}

impl CommandDefinition {
    /// A command with this name and this description for the user.
    #[must_use]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), argument_hint: None }
    }

    /// How its arguments look, such as `[branch]`.
    #[must_use]
    pub fn argument_hint(mut self, hint: impl Into<String>) -> Self {
        self.argument_hint = Some(hint.into());
        self
    }
}

/// A slash command as the user typed it.
#[derive(Debug, Default)]
pub struct Invocation<'host> {
    handle: Option<&'host Handle>,
    pub(crate) name: OnceCell<String>,
    pub(crate) arguments: OnceCell<String>,
    pub(crate) session_id: OnceCell<String>,
    pub(crate) cwd: OnceCell<String>,
}

impl Invocation<'_> {
    /// The command's name.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.get_or_init(|| self.handle.map(Handle::name).unwrap_or_default())
    }

    /// Everything behind the name, untouched.
    #[must_use]
    pub fn arguments(&self) -> &str {
        self.arguments.get_or_init(|| self.handle.map(Handle::arguments).unwrap_or_default())
    }

    /// The agent's session.
    #[must_use]
    pub fn session_id(&self) -> &str {
        self.session_id.get_or_init(|| self.handle.map(Handle::session_id).unwrap_or_default())
    }

    /// Absolute path of the agent's directory.
    #[must_use]
    pub fn cwd(&self) -> &str {
        self.cwd.get_or_init(|| self.handle.map(Handle::cwd).unwrap_or_default())
    }
}

impl<'host> From<&'host Handle> for Invocation<'host> {
    fn from(invocation: &'host Handle) -> Self {
        Self { handle: Some(invocation), ..Self::default() }
    }
}

impl<P: CommandExpander> wire::Guest for Adapter<P> {
    fn list_commands() -> Vec<wire::Definition> {
        let export = |CommandDefinition { name, description, argument_hint }| wire::Definition {
            name,
            description,
            argument_hint,
        };
        P::list_commands().into_iter().map(export).collect()
    }

    fn expand(invocation: &Handle) -> Result<String, String> {
        P::expand(&Invocation::from(invocation)).map_err(Error::into_text)
    }
}
