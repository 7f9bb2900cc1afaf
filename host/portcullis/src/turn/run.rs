//! What a model is shown, and running what it calls.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use portcullis_model::call::ToolCall;
use portcullis_model::capability::CapabilityKind;
use portcullis_model::extension::{Content as ExtensionContent, Extension, ToolResult};
use portcullis_model::judgement::Refusal;
use portcullis_runtime::{Content, ToolOutput};
use serde_json::Value;

use super::{Turn, locked};
use crate::admission::{Owner, Section};
use crate::error::RunError;
use crate::extension::failed_inside;
use crate::gate::{self, JudgedCall, Permit};
use crate::moment::Ran;
use crate::registry::Delta;
use crate::schedule::Need;
use crate::surface::{FIND_TOOLS, Reading, Surface};

/// How long a tool of an extension may take that does not say otherwise.
pub const TOOL_TIME: Duration = Duration::from_secs(60);

/// The answer to a call, for the model.
#[derive(Debug)]
pub struct Called {
    /// What the model reads. `is_error` when the tool did not run, or failed.
    pub output: ToolOutput,
    /// Why it did not run, or gave nothing; none when the tool answered, be it with an
    /// error of its own.
    pub error: Option<ToolError>,
}

/// Why a call gave no answer of its tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolError {
    /// A stable word: `unknown_capability`, `kind_mismatch`, `ambiguous`, `refused`, a word
    /// of [`Unusable::code`], or that of a fault.
    pub code: String,
    /// Who refused it and why, when it was refused.
    pub refusal: Option<Refusal>,
}

impl Called {
    pub(super) fn failed(code: impl Into<String>, text: impl Into<String>, refusal: Option<Refusal>) -> Self {
        let output = ToolOutput { content: vec![Content::Text(text.into())], is_error: true };
        Self { output, error: Some(ToolError { code: code.into(), refusal }) }
    }
}

/// The answer of the tool that was run, or why there is none.
pub(super) type Answer = Result<Result<ToolOutput, String>, RunError>;

impl From<Answer> for Called {
    fn from(ran: Answer) -> Self {
        match ran {
            Ok(Ok(output)) => Self { output, error: None },
            Ok(Err(own)) => {
                let output = ToolOutput { content: vec![Content::Text(own)], is_error: true };
                Self { output, error: None }
            }
            Err(RunError::Refused(refusal)) => Self::failed("refused", refusal.reason.clone(), Some(refusal)),
            Err(error) => Self::failed(error.code(), error.to_string(), None),
        }
    }
}

/// The text of an output.
fn words(output: &ToolOutput) -> String {
    let texts = output.content.iter().filter_map(|part| match part {
        Content::Text(text) => Some(text.as_str()),
        Content::Binary { .. } => None,
    });
    texts.collect::<Vec<_>>().join("\n")
}

fn text(text: String) -> ToolOutput {
    ToolOutput { content: vec![Content::Text(text)], is_error: false }
}

impl Turn {
    /// The same, about something that whoever reads the user's words has made out: the
    /// model is shown in full what that needs, unless the operator does not want it.
    #[must_use]
    pub fn about(self, reading: Reading) -> Self {
        let slices = self.host.snapshot().rules.slices;
        let surface = Surface::new(self.admitted.tools(), Some(&reading).filter(|_| slices));
        *locked(&self.surface) = Some(surface);
        self
    }

    /// The tools as the model's next request shows them: what the turn is about in full,
    /// and what the model has found since. Of a turn that is about nothing in particular,
    /// all of them.
    #[must_use]
    pub fn surface(&self) -> Surface {
        let mut surface = locked(&self.surface);
        let own = surface.get_or_insert_with(|| Surface::new(self.admitted.tools(), None));
        own.clone()
    }

    /// What the model is told of what it can use: the same text in every request of the
    /// turn. What changed since the turn before is in it, once.
    pub async fn standing(&self) -> Section {
        self.note_epoch().await;
        self.admitted.section(self.surface().catalogue(), self.news.as_ref())
    }

