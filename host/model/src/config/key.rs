//! Every key of a configuration file: the one table that the reader, the reference
//! and the schema go by.

mod hook;
mod server;

pub use hook::HOOK;
use hook::HOOKS;

/// One key.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// Its names, from the top, with dots between them. [`ANY`] is the name of a plugin or a
    /// server.
    pub path: &'static str,
    /// What its value is.
    pub kind: Kind,
    /// The value where no file says it, as JSON; empty where there is none.
    pub default: &'static str,
    /// What it does, in a sentence or two.
    pub meaning: &'static str,
    /// What a project's file may make of it.
    pub project: Project,
    /// What it may besides, once the user trusts the project.
    pub trusted: Trusted,
}

/// The name in a path that stands for every plugin's or every server's.
pub const ANY: &str = "*";

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Flag,
    /// A whole number between two bounds, which are in it.
    Number {
        /// The smallest.
        least: i64,
        /// The largest.
        most: i64,
        /// What is counted.
        unit: &'static str,
    },
    /// One of these words.
    Word(&'static [&'static str]),
    /// A list of plugins' names, none of them twice.
    Plugins,
    /// A list of texts.
    Texts,
    /// A list of rules that say which calls are meant.
    Rules,
    /// A list of names in which `*` and `?` may stand.
    Globs,
    /// An absolute path.
    Path,
    /// A list of absolute paths.
    Paths,
    /// A table of the plugin's own.
    Settings,
    /// A text.
    Text,
    /// A list of tables, each with the keys of [`HOOK`].
    Hooks,
    /// A table of texts, whose values are shown to nobody.
    Variables,
}

/// What a project's file may make of a key while nobody has said that the project
/// is trusted: it may narrow, and never widen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Project {
    /// Nothing, for this reason.
    Nothing(&'static str),
    /// It may add to the list.
    Adds,
    /// It may switch it on.
    SwitchesOn,
    /// It may make it less.
    Lowers,
    /// It may choose a word that stands earlier.
    Stricter,
}

/// What a project's file may make of a key besides, once the user has looked at it and
/// trusts it. What the user's own file says is never taken back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trusted {
    /// No more than before: it stays the user's alone.
    NoMore,
    /// It adds to the list, behind what the user says.
    Adds,
    /// It says it of the plugins that the project brings, and of no other.
    OwnPlugins,
}

const GRANT: Project = Project::Nothing("a project grants nothing before it is trusted");

const fn key(
    path: &'static str,
    kind: Kind,
    default: &'static str,
    project: Project,
    meaning: &'static str,
) -> Key {
    Key { path, kind, default, meaning, project, trusted: Trusted::NoMore }
}

/// A key of a plugin that a trusted project says of its own plugins.
const fn own(
    path: &'static str,
    kind: Kind,
    default: &'static str,
    project: Project,
    meaning: &'static str,
) -> Key {
    Key { trusted: Trusted::OwnPlugins, ..key(path, kind, default, project, meaning) }
}

