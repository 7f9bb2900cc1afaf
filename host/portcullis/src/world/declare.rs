//! What plugins and the configuration bring, as capabilities.

use portcullis_model::capability::{Capability, CapabilityId, CapabilityKind, Declaration, Standing};
use portcullis_model::name::PluginName;
use portcullis_runtime::{Digest, Kind};

use super::denial;
use crate::plugin::{LeftOut, Plugin, PluginState};
use crate::rules::Snapshot;

const PLUGIN: &str = "plugin ";

/// The tools and commands of the plugins that act.
pub(super) fn plugins(now: &Snapshot) -> Vec<Capability> {
    let mut all = Vec::new();
    for (plugin, tool) in now.plugins.tools() {
        let definition = &tool.definition;
        let content = [
            definition.description.as_str(),
            &definition.input_schema,
            if definition.always_loaded { "loaded" } else { "" },
            if definition.auto_approve { "approved" } else { "" },
        ];
        all.push(Capability {
            declaration: Declaration {
                content: Some(digest(&content)),
                serves: definition.serves.iter().cloned().map(Into::into).collect(),
                ..of_plugin(plugin, definition.description.clone())
            },
            ..capability(now, CapabilityKind::Tool, &definition.name, &plugin.info.name)
        });
    }
    for (plugin, LeftOut { name, why, owner }) in now.plugins.left_out() {
        // Another one may have the name itself.
        let (name, standing) = match owner {
            Some(owner) => (format!("{name}@{PLUGIN}{plugin}"), Standing::Shadowed(owner.clone())),
            None => (name.clone(), Standing::Broken(why.clone())),
        };
        all.push(Capability {
            id: CapabilityId::new(CapabilityKind::Tool, name),
            origin: format!("{PLUGIN}{plugin}"),
            declaration: Declaration::default(),
            standing,
        });
    }
    for plugin in now.plugins.plugins().filter(|plugin| plugin.acts_as(Kind::Command)) {
        for command in &plugin.commands {
            let hint = command.argument_hint.as_deref().unwrap_or_default();
            all.push(Capability {
                declaration: Declaration {
                    content: Some(digest(&[&command.description, hint])),
                    ..of_plugin(plugin, command.description.clone())
                },
                ..capability(now, CapabilityKind::Command, &command.name, &plugin.info.name)
            });
        }
    }
    all
}

/// The hooks of plugins, and the programs of the configuration.
pub(super) fn hooks(now: &Snapshot) -> Vec<Capability> {
    let components = now.plugins.hooks().flat_map(|(_, hook)| hook.rows());
    let scripts = now.rules.hooks().iter().map(crate::hook::ScriptHook::row);
    let mut all = guards(now);
    for row in components.chain(scripts) {
        let name = row.name.as_str();
        let origin = match &row.plugin {
            Some(plugin) => format!("{PLUGIN}{plugin}"),
            None => "configuration".to_owned(),
        };
        let off = || (!row.enabled).then(|| "`enabled = false` in its own table".to_owned());
        let standing = off().or_else(|| denial(CapabilityKind::Hook, name, &now.rules));
        let rule = row.rule.as_deref().unwrap_or("*");
        let set_up = [format!("{:?}", row.failure_mode), row.time.as_millis().to_string()];
        all.push(Capability {
            id: CapabilityId::new(CapabilityKind::Hook, name),
            origin,
            declaration: Declaration {
                description: format!("asked at {}", row.event),
                content: Some(digest(&[row.event.as_str(), rule, &row.handler])),
                configuration: Some(digest(&set_up.each_ref().map(String::as_str))),
                ..Declaration::default()
            },
            standing: standing.map_or(Standing::Usable, Standing::Denied),
        });
    }
    all
}

/// The guards: asked before each call, whatever the channels say.
fn guards(now: &Snapshot) -> Vec<Capability> {
    let guard = |plugin: &std::sync::Arc<Plugin>| {
        // The project chose its name, and no model hears that before it is trusted.
        let name = if plugin.is_trusted() {
            format!("guard {}", plugin.info.name)
        } else {
            let digest = plugin.guest.digest().to_string();
            format!("guard of this project {}", digest.get(..8).unwrap_or(&digest))
        };
        Capability {
            id: CapabilityId::new(CapabilityKind::Hook, name),
            origin: format!("{PLUGIN}{}", plugin.info.name),
            declaration: of_plugin(plugin, "judges each call".to_owned()),
            standing: Standing::Usable,
        }
    };
    now.plugins.guards().map(guard).collect()
}

/// Why something of a plugin that is not there any more was taken away; none when it went
/// by itself.
pub(super) fn taken_away(now: &Snapshot, gone: &Capability) -> Option<String> {
    let name = gone.origin.strip_prefix(PLUGIN)?;
    let row = now.plugins.report.rows.iter().find(|row| row.name == name)?;
    match &row.state {
        PluginState::Inactive => Some(format!("the plugin `{name}` was turned off")),
        PluginState::Broken { reason, .. } => Some(format!("the plugin `{name}` is broken ({reason})")),
        PluginState::Active | PluginState::Stale(_) | PluginState::Kept => {
            let plugin = now.plugins.plugins().find(|plugin| plugin.info.name.as_str() == name)?;
            (!plugin.is_trusted()).then(|| format!("the plugin `{name}` is not trusted any more"))
        }
        PluginState::Shadowed | PluginState::Settling | PluginState::Unresolved => None,
    }
}

fn capability(now: &Snapshot, kind: CapabilityKind, name: &str, plugin: &PluginName) -> Capability {
    Capability {
        id: CapabilityId::new(kind, name),
        origin: format!("{PLUGIN}{plugin}"),
        declaration: Declaration::default(),
        standing: denial(kind, name, &now.rules).map_or(Standing::Usable, Standing::Denied),
    }
}

/// Its component and its settings are how it is set up.
fn of_plugin(plugin: &Plugin, description: String) -> Declaration {
    let setup = plugin.guest.setup();
    let component = plugin.guest.digest().to_string();
    let grant = format!("{:?}", setup.grant);
    Declaration {
        description,
        configuration: Some(digest(&[&component, &setup.settings, &grant])),
        ..Declaration::default()
    }
}

/// Every text stands behind its length, so that no two lists run together into one.
pub(super) fn digest(texts: &[&str]) -> String {
    let mut bytes = Vec::new();
    for text in texts {
        bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
        bytes.extend_from_slice(text.as_bytes());
    }
    Digest::of(&bytes).to_string()
}
