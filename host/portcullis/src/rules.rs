//! What a configuration decides besides the plugins, and the snapshot that one call is
//! judged by.

use std::path::PathBuf;
use std::sync::Arc;

use portcullis_model::config::{AuditConfig, Config, HookConfig};

use crate::config::strict;
use crate::error::HostError;
use crate::hook::ScriptHook;
use crate::ledger::Configured;
use crate::plugin::PluginSet;
use crate::policy::{Channel, Policy};
use crate::protect::{Code, PLUGIN, Places, Protection};
use crate::trust::Warrant;

/// What one call is judged by, from its start to its end.
#[derive(Debug, Clone)]
pub(crate) struct Snapshot {
    pub(crate) plugins: Arc<PluginSet>,
    pub(crate) rules: Arc<Rules>,
}

impl Snapshot {
    /// Is it this very one?
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.plugins, &other.plugins) && Arc::ptr_eq(&self.rules, &other.rules)
    }
}

/// What a configuration decides besides the plugins. Never changed, only replaced.
#[derive(Debug)]
pub(crate) struct Rules {
    known_tools: Vec<String>,
    pub(crate) protection: Option<Protection>,
    pub(crate) audit: AuditConfig,
    pub(crate) channel: Channel,
    pub(crate) policy: Policy,
    /// The model is shown in full only what its turn needs.
    pub(crate) slices: bool,
    /// A write to a file that is not what its session has seen is refused.
    pub(crate) checks_writes: bool,
    /// How often an agent may answer while hooks send it on.
    pub(crate) max_turns: u32,
    hooks: Vec<ScriptHook>,
    /// How many of the hooks and of the known tools are the user's; those behind are a
    /// trusted project's.
    users: (usize, usize),
    trust: Option<Trust>,
    pub(crate) configured: Option<Configured>,
}

/// What the project's part hangs on.
#[derive(Debug)]
struct Trust {
    warrant: Arc<Warrant>,
    file: PathBuf,
    digest: String,
}

impl Rules {
    /// What `config` decides, with `places` protected besides those that it names.
    /// `digest` is what tells it from others.
    pub(crate) fn new(
        config: &Config,
        mut places: Places,
        warrant: Option<&Arc<Warrant>>,
        digest: Option<String>,
    ) -> Result<Self, HostError> {
        let replaced = config.plugin.values().filter_map(|plugin| plugin.path.clone());
        places.files.extend(replaced.map(|path| (Code::Plugins, PLUGIN, path)));
        let project = &config.of_project;
        let (mut asked, more) = (hooks(&config.hooks, config)?, hooks(&project.hooks, config)?);
        let mut known_tools = config.tools.known.clone();
        let users = (asked.len(), known_tools.len());
        let trust = warrant.map(|warrant| Trust {
            warrant: Arc::clone(warrant),
            file: project.file.clone(),
            digest: project.digest.clone(),
        });
        if trust.is_some() {
            asked.extend(more);
            known_tools.extend(project.known_tools.iter().cloned());
        }
        Ok(Self {
            known_tools,
            protection: config.protect.own_files.then(|| Protection::new(places)),
            audit: config.audit,
            policy: Policy::new(config)?,
            channel: Channel::new(&config.channels)?,
            slices: config.intent.slice_capabilities,
            checks_writes: config.schedule.check_writes,
            max_turns: config.hook_defaults.max_turns.get(),
            hooks: asked,
            users,
            trust,
            configured: digest.map(|digest| Configured { digest, strict: strict(config) }),
        })
    }

    /// The script hooks, in order; also those that are off. Those of a project go with its trust.
    pub(crate) fn hooks(&self) -> &[ScriptHook] {
        self.trusted_part(&self.hooks, self.users.0)
    }

    /// The tools that somebody vouches for now.
    pub(crate) fn known_tools(&self) -> &[String] {
        self.trusted_part(&self.known_tools, self.users.1)
    }

    fn trusted_part<'a, T>(&self, all: &'a [T], users: usize) -> &'a [T] {
        let holds =
            || self.trust.as_ref().is_some_and(|trust| trust.warrant.covers(&trust.file, &trust.digest));
        if all.len() == users || holds() { all } else { all.get(..users).unwrap_or_default() }
    }
}

/// All of them; who asks leaves out those that are off.
fn hooks(configs: &[HookConfig], config: &Config) -> Result<Vec<ScriptHook>, HostError> {
    let hooks = configs.iter().map(|hook| ScriptHook::new(hook, config.hook_defaults.failure_mode));
    hooks.collect::<Result<_, _>>().map_err(HostError::Hook)
}
