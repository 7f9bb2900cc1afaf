//! What one turn may use: decided when it begins, and never more.
//!
//! What is there is the turn's own; what is permitted is asked at each use.

mod section;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use portcullis_model::capability::{Capability, CapabilityKind, Resolution};
use portcullis_model::extension::{Extension, ToolEntry, ToolTraits};
use serde_json::{Value, json};

use crate::broker::front;
use crate::extension::Level;
use crate::plugin::{Plugin, PluginSet, PluginTool};
use crate::registry::{Binding, Unusable};
use crate::rules::Rules;
use crate::schema::Schema;
use crate::surface::FIND_TOOLS;
use crate::world::{self, Bound, ListedTool};

pub use section::{Part, Section};

/// What one turn may use.
#[derive(Debug)]
pub(crate) struct Admitted {
    plugins: Arc<PluginSet>,
    binding: Binding,
    /// The narrowest first.
    bound: Vec<Bound>,
    rules: Arc<Rules>,
    /// The host may run what is permitted. Whoever only judges an agent's calls runs no tool
    /// of a plugin, and the agent may have one of the same name.
    runs_tools: bool,
    /// The capabilities of the extensions that are no pool's.
    narrow: OnceLock<BTreeMap<String, Capability>>,
}

/// Who runs a tool.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Owner<'a> {
    Plugin(&'a Arc<Plugin>, &'a PluginTool),
    Extension(&'a Arc<dyn Extension>, &'a ListedTool),
    /// A server that is not known to have it, and that knows better.
    Server(&'a Arc<dyn Extension>, &'a str),
    /// The host, in front of all servers. `names_a_tool` when it is asked about one.
    Front {
        names_a_tool: bool,
    },
    /// The host, by which a model finds the others.
    Finder,
}

impl Owner<'_> {
    /// The user need not be asked about it.
    pub(crate) fn is_auto_approved(&self) -> bool {
        match self {
            Self::Plugin(_, tool) => tool.definition.auto_approve,
            Self::Extension(..) | Self::Server(..) | Self::Front { .. } => false,
            Self::Finder => true,
        }
    }

    /// It can change nothing outside itself.
    pub(crate) fn is_harmless(&self) -> bool {
        match self {
            Self::Plugin(plugin, _) => plugin.guest.setup().grant.write.is_empty(),
            Self::Extension(..) | Self::Server(..) => false,
            Self::Front { names_a_tool } => !names_a_tool,
            Self::Finder => true,
        }
    }

    /// The tool's name among the capabilities.
    pub(crate) fn name(&self) -> &str {
        match self {
            Self::Plugin(_, tool) => &tool.definition.name,
            Self::Extension(_, tool) => &tool.entry.name,
            Self::Server(_, tool) => tool,
            Self::Front { .. } => front::MCP,
            Self::Finder => FIND_TOOLS,
        }
    }

    /// What is wrong with the arguments, if anything is.
    pub(crate) fn objection(&self, arguments: &Value) -> Option<String> {
        let schema = match self {
            Self::Plugin(_, tool) => &tool.schema,
            Self::Extension(_, tool) => &tool.schema,
            // It is not known yet, and the server looks at them.
            Self::Server(..) => return None,
            Self::Front { .. } => front::schema(),
            Self::Finder => finder_schema(),
        };
        schema.objection(arguments)
    }

    fn entry(&self) -> ToolEntry {
        let always = ToolTraits { always_loaded: true, ..ToolTraits::default() };
        match self {
            Self::Plugin(_, tool) => tool.entry(),
            Self::Extension(_, tool) => tool.entry.clone(),
            Self::Server(..) | Self::Front { .. } => ToolEntry {
                name: front::MCP.to_owned(),
                description: front::DESCRIPTION.to_owned(),
                schema: front::schema().value().clone(),
                traits: always,
            },
            Self::Finder => ToolEntry {
                name: FIND_TOOLS.to_owned(),
                description:
                    "Finds tools by words of their name or description, and shows how they are called."
                        .to_owned(),
                schema: finder_schema().value().clone(),
                traits: always,
            },
        }
    }
}

