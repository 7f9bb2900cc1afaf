//! The skills server, started on the loopback and tried by the suites that the makers of
//! the protocol and of its inspector publish.
//!
//! Every scenario that says something of a server of skills has to pass. What remains asks
//! for tools and resources that only a server made for the suite has; each such scenario is
//! in a list here, with what it asks for.

mod client;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use serde_json::Value;

use crate::agents::install::{self, Installed};
use crate::agents::process::{self, Group};

const USAGE: &str = "usage: cargo xtask conformance [--program FILE] [--claude]

  --program FILE  a portcullis to use instead of building one
  --claude        the real Claude Code as a client too";

const SUITE: (&str, &str) = ("@modelcontextprotocol/conformance", "0.2.0-alpha.12");
const INSPECTOR: (&str, &str) = ("@modelcontextprotocol/inspector", "2.12.0");

/// The revisions, the older one with a handshake and the newer one without.
const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];
/// What the suite has about skills.
const SKILLS: [&str; 3] =
    ["sep-2640-skills-enumeration", "sep-2640-skills-manifest", "sep-2640-skills-directory"];
/// How the inspector may begin.
const ERAS: [&str; 3] = ["legacy", "auto", "modern"];

/// Scenarios, by the beginning of their names, that ask for what a server of skills does
/// not have.
const NOT_OURS: &[(&str, &str)] = &[
    ("completion-complete", "completions"),
    ("elicitation-", "a tool that asks the user"),
    ("http-custom-header-server-validation", "a tool with headers of its own"),
    ("input-required-result-", "a tool that asks the user"),
    ("json-schema-2020-12", "a tool with a certain schema"),
    ("logging-set-level", "a log that clients may turn up"),
    ("prompts-get-", "certain prompts"),
    ("resources-read-", "certain resources"),
    ("resources-subscribe", "news for older revisions over HTTP"),
    ("resources-templates-read", "a certain template"),
    ("resources-unsubscribe", "news for older revisions over HTTP"),
    ("tasks-", "tasks"),
    ("tools-call-", "certain tools"),
];
/// The same for single checks of scenarios that are ours otherwise.
const CHECKS_NOT_OURS: &[(&str, &str)] = &[
    ("sep-2575-server-rejects-undeclared-capability", "a tool that asks the user"),
    ("sep-2575-missing-capability-http-400", "a tool that asks the user"),
    ("sep-2575-http-server-no-independent-requests-on-stream", "a tool that asks the user"),
    ("sep-2575-server-no-log-without-loglevel", "a tool that logs"),
];

const START_LIMIT: Duration = Duration::from_secs(60);
const SUITE_LIMIT: Duration = Duration::from_secs(300);

pub(crate) fn run(args: &[String]) -> Result<()> {
    let (mut program, mut with_claude, mut args) = (None, false, args.iter());
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--program" => program = Some(PathBuf::from(args.next().context(USAGE)?)),
            "--claude" => with_claude = true,
            _ => bail!("{USAGE}"),
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize()?;
    let target = crate::agents::target(&root);
    let program = match program {
        Some(program) => program.canonicalize().context("the program is not there")?,
        None => crate::agents::build(&root, &target)?,
    };
    let folder = target.join("conformance");
    let installed = install::packages(&folder, &[SUITE, INSPECTOR])?;
    let served = Served { program, data: root.join("tests/conformance") };
    let mut problems = Vec::new();
    {
        let (server, url) = served.start(&folder)?;
        for revision in REVISIONS {
            let results = folder.join(revision);
            let of_suite = suite(&installed, &url, &["--requirements", revision], &results)?;
            ensure!(of_suite.len() > 20, "the suite ran {} scenarios of {revision}", of_suite.len());
            problems.extend(judge(revision, &of_suite));
            for scenario in SKILLS {
                let results = folder.join(format!("{revision}-{scenario}"));
                let arguments = ["--scenario", scenario, "--spec-version", revision, "--force"];
                let of_skills = suite(&installed, &url, &arguments, &results)?;
                ensure!(of_skills.len() == 1, "the suite did not run `{scenario}`");
                problems.extend(judge(revision, &of_skills));
            }
        }
        for era in ERAS {
            let passed = inspect(
                &installed,
                &folder,
                era,
                &[url.clone(), "--transport".to_owned(), "http".to_owned()],
            )?;
            problems.extend((!passed).then(|| format!("the inspector, over HTTP, {era}")));
        }
        drop(server);
    }
    for era in ERAS {
        let mut command = vec![served.program.display().to_string()];
        command.extend(served.arguments());
        let passed = inspect(&installed, &folder, era, &command)?;
        problems.extend((!passed).then(|| format!("the inspector, over stdio, {era}")));
    }
    if with_claude {
        problems.extend(client::problems(&root, &target, &served)?);
    }
    ensure!(problems.is_empty(), "what did not pass:\n  {}", problems.join("\n  "));
    eprintln!("all of it passed");
    Ok(())
}

