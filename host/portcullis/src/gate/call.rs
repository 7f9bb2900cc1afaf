//! A call as the guards see it.

use std::sync::OnceLock;

use portcullis_model::call::{Effect, ToolCall};
use portcullis_model::script::Script;
use portcullis_runtime::CallView;

use crate::hook::Happening;
use crate::rule::Subject;
use crate::tool::Resolved;

/// A call whose name and effects are known. Its scripts are taken apart when the
/// first guard asks, and once for all guards.
#[derive(Debug)]
pub(crate) struct JudgedCall {
    call: ToolCall,
    resolved: Resolved,
    session: String,
    scripts: OnceLock<Vec<Script>>,
}

impl JudgedCall {
    pub(super) fn new(call: ToolCall, resolved: Resolved, session: &str) -> Self {
        Self { call, resolved, session: session.to_owned(), scripts: OnceLock::new() }
    }

    pub(super) fn script_bytes(&self) -> usize {
        self.resolved.scripts.iter().chain(&self.resolved.powershell).map(String::len).sum()
    }

    /// The call as the agent made it.
    pub(crate) fn original(&self) -> ToolCall {
        self.call.clone()
    }

    pub(crate) fn canonical(&self) -> &str {
        &self.resolved.tool
    }

    pub(crate) fn agent_tool(&self) -> &str {
        &self.call.tool
    }

    /// The call, as rules look at it, without its scripts, which are not taken apart for it.
    pub(crate) fn unread_subject(&self) -> Subject<'_> {
        Subject {
            tool: self.canonical(),
            agent_tool: self.agent_tool(),
            inner: &self.resolved.inner,
            effects: self.effects(),
            scripts: &[],
            input: self.call.input.value(),
            cwd: self.cwd(),
            home: None,
        }
    }

    pub(crate) fn input_text(&self) -> &str {
        self.call.input.text()
    }

    pub(crate) fn input_value(&self) -> &serde_json::Value {
        self.call.input.value()
    }

    pub(crate) fn cwd_text(&self) -> &str {
        &self.call.cwd
    }
}

impl Happening for JudgedCall {
    fn subject<'a>(&'a self, home: Option<&'a str>) -> Subject<'a> {
        Subject { scripts: self.scripts(), home, ..self.unread_subject() }
    }
}

impl CallView for JudgedCall {
    fn id(&self) -> &str {
        &self.call.id
    }

    fn tool(&self) -> &str {
        &self.resolved.tool
    }

    fn input(&self) -> &str {
        self.call.input.text()
    }

    fn field(&self, pointer: &str) -> Option<String> {
        self.call.input.value().pointer(pointer).map(ToString::to_string)
    }

    fn cwd(&self) -> &str {
        self.resolved.cwd.as_deref().unwrap_or(&self.call.cwd)
    }

    fn session_id(&self) -> &str {
        &self.session
    }

    fn effects(&self) -> &[Effect] {
        &self.resolved.effects
    }

    fn scripts(&self) -> &[Script] {
        self.scripts.get_or_init(|| {
            let posix = self.resolved.scripts.iter().map(|text| portcullis_shell::analyse(text));
            let powershell =
                self.resolved.powershell.iter().map(|text| portcullis_shell::analyse_powershell(text));
            posix.chain(powershell).collect()
        })
    }
}
