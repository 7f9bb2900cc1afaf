//! What is protected: the one table.
//!
//! A row is the end of a path, and holds wherever that end stands, because a
//! project and a home can be anywhere. `*` is any name, `/**` everything below.
//! A row that begins with `^` is a file of a bare name: it counts beside the work
//! alone, which is the call's directory, the project, and what lies above them.

use super::rule::Code;

/// Whose, and which paths.
pub(super) type Row = (Code, &'static str, &'static [&'static str]);

/// Portcullis's own places, by default and in every project.
pub(super) const OWN: &[Row] = &[
    (
        Code::Plugins,
        "a plugin directory of Portcullis",
        &[
            ".portcullis/plugins/**",
            ".local/share/portcullis/**",
            "Library/Application Support/portcullis/plugins/**",
        ],
    ),
    (
        Code::Config,
        "the configuration of Portcullis",
        &[".portcullis/**", ".config/portcullis/**", "Library/Application Support/portcullis/**"],
    ),
    (Code::State, "the state of Portcullis", &[".local/state/portcullis/**"]),
    (Code::Cache, "the cache of Portcullis", &[".cache/portcullis/**", "Library/Caches/portcullis/**"]),
    (Code::Program, "the program of Portcullis", &["bin/portcullis", "bin/portcullis.exe"]),
];

/// The hook entries of every agent, at the user's, the project's and the system's level.
pub(super) const HOOKS: &[Row] = &[
    (
        Code::Hooks,
        "the hooks of Claude Code",
        &[
            ".claude/settings.json",
            ".claude/settings.local.json",
            ".claude/plugins/**",
            "claude-code/managed-settings.json",
            "claude-code/managed-settings.d/**",
            "ClaudeCode/managed-settings.json",
            "ClaudeCode/managed-settings.d/**",
        ],
    ),
    (
        Code::Hooks,
        "the hooks of Codex",
        &[
            ".codex/hooks.json",
            ".codex/config.toml",
            ".codex/requirements.toml",
            ".codex/managed_config.toml",
            "etc/codex/hooks.json",
            "etc/codex/config.toml",
            "etc/codex/requirements.toml",
            "etc/codex/managed_config.toml",
        ],
    ),
    (
        Code::Hooks,
        "the hooks of Gemini CLI",
        &[
            ".gemini/settings.json",
            ".gemini/extensions/*/hooks/**",
            ".gemini/extensions/*/gemini-extension.json",
            "gemini-cli/settings.json",
            "gemini-cli/system-defaults.json",
            "GeminiCli/settings.json",
            "GeminiCli/system-defaults.json",
        ],
    ),
    (Code::Hooks, "the hooks of Antigravity", &[".agents/hooks.json", ".gemini/config/hooks.json"]),
    (
        Code::Hooks,
        "the hooks of Copilot",
        &[
            ".github/hooks/*.json",
            ".github/copilot/settings.json",
            ".github/copilot/settings.local.json",
            ".copilot/hooks/**",
            ".copilot/config.json",
            ".copilot/settings.json",
            "github-copilot/policy.d/**",
        ],
    ),
    (Code::Hooks, "the hooks of Cursor", &[".cursor/hooks.json", "Cursor/hooks.json"]),
    (
        Code::Hooks,
        "the hooks of Windsurf",
        &[".windsurf/hooks.json", ".codeium/windsurf/hooks.json", "Windsurf/hooks.json"],
    ),
    (
        Code::Hooks,
        "the hooks of Cline",
        &["Documents/Cline/Hooks/**", ".clinerules/hooks/**", ".cline/hooks/**"],
    ),
    (Code::Hooks, "the hooks of goose", &[".agents/plugins/*/hooks/**", ".agents/plugins/*/plugin.json"]),
    (
        Code::Hooks,
        "the hooks of Crush",
        &["^crush.json", "^.crush.json", ".config/crush/crush.json", ".local/share/crush/crush.json"],
    ),
    (
        Code::Hooks,
        "the hooks of Factory Droid",
        &[".factory/hooks.json", ".factory/settings.json", ".factory/settings.local.json"],
    ),
    (
        Code::Hooks,
        "the plugins of Amp",
        &[".config/amp/plugins/**", ".config/amp/settings.json", ".amp/plugins/**", ".amp/settings.json"],
    ),
    (
        Code::Hooks,
        "the plugins of opencode",
        &[
            "^opencode.json",
            "^opencode.jsonc",
            ".opencode/opencode.json",
            ".opencode/opencode.jsonc",
            ".opencode/plugin/**",
            ".opencode/plugins/**",
            ".config/opencode/config.json",
            ".config/opencode/opencode.json",
            ".config/opencode/opencode.jsonc",
            ".config/opencode/plugin/**",
            ".config/opencode/plugins/**",
        ],
    ),
    (Code::Hooks, "the hooks of Kiro", &[".kiro/hooks/**", ".kiro/agents/*.json"]),
    (Code::Hooks, "the hooks of Grok Build", &[".grok/hooks/**"]),
    (Code::Hooks, "the hooks of Kimi Code", &[".kimi-code/config.toml", ".kimi/config.toml"]),
    (Code::Hooks, "the hooks of Devin", &[".devin/hooks*.json"]),
    (Code::Hooks, "the hooks of Qwen Code", &[".qwen/settings.json", "qwen-code/settings.json"]),
    (Code::Hooks, "the hooks of oh-my-pi", &[".omp/hooks/**"]),
];

/// Variables that put a directory of the rows above somewhere else, and the row's
/// own name for it.
pub(super) const MOVED: &[(&str, &str)] = &[
    ("XDG_CONFIG_HOME", ".config"),
    ("XDG_DATA_HOME", ".local/share"),
    ("XDG_STATE_HOME", ".local/state"),
    ("XDG_CACHE_HOME", ".cache"),
    ("CLAUDE_CONFIG_DIR", ".claude"),
    ("CODEX_HOME", ".codex"),
    ("COPILOT_HOME", ".copilot"),
    ("CRUSH_GLOBAL_CONFIG", ".config/crush"),
    ("OPENCODE_CONFIG_DIR", ".config/opencode"),
];

/// Variables that name one such file.
pub(super) const NAMED: &[(&str, &str)] = &[
    ("OPENCODE_CONFIG", "the plugins of opencode"),
    ("GEMINI_CLI_SYSTEM_SETTINGS_PATH", "the hooks of Gemini CLI"),
];

/// Folders that hold much besides hooks, so that whoever fills one is not taken
/// to fill in hooks.
pub(super) const SHARED: &[&str] =
    &[".github", ".config", ".local", ".local/share", ".local/state", ".cache", ".agents", ".agents/plugins"];