fn finder_schema() -> &'static Schema {
    static SCHEMA: OnceLock<Schema> = OnceLock::new();
    SCHEMA.get_or_init(|| {
        Schema::new(json!({
            "type": "object",
            "properties": { "query": { "type": "string", "description": "a few words" } },
            "required": ["query"],
            "additionalProperties": false,
        }))
    })
}

impl Admitted {
    pub(crate) fn new(
        plugins: Arc<PluginSet>,
        binding: Binding,
        bound: Vec<Bound>,
        rules: Arc<Rules>,
        runs_tools: bool,
    ) -> Self {
        Self { plugins, binding, bound, rules, runs_tools, narrow: OnceLock::new() }
    }

    /// The plugins as they were when the turn began.
    pub(crate) const fn plugins(&self) -> &Arc<PluginSet> {
        &self.plugins
    }

    /// The epoch that the turn is bound to.
    pub(crate) const fn binding(&self) -> &Binding {
        &self.binding
    }

    /// Whether any tool is run here at all.
    pub(crate) const fn runs_tools(&self) -> bool {
        self.runs_tools
    }

    /// Who runs the tool `name`, when it is not the agent.
    pub(crate) fn tool<'a>(&'a self, name: &'a str) -> Option<Owner<'a>> {
        if !self.runs_tools {
            return None;
        }
        if let Some((plugin, tool)) = self.plugins.tool(name) {
            return Some(Owner::Plugin(plugin, tool));
        }
        let own = |bound: &'_ Bound| bound.extension.is_local();
        for bound in self.bound.iter().filter(|bound| own(bound)) {
            if let Some(tool) = bound.listed.tools.iter().find(|tool| tool.entry.name == name) {
                return Some(Owner::Extension(&bound.extension, tool));
            }
        }
        if let Some((server, tool)) = name.strip_prefix("mcp:").and_then(|name| name.split_once('/')) {
            let bound = self.servers().find(|bound| bound.extension.name() == server)?;
            let listed = bound.listed.tools.iter().find(|own| own.entry.name == tool);
            return Some(match listed {
                Some(tool) => Owner::Extension(&bound.extension, tool),
                None => Owner::Server(&bound.extension, tool),
            });
        }
        if name == front::MCP && self.servers().next().is_some() {
            return Some(Owner::Front { names_a_tool: false });
        }
        (name == FIND_TOOLS).then_some(Owner::Finder)
    }

    /// The extensions that the turn sees, the narrowest first.
    pub(crate) fn bound(&self) -> &[Bound] {
        &self.bound
    }

    /// What is said of something that nobody brings.
    pub(crate) fn unknown(&self, kind: CapabilityKind, name: &str) -> Unusable {
        Unusable::Unknown { kind, name: name.to_owned(), hint: String::new() }
    }

    /// Every tool of a server that may be called without the server's name, and whose it
    /// is.
    pub(crate) fn bare_names(&self) -> BTreeMap<String, String> {
        let all =
            self.servers().flat_map(|bound| bound.listed.tools.iter().map(|tool| tool.entry.name.as_str()));
        let only = |name: &str| match self.servers_of(name).as_slice() {
            [server] => Some((name.to_owned(), (*server).to_owned())),
            _ => None,
        };
        all.filter_map(only).collect()
    }

    /// The servers that are admitted now.
    pub(crate) fn servers(&self) -> impl Iterator<Item = &Bound> {
        let remote = self
            .bound
            .iter()
            .filter(|bound| !bound.extension.is_local() && bound.extension.tools().is_some());
        remote.filter(|bound| self.usable(CapabilityKind::Server, bound.extension.name()).is_ok())
    }

    /// The servers that offer the tool `name`, when nothing else is called so. A call that
    /// names a tool without its server means the only one of them.
    pub(crate) fn servers_of(&self, name: &str) -> Vec<&str> {
        if self.tool(name).is_some() || crate::tool::is_taken(name) {
            return Vec::new();
        }
        let offers = |bound: &&Bound| bound.listed.tools.iter().any(|tool| tool.entry.name == name);
        self.servers().filter(offers).map(|bound| bound.extension.name()).collect()
    }