/// All of them, in the order in which they are explained.
pub const KEYS: &[Key] = &[
    key(
        "plugins.enabled",
        Kind::Plugins,
        "",
        Project::Nothing("a project does not choose which plugins act"),
        "The plugins that act, in order. Absent: `guard`, `time`, then every file by name. Empty: none but those of `--plugin`.",
    ),
    key(
        "plugins.required",
        Kind::Plugins,
        "[]",
        Project::Adds,
        "What must be live, or every call is refused. While it names something, a tool that nobody knows is refused as well.",
    ),
    key(
        "plugins.locked",
        Kind::Flag,
        "false",
        Project::Nothing("a project has no say in the user's command line"),
        "Makes `--no-plugins` an error.",
    ),
    key(
        "plugin.*.path",
        Kind::Path,
        "",
        Project::Nothing("a project puts no file in the place of a plugin"),
        "The component file of the plugin, in place of a bundled plugin of that name too.",
    ),
    key(
        "plugin.*.failure_mode",
        Kind::Word(&["closed", "open"]),
        "\"closed\"",
        Project::Nothing("a project does not say what follows when a guard cannot be loaded"),
        "`open`: when it cannot be loaded that is a warning. A plugin that runs and fails refuses the call in either case.",
    ),
    own(
        "plugin.*.settings",
        Kind::Settings,
        "{}",
        Project::Nothing("a setting could turn a guard off, and only the plugin knows which"),
        "Handed to the plugin as a JSON object; the plugin's own page says what it understands.",
    ),
    time("plugin.*.limits.guard_ms", "1000", "For one guard's answer."),
    time("plugin.*.limits.hook_ms", "10000", "For one hook's answer."),
    time("plugin.*.limits.command_ms", "10000", "For one command's expansion."),
    time("plugin.*.limits.tool_ms", "60000", "For one tool's run."),
    Key {
        project: LOADING,
        ..time(
            "plugin.*.limits.describe_ms",
            "5000",
            "For `describe` and each list, when the plugin is loaded.",
        )
    },
    key(
        "plugin.*.limits.memory_mib",
        Kind::Number { least: 1, most: super::Mebibytes::MOST, unit: "MiB" },
        "64",
        LOADING,
        "The memory of one instance.",
    ),
    own("plugin.*.grant.read", Kind::Paths, "[]", GRANT, "Directories that it may read."),
    own("plugin.*.grant.write", Kind::Paths, "[]", GRANT, "Directories that it may read and change."),
    own("plugin.*.grant.env", Kind::Texts, "[]", GRANT, "Environment variables that it may see."),
    own(
        "plugin.*.grant.clock",
        Kind::Flag,
        "false",
        GRANT,
        "The time of day, and a monotonic clock. The bundled `time` has it.",
    ),
    own("plugin.*.grant.random", Kind::Flag, "false", GRANT, "Random numbers."),
    own(
        "plugin.*.grant.terminal",
        Kind::Flag,
        "false",
        GRANT,
        "The bell of the user's terminal. The bundled `bell` has it.",
    ),
    Key {
        trusted: Trusted::Adds,
        ..key(
            "tools.known",
            Kind::Texts,
            "[]",
            Project::Nothing("a project vouches for no tool before it is trusted"),
            "Tools that the host has no table for, and that may be called all the same while a plugin is required.",
        )
    },
    key(
        "permissions.mode",
        Kind::Word(super::Mode::WORDS),
        "",
        Project::Stricter,
        "What happens to a call that no rule names. `read-only`: whatever does more than read is refused. `ask`: whatever does more than read in the workspace needs consent. `accept-edits`: as `ask`, and edits in the workspace pass. `yolo`: everything passes. Absent: as `yolo`.",
    ),
    key(
        "permissions.allow",
        Kind::Rules,
        "[]",
        Project::Nothing("a project permits nothing"),
        "Calls that pass without consent, when these rules together cover all of the call, and all of it is understood.",
    ),
    key(
        "permissions.ask",
        Kind::Rules,
        "[]",
        Project::Adds,
        "Calls that need consent, when a rule means any part of the call. Stronger than `allow`, in every mode.",
    ),
    key(
        "permissions.deny",
        Kind::Rules,
        "[]",
        Project::Adds,
        "Calls that are refused, when a rule means any part of the call. Stronger than `ask`, in every mode.",
    ),
    key("channels.tools.allow", Kind::Globs, "", CHANNEL, "The tools that there are. Absent: every one."),
    key(
        "channels.tools.deny",
        Kind::Globs,
        "[]",
        Project::Adds,
        "The tools that there are not, whatever is allowed.",
    ),
    key(
        "channels.servers.allow",
        Kind::Globs,
        "",
        CHANNEL,
        "The MCP servers that there are. Absent: every one.",
    ),
    key(
        "channels.servers.deny",
        Kind::Globs,
        "[]",
        Project::Adds,
        "The MCP servers that there are not, whatever is allowed.",
    ),
    key(
        "channels.hooks.allow",
        Kind::Globs,
        "",
        CHANNEL_HOOKS,
        "The hooks that are asked, by name. Absent: every one.",
    ),
    key(
        "channels.hooks.deny",
        Kind::Globs,
        "[]",
        CHANNEL_HOOKS,
        "The hooks that are not asked, whatever is allowed.",
    ),
    key(
        "channels.skills.allow",
        Kind::Globs,
        "",
        CHANNEL,
        "The skills that there are, by path or name. Absent: every one.",
    ),
    key(
        "channels.skills.deny",
        Kind::Globs,
        "[]",
        Project::Adds,
        "The skills that there are not, whatever is allowed.",
    ),
    key(
        "skills.compat",
        Kind::Flag,
        "true",
        SKILLS,
        "Skills also come from `.agents/skills` and `.claude/skills`, of the project and of the user's home.",
    ),
    key("skills.roots", Kind::Paths, "[]", SKILLS, "More directories of skills. They win, in this order."),
    key(
        "skills.follow_links",
        Kind::Flag,
        "false",
        SKILLS,
        "Follows links to directories in the user's directories of skills. In a project's no link is followed.",
    ),
    key(
        "skills.include",
        Kind::Globs,
        "[]",
        SKILLS,
        "The skills that are looked at, by path. Empty: every one.",
    ),
    key(
        "skills.ignore",
        Kind::Globs,
        "[]",
        Project::Adds,
        "The skills that are not looked at, whatever is included.",
    ),
    key(
        "commands.compat",
        Kind::Flag,
        "true",
        COMMANDS,
        "Commands also come from the directories of Claude Code, opencode and Gemini CLI, of the project and of the user's home.",
    ),
    key(
        "protect.own_files",
        Kind::Flag,
        "true",
        Project::Nothing("a project has no say in what protects the files of Portcullis"),
        "Refuses every call that would change Portcullis's own files, its program, or the hooks of an agent.",
    ),
    key(
        "audit.required",
        Kind::Flag,
        "false",
        Project::SwitchesOn,
        "Refuses every call while the ledger cannot be written.",
    ),
    key(
        "audit.allowed",
        Kind::Flag,
        "false",
        Project::SwitchesOn,
        "Writes the calls that were allowed into the ledger as well.",
    ),
    key(
        "audit.max_bytes",
        Kind::Number { least: super::FileSize::LEAST, most: super::FileSize::MOST, unit: "bytes" },
        "16777216",
        ROTATION,
        "A file of the ledger that would grow past this is set aside, and a new one is begun.",
    ),
    key(
        "audit.keep",
        Kind::Number { least: 1, most: super::FileCount::MOST, unit: "files" },
        "8",
        ROTATION,
        "How many files of the ledger that were set aside are kept.",
    ),
    Key {
        trusted: Trusted::Adds,
        ..key(
            "hooks",
            Kind::Hooks,
            "[]",
            HOOKS,
            "Programs that are asked at moments of an agent's life, in order; see below.",
        )
    },
    key(
        "hook_defaults.failure_mode",
        Kind::Word(&["open", "closed"]),
        "\"open\"",
        HOOKS,
        "The failure mode of each of `[[hooks]]` that does not say its own.",
    ),
    key(
        "hook_defaults.max_turns",
        Kind::Number { least: 1, most: super::Rounds::MOST, unit: "turns" },
        "8",
        HOOKS,
        "How often an agent may answer, the first time included, while hooks at `stop` send it on. Then it stops.",
    ),
    key(
        "intent.slice_capabilities",
        Kind::Flag,
        "true",
        Project::Nothing("a project does not say what a model is shown"),
        "A loop that reads what a turn is about shows the model the tools for that in full, and the others by name. `false` shows all of them in full.",
    ),
    key(
        "extensions.max_composition_depth",
        Kind::Number { least: 1, most: super::Depth::MOST, unit: "levels" },
        "3",
        Project::Lowers,
        "How deep extensions may bring extensions, the first one counted. Deeper ones are registered with a warning.",
    ),
    key(
        "schedule.check_writes",
        Kind::Flag,
        "false",
        Project::SwitchesOn,
        "A call that would write a file which has changed since its session read it is not run, and its model is told to read the file again.",
    ),
    server::COMMAND,
    server::ARGS,
    server::ENV,
    server::INHERIT_ENV,
    server::CWD,
    server::SERVES,
    server::TOOLS,
    server::START_MS,
    server::TIMEOUT_MS,
    server::ALLOWED_COMMANDS,
    server::PIN,
    server::IDLE_MS,
    server::MAX_CLIENTS,
    server::FRESH_MS,
    server::RETRY_MS,
];

