//! What a configuration file says. Unknown keys are errors.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::limits::Limits;
use crate::name::PluginName;

pub mod key;
mod number;
mod permissions;
mod server;
mod skills;

pub use number::{ClientCount, Depth, FileCount, FileSize, Mebibytes, Millis, Rounds};
pub use permissions::{ChannelConfig, ChannelsConfig, Mode, PermissionsConfig};
pub use server::{McpConfig, ServerConfig};
pub use skills::{CommandsConfig, SkillsConfig};

/// One `config.toml`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// Which plugins are on.
    pub plugins: PluginsConfig,
    /// Each plugin's own table.
    pub plugin: BTreeMap<PluginName, PluginConfig>,
    /// What is known of tools.
    pub tools: ToolsConfig,
    /// What happens to a call that nobody objects to.
    pub permissions: PermissionsConfig,
    /// What there is for an agent at all.
    pub channels: ChannelsConfig,
    /// Where skills come from.
    pub skills: SkillsConfig,
    /// Where commands come from.
    pub commands: CommandsConfig,
    /// What the host keeps from being changed.
    pub protect: ProtectConfig,
    /// What is written to the ledger.
    pub audit: AuditConfig,
    /// Programs that are asked at moments of an agent's life.
    pub hooks: Vec<HookConfig>,
    /// What holds for all of them.
    pub hook_defaults: HookDefaultsConfig,
    /// What a model is shown.
    pub intent: IntentConfig,
    /// How extensions may be put together.
    pub extensions: ExtensionsConfig,
    /// How calls that run at once get along.
    pub schedule: ScheduleConfig,
    /// The MCP servers that tools come from.
    pub mcp: McpConfig,
    /// What a trusted project says besides; no file has this key.
    #[serde(skip)]
    pub of_project: ProjectConfig,
}

/// `[intent]`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct IntentConfig {
    /// Shows the tools that a turn needs in full, and the others by name.
    pub slice_capabilities: bool,
}

impl Default for IntentConfig {
    fn default() -> Self {
        Self { slice_capabilities: true }
    }
}

/// `[extensions]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ExtensionsConfig {
    /// How deep extensions may bring extensions, the first one counted.
    pub max_composition_depth: Depth,
}

/// `[schedule]`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScheduleConfig {
    /// A call that writes a file which has changed since its session read it is not run.
    pub check_writes: bool,
}

/// `[hook_defaults]`. Apart from `[[hooks]]`, because a list of tables has no keys of
/// its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct HookDefaultsConfig {
    /// The failure mode of a hook that does not say its own.
    pub failure_mode: FailureMode,
    /// How often the agent may answer within one turn when hooks send it on at its end.
    pub max_turns: Rounds,
}

impl Default for HookDefaultsConfig {
    fn default() -> Self {
        Self { failure_mode: FailureMode::Open, max_turns: Rounds::default() }
    }
}

/// What a project's file says that only trust allows. It is apart, because trust can be
/// withdrawn at any moment, and because it is about the project's own plugins alone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ProjectConfig {
    /// The project's file.
    pub file: PathBuf,
    /// The digest of its bytes, which were trusted.
    pub digest: String,
    /// The tables of the plugins that the project brings: settings and grants.
    pub plugin: BTreeMap<PluginName, PluginConfig>,
    /// Its hooks, which are asked behind the user's.
    pub hooks: Vec<HookConfig>,
    /// The tools that it vouches for.
    pub known_tools: Vec<String>,
}

/// One `[[hooks]]`.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HookConfig {
    /// When it is asked.
    pub event: String,
    /// Which calls it is about, as a rule; absent: every one.
    #[serde(rename = "match")]
    pub rule: Option<String>,
    /// The program's absolute path, or a line for the shell.
    pub command: String,
    /// What the program is told.
    #[serde(default)]
    pub args: Vec<String>,
    /// Hands `command` to `/bin/sh`.
    #[serde(default)]
    pub shell: bool,
    /// How long it may take; absent: 10 s.
    pub timeout_ms: Option<Millis>,
    /// Absent: it is asked.
    pub enabled: Option<bool>,
    /// What it means when it fails to answer; absent: as `[hook_defaults]` says.
    pub failure_mode: Option<FailureMode>,
}

impl HookConfig {
    /// How long it may take, when it says nothing.
    pub const TIME: Duration = Duration::from_secs(10);

    /// How long it may take.
    #[must_use]
    pub fn time(&self) -> Duration {
        self.timeout_ms.map_or(Self::TIME, Millis::get)
    }
}

/// `[plugins]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PluginsConfig {
    /// Replaces and orders the active set. Absent: `guard`, `time`, then every
    /// file by name. Empty: none.
    pub enabled: Option<Vec<PluginName>>,
    /// What must be live, or every call is refused.
    pub required: Vec<PluginName>,
    /// Makes `--no-plugins` an error.
    pub locked: bool,
    /// What the project wants to be live besides; no file has this key. It is apart,
    /// because words that a project chose never reach a model.
    #[serde(skip)]
    pub required_by_project: Vec<PluginName>,
}

/// `[plugin.NAME]`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PluginConfig {
    /// A component file to use, in place of a bundled plugin of that name too.
    pub path: Option<PathBuf>,
    /// What happens when the plugin cannot be loaded.
    pub failure_mode: FailureMode,
    /// Handed to the plugin as a JSON object.
    pub settings: serde_json::Map<String, serde_json::Value>,
    /// What it may use.
    pub limits: LimitsConfig,
    /// What it may reach.
    pub grant: GrantConfig,
}

/// What happens when a plugin cannot be loaded. A running plugin's fault always
/// refuses the call.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FailureMode {
    /// Every call is refused until it is mended.
    #[default]
    Closed,
    /// A warning.
    Open,
}

