//! The keys of one of the hooks.

use super::{Key, Kind, Project, key};

pub(super) const HOOKS: Project =
    Project::Nothing("a project's hooks are its own programs, and wait for trust");

/// The keys of one of the hooks. The first ones have no default and have to be there.
pub const HOOK: &[Key] = &[
    hook(
        "event",
        Kind::Word(&[
            "pre-tool-use",
            "post-tool-use",
            "session-start",
            "prompt-submit",
            "subagent-stop",
            "stop",
            "pre-compact",
            "session-end",
        ]),
        "",
        "When it is asked.",
    ),
    hook(
        "command",
        Kind::Text,
        "",
        "The absolute path of a program, in a project's file also from the project's root, which hears one JSON object on its standard input; with `shell` a line for `/bin/sh`.",
    ),
    hook("args", Kind::Texts, "[]", "What the program is told."),
    hook("shell", Kind::Flag, "false", "Hands `command` to `/bin/sh -c`."),
    hook(
        "match",
        Kind::Text,
        "\"*\"",
        "A rule that says which calls it is about, such as `Bash(git push *)` or `write(**/.env*)`; for `pre-tool-use` and `post-tool-use`.",
    ),
    hook(
        "timeout_ms",
        Kind::Number { least: 1, most: crate::config::Millis::MOST, unit: "milliseconds" },
        "10000",
        "For its answer; then it is ended with everything that it started.",
    ),
    hook("enabled", Kind::Flag, "true", "`false` keeps it in the file and does not ask it."),
    hook(
        "failure_mode",
        Kind::Word(&["open", "closed"]),
        "\"open\"",
        "`closed`: when it fails to answer, that blocks. `open`: it is told, and all goes on. Where it is absent, `hook_defaults.failure_mode` holds.",
    ),
];

const fn hook(path: &'static str, kind: Kind, default: &'static str, meaning: &'static str) -> Key {
    key(path, kind, default, HOOKS, meaning)
}
