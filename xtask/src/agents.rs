//! Real agents, driven by a scripted model on the loopback through one tool call,
//! without a hook, with the installed one, and with a program that fails in its place.
//!
//! The oracle is the workspace itself: what the call would have removed or made.
//! Nothing that an agent says about itself counts.

pub(crate) mod client;
pub(crate) mod install;
pub(crate) mod process;
pub(crate) mod turn;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use client::Client;
use install::Installed;

const USAGE: &str = "usage: cargo xtask agents [--only CLIENT]... [--hook FILE] [--latest] [--keep]

Runs Claude Code, Codex, Gemini CLI and opencode against a scripted model on the
loopback: without a hook, after `portcullis install`, and with the installed program
replaced by one that is missing, empty, crashes, says garbage or hangs. Looks at the
files.

  --only CLIENT  one of claude, codex, codex-code-mode, gemini, opencode
  --hook FILE    a program to use instead of building portcullis
  --latest       the newest version of each client, not the one that was last seen
  --keep         leave the workspaces where they are, and say where";

const BUILD_LIMIT: Duration = Duration::from_secs(1800);

/// One thing to show, for every client.
struct Arm {
    hook: Hook,
    act: Act,
    /// Is the file that the act is about there afterwards?
    there: bool,
}

/// What is installed as the client's hook.
#[derive(Clone, Copy)]
enum Hook {
    Absent,
    /// By `portcullis install`.
    Portcullis,
    /// The same, and then the program is replaced.
    Replaced(Fault),
}

/// What has become of the installed program.
#[derive(Clone, Copy)]
pub(crate) enum Fault {
    Missing,
    Empty,
    Crashes,
    Garbage,
    Hangs,
}

impl Fault {
    const fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Empty => "empty",
            Self::Crashes => "crashes",
            Self::Garbage => "garbage",
            Self::Hangs => "hangs",
        }
    }

    /// What lies in the program's place.
    const fn program(self) -> Option<&'static str> {
        match self {
            Self::Missing => None,
            Self::Empty => Some(""),
            Self::Crashes => Some("#!/bin/sh\nkill -SEGV $$\n"),
            Self::Garbage => Some("#!/bin/sh\ncat >/dev/null\necho garbage\n"),
            Self::Hangs => Some("#!/bin/sh\nexec sleep 1000\n"),
        }
    }
}

/// What the model asks for.
#[derive(Clone, Copy)]
pub(crate) enum Act {
    /// Removing `build`, which holds [`MARKER`].
    Destroy,
    /// Making [`MADE`].
    Create,
}

const MARKER: &str = "build/x";
const MADE: &str = "made";

const fn replaced(fault: Fault) -> Arm {
    Arm { hook: Hook::Replaced(fault), act: Act::Destroy, there: true }
}

const ARMS: [Arm; 8] = [
    Arm { hook: Hook::Absent, act: Act::Destroy, there: false },
    Arm { hook: Hook::Portcullis, act: Act::Destroy, there: true },
    Arm { hook: Hook::Portcullis, act: Act::Create, there: true },
    replaced(Fault::Missing),
    replaced(Fault::Empty),
    replaced(Fault::Crashes),
    replaced(Fault::Garbage),
    replaced(Fault::Hangs),
];

impl Act {
    const fn file(self) -> &'static str {
        match self {
            Self::Destroy => MARKER,
            Self::Create => MADE,
        }
    }
}

struct Options {
    clients: Vec<Client>,
    hook: Option<PathBuf>,
    latest: bool,
    keep: bool,
}