const SKILLS: Project = Project::Nothing("a project does not say where skills come from");
const COMMANDS: Project = Project::Nothing("a project does not say where commands come from");
const CHANNEL: Project = Project::Nothing("a project does not say what there is");
const CHANNEL_HOOKS: Project = Project::Nothing("a project keeps no hook from being asked");

/// A plugin that cannot be loaded may be advisory, so less room to load is no
/// narrowing.
const LOADING: Project = Project::Nothing("with less, the plugin might not load, and then it would not act");
const ROTATION: Project = Project::Nothing("a project does not say how long the ledger is kept");

const fn time(path: &'static str, default: &'static str, meaning: &'static str) -> Key {
    let kind = Kind::Number { least: 1, most: super::Millis::MOST, unit: "milliseconds" };
    key(path, kind, default, Project::Lowers, meaning)
}

/// What stands at a path.
#[derive(Debug, Clone, Copy)]
pub enum Node {
    /// A value.
    Value(&'static Key),
    /// A table that has keys.
    Table,
    /// A table whose keys are the names of plugins or of servers.
    Plugins,
}

impl Key {
    /// Its names, from the top.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.path.split('.')
    }

    /// The name that stands in the file before the `=`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.names().last().unwrap_or_default()
    }

    /// The names behind those of `table`, when the key is below it.
    fn below<S: AsRef<str>>(&self, table: &[S]) -> Option<impl Iterator<Item = &'static str> + use<S>> {
        let mut names = self.names();
        let is = |pattern: &str, name: &str| pattern == ANY || pattern == name;
        table.iter().all(|name| names.next().is_some_and(|own| is(own, name.as_ref()))).then_some(names)
    }
}