/// `[plugin.NAME.limits]`; what is absent keeps its default.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct LimitsConfig {
    /// For one guard's answer, in milliseconds.
    pub guard_ms: Option<Millis>,
    /// For one hook's answer, in milliseconds.
    pub hook_ms: Option<Millis>,
    /// For one command's expansion, in milliseconds.
    pub command_ms: Option<Millis>,
    /// For one tool's run, in milliseconds.
    pub tool_ms: Option<Millis>,
    /// For `describe` and each list, in milliseconds.
    pub describe_ms: Option<Millis>,
    /// Linear memory of one instance, in MiB.
    pub memory_mib: Option<Mebibytes>,
}

impl LimitsConfig {
    /// These limits, with the defaults where nothing is said.
    #[must_use]
    pub fn resolve(&self) -> Limits {
        let mut limits = Limits::new();
        let times = [
            (&mut limits.guard_time, self.guard_ms),
            (&mut limits.hook_time, self.hook_ms),
            (&mut limits.command_time, self.command_ms),
            (&mut limits.tool_time, self.tool_ms),
            (&mut limits.describe_time, self.describe_ms),
        ];
        for (time, millis) in times {
            if let Some(millis) = millis {
                *time = millis.get();
            }
        }
        if let Some(mebibytes) = self.memory_mib {
            limits.memory = mebibytes.bytes();
        }
        limits
    }
}

/// `[plugin.NAME.grant]`. Absent means nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct GrantConfig {
    /// Directories that it may read.
    pub read: Vec<PathBuf>,
    /// Directories that it may read and change.
    pub write: Vec<PathBuf>,
    /// Environment variables that it may see.
    pub env: Vec<String>,
    /// The time of day, and a monotonic clock.
    pub clock: bool,
    /// Random numbers.
    pub random: bool,
    /// The bell of the user's terminal.
    pub terminal: bool,
}

/// `[tools]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ToolsConfig {
    /// Tools that the host has no table for and that may still be called while
    /// `plugins.required` names a guard.
    pub known: Vec<String>,
}

/// `[protect]`. Only the user's file has it: a project may not say it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProtectConfig {
    /// Refuses every call that would change Portcullis's own files, its program,
    /// or the hooks of an agent.
    pub own_files: bool,
}

impl Default for ProtectConfig {
    fn default() -> Self {
        Self { own_files: true }
    }
}

/// `[audit]`. A project may switch on what is off, and no more.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AuditConfig {
    /// Refuses every call while the ledger cannot be written.
    pub required: bool,
    /// Writes the calls that were allowed as well.
    pub allowed: bool,
    /// A file of the ledger that would grow past this is set aside, and a new one
    /// is begun.
    pub max_bytes: FileSize,
    /// How many files that were set aside are kept.
    pub keep: FileCount,
}

#[cfg(test)]
mod tests {
    use super::Config;

    fn read(json: &str) -> Result<Config, String> {
        serde_json::from_str(json).map_err(|e| e.to_string())
    }

    #[test]
    fn an_empty_file_says_nothing() {
        assert_eq!(read("{}").unwrap(), Config::default());
    }

    #[test]
    fn own_files_are_protected_unless_the_file_says_otherwise() {
        assert!(read("{}").unwrap().protect.own_files);
        assert!(!read(r#"{"protect":{"own_files":false}}"#).unwrap().protect.own_files);
        assert!(read(r#"{"protect":{"own_file":false}}"#).unwrap_err().contains("own_file"));
    }

    #[test]
    fn an_unknown_key_is_an_error_that_names_it() {
        assert!(read(r#"{"plugin":{"guard":{"timout":1}}}"#).unwrap_err().contains("timout"));
        assert!(read(r#"{"plugin":{"guard":{"failure_mode":"clsoed"}}}"#).unwrap_err().contains("clsoed"));
    }

    #[test]
    fn the_ledger_is_not_required_and_keeps_eight_files_of_sixteen_mebibytes_unless_the_file_says_otherwise()
    {
        let audit = read("{}").unwrap().audit;
        assert_eq!(
            (audit.required, audit.allowed, audit.max_bytes.bytes(), audit.keep.get()),
            (false, false, 16 << 20, 8)
        );
        let audit =
            read(r#"{"audit":{"required":true,"allowed":true,"max_bytes":65536,"keep":1}}"#).unwrap().audit;
        assert_eq!(
            (audit.required, audit.allowed, audit.max_bytes.bytes(), audit.keep.get()),
            (true, true, 1 << 16, 1)
        );
        for wrong in [
            r#"{"require":true}"#,
            r#"{"max_bytes":0}"#,
            r#"{"max_bytes":65535}"#,
            r#"{"max_bytes":-1}"#,
            r#"{"max_bytes":1073741825}"#,
            r#"{"keep":0}"#,
            r#"{"keep":1001}"#,
            r#"{"required":"yes"}"#,
        ] {
            assert!(read(&format!(r#"{{"audit":{wrong}}}"#)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_time_that_cannot_be_meant_is_an_error() {
        for millis in ["0", "-1", "1000000000000000000", "600001"] {
            let text = format!(r#"{{"plugin":{{"guard":{{"limits":{{"guard_ms":{millis}}}}}}}}}"#);
            assert!(read(&text).is_err(), "{millis}");
        }
    }

    #[test]
    fn limits_that_are_set_replace_the_defaults() {
        let config = read(r#"{"plugin":{"a":{"limits":{"guard_ms":300,"memory_mib":8}}}}"#).unwrap();
        let limits = config.plugin.values().next().unwrap().limits.resolve();
        assert_eq!((limits.guard_time.as_millis(), limits.memory), (300, 8 << 20));
        assert_eq!(limits.tool_time, super::Limits::new().tool_time);
    }
}
