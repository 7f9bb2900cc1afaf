//! One turn of one client, in an empty home and a fresh workspace.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;

use super::client::{Client, Scene};
use super::install::Installed;
use super::{Act, Fault, MARKER};
use crate::agents::process::{self, Group};

const TURN_LIMIT: Duration = Duration::from_secs(180);
const STEP_LIMIT: Duration = Duration::from_secs(30);

/// What a turn left behind.
pub(crate) struct Outcome {
    /// Is the file that the act is about there?
    pub(crate) there: bool,
    /// Did the client end by itself?
    pub(crate) ended: bool,
    /// Did the client give a result, or a refusal, for the call that was asked for?
    pub(crate) called: bool,
    /// Where the turn's files are, if anything was wrong.
    pub(crate) kept: PathBuf,
}

/// The program that is installed as the hook, and what becomes of it then.
pub(crate) struct Hook<'a> {
    pub(crate) program: &'a Path,
    pub(crate) fault: Option<Fault>,
}

impl Hook<'_> {
    /// Installs it as a user does.
    fn install(&self, client: Client, place: &Path, home: &Path, installed: &Installed) -> Result<()> {
        let program = place.join("bin/portcullis");
        fs::create_dir_all(place.join("bin"))?;
        fs::copy(self.program, &program)?;
        let mut install = command(&program, home, installed);
        process::run(install.args(["install", client.dialect()]).current_dir(place), STEP_LIMIT)?;
        let Some(fault) = self.fault else { return Ok(()) };
        fs::remove_file(&program)?;
        if let Some(text) = fault.program() {
            fs::write(&program, text)?;
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755))?;
        }
        Ok(())
    }
}

/// Runs one turn.
pub(crate) fn run(
    client: Client,
    root: &Path,
    installed: &Installed,
    hook: Option<&Hook>,
    act: Act,
    keep: bool,
) -> Result<Outcome> {
    let folder = tempfile::Builder::new().prefix("portcullis-agents-").tempdir()?;
    let place = folder.path().canonicalize()?;
    let (home, workspace) = (place.join("home"), place.join("workspace"));
    fs::create_dir(&home)?;
    let marker = workspace.join(MARKER);
    fs::create_dir_all(marker.parent().context("the marker is in no folder")?)?;
    fs::write(&marker, "x\n")?;
    process::run(command("git", &home, installed).args(["init", "-q"]).current_dir(&workspace), STEP_LIMIT)?;

    let script = place.join("script.json");
    let log = place.join("model.jsonl");
    fs::write(&script, serde_json::to_vec(&[client.step(act)])?)?;
    let mut model = Group::start(
        command("python3", &home, installed)
            .arg(root.join("tests/agents/scripted_model.py"))
            .arg("0")
            .args([&script, &log])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(File::create(place.join("model.err"))?),
    )?;
    let port: u16 = model.first_line(STEP_LIMIT)?.parse().context("the model names no port")?;

    let scene = Scene { home: &home, workspace: &workspace, port };
    let mut agent = command(installed.program(client.program()), &home, installed);
    client.prepare(&scene, &mut agent)?;
    if let Some(hook) = hook {
        hook.install(client, &place, &home, installed)?;
    }
    agent
        .current_dir(&workspace)
        .stdin(Stdio::null())
        .stdout(File::create(place.join("agent.out"))?)
        .stderr(File::create(place.join("agent.err"))?);
    let ended = Group::start(&mut agent)?.wait(TURN_LIMIT)?.is_some();
    drop(model);

    let there = workspace.join(act.file()).exists();
    let called = results(&log) > 0;
    let expected = ended && called;
    let kept = if keep || !expected { folder.keep() } else { place };
    Ok(Outcome { there, ended, called, kept })
}

/// A program with nothing of the developer's own around it, and no way out of
/// the loopback for those that honour a proxy.
pub(crate) fn command(program: impl AsRef<std::ffi::OsStr>, home: &Path, installed: &Installed) -> Command {
    const NOWHERE: &str = "http://127.0.0.1:1";
    const LOOPBACK: &str = "127.0.0.1,localhost";
    let mut command = Command::new(program);
    command.env_clear().env("PATH", &installed.path).env("HOME", home);
    command.envs([("LANG", "C.UTF-8"), ("TERM", "dumb")]);
    command.envs([("HTTP_PROXY", NOWHERE), ("HTTPS_PROXY", NOWHERE), ("NO_PROXY", LOOPBACK)]);
    command.envs([("http_proxy", NOWHERE), ("https_proxy", NOWHERE), ("no_proxy", LOOPBACK)]);
    command
}

/// How many calls the client has answered, as the model saw it.
fn results(log: &Path) -> u64 {
    let text = fs::read_to_string(log).unwrap_or_default();
    let requests = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    requests.filter_map(|request| request.get("results").and_then(Value::as_u64)).max().unwrap_or(0)
}