    /// The number of the epoch that the turn is bound to.
    #[must_use]
    pub fn epoch(&self) -> u64 {
        self.admitted.binding().set().epoch()
    }

    /// What changed since the session's turn before, if anything did.
    #[must_use]
    pub const fn news(&self) -> Option<&Delta> {
        self.news.as_ref()
    }

    /// Writes down, once, what the turn is bound to.
    async fn note_epoch(&self) {
        let note = async {
            let recorder = self.host.recorder();
            let (registry, set) = (self.host.world().registry(), self.admitted.binding().set());
            recorder.bound(self.session.id(), registry, set, self.news.as_ref()).await;
        };
        self.noted.get_or_init(|| note).await;
    }

    /// Judges a call and runs it: of a tool that a plugin or an extension brings, or of
    /// `find_tools`. Whatever happens, there is an answer for the model, and the loop goes
    /// on. Dropping the future ends the call; no answer of it is used then.
    ///
    /// An agent that runs tools of its own asks [`judge`](Self::judge) instead.
    pub async fn call(&self, call: ToolCall) -> Called {
        let name = call.tool.clone();
        if let Some(unknown) = self.unknown(&name).or_else(|| self.means_no_server(&call)) {
            return unknown;
        }
        let judgement = self.judge(call).await;
        let permit = match judgement.outcome {
            Ok(permit) => permit,
            Err(refusal) => return Called::failed("refused", refusal.reason.clone(), Some(refusal)),
        };
        self.run(permit).await.into()
    }

    /// The answer to a call of what nobody brings.
    pub(super) fn unknown(&self, name: &str) -> Option<Called> {
        let servers = self.admitted.servers_of(name);
        if servers.len() > 1 {
            let offers = servers.join("`, `");
            let told = format!(
                "Several servers offer `{name}`: `{offers}`. Name the one that is meant, as                  `mcp__SERVER__{name}`."
            );
            return Some(Called::failed("ambiguous", told, None));
        }
        let canonical = crate::tool::canonical_of(name);
        let known = self.admitted.tool(name).is_some()
            || servers.len() == 1
            || canonical.is_some_and(|name| self.admitted.tool(&name).is_some());
        // What came or was withdrawn since has a refusal that says so.
        let now = self.host.plugins();
        if known || now.tool(name).is_some() || self.admitted.plugins().is_withdrawn(name) {
            return None;
        }
        let unusable = self.admitted.usable(CapabilityKind::Tool, name).err()?;
        Some(Called::failed(unusable.code(), unusable.to_string(), None))
    }

    /// Runs a permitted call of a tool that a plugin or an extension brings, and asks the
    /// hooks about the result. The inner error is the tool's own. It waits for calls of other
    /// sessions that it conflicts with, up to [`CLAIM_WAIT`](crate::CLAIM_WAIT).
    ///
    /// # Errors
    /// When nobody brings the tool, when it was taken away since, when it misbehaves, or when
    /// what it claims cannot be had.
    pub async fn run(&self, permit: Permit) -> Result<Result<ToolOutput, String>, RunError> {
        let need = self.need(permit.call()).await;
        self.run_claiming(permit, need, false).await
    }

    /// The same, when it is known what it claims. One that had to wait is looked at `again`.
    pub(super) async fn run_claiming(&self, permit: Permit, need: Need, again: bool) -> Answer {
        let call = Arc::clone(permit.call());
        let owner = gate::owner(&self.admitted, &call)
            .ok_or_else(|| RunError::NotAPluginTool(permit.tool().to_owned()))?;
        let claimed = self.claimed(&call, need, again).await?;
        if let Some(unusable) = self.admitted.objection(&owner, owner.name()) {
            return Err(RunError::Unusable(unusable));
        }
        self.note_epoch().await;
        if let Some(surface) = locked(&self.surface).as_mut() {
            surface.used(owner.name());
        }
        let within = claimed.within();
        let ran = within.scope(self.ran_by(owner, &call)).await;
        // A hook may change the file too, as one that formats it does.
        let ran = self.heard(&call, ran).await;
        claimed.done().await;
        ran
    }

