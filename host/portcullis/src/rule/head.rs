//! What stands before a rule's brackets.

use portcullis_model::call::EffectKind;

use super::Subject;
use super::name::Name;
use crate::tool;

/// What stands before a rule's brackets.
#[derive(Debug, Clone)]
pub(super) enum Head {
    /// Every call.
    Any,
    Effect(EffectKind),
    /// A tool by its canonical name, or one that the host has no row for by its own.
    Tool {
        name: String,
        known: bool,
    },
    /// Every tool with such a name.
    Tools {
        names: Box<Name>,
        /// The same of an MCP server's tool, whatever the server.
        of_any_server: Option<Box<Name>>,
    },
}

impl Head {
    pub(super) fn read(text: &str) -> Result<Self, String> {
        if text.is_empty() {
            return Err("it names no tool and no effect".to_owned());
        }
        if text == "*" {
            return Ok(Self::Any);
        }
        if text.contains(char::is_whitespace) {
            return Err("a tool's name has no blanks".to_owned());
        }
        let effect = EffectKind::ALL.into_iter().find(|kind| kind.as_str().eq_ignore_ascii_case(text));
        if let Some(effect) = effect {
            return Ok(Self::Effect(effect));
        }
        let canonical = tool::canonical_of(text);
        if text.contains(['*', '?']) {
            return tools(canonical.as_deref().unwrap_or(text));
        }
        if let Some(name) = canonical {
            return Ok(Self::Tool { name, known: true });
        }
        let low = text.to_ascii_lowercase();
        match low.strip_prefix("mcp__") {
            None => Ok(Self::Tool { name: text.to_owned(), known: false }),
            // A rule that names a server and none of its tools would mean nothing.
            Some(server) if !server.is_empty() && !server.contains("__") => tools(&format!("mcp:{server}/*")),
            Some(_) => {
                Err("it is no tool of an MCP server: `mcp__SERVER__TOOL`, or `mcp__SERVER` for all of \
                            them"
                    .to_owned())
            }
        }
    }

    /// True when the whole call is one of this tool; for an effect, when it has it.
    pub(super) fn names(&self, call: &Subject<'_>) -> bool {
        match self {
            Self::Any => true,
            Self::Effect(kind) => call.effects.iter().any(|effect| effect.kind == *kind),
            Self::Tool { name, .. } => call.tool == name || call.agent_tool.eq_ignore_ascii_case(name),
            Self::Tools { names, .. } => names.is_match(call.tool) || names.is_match(call.agent_tool),
        }
    }

    /// The same of any call of a batch, and where an agent that does not tell the MCP
    /// server may mean any.
    pub(super) fn may_name(&self, call: &Subject<'_>) -> bool {
        let mut named = std::iter::once(call.tool).chain(call.inner.iter().map(String::as_str));
        self.names(call)
            || named.any(|tool| match self {
                Self::Any | Self::Effect(_) => false,
                Self::Tool { name, .. } => {
                    let own = || name.strip_prefix("mcp:")?.split_once('/').map(|(_, own)| own);
                    name == tool || tool::without_server(tool).is_some_and(|called| own() == Some(called))
                }
                Self::Tools { names, of_any_server } => {
                    let own = |called| of_any_server.as_ref().is_some_and(|own| own.is_match(called));
                    names.is_match(tool) || tool::without_server(tool).is_some_and(own)
                }
            })
    }
}

/// Every tool whose canonical name, or whose agent's name, is like `text`.
fn tools(text: &str) -> Result<Head, String> {
    let own = text.strip_prefix("mcp:").and_then(|name| name.split_once('/')).map(|(_, own)| Name::new(own));
    Ok(Head::Tools { names: Box::new(Name::new(text)?), of_any_server: own.transpose()?.map(Box::new) })
}