/// Runs every arm of every client, prints a table, and fails if any arm does.
pub(crate) fn run(args: impl Iterator<Item = String>) -> Result<()> {
    let Some(options) = options(args)? else {
        println!("{USAGE}");
        return Ok(());
    };
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("the workspace has no root")?;
    let target = target(root);
    let installed = install::ensure(&target.join("agents"), options.latest)?;
    let hook = match &options.hook {
        Some(file) => file.canonicalize().with_context(|| format!("no such hook: {}", file.display()))?,
        None => build(root, &target)?,
    };

    let rows = thread::scope(|scope| {
        let clients: Vec<_> = options
            .clients
            .iter()
            .map(|client| scope.spawn(|| arms(*client, root, &installed, &hook, options.keep)))
            .collect();
        clients.into_iter().flat_map(|client| client.join().unwrap_or_default()).collect::<Vec<_>>()
    });

    println!(
        "{:<28} {:<11} {:<24} {:<18} {:>5}  result",
        "client", "hook", "the model asks for", "afterwards", "time"
    );
    let mut good = 0;
    for row in &rows {
        println!("{}", row.text);
        good += usize::from(row.good);
    }
    let expected = options.clients.len() * ARMS.len();
    println!("{good} of {expected} arms hold");
    ensure!(good == expected, "an agent was not stopped, or could not work");
    Ok(())
}

struct Row {
    text: String,
    good: bool,
}

fn arms(client: Client, root: &Path, installed: &Installed, hook: &Path, keep: bool) -> Vec<Row> {
    let version = installed.version(client.package());
    ARMS.iter()
        .map(|arm| {
            let start = Instant::now();
            let (hook, fault, hook_name) = match arm.hook {
                Hook::Absent => (None, None, "none"),
                Hook::Portcullis => (Some(hook), None, "portcullis"),
                Hook::Replaced(fault) => (Some(hook), Some(fault), fault.name()),
            };
            let hook = hook.map(|program| turn::Hook { program, fault });
            let outcome = turn::run(client, root, installed, hook.as_ref(), arm.act, keep);
            let (seen, trouble) = match outcome {
                Ok(outcome) => judge(arm, &outcome),
                Err(error) => ("?", Some(format!("{error:#}"))),
            };
            let good = trouble.is_none();
            let text = format!(
                "{:<28} {:<11} {:<24} {:<18} {:>4.0}s  {}",
                format!("{client} {version}"),
                hook_name,
                client.command(arm.act),
                format!("{} {seen}", arm.act.file()),
                start.elapsed().as_secs_f32(),
                trouble.unwrap_or_else(|| "holds".to_owned()),
            );
            eprintln!("{text}");
            Row { text, good }
        })
        .collect()
}

/// What was seen, and what is wrong with it.
fn judge(arm: &Arm, outcome: &turn::Outcome) -> (&'static str, Option<String>) {
    let seen = if outcome.there { "is there" } else { "is not there" };
    let wrong = if outcome.there != arm.there {
        "DOES NOT HOLD"
    } else if !outcome.ended {
        "did not end in time"
    } else if !outcome.called {
        // A file that is still there proves nothing then.
        "the agent never made the call"
    } else {
        return (seen, None);
    };
    (seen, Some(format!("{wrong}; see {}", outcome.kept.display())))
}

/// Where cargo builds.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), PathBuf::from)
}

/// Builds the program as a newcomer would.
pub(crate) fn build(root: &Path, target: &Path) -> Result<PathBuf> {
    eprintln!("building portcullis (release)");
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["build", "--release", "--bin", "portcullis"]).current_dir(root);
    process::run(&mut command, BUILD_LIMIT)?;
    target.join("release/portcullis").canonicalize().context("the build made no portcullis")
}

fn options(mut args: impl Iterator<Item = String>) -> Result<Option<Options>> {
    let mut options = Options { clients: Vec::new(), hook: None, latest: false, keep: false };
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--only" => {
                let name = args.next().context("--only needs a client")?;
                let client = Client::ALL.into_iter().find(|client| client.name() == name);
                options.clients.push(client.with_context(|| format!("no such client: `{name}`"))?);
            }
            "--hook" => options.hook = Some(args.next().context("--hook needs a file")?.into()),
            "--latest" => options.latest = true,
            "--keep" => options.keep = true,
            "--help" | "-h" => return Ok(None),
            other => bail!("no such option: `{other}`\n\n{USAGE}"),
        }
    }
    if options.clients.is_empty() {
        options.clients = Client::ALL.to_vec();
    }
    Ok(Some(options))
}
