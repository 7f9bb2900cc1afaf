//! How each client is pointed at the model, and started.

use std::fmt;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::Act;

const PROMPT: &str = "Go on.";

/// An agent, in one of its ways of calling tools.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Client {
    Claude,
    Codex,
    /// Codex with a model whose one tool runs a script that calls the others.
    CodexCodeMode,
    Gemini,
    OpenCode,
}

/// Where a turn takes place.
pub(crate) struct Scene<'a> {
    pub(crate) home: &'a Path,
    pub(crate) workspace: &'a Path,
    pub(crate) port: u16,
}

impl Client {
    pub(crate) const ALL: [Self; 5] =
        [Self::Claude, Self::Codex, Self::CodexCodeMode, Self::Gemini, Self::OpenCode];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
            Self::CodexCodeMode => "codex-code-mode",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
        }
    }

    pub(crate) const fn package(self) -> &'static str {
        match self {
            Self::Claude => "@anthropic-ai/claude-code",
            Self::Codex | Self::CodexCodeMode => "@openai/codex",
            Self::Gemini => "@google/gemini-cli",
            Self::OpenCode => "opencode-ai",
        }
    }

    /// The version that all arms were last seen to hold with.
    pub(crate) const fn last_seen(self) -> &'static str {
        match self {
            Self::Claude => "2.1.332",
            Self::Codex | Self::CodexCodeMode => "0.171.0",
            Self::Gemini => "0.61.0",
            Self::OpenCode => "1.18.33",
        }
    }

    pub(crate) const fn program(self) -> &'static str {
        self.dialect()
    }

    /// What `portcullis install` is told.
    pub(crate) const fn dialect(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex | Self::CodexCodeMode => "codex",
            Self::Gemini => "gemini",
            Self::OpenCode => "opencode",
        }
    }

    /// The shell command of an act. Codex refuses `rm -rf` by itself.
    pub(crate) const fn command(self, act: Act) -> &'static str {
        match (act, self) {
            (Act::Destroy, Self::Codex | Self::CodexCodeMode) => "git clean -fdx",
            (Act::Destroy, Self::Claude | Self::Gemini | Self::OpenCode) => "rm -rf build",
            (Act::Create, _) => "touch made",
        }
    }

    /// The call that the model asks for.
    pub(crate) fn step(self, act: Act) -> Value {
        let command = self.command(act);
        let input = json!({"command": command, "description": "What the test asks for"});
        match self {
            Self::Claude => json!({"name": "Bash", "input": input}),
            Self::Codex => json!({"name": "exec_command", "input": {"cmd": command}}),
            Self::CodexCodeMode => json!({
                "name": "exec",
                "custom": true,
                "input": format!("text(await tools.exec_command({{cmd: '{command}'}}));"),
            }),
            Self::Gemini => json!({"name": "run_shell_command", "input": input}),
            Self::OpenCode => json!({"name": "bash", "input": input}),
        }
    }

    /// Writes the client's settings, and completes the command that starts it.
    pub(crate) fn prepare(self, scene: &Scene, agent: &mut Command) -> Result<()> {
        match self {
            Self::Claude => claude(scene, agent),
            Self::Codex => codex(scene, agent, "mock"),
            Self::CodexCodeMode => codex(scene, agent, "gpt-6.2-sol"),
            Self::Gemini => gemini(scene, agent),
            Self::OpenCode => opencode(scene, agent),
        }
    }
}

impl fmt::Display for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl Scene<'_> {
    fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

fn write(file: &Path, text: &str) -> Result<()> {
    fs::create_dir_all(file.parent().context("a file in no folder")?)?;
    fs::write(file, text).with_context(|| format!("cannot write {}", file.display()))
}

fn claude(scene: &Scene, agent: &mut Command) -> Result<()> {
    agent.args(["-p", PROMPT, "--output-format", "json", "--permission-mode", "bypassPermissions"]);
    // Without `IS_SANDBOX`, root may not bypass permissions.
    agent.envs([("IS_SANDBOX", "1"), ("DISABLE_AUTOUPDATER", "1"), ("ANTHROPIC_API_KEY", "none")]);
    agent.envs([("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")]);
    agent.env("ANTHROPIC_BASE_URL", scene.url());
    Ok(())
}

fn codex(scene: &Scene, agent: &mut Command, model: &str) -> Result<()> {
    let config = format!(
        "model = \"{model}\"\nmodel_provider = \"mock\"\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n\
         [model_providers.mock]\nname = \"mock\"\nbase_url = \"{}/v1\"\nwire_api = \"responses\"\nenv_key = \"MOCK_KEY\"\n\
         [projects.{}]\ntrust_level = \"trusted\"\n",
        scene.url(),
        Value::from(scene.workspace.display().to_string()),
    );
    write(&scene.home.join(".codex/config.toml"), &config)?;
    agent.args(["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", PROMPT]);
    agent.env("MOCK_KEY", "none");
    Ok(())
}

fn gemini(scene: &Scene, agent: &mut Command) -> Result<()> {
    let settings = json!({
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": false},
        "telemetry": {"enabled": false},
        "general": {"enableAutoUpdate": false, "disableAutoUpdate": true, "disableUpdateNag": true},
    });
    write(&scene.home.join(".gemini/settings.json"), &settings.to_string())?;
    agent.args(["--skip-trust", "--approval-mode", "yolo", "-m", "gemini-2.5-pro", "-p", PROMPT]);
    agent.env("GEMINI_API_KEY", "none").env("GOOGLE_GEMINI_BASE_URL", scene.url());
    Ok(())
}

fn opencode(scene: &Scene, agent: &mut Command) -> Result<()> {
    let config = scene.home.join(".config/opencode");
    let provider = json!({
        "npm": "@ai-sdk/openai-compatible",
        "name": "mock",
        "options": {"baseURL": format!("{}/v1", scene.url()), "apiKey": "none"},
        "models": {"mock": {"name": "mock", "tool_call": true}},
    });
    let settings = json!({
        "model": "mock/mock",
        "small_model": "mock/mock",
        "provider": {"mock": provider},
        "permission": "allow",
        "autoupdate": false,
        "share": "disabled",
    });
    write(&config.join("opencode.json"), &settings.to_string())?;
    // It installs a package for plugins in the background, and waits for that.
    write(&scene.home.join(".npmrc"), "offline=true\nfetch-retries=0\n")?;
    agent.args(["run", PROMPT]);
    agent.envs([("OPENCODE_DISABLE_AUTOUPDATE", "1"), ("OPENCODE_DISABLE_MODELS_FETCH", "1")]);
    agent.env("OPENCODE_DISABLE_LSP_DOWNLOAD", "1");
    Ok(())
}