impl Node {
    /// What stands at `path`; nothing when no key is there.
    pub fn at<S: AsRef<str>>(path: &[S]) -> Option<Self> {
        let mut node = None;
        for key in KEYS {
            let Some(mut below) = key.below(path) else { continue };
            match below.next() {
                None => return Some(Self::Value(key)),
                Some(ANY) => node = Some(Self::Plugins),
                Some(_) => node = Some(Self::Table),
            }
        }
        node
    }

    /// The names that a table may hold.
    #[must_use]
    pub fn names<S: AsRef<str>>(table: &[S]) -> Vec<&'static str> {
        let mut names: Vec<_> =
            KEYS.iter().filter_map(|key| key.below(table)?.next()).filter(|name| *name != ANY).collect();
        names.dedup();
        names
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use serde_json::{Map, Value, json};

    use super::super::{Config, McpConfig, ServerConfig};
    use super::{ANY, KEYS, Kind, Node};

    /// A file that says `value` at `path` and nothing else.
    fn file(path: &[&str], value: Value) -> Value {
        path.iter().rev().fold(value, |inner, name| {
            let name = if *name == ANY { "a" } else { name };
            Value::Object(Map::from_iter([(name.to_owned(), inner)]))
        })
    }

    fn read(value: &Value) -> Result<Config, String> {
        serde_json::from_str(&value.to_string()).map_err(|error| error.to_string())
    }

    #[test]
    fn every_default_of_the_table_is_that_of_the_types() {
        for key in KEYS.iter().filter(|key| !key.default.is_empty()) {
            let value: Value = serde_json::from_str(key.default).unwrap();
            let path: Vec<_> = key.names().collect();
            let config = read(&file(&path, value)).unwrap();
            let mut plugin = config.plugin.values().next().cloned().unwrap_or_default();
            assert_eq!(plugin.limits.resolve(), crate::limits::Limits::new(), "{}", key.path);
            plugin.limits = Default::default();
            assert_eq!(plugin, Default::default(), "{}", key.path);
            let mut mcp = config.mcp.clone();
            let times = (mcp.idle(), mcp.fresh(), mcp.retry());
            assert_eq!(times, (McpConfig::IDLE, McpConfig::FRESH, McpConfig::RETRY), "{}", key.path);
            (mcp.idle_ms, mcp.fresh_ms, mcp.retry_ms) = (None, None, None);
            let mut server = mcp.servers.pop_first().map(|(_, server)| server).unwrap_or_default();
            let times = (server.start(), server.time());
            assert_eq!(times, (ServerConfig::START, ServerConfig::TIME), "{}", key.path);
            (server.start_ms, server.timeout_ms) = (None, None);
            assert_eq!((mcp, server), Default::default(), "{}", key.path);
            let rest = Config { plugin: Default::default(), mcp: Default::default(), ..config };
            assert_eq!(rest, Config::default(), "{}", key.path);
        }
    }

    #[test]
    fn the_bounds_of_the_table_are_those_of_the_types() {
        for key in KEYS {
            let Kind::Number { least, most, .. } = key.kind else { continue };
            let path: Vec<_> = key.names().collect();
            for (value, good) in [(least, true), (most, true), (least - 1, false), (most + 1, false)] {
                assert_eq!(read(&file(&path, json!(value))).is_ok(), good, "{} = {value}", key.path);
            }
        }
    }

    #[test]
    fn the_table_has_every_key_that_the_types_have_and_no_other() {
        let mut tables = BTreeSet::new();
        for key in KEYS {
            let path: Vec<_> = key.names().collect();
            for end in 0..path.len() {
                tables.insert(path[..end].to_vec());
            }
        }
        for table in tables {
            if Node::names(&table).is_empty() {
                continue;
            }
            let mut path = table.clone();
            path.push("zz");
            let error = read(&file(&path, json!(1))).unwrap_err();
            let (_, expected) = error.split_once("expected").unwrap();
            let expected: BTreeSet<_> = expected.split('`').skip(1).step_by(2).collect();
            assert_eq!(expected, Node::names(&table).into_iter().collect(), "{table:?}: {error}");
        }
    }
}
