//! The keys of `[mcp]`.

use super::{Key, Kind, Project, key};
use crate::config::{ClientCount, Millis};

const SERVERS: Project = Project::Nothing("a project starts no program");
const MILLISECONDS: Kind = Kind::Number { least: 1, most: Millis::MOST, unit: "milliseconds" };

pub(super) const COMMAND: Key = key(
    "mcp.servers.*.command",
    Kind::Text,
    "",
    SERVERS,
    "The program of the server: a name that is looked for in `PATH`, or a path, below the workspace when it is relative.",
);
pub(super) const ARGS: Key = key(
    "mcp.servers.*.args",
    Kind::Texts,
    "[]",
    SERVERS,
    "What the program is told, word by word. No shell reads it.",
);
pub(super) const ENV: Key = key(
    "mcp.servers.*.env",
    Kind::Variables,
    "{}",
    SERVERS,
    "Variables of its environment, beside a few of this process's that are no secrets. `${env:NAME}` and `${file:PATH}` stand for values from elsewhere.",
);
pub(super) const INHERIT_ENV: Key = key(
    "mcp.servers.*.inherit_env",
    Kind::Flag,
    "false",
    SERVERS,
    "Gives it all of this process's environment, secrets included.",
);
pub(super) const CWD: Key =
    key("mcp.servers.*.cwd", Kind::Path, "", SERVERS, "Where it runs. Absent: the workspace.");
pub(super) const SERVES: Key = key(
    "mcp.servers.*.serves",
    Kind::Texts,
    "[]",
    SERVERS,
    "What its tools are good for, such as `vcs`. Empty: it does not say, and is never narrowed.",
);
pub(super) const TOOLS: Key = key(
    "mcp.servers.*.tools",
    Kind::Texts,
    "[]",
    SERVERS,
    "Tools that it is known to have before anybody has asked it.",
);
pub(super) const START_MS: Key =
    key("mcp.servers.*.start_ms", MILLISECONDS, "30000", SERVERS, "For its start, up to its handshake.");
pub(super) const TIMEOUT_MS: Key =
    key("mcp.servers.*.timeout_ms", MILLISECONDS, "60000", SERVERS, "For one call of a tool.");
pub(super) const ALLOWED_COMMANDS: Key = key(
    "mcp.allowed_commands",
    Kind::Globs,
    "",
    SERVERS,
    "The commands of servers that may be started. Absent: every one.",
);
pub(super) const PIN: Key = key(
    "mcp.pin",
    Kind::Flag,
    "false",
    SERVERS,
    "Refuses a tool of a server whose definition has changed since it was first seen, until `portcullis server forget`. Otherwise that is a warning.",
);
pub(super) const IDLE_MS: Key =
    key("mcp.idle_ms", MILLISECONDS, "300000", SERVERS, "How long a server that nobody uses is kept.");
pub(super) const MAX_CLIENTS: Key = key(
    "mcp.max_clients",
    Kind::Number { least: 1, most: ClientCount::MOST, unit: "servers" },
    "20",
    SERVERS,
    "How many servers run at once. For one more the one that was idle longest is ended, or the call waits.",
);
pub(super) const FRESH_MS: Key = key(
    "mcp.fresh_ms",
    MILLISECONDS,
    "30000",
    SERVERS,
    "How long a list of tools is believed when its server does not tell of changes.",
);
pub(super) const RETRY_MS: Key = key(
    "mcp.retry_ms",
    MILLISECONDS,
    "1000",
    SERVERS,
    "How long a server that failed is left alone, the first time; then twice as long each time, 5 min at most.",
);
