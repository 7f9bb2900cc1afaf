//! The real Claude Code with the skills server in its configuration and a scripted model:
//! it lists the skills, reads one, and is given a prompt.
//!
//! The oracle is what reaches the model: a sentence of the skill's text, and the prompt's.

use std::fs::{self, File};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, Result};
use serde_json::{Value, json};

use super::Served;
use crate::agents::client::{Client, Scene};
use crate::agents::install::{self, Installed};
use crate::agents::process::{self, Group};
use crate::agents::turn::command;

const TURN_LIMIT: Duration = Duration::from_secs(180);
const STEP_LIMIT: Duration = Duration::from_secs(30);

/// What did not reach the model.
pub(super) fn problems(root: &Path, target: &Path, served: &Served) -> Result<Vec<String>> {
    let claude = (Client::Claude.package(), Client::Claude.last_seen());
    let installed = install::packages(&target.join("agents"), &[claude])?;
    let folder = tempfile::tempdir()?;
    let place = folder.path().canonicalize()?;
    let (home, workspace) = (place.join("home"), place.join("workspace"));
    fs::create_dir_all(&workspace)?;
    copy(&served.data.join("skills"), &home.join(".local/share/portcullis/skills"))?;
    let scene = |port| Scene { home: &home, workspace: &workspace, port };
    let turn = Turn { root, place: &place, installed: &installed };
    let mut problems = Vec::new();

    // As a user has it: one command, and the agent finds the server.
    let mut own = command(&served.program, &home, &installed);
    process::run(own.args(["install", "claude", "--skills"]).current_dir(&workspace), STEP_LIMIT)?;
    let tool = |name: &str, input: Value| json!({ "name": format!("mcp__portcullis-skills__{name}"), "input": input });
    let script = [tool("list_skills", json!({})), tool("read_skill", json!({ "slug": "alpha" }))];
    let heard = turn.run(&scene, "tools", &script, &["-p", "Go on."])?;
    for part in ["Shows what a skill may have", "Run `scripts/check.py`"] {
        problems.extend((!heard.contains(part)).then(|| format!("Claude Code's model never saw `{part}`")));
    }

    let entry = json!({ "command": served.program, "args": served.arguments() });
    let config = place.join("mcp.json");
    fs::write(&config, json!({ "mcpServers": { "portcullis-skills": entry } }).to_string())?;
    let config = config.display().to_string();
    let prompt = ["-p", "/mcp__portcullis-skills__review", "--strict-mcp-config", "--mcp-config", &config];
    let heard = turn.run(&scene, "prompt", &[], &prompt)?;
    let part = "Look at the change as a stranger would.";
    problems.extend((!heard.contains(part)).then(|| format!("Claude Code's model never saw `{part}`")));
    eprintln!("Claude Code {}: {} problems", claude.1, problems.len());
    Ok(problems)
}

struct Turn<'t> {
    root: &'t Path,
    place: &'t Path,
    installed: &'t Installed,
}

impl Turn<'_> {
    /// Everything that the model was told in a turn.
    fn run<'s>(
        &self,
        scene: &dyn Fn(u16) -> Scene<'s>,
        name: &str,
        script: &[Value],
        arguments: &[&str],
    ) -> Result<String> {
        let at = |end: &str| self.place.join(format!("{name}.{end}"));
        fs::write(at("json"), serde_json::to_vec(script)?)?;
        let home = scene(0).home;
        let mut model = Group::start(
            command("python3", home, self.installed)
                .arg(self.root.join("tests/agents/scripted_model.py"))
                .arg("0")
                .args([at("json"), at("log")])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(File::create(at("err"))?),
        )?;
        let port: u16 = model.first_line(STEP_LIMIT)?.parse().context("the model names no port")?;
        let scene = scene(port);
        let mut agent = command(self.installed.program(Client::Claude.program()), home, self.installed);
        agent.args(arguments).args(["--output-format", "json"]);
        agent.envs([("DISABLE_AUTOUPDATER", "1"), ("ANTHROPIC_API_KEY", "none")]);
        agent.envs([("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1")]);
        agent.env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}"));
        agent.current_dir(scene.workspace).stdin(Stdio::null());
        agent.stdout(File::create(at("out"))?).stderr(File::create(at("errors"))?);
        let ended = Group::start(&mut agent)?.wait(TURN_LIMIT)?;
        ended.context("Claude Code did not end in time")?;
        // What the model was told is JSON in JSON; a backtick and a sentence stay as they are.
        Ok(fs::read_to_string(at("log"))?)
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