/// The server under test.
struct Served {
    program: PathBuf,
    data: PathBuf,
}

impl Served {
    fn arguments(&self) -> Vec<String> {
        let place = |name: &str| serde_json::json!({ "dir": self.data.join(name) }).to_string();
        let words = [
            "mcp",
            "skills",
            "--isolated",
            "--skill-dir",
            &place("skills"),
            "--prompt-dir",
            &place("prompts"),
        ];
        words.map(str::to_owned).into()
    }

    fn start(&self, folder: &Path) -> Result<(Group, String)> {
        let mut command = Command::new(&self.program);
        command.args(self.arguments()).args(["--transport", "http", "--listen", "127.0.0.1:0"]);
        command.env("HOME", folder).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut server = Group::start(&mut command)?;
        let url = server.first_line(START_LIMIT).context("the server does not say where it is")?;
        Ok((server, url))
    }
}

/// The checks of each scenario, by its name.
type Results = BTreeMap<String, Vec<(String, String)>>;

fn suite(installed: &Installed, url: &str, arguments: &[&str], results: &Path) -> Result<Results> {
    if results.exists() {
        std::fs::remove_dir_all(results)?;
    }
    let mut command = Command::new(installed.program("conformance"));
    command.args(["server", "--url", url, "-o"]).arg(results).args(arguments).env("PATH", &installed.path);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Its exit code counts what is not ours as well; the results are what is judged.
    let ended = Group::start(&mut command)?.wait(SUITE_LIMIT)?;
    ensure!(ended.is_some(), "the suite took longer than {} s", SUITE_LIMIT.as_secs());
    let mut found = Results::new();
    for entry in std::fs::read_dir(results).context("the suite wrote no results")? {
        let path = entry?.path();
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        // `server-NAME-2026-11-30T21-25-57-430Z`
        let name = name.strip_prefix("server-").and_then(|name| name.get(..name.len().checked_sub(25)?));
        let name = name.with_context(|| format!("no result of a scenario: `{}`", path.display()))?;
        let text = std::fs::read_to_string(path.join("checks.json"))?;
        let checks: Vec<Value> = serde_json::from_str(&text)?;
        let word =
            |check: &Value, key: &str| check.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let checks = checks.iter().map(|check| (word(check, "id"), word(check, "status"))).collect();
        found.insert(name.to_owned(), checks);
    }
    Ok(found)
}

/// What should have passed, and did not.
fn judge(revision: &str, results: &Results) -> Vec<String> {
    let mut problems = Vec::new();
    for (scenario, checks) in results {
        if let Some((_, what)) = NOT_OURS.iter().find(|(start, _)| scenario.starts_with(start)) {
            eprintln!("{revision} {scenario}: not ours, it asks for {what}");
            continue;
        }
        let excused = |id: &String| CHECKS_NOT_OURS.iter().any(|(own, _)| own == id);
        let failed: Vec<&String> = checks
            .iter()
            .filter(|(id, status)| status == "FAILURE" && !excused(id))
            .map(|(id, _)| id)
            .collect();
        let passed = checks.iter().filter(|(_, status)| status == "SUCCESS").count();
        eprintln!("{revision} {scenario}: {passed} passed, {} failed", failed.len());
        problems.extend(failed.into_iter().map(|id| format!("{revision} {scenario}: {id}")));
    }
    problems
}

/// Has the inspector list every skill and check every byte of it.
fn inspect(installed: &Installed, folder: &Path, era: &str, target: &[String]) -> Result<bool> {
    let mut command = Command::new(installed.program("mcp-inspector"));
    command.arg("--cli").args(target).args(["--protocol-era", era, "--method", "skills/list", "--verify"]);
    command.env("PATH", &installed.path).env("HOME", folder);
    let passed = process::run(&mut command, SUITE_LIMIT).is_ok();
    eprintln!(
        "inspector {era} {}: {}",
        target.first().map_or("", String::as_str),
        if passed { "verified" } else { "FAILED" }
    );
    Ok(passed)
}

#[cfg(test)]
mod tests {
    use super::{Results, judge};

    #[test]
    fn a_check_that_fails_is_told_unless_it_asks_for_what_only_the_suite_has() {
        let check = |id: &str, status: &str| (id.to_owned(), status.to_owned());
        let results = Results::from([
            ("tasks-lifecycle".to_owned(), vec![check("x", "FAILURE")]),
            (
                "server-stateless".to_owned(),
                vec![
                    check("sep-2575-server-no-log-without-loglevel", "FAILURE"),
                    check("sep-2575-other", "FAILURE"),
                    check("sep-2575-fine", "SUCCESS"),
                    check("sep-2575-no", "SKIPPED"),
                ],
            ),
        ]);
        assert_eq!(judge("r", &results), ["r server-stateless: sep-2575-other"]);
    }
}
