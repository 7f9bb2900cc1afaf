//! The active plugins at one moment. Never changed, only replaced.

use std::collections::BTreeMap;
use std::sync::Arc;

use portcullis_runtime::Kind;

use crate::hook::ComponentHook;
use crate::plugin::{Inspection, LeftOut, Plugin, PluginTool, Report};

/// The active plugins at one moment.
#[derive(Debug, Default)]
pub(crate) struct PluginSet {
    /// In the order in which they act.
    plugins: Vec<Arc<Plugin>>,
    standing: Vec<Standing>,
    /// Which plugin, and which of its tools.
    tools: BTreeMap<String, (usize, usize)>,
    /// The tools whose name was taken, with the plugin that would bring them.
    taken: Vec<(String, LeftOut)>,
    requires_a_plugin: bool,
    pub(crate) report: Report,
}

/// Why every call is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standing {
    /// The plugin's or the file's name.
    pub(crate) name: String,
    /// A stable word.
    pub(crate) code: String,
    /// What is wrong, as a part of a sentence.
    pub(crate) what: String,
    /// What the operator can do, as a part of a sentence.
    pub(crate) way_out: String,
}

impl PluginSet {
    /// A set of `plugins`. A tool whose name is taken, by the host or by an
    /// earlier plugin, is left out, and a warning says so.
    pub(crate) fn new(
        plugins: Vec<Arc<Plugin>>,
        standing: Vec<Standing>,
        requires_a_plugin: bool,
        mut report: Report,
    ) -> Self {
        let mut tools = BTreeMap::new();
        let mut taken = Vec::new();
        for (at, plugin) in plugins.iter().enumerate().filter(|(_, plugin)| plugin.acts_as(Kind::Tool)) {
            for (index, tool) in plugin.tools.iter().enumerate() {
                let tool = &tool.definition;
                let owner = if crate::tool::is_taken(&tool.name) {
                    Some("the host")
                } else {
                    tools
                        .get(&tool.name)
                        .and_then(|(owner, _): &(usize, usize)| plugins.get(*owner))
                        .map(|owner| owner.info.name.as_str())
                };
                match owner {
                    None => drop(tools.insert(tool.name.clone(), (at, index))),
                    Some(owner) => {
                        let left_out = LeftOut {
                            name: tool.name.clone(),
                            why: format!("the name belongs to {owner}"),
                            owner: Some(owner.to_owned()),
                        };
                        let name = plugin.info.name.as_str();
                        if let Some(row) = report.rows.iter_mut().find(|row| row.name == name) {
                            row.warnings.push(left_out.warning());
                        }
                        taken.push((name.to_owned(), left_out));
                    }
                }
            }
        }
        report.standing = standing.iter().map(|standing| standing.what.clone()).collect();
        report.refusing = standing.iter().map(|standing| standing.name.clone()).collect();
        Self { plugins, standing, tools, taken, requires_a_plugin, report }
    }

    /// The active plugins, in the order in which they act.
    pub(crate) fn plugins(&self) -> impl Iterator<Item = &Arc<Plugin>> {
        self.plugins.iter()
    }

    /// The active guards, in the order in which they are asked.
    pub(crate) fn guards(&self) -> impl Iterator<Item = &Arc<Plugin>> {
        self.plugins.iter().filter(|plugin| plugin.acts_as(Kind::Guard))
    }

    /// The active plugins that are hooks, in the order in which they are asked.
    pub(crate) fn hooks(&self) -> impl Iterator<Item = (&Arc<Plugin>, &ComponentHook)> {
        let acting = self.plugins.iter().filter(|plugin| plugin.acts_as(Kind::Hook));
        acting.filter_map(|plugin| Some((plugin, plugin.hook.as_ref()?)))
    }

    /// All that is known of the active plugin `name`.
    pub(crate) fn inspect(&self, name: &str) -> Option<Inspection> {
        let plugin = self.plugins.iter().find(|plugin| plugin.info.name.as_str() == name)?;
        let row = self.report.rows.iter().find(|row| row.name == name && row.digest.is_some())?;
        Some(Inspection {
            row: row.clone(),
            description: plugin.info.description.clone(),
            appendix: plugin.info.appendix.clone(),
            serves: plugin.info.serves.clone(),
            imports: plugin.guest.contract().imports.clone(),
            limits: plugin.guest.limits().clone(),
            grant: plugin.guest.setup().grant.clone(),
        })
    }

    /// Why every call is refused, if it is.
    pub(crate) fn standing(&self) -> &[Standing] {
        &self.standing
    }

    /// Why not all plugins could be looked for, when that is so.
    pub(crate) fn unlisted(&self) -> Option<String> {
        let mut standing = self.standing.iter().filter(|standing| standing.code == "load/directory");
        standing.next().map(|standing| standing.what.clone())
    }

    /// True when the operator requires a plugin.
    pub(crate) const fn requires_a_plugin(&self) -> bool {
        self.requires_a_plugin
    }

    /// The plugin that brings the tool `name`, and the tool.
    pub(crate) fn tool(&self, name: &str) -> Option<(&Arc<Plugin>, &PluginTool)> {
        let (plugin, tool) = self.tools.get(name)?;
        let plugin = self.plugins.get(*plugin)?;
        Some((plugin, plugin.tools.get(*tool)?)).filter(|(plugin, _)| plugin.acts_as(Kind::Tool))
    }

    /// Every tool that can be called, with its plugin, by name.
    pub(crate) fn tools(&self) -> impl Iterator<Item = (&Arc<Plugin>, &PluginTool)> {
        self.tools.keys().filter_map(|name| self.tool(name))
    }

    /// Every tool that nobody can call, with the plugin that would bring it.
    pub(crate) fn left_out(&self) -> impl Iterator<Item = (&str, &LeftOut)> {
        let acting = self.plugins.iter().filter(|plugin| plugin.acts_as(Kind::Tool));
        let own =
            acting.flat_map(|plugin| plugin.left_out.iter().map(|out| (plugin.info.name.as_str(), out)));
        own.chain(self.taken.iter().map(|(plugin, out)| (plugin.as_str(), out)))
    }

    /// The tool `name` is of a project's plugin that was trusted when this set was made,
    /// and is not any more.
    pub(crate) fn is_withdrawn(&self, name: &str) -> bool {
        let plugin = self.tools.get(name).and_then(|(plugin, _)| self.plugins.get(*plugin));
        plugin.is_some_and(|plugin| !plugin.acts_as(Kind::Tool))
    }
}
