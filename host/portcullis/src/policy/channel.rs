//! What there is for an agent at all.

use portcullis_model::call::EffectKind;
use portcullis_model::capability::CapabilityKind;
use portcullis_model::config::{ChannelConfig, ChannelsConfig};
use portcullis_model::judgement::Refusal;

use super::{PolicyError, reason};
use crate::rule::{Name, Subject};
use crate::tool;

/// What there is for an agent at all.
#[derive(Debug, Default)]
pub(crate) struct Channel {
    tools: Filter,
    servers: Filter,
    hooks: Filter,
}

/// Names that are there.
#[derive(Debug, Default)]
struct Filter {
    /// None: everything is.
    allow: Option<Vec<Name>>,
    deny: Vec<Name>,
}

impl Channel {
    pub(crate) fn new(config: &ChannelsConfig) -> Result<Self, PolicyError> {
        // A slip in a name is told of when the host opens, and not when a skill is loaded.
        SkillChannel::new(config)?;
        Ok(Self {
            tools: Filter::new(&config.tools, "channels.tools")?,
            servers: Filter::new(&config.servers, "channels.servers")?,
            hooks: Filter::new(&config.hooks, "channels.hooks")?,
        })
    }

    /// The refusal of a call of a tool or of an MCP server that is not there.
    pub(crate) fn objection(&self, call: &Subject<'_>) -> Option<Refusal> {
        let inner = call.inner.iter().map(String::as_str);
        let hidden = std::iter::once(call.tool).chain(inner).find(|tool| {
            // The agent's own name and the canonical one are two names of one tool.
            let other = if *tool == call.tool { call.agent_tool } else { tool };
            !self.tools.has(&[tool, other])
        });
        if let Some(tool) = hidden {
            return Some(reason::no_such_tool(tool));
        }
        if self.servers.has_everything() {
            return None;
        }
        let mut called = call.effects.iter().filter(|effect| effect.kind == EffectKind::Mcp);
        let hidden = called.find_map(|effect| {
            // Nobody can tell whether a server is there that was not told.
            let server = effect.target.split_once('/').map_or(effect.target.as_str(), |(server, _)| server);
            let told = tool::of_unknown_server(&effect.target).is_none();
            (!told || !self.servers.has(&[server])).then(|| server.to_owned())
        })?;
        Some(reason::no_such_server(&hidden))
    }

    /// Whether the capability is there.
    pub(crate) fn has(&self, kind: CapabilityKind, name: &str) -> bool {
        match kind {
            CapabilityKind::Tool => self.tools.has(&[name]),
            CapabilityKind::Server => self.servers.has(&[name]),
            CapabilityKind::Hook => self.hooks.has(&[name]),
            // No channel is about them.
            CapabilityKind::Skill | CapabilityKind::Command => true,
        }
    }

    /// Whether the hook `name` is asked.
    pub(crate) fn has_hook(&self, name: &str) -> bool {
        self.hooks.has(&[name])
    }
}

/// Which skills there are at all.
#[derive(Debug)]
pub struct SkillChannel(Filter);

impl SkillChannel {
    /// As `[channels.skills]` says.
    ///
    /// # Errors
    /// When a name in it is none.
    pub fn new(config: &ChannelsConfig) -> Result<Self, PolicyError> {
        Ok(Self(Filter::new(&config.skills, "channels.skills")?))
    }

    /// Whether the skill with these names is there.
    #[must_use]
    pub fn has(&self, names: &[&str]) -> bool {
        self.0.has(names)
    }
}

impl Filter {
    fn new(config: &ChannelConfig, key: &'static str) -> Result<Self, PolicyError> {
        let names = |texts: &Vec<String>| -> Result<Vec<Name>, PolicyError> {
            texts.iter().map(|text| Name::new(text).map_err(|reason| PolicyError { key, reason })).collect()
        };
        Ok(Self { allow: config.allow.as_ref().map(names).transpose()?, deny: names(&config.deny)? })
    }

    const fn has_everything(&self) -> bool {
        self.allow.is_none() && self.deny.is_empty()
    }

    /// Whether the thing with these names is there.
    fn has(&self, names: &[&str]) -> bool {
        let meant = |own: &[Name]| own.iter().any(|own| names.iter().any(|name| own.is_match(name)));
        !meant(&self.deny) && self.allow.as_deref().is_none_or(meant)
    }
}
