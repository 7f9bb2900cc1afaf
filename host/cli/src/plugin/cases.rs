//! `portcullis plugin check`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use portcullis::model::call::ToolCall;
use portcullis::model::input::Input;
use portcullis::model::judgement::Verdict;
use portcullis::model::name::PluginName;
use portcullis::{Host, HostOptions, Turn};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::args::{Common, PluginCheckArguments};
use crate::environment::Environment;
use crate::exit::Exit;
use crate::open;
use crate::plugin::inspect::open_with;
use crate::printer::Printer;

/// Where a case runs when it does not say.
const CWD: &str = "/home/dev/app";

/// One file of cases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CaseFile {
    #[serde(rename = "case")]
    cases: Vec<Case>,
}

/// One call, and what is to become of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    tool: String,
    input: Value,
    #[serde(default)]
    cwd: Option<String>,
    #[serde(default)]
    settings: Map<String, Value>,
    expect: Verdict,
    #[serde(default)]
    code: Option<String>,
    #[serde(default)]
    reason: Option<String>,
}

pub(crate) fn run(
    common: &Common,
    verb: &PluginCheckArguments,
    environment: &Environment,
    printer: &Printer,
) -> anyhow::Result<Exit> {
    let (host, name) = open_with(common, environment, &verb.plugin)?;
    let report = host.report();
    let row = report.rows.iter().find(|row| row.name == name && row.digest.is_some());
    let row =
        row.with_context(|| format!("the plugin `{name}` is not live; hint: `portcullis plugin list`"))?;
    for warning in &row.warnings {
        printer.tell(&format!("warning: {name}: {warning}"));
    }
    let file = row.origin.as_ref().and_then(|origin| origin.path()).map(Path::to_path_buf);
    let mut files = Vec::new();
    for path in &verb.cases {
        files.extend(case_files(path)?);
    }
    let mut benches = Benches { common, environment, name: &name, file, open: BTreeMap::new() };
    let mut failed = Vec::new();
    let mut count = 0_usize;
    for path in &files {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("`{}` cannot be read", path.display()))?;
        let file: CaseFile =
            toml::from_str(&text).with_context(|| format!("`{}` is no case file", path.display()))?;
        for case in file.cases {
            count += 1;
            if let Some(problem) = benches.put(&case)? {
                failed.push((path.clone(), case.name, problem));
            }
        }
    }
    if verb.json {
        let failed: Vec<_> = failed
            .iter()
            .map(|(path, case, problem)| json!({"file": path, "case": case, "problem": problem}))
            .collect();
        printer.line(
            &json!({"plugin": name, "cases": count, "failed": failed, "warnings": row.warnings}).to_string(),
        )?;
    } else {
        for (path, case, problem) in &failed {
            printer.line(&format!("FAILED {}: {case}: {problem}", path.display()))?;
        }
        printer.line(&format!("{name}: {} passed, {} failed", count - failed.len(), failed.len()))?;
    }
    Ok(if failed.is_empty() { Exit::Done } else { Exit::No })
}

/// The case files at `path`, by name.
fn case_files(path: &Path) -> anyhow::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        anyhow::ensure!(path.is_file(), "there are no cases at `{}`", path.display());
        return Ok(vec![path.to_owned()]);
    }
    let mut files: Vec<_> = std::fs::read_dir(path)?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    files.sort();
    anyhow::ensure!(!files.is_empty(), "there is no `.toml` file in `{}`", path.display());
    Ok(files)
}

/// A host for each kind of settings that the cases ask for, with the one plugin.
struct Benches<'a> {
    common: &'a Common,
    environment: &'a Environment,
    name: &'a str,
    file: Option<PathBuf>,
    open: BTreeMap<String, (Turn, tokio::runtime::Runtime)>,
}

impl Benches<'_> {
    /// Judges `case`. The answer is what went wrong.
    fn put(&mut self, case: &Case) -> anyhow::Result<Option<String>> {
        let key = serde_json::to_string(&case.settings)?;
        if !self.open.contains_key(&key) {
            let bench = self.bench(&case.settings)?;
            self.open.insert(key.clone(), bench);
        }
        let Some((turn, executor)) = self.open.get(&key) else { return Ok(Some("no host".to_owned())) };
        let call = ToolCall {
            id: String::new(),
            tool: case.tool.clone(),
            input: Input::from_value(case.input.clone())?,
            cwd: case.cwd.clone().unwrap_or_else(|| CWD.to_owned()),
            session_id: "check".to_owned(),
        };
        let judgement = executor.block_on(turn.judge(call)).to_wire();
        let code = judgement.code.unwrap_or_default();
        let reason = judgement.reason.unwrap_or_default();
        let said = || if code.is_empty() { String::new() } else { format!(" ({code}: {reason})") };
        Ok(if judgement.verdict != case.expect {
            Some(format!("expected {}, got {}{}", case.expect, judgement.verdict, said()))
        } else if let Some(fault) = judgement.fault.filter(|_| case.code.is_none()) {
            // A guard that fails refuses too, and that is not what a case means.
            Some(format!("refused by a fault, {fault}{}", said()))
        } else if let Some(expected) = case.code.as_ref().filter(|expected| **expected != code) {
            Some(format!("expected the code `{expected}`, got `{code}`"))
        } else {
            case.reason
                .as_ref()
                .filter(|part| !reason.contains(part.as_str()))
                .map(|part| format!("expected the reason to hold `{part}`, got `{reason}`"))
        })
    }

    fn bench(&self, settings: &Map<String, Value>) -> anyhow::Result<(Turn, tokio::runtime::Runtime)> {
        let mut options: HostOptions = open::options(self.common, self.environment, None)?;
        let name = PluginName::new(self.name)?;
        options.store_dir = None;
        options.config.plugins.required = Vec::new();
        // A case is about the plugin alone.
        options.config.protect.own_files = false;
        options.config.audit.required = false;
        if let Some(path) = &self.file {
            options.config.plugins.enabled = Some(Vec::new());
            options.plugins = vec![path.clone()];
        } else {
            options.config.plugins.enabled = Some(vec![name.clone()]);
            options.plugins = Vec::new();
        }
        options.config.plugin.entry(name).or_default().settings.extend(settings.clone());
        let executor = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let host = executor.block_on(Host::open(options))?;
        Ok((host.session("check").turn(), executor))
    }
}
