//! What a component is given when it is linked, and what it is shown in a call.

use std::fmt;
use std::sync::Arc;

use portcullis_model::call::Effect;
use portcullis_model::config::GrantConfig;
use portcullis_model::limits::Limits;
use portcullis_model::script::Script;

/// Everything that one plugin is given, beside the contract itself.
#[derive(Debug, Clone)]
pub struct GuestSetup {
    /// The name that its output is logged under.
    pub name: String,
    /// Its settings, as a JSON object.
    pub settings: String,
    /// What it may use.
    pub limits: Limits,
    /// What it may reach.
    pub grant: GrantConfig,
    /// The values of the environment variables that it was granted.
    pub env: Vec<(String, String)>,
    /// Where its small values live.
    pub store: Arc<dyn Store>,
    /// The user's terminal.
    pub terminal: Arc<dyn Terminal>,
}

/// The small values of plugins. Kept apart for each plugin and session.
pub trait Store: fmt::Debug + Send + Sync {
    /// The value of `key`.
    fn get(&self, plugin: &str, session: &str, key: &str) -> Option<String>;

    /// Sets `key`.
    ///
    /// # Errors
    /// A sentence for the plugin when the value or the whole store is too big,
    /// or when it cannot be kept.
    fn set(&self, plugin: &str, session: &str, key: &str, value: &str) -> Result<(), String>;

    /// Forgets `key`.
    fn remove(&self, plugin: &str, session: &str, key: &str);
}

/// The terminal of the person behind the agent.
pub trait Terminal: fmt::Debug + Send + Sync {
    /// Rings the bell.
    fn bell(&self);
}

/// A call, as a guest sees it.
pub trait CallView: Send + Sync {
    /// The agent's id for this call.
    fn id(&self) -> &str;
    /// The canonical tool name.
    fn tool(&self) -> &str;
    /// The arguments as JSON text.
    fn input(&self) -> &str;
    /// One value of the arguments, by JSON Pointer, as JSON text.
    fn field(&self, pointer: &str) -> Option<String>;
    /// The directory that the call runs in.
    fn cwd(&self) -> &str;
    /// The agent's session.
    fn session_id(&self) -> &str;
    /// What the call does.
    fn effects(&self) -> &[Effect];
    /// The shell scripts that the call runs.
    fn scripts(&self) -> &[Script];
}

/// A moment in the agent's life, as a hook sees it.
pub trait OccurrenceView: Send + Sync {
    /// The event's name.
    fn name(&self) -> &str;
    /// The agent's session.
    fn session_id(&self) -> &str;
    /// The directory that the agent works in.
    fn cwd(&self) -> &str;
    /// The tool call, for tool events.
    fn call(&self) -> Option<Arc<dyn CallView>>;
    /// The output, the prompt or the final answer.
    fn text(&self) -> Option<&str>;
}

/// A slash command, as an expander sees it.
pub trait InvocationView: Send + Sync {
    /// The command's name.
    fn name(&self) -> &str;
    /// Everything behind the name.
    fn arguments(&self) -> &str;
    /// The agent's session.
    fn session_id(&self) -> &str;
    /// The directory that the agent works in.
    fn cwd(&self) -> &str;
}