    /// Why the tool `name`, which is here, cannot be used now.
    pub(crate) fn objection(&self, owner: &Owner<'_>, name: &str) -> Option<Unusable> {
        match owner {
            Owner::Plugin(..) => self.usable(CapabilityKind::Tool, name).err(),
            Owner::Extension(extension, _) if extension.is_local() => {
                self.usable(CapabilityKind::Tool, name).err()
            }
            Owner::Extension(extension, _) | Owner::Server(extension, _) => {
                self.usable(CapabilityKind::Server, extension.name()).err()
            }
            Owner::Front { .. } | Owner::Finder => None,
        }
    }

    /// The capability, when it was there at the start of the turn and is permitted now.
    pub(crate) fn usable(&self, kind: CapabilityKind, name: &str) -> Result<&Capability, Unusable> {
        let of_the_pool = self.binding.usable(kind, name);
        let id = portcullis_model::capability::CapabilityId::new(kind, name);
        let Some(narrow) = self.narrow().get(&id.to_string()) else { return of_the_pool };
        if let Resolution::Retired(reason) = self.binding.resolution(&id) {
            return Err(Unusable::Retired { id, reason });
        }
        match narrow.standing.why().filter(|_| !narrow.standing.is_usable()) {
            Some(why) => Err(Unusable::NotUsable { id, why: why.to_owned() }),
            None => Ok(narrow),
        }
    }

    /// Whether the operator wants this tool of a server at all.
    pub(crate) fn has_tool_of(&self, server: &str, tool: &str) -> bool {
        let name = format!("mcp:{server}/{tool}");
        let kind = CapabilityKind::Tool;
        self.rules.channel.has(kind, &name) && self.rules.policy.denies_wholly(kind, &name).is_none()
    }

    /// Every capability that can be used, by kind and name.
    pub(crate) fn all(&self) -> Vec<&Capability> {
        let narrow = self.narrow();
        let pool = self.binding.set().usable().filter(|own| !narrow.contains_key(&own.id.to_string()));
        let permitted = |own: &&Capability| self.binding.resolution(&own.id) == Resolution::Available;
        let mut all: Vec<_> =
            pool.chain(narrow.values().filter(|own| own.standing.is_usable())).filter(permitted).collect();
        all.sort_by(|one, other| one.id.cmp(&other.id));
        all
    }

    /// Every capability that is there and cannot be used.
    pub(crate) fn unusable(&self) -> Vec<&Capability> {
        let narrow = self.narrow();
        let pool = self.binding.set().all().filter(|own| !narrow.contains_key(&own.id.to_string()));
        let denied = |own: &&Capability| {
            !own.standing.is_usable() || self.binding.resolution(&own.id) != Resolution::Available
        };
        pool.chain(narrow.values()).filter(denied).collect()
    }

    fn narrow(&self) -> &BTreeMap<String, Capability> {
        self.narrow.get_or_init(|| {
            let narrower: Vec<_> =
                self.bound.iter().filter(|bound| bound.level != Level::Pool).cloned().collect();
            if narrower.is_empty() {
                return BTreeMap::new();
            }
            let all = world::extensions(&narrower, &self.rules).into_iter().map(|(_, own)| own);
            let all = world::one_of_each(all);
            all.into_iter().map(|own| (own.id.to_string(), own)).collect()
        })
    }

    /// Every tool that a model may call, each once.
    pub(crate) fn tools(&self) -> Vec<ToolEntry> {
        let plugins = self.plugins.tools().map(|(_, tool)| tool.definition.name.as_str());
        let local = self.bound.iter().filter(|bound| bound.extension.is_local());
        let extensions =
            local.flat_map(|bound| bound.listed.tools.iter().map(|tool| tool.entry.name.as_str()));
        let names: BTreeSet<&str> = plugins.chain(extensions).collect();
        let mut entries: Vec<_> = names
            .into_iter()
            .filter_map(|name| {
                let owner = self.tool(name)?;
                self.objection(&owner, name).is_none().then(|| owner.entry())
            })
            .collect();
        if !entries.is_empty() && !entries.iter().any(|own| own.name == FIND_TOOLS) {
            entries.push(Owner::Finder.entry());
        }
        if self.runs_tools && self.servers().next().is_some() {
            entries.push(Owner::Front { names_a_tool: false }.entry());
        }
        entries
    }
}