    async fn ran_by(&self, owner: Owner<'_>, call: &Arc<JudgedCall>) -> Answer {
        match owner {
            Owner::Plugin(plugin, _) => {
                let ran = plugin.guest.call_tool(Arc::clone(call) as _).await;
                ran.map_err(|fault| RunError::Fault { plugin: plugin.info.name.clone(), fault })
            }
            Owner::Extension(extension, tool) => self.of_extension(extension, &tool.entry.name, call).await,
            Owner::Server(extension, tool) => self.of_extension(extension, tool, call).await,
            Owner::Front { .. } => Ok(Ok(self.fronted(call.input_value()).await)),
            Owner::Finder => Ok(Ok(self.found(call.input_value()))),
        }
    }

    /// What a server turned out to offer is there for the next turn.
    async fn of_extension(
        &self,
        extension: &Arc<dyn Extension>,
        tool: &str,
        call: &JudgedCall,
    ) -> Result<Result<ToolOutput, String>, RunError> {
        let ran = called(&**extension, tool, call).await;
        if !extension.is_local() {
            self.host.learn(vec![Arc::clone(extension)]).await;
        }
        ran
    }

    /// What the hooks make of a result.
    async fn heard(&self, call: &Arc<JudgedCall>, ran: Answer) -> Answer {
        let text = match &ran {
            Ok(Ok(output)) => words(output),
            Ok(Err(error)) => error.clone(),
            Err(RunError::Fault { fault, .. }) => fault.to_string(),
            Err(error) => error.to_string(),
        };
        let looked_at = self.looked_at(call, &text).await.outcome;
        let mut ran = ran?;
        if let Ran::Annotated(refusal) = looked_at {
            match &mut ran {
                Ok(output) => output.content.push(Content::Text(refusal.reason)),
                Err(error) => *error = format!("{error}\n{}", refusal.reason),
            }
        }
        Ok(ran)
    }

    /// The tools that the query means. They are shown in full from now on.
    fn found(&self, arguments: &Value) -> ToolOutput {
        let query = arguments.get("query").and_then(Value::as_str).unwrap_or_default();
        let _built = self.surface();
        let mut surface = locked(&self.surface);
        let permitted = |name: &str| {
            let owner = self.admitted.tool(name);
            owner.is_some_and(|owner| self.admitted.objection(&owner, name).is_none())
        };
        let found = surface.as_mut().map(|surface| surface.find(query, permitted)).unwrap_or_default();
        let found: Vec<_> = found.into_iter().filter(|tool| tool.name != FIND_TOOLS).collect();
        if found.is_empty() {
            return text("No tool fits these words.".to_owned());
        }
        let told = |tool: &portcullis_model::extension::ToolEntry| {
            format!("{}: {}\narguments: {}", tool.name, tool.description, tool.schema)
        };
        text(found.iter().map(told).collect::<Vec<_>>().join("\n\n"))
    }
}

/// The answer of an extension's tool.
async fn called(
    extension: &dyn Extension,
    tool: &str,
    call: &JudgedCall,
) -> Result<Result<ToolOutput, String>, RunError> {
    let Some(role) = extension.tools() else {
        return Err(RunError::NotAPluginTool(tool.to_owned()));
    };
    let time = role.time().unwrap_or(TOOL_TIME);
    let answer = AssertUnwindSafe(role.call(tool, call.input_value())).catch_unwind();
    let ToolResult { content, is_error } = match tokio::time::timeout(time, answer).await {
        Ok(Ok(answer)) => answer?,
        Ok(Err(_)) => return Err(failed_inside(extension).into()),
        Err(_) => return Err(RunError::Late { extension: extension.name().to_owned(), time }),
    };
    let content = match content {
        ExtensionContent::Text(text) => Content::Text(text),
        ExtensionContent::Bytes(bytes) => {
            Content::Binary { mime_type: "application/octet-stream".to_owned(), bytes }
        }
    };
    Ok(Ok(ToolOutput { content: vec![content], is_error }))
}
